// The player's fixed places: what is written in them changes, their size never does.
const LONGEST = 12; // sentences of a film, for which there is room
const [MIDDLE, NARROW] = [900, 640]; // pixels of a notebook; and of a page where all stands one below the other (film.css)
const LANE = 0.48; // of the width, for a drawing beside its score
const ALMOST = 0.98; // of its size, at which all of a card can still be read
const SHORTEST = { wide: 360, narrow: 540 }; // pixels of a player: what is chosen has room in it
const SCORE = { part: 0.3, both: 0.45, most: 0.5, slim: 0.44 }; // of what there is, for a staff; for two; for all, where their code can be read then
const SIDE = { most: 300, part: 0.6 }; // pixels, and of the width, that what is chosen takes (film.css)
const SPACE = { aside: 22, above: 22, name: 28, words: 130, spare: 11 }; // pixels around a drawing, of its name above it, and beside it; and what a phone does without

/** @param {Element} el @param {Data} data */
function places(el, data) {
  const { labels } = data;
  const root = make("section", "mg-player mg-film", el);
  root.tabIndex = 0;
  root.setAttribute("aria-label", labels.player);
  root.style.setProperty("--mg-graphs", String(data.graphs.length));
  root.classList.toggle("mg-drawn", data.still);
  root.classList.toggle("mg-titled", data.still && data.graphs.some(({ title }) => title));
  root.classList.toggle("mg-pair", data.graphs.length > 1);
  const screen = make("div", "mg-screen", root);
  const head = make("div", "mg-head", screen);
  /** @type {typeof tellFrame} */
  const tell = (place, frame) => tellFrame(place, frame, data.lanes);
  const { place: caption, fit } = steady("mg-told", head, tell);
  caption.className = "mg-caption mg-saying"; // as high as a sentence from the beginning
  caption.setAttribute("aria-live", "polite");
  const body = make("div", "mg-body", screen);
  const stages = make("div", "mg-stage", body);
  const score = make("div", "mg-score", body);
  const key = make("div", "mg-key", body);
  const side = make("aside", "mg-side", body);
  side.hidden = true; // until something is chosen
  const inspector = scrolls(make("div", "mg-inspector", side));
  region(inspector, labels.details);
  const trouble = make("div", "mg-trouble", body);
  trouble.setAttribute("role", "alert");
  const bar = make("div", "mg-bar", screen);
  const controls = make("div", "mg-controls", bar);
  score.hidden = key.hidden = bar.hidden = data.still; // nothing moves in a film of one frame
  const moving = make("div", "mg-inputs", bar);
  const verdict = scrolls(make("div", "mg-verdict", bar));
  const tools = make("div", "mg-tools", data.still ? head : bar);
  return { root, screen, head, caption, fit, tell, tools, body, stages, score, key, side, inspector, bar, moving, verdict, trouble, controls };
}

const GRAPH = 0.63; // of what is around the graphs, their height at least: they stay the larger part

/**
 * Give the player the height that it needs, up to what there is, and its drawings and their score the
 * places in which most is seen of them. Returns what does so again for another width.
 * @param {ReturnType<typeof places>} parts @param {Stage[]} graphs
 */
