// The player's fixed places: what is written in them changes, their size never does.
const LONGEST = 12; // sentences of a film, for which there is room

/**
 * @param {Element} el @param {Data} data @param {boolean} alone a page of its own
 */
function places(el, data, alone) {
  const { labels, words } = data;
  const root = make("section", "mg-player mg-film", el);
  root.tabIndex = 0;
  root.setAttribute("aria-label", labels.player);
  root.style.setProperty("--mg-graphs", String(data.graphs.length));
  root.classList.toggle("mg-drawn", data.still);
  root.classList.toggle("mg-pair", data.graphs.length > 1);
  const screen = make("div", "mg-screen", root);
  const head = make("div", "mg-head", screen);
  const { place: caption, fit } = steady("mg-told", head, tellFrame);
  caption.className = "mg-caption";
  caption.setAttribute("aria-live", "polite");
  const tools = make("div", "mg-tools", head);
  const middle = make("div", "mg-middle", screen);
  const stages = make("div", "mg-stage", middle);
  const side = make("div", "mg-side", middle);
  const tabs = make("div", "mg-tabs", side);
  const inspector = scrolls(make("div", "mg-inspector", side));
  region(inspector, labels.details);
  const code = make("div", "mg-code", side);
  const moving = make("div", "mg-inputs", side);
  const verdict = make("div", "mg-verdict", side);
  const trouble = make("div", "mg-trouble", middle);
  trouble.setAttribute("role", "alert");
  const controls = make("div", "mg-controls", screen);
  controls.hidden = data.still; // nothing moves in a film of one frame
  const flip = (/** @type {boolean} */ coded) => {
    side.classList.toggle("mg-coded", coded);
    folded.setAttribute("aria-pressed", String(coded));
  };
  const folded = button("", labels.code, tabs, () => flip(!side.classList.contains("mg-coded")));
  say(folded, words.code);
  flip(alone && data.listing.length > 0 && !data.still);
  tabs.hidden = !data.listing.length && !data.frames.some((frame) => frame.code.length);
  return { root, screen, head, caption, fit, tools, middle, stages, side, flip, inspector, code, moving, verdict, trouble, controls };
}

/** The sentences of a step, of each film; what is said of all is said once. @param {HTMLElement} parent @param {Frame} frame */
function tellFrame(parent, { captions, still }) {
  parent.classList.add("mg-saying");
  parent.replaceChildren();
  const one = captions.every((pair) => halves(pair) === halves(captions[0]));
  captions.slice(0, one ? 1 : undefined).forEach((pair, i) => {
    const part = say(make("div", still?.[i] ? "mg-ended" : "", parent), pair);
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
  if (!still) {
    const entry = make("li", "", list);
    for (const [clock, word] of Object.entries(verbs(words)))
      say(make("span", `mg-mark mg-lit mg-${clock}`, entry), word);
    say(entry, words.look_marks);
  }
  say(make("p", "mg-keys", panel), words.keys);
}