function arranging({ root, screen, body, stages, score, key }, graphs) {
  const sizesOf = once((/** @type {number} */ size) => graphs.map(({ drawing, suit }) => {
    suit(size);
    const { width, height } = drawing.querySelector("svg")?.viewBox.baseVal ?? { width: 0, height: 0 };
    const name = drawing.previousElementSibling;
    return { width, height, most: drawing.querySelector(".mg-compact") ? CLOSER : 1, above: SPACE.above + (name instanceof HTMLElement ? Math.max(SPACE.name, name.offsetHeight) : 0) };
  }));
  const sum = (/** @type {number[]} */ all) => all.reduce((a, b) => a + b, 0);
  const edges = () => screen.offsetHeight - body.offsetHeight;
  const arrange = (again = true) => {
    const wide = body.clientWidth;
    if (!wide || !graphs.length) return;
    const narrow = wide <= NARROW;
    const size = Number(wide <= MIDDLE) + Number(narrow);
    const sizes = sizesOf(size);
    for (const { suit } of graphs) suit(size);
    const beside = !score.hidden && "beside" in score.dataset && !narrow && sizes.every(({ most }) => most === 1) && sizes.every(({ width }) => width * ALMOST <= LANE * wide);
    root.classList.toggle("mg-lanes", beside);
    const most = available(root);
    const edge = edges();
    const readable = (score.dataset.tall ?? "").split(" ").map((tall) => Number(tall)).slice(!narrow ? 0 : "crowded" in score.dataset ? -2 : sizes.length > 1 ? -3 : 0, narrow ? undefined : -1); // of two scores on a phone no more than their numbers need
    const [part, all] = [Math.min(SCORE.part * sizes.length, SCORE.both), narrow ? SCORE.slim : SCORE.most];
    const left = narrow && sizes.length > 1 ? most - edge - key.offsetHeight - Math.max(...sizes.map(({ width, height, above, most }) => height * Math.min(most, (wide / sizes.length - SPACE.aside) / width) + above - SPACE.spare)) : Infinity; // beneath whole graphs
    const larger = narrow && sizes.length < 2 ? most / (1 + GRAPH) - edge - key.offsetHeight : Infinity; // beneath a graph that is the larger part
    const high = Math.max(SCORE.part * most, readable.find((tall, i) => tall <= (i < readable.length - 1 ? Math.min(left, larger, part * most, all * most) : all * most)) ?? 0);
    score.style.maxHeight = beside ? "" : `${high}px`;
    const around = edge + key.offsetHeight + (beside ? 0 : score.offsetHeight);
    const room = most - around;
    const staff = beside ? parseFloat(score.style.getPropertyValue("--mg-staff-high")) : 0;
    const across = beside ? LANE * wide : wide;
    const ways = [sizes.length, ...(beside ? [] : [1])].map((rows) => {
      const columns = sizes.length / rows;
      const named = (/** @type {boolean} */ aside) => sizes.map((size) => (aside ? { ...size, above: SPACE.above } : size));
      const scaled = (/** @type {typeof sizes} */ all, left = 0) => all.map(({ width, height, above, most }) =>
        Math.min(most, (across / columns - SPACE.aside - left) / width, (room / rows - above) / height));
      const clear = scaled(named(true)).map((scale, i) => (across - sizes[i].width * scale) / 2);
      const free = Math.min(...clear) > SPACE.words;
      const [below, apart] = [scaled(sizes), scaled(named(true), free ? 0 : SPACE.words)];
      const aside = !beside && rows > 1 && (free || apart[0] > below[0]); // its name stands beside it
      const parts = named(aside);
      const scales = aside ? apart : below;
      const heights = parts.map(({ height, above }, i) => Math.max(height * Math.max(0, scales[i]) + above, staff));
      return { rows, aside, free, seen: Math.min(...scales), heights, needed: rows > 1 ? sum(heights) : Math.max(...heights) };
    });
    const best = ways.reduce((a, b) => (b.seen > a.seen || (b.seen === a.seen && b.needed < a.needed) ? b : a));
    const rows = best.heights.map((high) => `minmax(0, ${high.toFixed()}fr)`).join(" ");
    stages.style.gridTemplate = best.rows > 1 ? `${rows} / minmax(0, 1fr)`
      : `minmax(0, 1fr) / repeat(${sizes.length}, minmax(0, 1fr))`;
    score.style.gridTemplateRows = beside ? rows : "";
    root.classList.toggle("mg-rows", best.rows > 1);
    root.classList.toggle("mg-aside", best.aside);
    root.classList.toggle("mg-apart", best.aside && !best.free);
    const filled = beside || (!narrow && sizes.length > 1 && best.seen < NEAR); // small cards: more height would be air around them
    const needed = Math.max(best.needed, filled ? 0 : GRAPH * around) + around;
    const least = root.matches(".mg-drawn") ? 0 : narrow ? SHORTEST.narrow : SHORTEST.wide;
    screen.style.setProperty("--mg-high", `${Math.min(most, Math.max(least, Math.ceil(needed)))}px`);
    if (again && edges() !== edge) arrange(false); // sentences below each other are higher
  };
  return () => arrange();
}

/**
 * Let what is said of a card lie on the right, or on the left where it would hide the card.
 * @param {{body: Element, side: HTMLElement}} parts @param {Element} [card]
 */
function aside({ body, side }, card) {
  const { right, width } = body.getBoundingClientRect();
  const free = right - Math.min(SIDE.most, SIDE.part * width);
  side.classList.toggle("mg-left", (card?.getBoundingClientRect().right ?? 0) > free);
}

/** The sentences of a step, of each film; what is said of all is said once. @param {HTMLElement} parent @param {Frame} frame @param {{label: Pair}[]} [lanes] */
function tellFrame(parent, { captions, still }, lanes) {
  parent.classList.add("mg-saying");
  parent.replaceChildren();
  const one = captions.every((pair) => halves(pair) === halves(captions[0]));
  captions.slice(0, one ? 1 : undefined).forEach((pair, i) => {
    const label = one ? null : lanes?.[i]?.label;
    const said = label ? /** @type {Pair} */ ([`${label[0]}: ${pair[0]}`, `${label[1]}：${pair[1]}`]) : pair;
    const part = say(make("div", still?.[i] ? "mg-ended" : "", parent), said);
    part.classList.toggle("mg-of-all", one);
    part.setAttribute("title", halves(pair));
  });
}

/** The steps of which some sentence is among the longest, in either language. @param {Frame[]} frames */
function wordiest(frames) {
  const films = frames[0]?.captions.map((_, i) => i) ?? [];
  const longest = (/** @type {(captions: Pair) => number} */ long) =>
    films.flatMap((i) => frames.toSorted((a, b) => long(b.captions[i]) - long(a.captions[i])).slice(0, LONGEST));
  return [...longest(([en]) => en.length), ...longest(([, zh]) => zh.length)];
}


/**
 * The whole lines of the program, of which the rows of the score show the parts that count.
 * @param {HTMLElement} panel @param {Data} data
 */
function program(panel, { listing }) {
  for (const [file, first, lines] of listing) {
    const list = make("ol", "mg-program", panel);
    list.start = first;
    list.title = file;
    for (const line of lines) make("li", "", list).textContent = line || " ";
  }
}

/**
 * What the looks mean, and the keys.
 * @param {HTMLElement} panel @param {Data} data
 */
function help(panel, { words, still }) {
  const list = make("ul", "mg-legend", panel);
  const resting = { born: words.look_born, ran: words.look_ran, bad: words.look_bad };
  const moving = { now: words.look_now, grad: words.look_grad, freed: words.look_freed };
  for (const [kind, meaning] of Object.entries(still ? resting : { ...resting, ...moving })) {
    const entry = make("li", "", list);
    make("span", `mg-patch mg-patch-${kind}`, entry).textContent = kind === "grad" ? "∂" : "";
    say(entry, meaning);
  }
  const tensor = make("li", "", list);
  pictured(LEGEND, "value", MINIATURE, tensor);
  say(tensor, words.look_swatch);
  if (!still) say(make("li", "", list), words.look_marks);
  say(make("p", "mg-keys", panel), words.keys);
}
