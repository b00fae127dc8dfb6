// The score: when each line was built and when it ran. A staff for each film, on one axis of steps.
// All of it is drawn once; a step moves the edge up to which it is uncovered.
const TALLEST = 44; // pixels of a row
const MEDIUM = 26; // and of one in a player that has room for it
const [READABLE, SMALLEST] = [13, 12]; // of one, at least, whose code is written beside it; and in small letters
const [SPACIOUS, ROOMY, TELLING] = [22, 19, 17]; // and of one of few, in which a mark can show a number, with a ring around it or just so, or the colours of a tensor
const CROWDED = 100; // steps, of which marks on a phone are dots, in low rows
const MANY_ROWS = 40; // rows; of more, the marks make two diagonals
const DIAGONAL = 130; // pixels of these
const FEW_ROWS = 9; // up to which a staff may stand beside its drawing
const FOOT = 33; // pixels below the rows, for the phases, of which a word may have two lines
const BROW = 3; // and above them, at least: a number may be higher than its row
const AXIS = 15; // and for what the columns are called
const TICK = 26; // pixels from one number of the axis to the next, at least
const [DIGIT_OF_AXIS, OF_TICK] = [4, 13]; // and half of a digit of it, with some room; and for each digit of the last one
const BETWEEN_TICKS = 3; // pixels between the number of the last step and that before it, at least
const BEFORE = 10; // and from what it is called to the middle of its first number
const HEAD_OF_STAFF = 26; // pixels above the rows, for what is counted
const AROUND_STAFF = 8; // pixels above and below it
const END = 12; // pixels to the right of the last step
const [BESIDE_MARKS, FROM_EDGE] = [5, 4]; // pixels from the last mark to the playhead at the end, and from that to the edge, at least
const NARROW_SCORE = 400; // pixels; below, code is small
const LONG_CODE = 26; // letters of it that tell too little once they are cut
const BRIEF_CODE = 20; // letters of it where only that of the step has room
const [CODE_LETTER, SMALL_LETTER] = [7.3, 6.7]; // pixels of a letter of code
const OVER = 76; // pixels in which it has room to say that a film is over
const BESIDE_HEAD = 3; // pixels from a phase to the playhead at the end, at least
const HAIR = 5; // pixels of a phase, below which not even its sign has room
const DOUBLE = 11; // of the radius of a mark in which a ring has room
const DASHED = 7; // and of one that is dashed
const [COLOURED, WRITTEN] = [5, 5.6]; // and of one with the colours of a tensor, or a number in small letters
const [NUMBERED, OVERLAPPED] = [7.6, 0.53]; // and of one with a number that lies on the next; and of the way to it, at most
const SMALL_NUMBER = 11; // pixels of the letters of a number beside its mark
const [LETTERS_OF_MARK, HALF_HIGH] = [[12, SMALL_NUMBER], 0.375]; // pixels of a number in a mark, and of them from its middle to its top: its corners lie in the circle, too
const [LARGER_MARK, OF_ROW] = [1.5, 0.6]; // times as large as others a mark may be for its number, and of its row
const [BESIDE, HALO, LOWERED] = [3, 1, 2]; // pixels from a mark to its number where that is beside it; around the number; and below the middle of two rows one that is added
const DOT = 4; // pixels of a mark's radius; smaller ones are dots
const JOINED = 15; // pixels between dots of a row that are one band, as those of steps in a row are
const [BAND, BAND_EDGE] = [11, 2.5]; // pixels that it is high, at most; and that a dot is larger that was built and ran at once
const [COMB, TOOTH] = [3.45, 0.62]; // pixels from one mark of an even band to the next, at least, where each is seen; and how much of it a mark takes
const BANDED = { marks: 20, high: 10, font: 11 }; // marks of a band that says how many it has, at least; its height, at least; and of its letters, pixels
const ENDS = { marks: 3, apart: 4.2, wide: 3.2, part: 0.3 }; // of such a band that are seen each at either end, at most; pixels from one to the next of another row, and of one; their part of it, at most
const LONE = 5; // pixels of a mark that is in no band, where others are
const LINKED = 4; // marks before one, to which it has a line if it reads them
const PARTS = [...Array(19)].map((_, i) => (i + 1) / 20); // of such a line, where it may meet another mark
const TURN = 24; // pixels from one turn of what follows on what to the next, at least; else it is cloth

const CONSTANT = 3; // pixels of the radius of a constant
const KEYED = /** @type {[number, number]} */ ([27, 11]); // pixels of the colours of tensors in the key
const LEGEND = "c7:049flqu"; // a tensor from far below zero to far above
const KEYS = { build: "built", run: "run", both: "both" }; // the marks of phases too narrow for their words
const [PHASE_LETTER, AROUND_WORD, OF_EDGES] = [12, 10, 4]; // pixels of the letters of a phase, around its words, and of its edges
const OF_DEL = 11; // of one with ∂, if that before it can be shorter
const OF_MARK = [15, 9]; // and of one with its mark, or with ∂
const WAY_BACK = { gradients: true, backward: true }; // whose mark it is
const AROUND_TALLY = 46; // around what is counted, and its name
const HALVED = 0.52; // of its length, that a word of two halves needs in two lines
const CHINESE = /[\u2e80-\u9fff]/g; // letters as wide as they are high, as is a dash, which every font has
const LESS_ROOM = ["mg-two", "mg-briefly", "mg-bare"]; // how phases do, and what is counted
const TERSER = ["mg-curt", "mg-snug", "mg-terse"];

/**
 * @param {HTMLElement} place what it fills @param {Scored} data
 * @param {{hover(id: string, on: boolean): void}} actions
 */
function score(place, data, { hover }) {
  const staffs = data.lanes.map((lane) => staff(place, lane, data));
  const head = make("div", "mg-playhead", place);
  const names = data.lanes.map(({ rows }) => rowNames(rows)).flat();
  const longestOf = (/** @type {string[]} */ all) => Math.max(...all.map((name) => name.length), 1);
  const widest = longestOf(names);
  const most = Math.max(...data.lanes.map(({ rows }) => rows.length));
  place.toggleAttribute("data-beside", most <= FEW_ROWS);
  const high = most > MANY_ROWS ? DIAGONAL : most * MEDIUM;
  place.style.setProperty("--mg-staff-high", `${high + FOOT + HEAD_OF_STAFF}px`);
  const tall = (/** @type {number} */ row) => staffs.length * (most * row + FOOT + HEAD_OF_STAFF + AROUND_STAFF) + AXIS;
  place.toggleAttribute("data-crowded", data.frames.length > CROWDED);
  place.dataset.tall = (most <= FEW_ROWS ? [SPACIOUS, ROOMY, TELLING, READABLE, SMALLEST] : [READABLE, SMALLEST]).map(tall).join(" ");
  place.classList.toggle("mg-of-column", data.lanes.some(({ columns }) => columns));
  let index = 0;
  let past = 0; // pixels from the last step to the playhead at the end
  /** @type {string[]} */
  let pointed = [];

  const show = (/** @type {number} */ to) => {
    index = to;
    for (const one of staffs) one.show(to, past);
    place.style.setProperty("--mg-step", String(to));
    place.classList.toggle("mg-at-end", to === data.frames.length - 1);
  };
  const draw = () => {
    const wide = place.clientWidth;
    if (!wide) return;
    const slim = wide < NARROW_SCORE;
    place.classList.toggle("mg-slim", slim);
    for (const one of staffs) one.tally();
    const snug = staffs.some(({ box }) => box.classList.contains("mg-snug"));
    for (const { box } of staffs) box.classList.toggle("mg-snug", snug);
    const thin = staffs.every((one) => one.room() < (slim ? SMALLEST : READABLE));
    const own = slim && place.matches(".mg-of-column") ? longestOf(names.map((name) => name.replace(/^return /, ""))) : widest; // its columns need the room
    const longest = thin ? (slim ? 0 : BRIEF_CODE) : own;
    const left = slim ? Math.min(longest * SMALL_LETTER + 18, wide * 0.34) : Math.min(longest * CODE_LETTER + 28, wide * 0.42);
    const column = (wide - left - END) / data.frames.length;
    const brief = wordless(place, data, column);
    place.style.setProperty("--mg-axis", `${left}px`);
    place.style.setProperty("--mg-column", `${column}px`);
    const reach = staffs.map((one) => one.draw(left, column, brief));
    const told = reach.every(({ told }) => told); // else no mark has a number
    const end = Math.max(...(told ? reach : staffs.map((one) => one.draw(left, column, brief, true))).map(({ right }) => right));
    const last = left + column * (data.frames.length - 0.5);
    past = Math.max(0, Math.min(end + BESIDE_MARKS - last, wide - FROM_EDGE - last));
    place.style.setProperty("--mg-past", `${past}px`);
    place.classList.toggle("mg-no-constants", !place.querySelector(".mg-note-of-constant"));
    for (const one of staffs) one.axis(past);
    place.classList.toggle("mg-solid", !place.querySelector(".mg-note > :is(.mg-colours, text:not(:empty, .mg-beside))"));
    show(index);
  };
  const sized = new ResizeObserver(draw);
  sized.observe(place);
  for (const { lines, name } of staffs) [lines, name].forEach((part) => sized.observe(part)); // a name changes with the language

  // A mark and the card of its node are one thing.
  const point = (/** @type {Note[]} */ notes) => {
    const nodes = [...new Set(notes.flatMap(([, , , ids]) => ids))];
    if (String(nodes) === String(pointed)) return;
    pointed.forEach((node) => hover(node, false));
    nodes.forEach((node) => hover(node, true));
    pointed = nodes;
    place.title = notes.length ? `${notes[0][0]}: ${[...new Set(notes.map((note) => noted(note, data)))].join(" · ")}` : "";
  };
  const ended = new AbortController();
  const { signal } = ended;
  place.addEventListener("pointermove", (event) => point(staffs.flatMap((one) => one.under(event))), { signal });
  place.addEventListener("pointerleave", () => point([]), { signal });
  return {
    show,
    /** @param {Set<string>} nodes @param {boolean} on */
    point: (nodes, on) => staffs.forEach((one) => one.point(on ? nodes : new Set())),
    leave() {
      ended.abort();
      sized.disconnect();
      head.remove();
      staffs.forEach(({ box }) => box.remove());
    },
  };
}

/**
 * What the marks of a score mean, as far as there are such; and the colours of tensors, if it has any.
 * @param {HTMLElement} place @param {Pick<Data, "lanes" | "words"> & {nodes: Noted}} data
 */
function scoreKey(place, { lanes, words, nodes }) {
  const seen = (/** @type {Lane["notes"][0]} */ [step, row, , , sort], /** @type {Lane["notes"]} */ notes) => ( // no larger mark lies on it
    sort !== "constant" || notes.every((other) => other[4] === "constant" || other[1] !== row || Math.abs(other[0] - step) > 0.3)
  );
  const marks = lanes.flatMap(({ notes }) => notes.filter((note) => seen(note, notes) && note[4] !== "gradient").map(([, , kind, , sort]) => (sort === "input" && kind === "built" ? "declared" : sort || kind)));
  const known = Object.values(nodes).flatMap(({ values, gradients }) => [...values, ...gradients].map(([, summary]) => summary));
  marks.push("held", "now", "later", known.some(({ bad }) => bad) ? "bad" : "", Object.values(nodes).some(({ freed, values }) => values.some(([at]) => at > (freed ?? Infinity))) ? "anew" : "");
  const looks = { built: words.key_built, both: words.phase_both, run: words.key_ran, declared: null, input: words.key_input, seed: words.key_seed, gradient: words.gradient,
    ...(lanes[0]?.columns ? {} : { constant: words.key_constant, held: words.key_held, bad: words.key_bad, now: words.key_now, later: words.key_later, anew: words.key_anew }) };
  place.replaceChildren();
  for (const [look, word] of Object.entries(looks)) {
    if (!marks.includes(look)) continue;
    const entry = make("span", `mg-key-${look}`, place);
    if (look === "built" && lanes.some(({ plan }) => plan)) make("i", "", entry); // until it runs
    say(entry, word);
  }
  const scales = make("span", "mg-key-tensor", place); // in one line
  for (const [of, each] of /** @type {const} */ ([["value", "values"], ["grad", "gradients"]])) {
    if (!Object.values(nodes).some((node) => node[each].some(([, { swatch }]) => swatch !== undefined))) continue;
    scales.append(of === "grad" ? " \u00a0 \u00a0∂ − " : "− ");
    pictured(LEGEND, of, KEYED, scales);
    scales.append(" +");
  }
  if (!scales.firstChild) scales.remove();
}

/** A note in words: what happened, to what, and what came out. @param {Note} note @param {Scored} data */
function noted([, , kind, nodes, sort, step], { words, nodes: known }) {
  const verb = { built: words.clock_built, run: words.clock_run, both: words.clock_both, gradient: words.clock_gradient }[kind];
  const name = `${kind === "gradient" || sort === "gradient" ? "∂" : ""}${known[nodes[0]]?.label ?? ""}`;
  const value = held(nodes[nodes.length - 1], kind, step, known)?.short;
  const what = `${name}${nodes.length > 1 ? "…" : ""}${value ? ` = ${value}` : ""}`;
  return halves([`${verb[0]} ${what}`, `${verb[1]} ${what}`]);
}

/**
 * What a node holds after a step; nothing where it was only built.
 * @param {string} id @param {NoteKind} kind @param {number} step @param {Noted} nodes
 */
function held(id, kind, step, nodes) {
  const { values, gradients } = nodes[id];
  return kind === "built" ? undefined : latest(kind === "gradient" ? gradients : values, step);
}

/**
 * The rows of one film.
 * @param {HTMLElement} place @param {Lane} lane @param {Scored} data
 */
function staff(place, lane, data) {
  const box = make("div", "mg-staff", place);
  const top = make("div", "mg-staff-head", box);
  const name = make("span", "mg-lane-name", top);
  say(name, lane.label);
  const line = make("span", "mg-line-now", top); // where there is no room for each in its row
  const tally = make("span", "mg-tally", top);
  const lines = make("div", "mg-staff-lines", box);
  const svg = shape("svg", { role: "img", "aria-label": lane.said }, lines);
  const told = rowNames(lane.rows);
  const names = lane.rows.map(([label, code]) => {
    const name = make("div", code ? "mg-row-name" : "mg-row-name mg-no-code", lines);
    name.title = label;
    return name;
  });
  const { words } = data;
  const ran = new Set(lane.notes.flatMap(([, row, kind]) => (kind === "run" ? [row] : [])));
  const arms = lane.rows.flatMap(([label], i) => (/^(then|else): /.test(label) ? [i] : []));
  const decided = Math.min(...lane.notes.flatMap(([step, row, kind]) => (kind === "run" && arms.includes(row) ? [step] : []))); // when one of them runs
  const untaken = arms.filter((row) => !ran.has(row) && !lane.columns).map((row) => ({ row, box: /** @type {HTMLElement} */ (say(make("div", "mg-untaken", lines), words.key_untaken)) }));
  const over = lane.columns ? Infinity : Math.max(...lane.lives.map(([, , end]) => end)); // where a film ends before the other
  const ended = over < data.frames.length - 2 && /** @type {HTMLElement} */ (say(make("div", "mg-untaken mg-over", lines), words.key_over));
  const does = { both: words.phase_both, build: words.phase_build, gradients: words.phase_gradients, run: words.phase_run, backward: words.phase_backward };
  const phases = lane.phases.map(([kind]) => {
    const phase = make("div", `mg-phase mg-phase-${kind}`, lines);
    say(make("span", "", phase), [does[kind][0], does[kind][1].replace("+ ", "+\u00a0")]); // no line ends with its sign
    if (kind === "backward") say(make("span", "mg-brief-word", phase), words.phase_backward_short);
    make("span", `mg-sign-of ${kind in WAY_BACK ? "mg-del" : `mg-key-${KEYS[/** @type {keyof typeof KEYS} */ (kind)]}`}`, phase);
    phase.title = halves(does[kind]);
    return phase;
  });
  const counts = [words.tally_built, words.tally_run, words.tally_gradient].map((word, i) => {
    const part = make("span", `mg-tally-${["built", "run", "grad"][i]}`, tally);
    const said = make("span", "mg-count", part);
    say(part, word);
    if (i === 2 && lane.through[0]) say(make("span", "mg-through", part), lane.through);
    return { part, said };
  });
  const notes = lane.notes.map(([step, row, kind, ids, sort]) => (
    /** @type {Note} */ ([Math.round(step), row, kind, ids.split(" ").map((id) => lane.prefix + id), sort, step])
  ));
  const closer = closest(notes);
  const first = lane === data.lanes[0] && !lane.columns;
  const called = (lane.columns ?? []).map((words) => {
    const column = make("div", "mg-column", lines);
    for (const word of words) say(make("span", "", column), word);
    return column;
  });
  let brow = called.length || first ? AXIS : BROW;
  const axis = shape("svg", { class: "mg-axis" }, lines); // above the playhead
  const titled = make("span", "mg-axis-name", lines); // before the first number
  if (first) for (const word of [words.score_axis, words.score_axis_short]) say(make("span", "", titled), word);
  const parts = layers(svg);
  const byStep = Map.groupBy(notes, ([step]) => step);
  /** @type {Place} */
  let at = { left: 0, column: 1, row: 1, top: 0, radius: 1, largest: 1, wide: 0, high: 0, silent: false, own: new Map() };
  /** @type {HTMLElement[]} */
  let here = [];
  let letters = 0; // of the line of code that is told above the rows

  const count = (/** @type {number} */ index) => {
    const counted = lane.counted.findLast(([step]) => step <= index) ?? lane.counted[0];
    counts.forEach(({ part, said }, i) => {
      said.textContent = String(counted[i + 1]);
      part.hidden = !lane.counted[lane.counted.length - 1][i + 1];
      part.classList.toggle("mg-none-yet", !counted[i + 1]);
    });
  };
  return {
    box,
    lines,
    name,
    /** What is counted, with words if there is room for them when it is at its widest. */
    tally() {
      count(Infinity);
      box.classList.remove(...TERSER);
      for (const less of TERSER)
        if (name.offsetWidth + tally.offsetWidth > place.clientWidth - AROUND_TALLY) box.classList.add(less);
    },
    /** The pixels of a row. */
    room: () => (lines.clientHeight - FOOT - brow) / Math.max(1, lane.rows.length),
    /** @param {number} left @param {number} column @param {Map<string, string>} brief how phases are shown that have no room for their words @param {boolean} silent whether marks have no numbers */
    draw(left, column, brief, silent = false) {
      const [wide, high] = [lines.clientWidth, lines.clientHeight];
      lines.classList.remove("mg-stacked");
      for (const each of called) each.style.width = `${column}px`;
      const stacked = lines.classList.toggle("mg-stacked", called.some((each) => each.scrollWidth > column));
      if (called.length) brow = stacked ? 2 * AXIS : AXIS;
      const rows = Math.max(1, lane.rows.length);
      const row = Math.max(0, Math.min(TALLEST, (high - FOOT - brow) / rows));
      const near = nextMark(notes, column, row);
      const gap = Math.min(lane.columns || 2 * column * 0.43 < DASHED ? 1 : 2, ...closer); // dots have less
      const close = Math.min(gap * column * OVERLAPPED, near * 0.52); // where each shows a number, those of steps in a row may lie on each other's edge
      const radius = Math.max(1.5, Math.min(lane.columns ? inside(notes) * column : 15, row * 0.42, Math.max(Math.min(gap * column * 0.43, near * 0.46), close < WRITTEN ? 0 : Math.min(close, NUMBERED))));
      at = { left, column, row, top: Math.max(brow, (high - FOOT - row * rows) / 2), radius, largest: radius, wide, high, silent, own: new Map() };
      const slim = wide < NARROW_SCORE;
      const thin = box.classList.toggle("mg-thin", row < (slim ? SMALLEST : READABLE));
      box.classList.toggle("mg-tight", row < 18);
      place.classList.toggle("mg-dotted", radius < DOT);
      box.style.setProperty("--mg-rows-from", `${at.top}px`);
      letters = slim ? fitting(left - 16, SMALL_LETTER) : fitting(left - 28, CODE_LETTER);
      names.forEach((each, i) => {
        const operator = lane.rows[i][2] ?? ""; // says more than code that is cut, if no other row has it
        const cut = slim && short(told[i], letters).includes("…") && operator.length <= letters && lane.rows.filter(([, , name]) => name === operator).length < 2;
        const shown = short(cut ? operator : told[i], letters);
        const part = Object.values({ ...ARMS, ...BODIES }).find(([half]) => shown.startsWith(`${half}: `));
        each.textContent = part ? "" : shown;
        if (part) for (const [lang, said] of [["en", shown], ["zh", shown.replace(part[0], part[1])]]) {
          const half = make("span", "", each);
          [half.lang, half.textContent] = [lang, said];
        }
      });
      letters = Math.min(slim ? 99 : letters, fitting(wide - name.offsetWidth - tally.offsetWidth - 70, CODE_LETTER));
      svg.setAttribute("width", String(wide));
      svg.setAttribute("height", String(high));
      names.forEach((name, i) => {
        const lowest = thin ? high - FOOT - 16 : Infinity;
        name.style.top = `${Math.max(0, Math.min(lowest, at.top + row * (i + 0.5) - 8))}px`;
      });
      for (const { row: i, box } of untaken) { // behind the mark of its birth, where no arrow to the other one passes
        const born = notes.find(([, row]) => row === i)?.[0] ?? 0;
        Object.assign(box.style, { top: `${at.top + row * (i + 0.5) - 8}px`, left: `${left + (born + 0.5) * column + radius + 3}px` });
      }
      if (ended) Object.assign(ended.style, { top: `${at.top + (row * rows) / 2 - 8}px`, left: `${left + (over + 1) * column + 10}px` });
      lane.phases.forEach(([kind, start, end], i) => {
        const { style, classList } = phases[i];
        const room = brief.get(kind);
        const own = left + (start + 0.04) * column;
        const has = Math.min((end - start + 0.92) * column, lane.columns ? Infinity : left + (data.frames.length - 0.5) * column - BESIDE_HEAD - own); // beside the playhead at its end
        const lacks = kind === "gradients" && i && has >= HAIR ? Math.max(0, OF_DEL - has) : 0; // the word before it leaves room for its sign
        const [from, width] = [own - lacks, has + lacks];
        if (lacks) phases[i - 1].style.width = `${parseFloat(phases[i - 1].style.width) - lacks}px`;
        style.left = `${from}px`;
        style.top = `${at.top + row * rows + 3}px`;
        style.width = `${width}px`;
        for (const way of LESS_ROOM) classList.toggle(way, room === way);
        classList.toggle("mg-sliver", width < (room === "mg-bare" ? OF_MARK[Number(kind in WAY_BACK)] : 0));
        classList.toggle("mg-hair", width < HAIR);
      });
      called.forEach((each, i) => {
        Object.assign(each.style, { left: `${left + i * column}px`, top: `${at.top - brow}px` });
      });
      compose(parts, lane, notes, at, data);
      place.classList.toggle("mg-banded", Boolean(parts.past.querySelector("[stroke-linecap=butt]")));
      const own = [...at.own.values()];
      const beside = [...parts.past.querySelectorAll(".mg-beside")].map((word) => word instanceof SVGGraphicsElement ? word.getBBox() : { x: 0, width: 0 });
      const right = lane.columns ? 0 : Math.max(...[...at.own].map(([note, { radius }]) => middle(note, at)[0] + radius + ringed(note, at)), ...beside.map(({ x, width }) => x + width));
      return { right, told: own.every(({ text, font, beside }) => !text || font || beside) };
    },
    /** @param {number} past pixels from the last step to where the playhead is at the end */
    axis(past) {
      if (!first) return;
      const { left, column, wide } = at;
      Object.assign(titled.style, { top: `${at.top - AXIS}px`, right: `${wide - left - column / 2 + BEFORE}px` });
      titled.classList.remove("mg-brief-axis");
      titled.classList.toggle("mg-brief-axis", titled.offsetLeft < BEFORE);
      titled.style.visibility = titled.offsetLeft < 0 ? "hidden" : ""; // not even the short word has room
      stepAxis(axis, at, data.frames.length, past);
    },
    /** @param {number} index @param {number} past */
    show(index, past) {
      const now = byStep.get(index) ?? [];
      const wider = Math.max(0, at.largest + 1.5 - at.column / 2); // a mark may be wider than its column
      const next = Math.max(0, at.left + at.column * (index + 1) - wider);
      parts.past.setAttribute("width", String(index < data.frames.length - 1 ? next : at.wide));
      parts.here.replaceChildren();
      const cut = notes.filter((note) => note[0] <= index && note[4] !== "gradient" && middle(note, at)[0] + at.largest + 1.5 > next);
      if (wider && !called.length && at.radius >= DOT) for (const note of cut) mark(note, at, parts.here, data);
      parts.lines.setAttribute("width", String(at.left + at.column * (index + (lane.columns ? 1 : 0.5)) + (index < data.frames.length - 1 ? 0 : past))); // up to the playhead
      called.forEach((each, i) => each.classList.toggle("mg-here", i === index));
      parts.now.replaceChildren(...(called.length ? [] : now).filter(drawnLarge).map((note) => ring(note, at)));
      for (const name of here) name.classList.remove("mg-here");
      here = called.length ? [] : [...new Set(now.map(([, row]) => names[row]))];
      if (box.classList.contains("mg-thin")) here.splice(1);
      line.textContent = letters > 5 ? short(here[0]?.title ?? "", letters) : "";
      for (const name of here) name.classList.add("mg-here");
      for (const { box } of untaken) box.hidden = index < decided;
      if (ended) ended.hidden = at.column * (index + 1 - over) < OVER; // until it is past
      lane.phases.forEach(([, start], i) => phases[i].classList.toggle("mg-lit", Math.floor(start + 0.01) <= index));
      count(index);
    },
    /** @param {PointerEvent} event */
    under({ clientX, clientY }) {
      const from = svg.getBoundingClientRect();
      const [step, row] = [(clientX - from.left - at.left) / at.column, (clientY - from.top - at.top) / at.row].map(Math.floor);
      if (clientY < from.top || clientY > from.bottom) return [];
      return notes.filter((note) => drawnLarge(note) && note[1] === row && (step < 0 || note[0] === step));
    },
    /** @param {Set<string>} nodes */
    point(nodes) {
      const meant = nodes.size ? notes.filter(([, , , ids]) => ids.some((id) => nodes.has(id))) : [];
      parts.pointed.replaceChildren(...meant.filter(drawnLarge).map((note) => ring(note, at)));
    },
  };
}

/**
 * How the kinds of phases are shown of which some have no room for their words, in the longer of the two
 * languages or as they are shown: in two lines, by a short word, or by their marks.
 * @param {HTMLElement} place @param {Pick<Scored, "lanes" | "words">} data @param {number} column
 */
function wordless(place, { lanes, words }, column) {
  const shown = [...place.querySelectorAll(".mg-phase")];
  for (const each of shown) each.classList.remove(...LESS_ROOM);
  const needs = (/** @type {string} */ said, /** @type {string} */ where) => Math.max(...words[said].map((word) => measured(word.replace(CHINESE, "—"), PHASE_LETTER) + AROUND_WORD),
    ...[...place.querySelectorAll(where)].map((each) => each.getBoundingClientRect().width + OF_EDGES));
  const long = once((/** @type {string} */ kind) => needs(`phase_${kind}`, `.mg-phase-${kind} > :first-child`));
  const brief = once((/** @type {string} */ kind) => (kind === "backward" ? needs("phase_backward_short", ".mg-brief-word") : long(kind)));
  const found = new Map();
  for (const [kind, start, end] of lanes.flatMap(({ phases }) => phases)) {
    const wide = (end - start + 0.92) * column;
    if (wide < brief(kind) * (kind === "both" ? HALVED : 1)) found.set(kind, "mg-bare");
    else if (wide < long(kind) && !found.has(kind)) found.set(kind, kind === "both" ? "mg-two" : "mg-briefly");
  }
  return found;
}

/**
 * What the rows are called: by their code, or, if it is long, by the operator alone where that tells them apart.
 * @param {Lane["rows"]} rows
 */
function rowNames(rows) {
  const names = rows.map(([label, , name]) => (name && label.length > LONG_CODE ? name : label));
  return names.map((name, i) => (names.indexOf(name) === names.lastIndexOf(name) ? name : rows[i][0]));
}

/** How many letters fit; rounding must not cost one that fits exactly. @param {number} room @param {number} letter */
const fitting = (room, letter) => Math.floor(room / letter + 0.01);

/** A line of code, cut: of a dotted name the end is left, of what is returned the beginning. @param {string} code @param {number} most letters */
function short(code, most) {
  if (code.length <= most) return code;
  const [own, left] = [code.replace(/^return /, ""), Math.max(0, most - 1)];
  const last = /^\w+(\.\w+)+$/.test(own) ? own.split(".").pop() ?? own : own;
  if (own.length <= most) return own;
  if (last.length <= most) return last;
  return last === own ? `${own.slice(0, left)}…` : `…${own.slice(own.length - left)}`;
}

/** Constants are dots beside what reads them; the nodes that gradients need are counted. @param {Note} note */
const drawnLarge = (note) => note[4] !== "constant" && note[4] !== "gradient";

/** How far the marks of each row are from each other, in columns. @param {Note[]} notes */
function closest(notes) {
  const rows = Map.groupBy(notes.filter(drawnLarge), ([, row]) => row);
  return [...rows.values()].flatMap((row) => {
    const places = row.map((note) => note[5]).sort((a, b) => a - b);
    return places.slice(1).map((place, i) => place - places[i]).filter(Boolean);
  });
}

/** How far marks that follow each other are apart, in pixels. @param {Note[]} notes @param {number} column @param {number} row */
function nextMark(notes, column, row) {
  const places = notes.filter(drawnLarge).sort((a, b) => a[5] - b[5] || a[1] - b[1]);
  return Math.min(...places.slice(1).map((note, i) => Math.hypot((note[5] - places[i][5]) * column, (note[1] - places[i][1]) * row)).filter(Boolean), Infinity);
}

/** How far the marks are from the edge of their column, in columns: within it they stay. @param {Note[]} notes */
const inside = (notes) => Math.min(...notes.filter(drawnLarge).flatMap(([step, , , , , place]) => [place - step + 0.5, step + 0.5 - place])) - 0.01;

/** What lies on each other in a staff; each <svg> in it ends where the past does. @param {SVGSVGElement} svg */
function layers(svg) {
  const rest = shape("g", {}, svg);
  const [lines, past] = [0, 1].map(() => shape("svg", { height: "100%", overflow: "hidden" }, svg));
  return { rest, lines, past, here: shape("g", {}, svg), now: shape("g", { class: "mg-notes-now" }, svg), pointed: shape("g", { class: "mg-notes-pointed" }, svg) };
}

/** The middle of a note. @param {Note} note @param {Place} at @returns {[number, number]} */
const middle = ([, row, , , , step], at) => [at.left + at.column * (step + 0.5), at.top + at.row * (row + 0.5)];

/** The numbers of the steps, above the rows, up to where the last one ends. @param {Element} parent @param {Place} at @param {number} steps @param {number} past */
function stepAxis(parent, { left, column, top, wide }, steps, past) {
  const by = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((n) => n * column >= Math.max(TICK, OF_TICK * String(steps).length * Number(column < TICK))) ?? steps;
  parent.replaceChildren();
  const half = DIGIT_OF_AXIS * String(steps - 1).length;
  const tick = (/** @type {number} */ step, /** @type {number} */ x) => { shape("text", { class: "mg-tick", x, y: top - 4 }, parent).textContent = String(step); };
  const last = Math.min(left + column * (steps - 0.5) + past, wide - half); // where it all ends
  for (let step = 0, x = left + column / 2; step < steps - 1 && x + 2 * half + BETWEEN_TICKS <= last; step += by, x += by * column) tick(step, x);
  tick(steps - 1, last);
}

/** @param {Note} note @param {Place} at */
function ring(note, at) {
  const [cx, cy] = middle(note, at);
  return shape("circle", { cx, cy, r: Math.max((at.own.get(note)?.radius ?? at.radius) + (at.radius < DOUBLE ? 2 : 3.5), DOT) });
}

/**
 * Draws a staff: rows, lives, what follows on what, marks.
 * @param {ReturnType<typeof layers>} parts @param {Lane} lane @param {Note[]} notes @param {Place} at
 * @param {Scored} data
 */
function compose({ rest, lines, past }, { rows, lives, phases, plan, columns }, notes, at, data) {
  const [small, thin] = [at.radius < DOT, at.row < DOT];
  const spot = (/** @type {Note} */ note) => middle(note, at).map((n) => n.toFixed(1)).join(" ");
  const row = (/** @type {number} */ number) => at.top + at.row * (number + 0.5);
  const x = (/** @type {number} */ step) => at.left + at.column * (step + 0.5);
  rest.replaceChildren();
  lines.replaceChildren();
  past.replaceChildren();
  if (!thin) shape("path", { class: "mg-rows-of", d: rows.map((_, i) => `M${at.left} ${row(i)}H${columns ? x(data.frames.length - 0.5) : at.wide}`).join("") }, rest);
  shape("path", { class: "mg-notes-to-come", "stroke-width": small ? Math.min(2, at.column) : 6, d: notes.filter(drawnLarge).map((note) => `M${spot(note)}h0`).join("") }, rest);
  // A node that was built first holds no value until it runs; in a column for each call, of that call.
  const held = lives.map(([i, start]) => (plan ? notes.find((note) => note[1] === i && note[2] === "run" && note[5] >= start && drawnLarge(note))?.[5] : start));
  const last = (/** @type {number} */ end) => (end < data.frames.length - 1 ? x(end) + at.column * 0.4 : at.wide); // up to the playhead
  const drawn = { plan: plan ? lives.map(([i, start, end], k) => `M${x(start)} ${row(i)}H${columns ? x(end) : held[k] === undefined ? last(end) : x(held[k])}`) : [],
    run: columns ? [] : lives.flatMap(([i, , end], k) => (held[k] !== undefined && held[k] < end ? [`M${x(held[k])} ${row(i)}H${last(end)}`] : [])) };
  for (const [look, paths] of Object.entries(drawn)) {
    const life = shape("path", { class: `mg-lives mg-lives-${look}`, d: paths.join("") }, lines);
    if (thin) Object.assign(life.style, { strokeWidth: String(Math.max(1, at.row * 0.6)), strokeDasharray: "none", strokeLinecap: "butt" });
    life.classList.toggle("mg-broad", thin);
    life.classList.toggle("mg-blunt", small && look === "run");
  }
  for (const [k, [kind, start, end]] of phases.entries()) {
    const back = kind === "backward" ? -1 : 1;
    const from = kind === "both" ? Math.min(start, (phases[k - 1]?.[2] ?? -1) + 1) : start; // what it was given before, too
    const within = notes.filter((note) => drawnLarge(note) && note[4] !== "gradient" && note[5] >= from - 0.5 && note[5] <= end + 0.5);
    const ordered = within.toSorted((a, b) => a[5] - b[5] || back * (a[1] - b[1]));
    if (turns(ordered) > 1 && turns(ordered) * TURN > (end - start + 0.92) * at.column) continue;
    const d = ordered.flatMap((note, i) => operands(ordered.slice(Math.max(0, i - (small && data.frames.length > CROWDED ? 1 : LINKED)), i).reverse(), note, at, data));
    if (d.length) shape("path", { class: `mg-stairs mg-stairs-${kind}${small ? " mg-crowded" : ""}`, d: d.join("") }, lines);
  }
  if (small) return dots(notes, at, past, phases);
  for (const note of notes) {
    if (drawnLarge(note)) at.own.set(note, numberOf(note, notes, at, data));
  }
  if (!columns) numbersBeside(notes, at);
  addends(at, [...lines.querySelectorAll(".mg-stairs")], data);
  for (const note of notes) if (note[4] !== "gradient" && !hidden(note, at)) mark(note, at, past, data);
  at.largest = Math.max(at.radius, ...[...at.own.values()].map(({ text, radius, beside, added }) => radius + (beside || added ? BESIDE + HALO + measured(added?.text ?? text, SMALL_NUMBER) : 0)));
}

/** The pairs of nodes that an arrow joins. @type {WeakMap<object, Set<string>>} */
const JOINS = new WeakMap();

/** These pairs; an arrow into a branch or a loop is one to its node, too. @param {Record<string, string[]>} edges */
function pairsOf(edges) {
  const onwards = new Map(Object.entries(edges).filter(([id]) => !/-l\d+$/.test(id)).map(([, [a, b]]) => [a, b]));
  const owner = (/** @type {string} */ id) => {
    while (id && ofBody(id)) id = onwards.get(id) ?? "";
    return id;
  };
  return new Set(Object.values(edges).flatMap(([a, b]) => [b, owner(b)].flatMap((end) => [`${a} ${end}`, `${end} ${a}`])));
}

/** Whether a node is within a branch or a loop. @param {string} id */
const ofBody = (id) => /-b\d+$/.test(id);

/**
 * The ways to a note from those before it that it reads, the last first, if they pass no other: straight, or around.
 * @param {Note[]} before @param {Note} note @param {Place} at @param {Scored} data @returns {string[]}
 */
function operands(before, note, at, data) {
  const [last] = before;
  const next = last && (last[1] === note[1] || inBody(last, note)); // what it is added to, or what a loop runs next
  const from = senders(note, data);
  const sent = before.filter(([, , , ids]) => ids.some((id) => from.has(id))).slice(0, 1);
  const read = sent.length ? sent : before.filter((one) => (next || !data.edges ? one === last : one[1] !== note[1] && !inBody(one, note)) && reads(one, note, data));
  return read.flatMap((one) => {
    const [[x, y], [u, v]] = [middle(one, at), middle(note, at)];
    const others = y === v || (next && !sent.length) ? [] : before.filter((other) => other !== one).map((other) => middle(other, at));
    const corner = [[(x + u) / 2, (y + v) / 2], [u, y], [x, v]].find(([p, q]) => others.every(([a, b]) => PARTS.every((t) => (
      Math.hypot((1 - t) ** 2 * x + 2 * t * (1 - t) * p + t * t * u - a, (1 - t) ** 2 * y + 2 * t * (1 - t) * q + t * t * v - b) > at.radius + 1))));
    return corner ? [`M${[x, y].map(tenths)}Q${[...corner, u, v].map(tenths)}`] : [];
  });
}

/** Of a gradient the nodes that pass it back. @param {Note} note @param {Scored} data */
const senders = ([step, , kind, ids], { edges = {}, frames }) => new Set(kind !== "gradient" ? [] : (
  Object.keys(/** @type {Partial<Frame>} */ (frames[step]).flows ?? {}).map((id) => edges[id] ?? []).filter(([source]) => ids.includes(source)).map(([, target]) => target)));

/** @param {number} n */
const tenths = (n) => n.toFixed(1);

/** Whether one of two notes is within a branch or a loop, and neither an input. @param {Note[]} notes */
const inBody = (...notes) => notes.every(([, , , , sort]) => sort !== "input") && notes.some(([, , , ids]) => ids.some(ofBody));

/**
 * Whether of two notes one node reads the other; in a body what follows is what the branch or loop runs next.
 * @param {Note} one @param {Note} other @param {Scored} data
 */
function reads(one, other, { edges }) {
  const [some, others] = [one[3], other[3]];
  if (!edges) return true;
  const joins = JOINS.get(edges) ?? pairsOf(edges);
  JOINS.set(edges, joins);
  return inBody(one, other) || some.some((a) => others.some((b) => a === b || joins.has(`${a} ${b}`)));
}

/** How often what follows on what turns from down to up. @param {Note[]} notes */
const turns = (notes) => notes.slice(2).filter(([, row], i) => (row - notes[i + 1][1]) * (notes[i + 1][1] - notes[i][1]) < 0).length;

/** Marks where there is no room for circles; those of a row that are close are a band, beside which others are bars. @param {Note[]} notes @param {Place} at @param {Element} parent @param {Lane["phases"]} phases */
function dots(notes, at, parent, phases) {
  /** @type {[string, string, number][]} */
  const looks = [["declared", "given", 0], ["declared", "paper", -2], ["both", "built", BAND_EDGE], ["built", "built", 0], ["built", "paper", -2], ["both", "run", 0],
    ["run", "run", 0], ["given", "given", 0], ["gradient", "gradient", 0]];
  const kindOf = (/** @type {Note} */ [, , kind, , sort]) => (sort === "input" ? (kind === "built" ? "declared" : "given") : kind);
  const did = new Set(notes.flatMap(([step, row, , , sort]) => (sort ? [] : [`${step} ${row}`]))); // what a call is given with it is no mark of its own
  const seen = notes.filter((note) => drawnLarge(note) && !(kindOf(note) === "given" && did.has(`${note[0]} ${note[1]}`)));
  const kinds = new Map([...Map.groupBy(seen, kindOf)].map(([kind, same]) => [String(kind), runs(same, at)]));
  const banded = [...kinds.values()].some((all) => all.some((run) => run.length > 1));
  const merged = [...kinds.values()].flat().some((places) => places.length >= BANDED.marks && blurred(places, at.column)); // if one is, all as long are
  if (banded) {
    apart([...kinds.values()].flat(), at);
    const back = phases.filter(([kind]) => kind === "backward").map(([, start, end]) => middleRuns(kinds.get("gradient") ?? [], start, end, at));
    shape("path", { class: "mg-dots mg-dots-gradient mg-dots-between", d: back.join("") }, parent);
  }
  for (const [kind, look, more] of looks)
    for (const [d, wide, band] of joined(kinds.get(kind) ?? [], at, Math.min(0, more) / 2, banded, merged))
      if (d) {
        const lower = band && kind === "both" && look === "run"; // what was built and ran at once is both, one above the other
        const path = shape("path", { class: `mg-dots mg-dots-${look}`, d, "stroke-width": Math.max(1, lower ? wide / 2 : wide + (band ? Math.min(0, more) : more)), "stroke-linecap": band ? "butt" : "round" }, parent);
        if (lower) path.setAttribute("transform", `translate(0 ${wide / 4})`);
      }
  if (merged) for (const all of kinds.values()) countMarks(all, at, parent);
}

/** The middles of marks, by their rows, together those that are close. @param {Note[]} notes @param {Place} at */
function runs(notes, at) {
  /** @type {[number, number][][]} */
  const found = [];
  for (const row of Map.groupBy(notes, ([, row]) => row).values()) {
    const places = row.map((note) => middle(note, at)).sort(([a], [b]) => a - b);
    places.forEach((place, i) => (i && place[0] - places[i - 1][0] <= Math.max(JOINED, 2.1 * at.column) ? found[found.length - 1].push(place) : found.push([place])));
  }
  return found;
}

/** Move marks of a row that are in no band from each other, if they would lie on each other. @param {[number, number][][]} all @param {Place} at */
function apart(all, at) {
  const alone = all.filter((run) => run.length === 1).map(([place]) => place).sort(([a, y], [b, z]) => y - z || a - b);
  alone.forEach((place, i) => {
    const before = alone[i - 1];
    const less = before?.[1] === place[1] ? Math.min(LONE, before[0] + LONE - place[0]) : 0;
    if (less > 0) [before[0], place[0]] = [before[0] - less / 2, place[0] + less / 2];
  });
}

/** A line through what passes back to one row in a phase. @param {[number, number][][]} all @param {number} start @param {number} end @param {Place} at */
function middleRuns(all, start, end, { left, column }) {
  const within = all.filter(([[x]]) => x >= left + column * start - LONE && x <= left + column * (end + 1) + LONE);
  return [...Map.groupBy(within, ([[, y]]) => y).values()].map((row) => {
    const places = row.flat().map(([x]) => x);
    return `M${Math.min(...places).toFixed(1)} ${row[0][0][1].toFixed(1)}H${Math.max(...places).toFixed(1)}`;
  }).join("");
}

/** The dots among some marks and the bands, in which each is seen if there is room, as a path and its width. @param {[number, number][][]} all @param {Place} at @param {number} more pixels at the ends of a band @param {boolean} banded @param {boolean} merged whether of long bands only the ends are seen @returns {[string, number, boolean][]} */
function joined(all, at, more, banded, merged) {
  const [alone, long] = ["", ""].map(() => /** @type {string[]} */ ([]));
  const end = at.column / 2;
  const line = (/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ y) => long.push(`M${(a - more).toFixed(1)} ${y.toFixed(1)}H${(b + more).toFixed(1)}`);
  const turns = merged ? all.filter((places) => places.length >= BANDED.marks).sort(([[a]], [[b]]) => a - b) : []; // rows whose marks take turns
  for (const places of all) {
    const [[from, y], [to]] = [places[0], places[places.length - 1]];
    const tooth = Math.min(LONE, smallestGap(places, at.column) * TOOTH) / 2;
    if (places.length === 1 && !banded) alone.push(`M${from.toFixed(1)} ${y.toFixed(1)}h0`);
    else if (turns.includes(places)) {
      const [wide, turn] = [to - from + 2 * end, turns.indexOf(places)];
      const each = turns.length * ENDS.apart;
      const marks = Math.min(ENDS.marks, Math.floor((wide * ENDS.part) / each));
      const [first, last] = [from - end + turn * ENDS.apart, to + end - (turns.length - 1 - turn) * ENDS.apart];
      for (let i = 0; i < marks; i++) {
        line(first + i * each, first + i * each + ENDS.wide, y);
        line(last - i * each - ENDS.wide, last - i * each, y);
      }
      if (!marks) line(from - end, to + end, y);
    } else if (blurred(places, at.column)) line(from - end, to + end, y);
    else for (const [x] of places) line(x - tooth, x + tooth, y);
  }
  return [[alone.join(""), 2 * at.radius, false], [long.join(""), bandHigh(at), true]];
}

/** How high bands are. @param {Place} at */
const bandHigh = ({ radius, row }) => Math.max(2 * radius + 0.1, Math.min(BAND, row * 0.5));

/** Whether marks of a band are too close to be seen each, or all are of steps in a row. @param {[number, number][]} places @param {number} column */
const blurred = (places, column) => places.length > 1 && (smallestGap(places, column) < COMB || smallestGap(places, column) === Infinity);

/** How far the closest two marks of a band are from each other that are not of steps in a row. @param {[number, number][]} places @param {number} column */
const smallestGap = (places, column) => Math.min(Infinity, ...places.slice(1).map(([x], i) => x - places[i][0]).filter((gap) => gap > 1.5 * column));

/** How many marks such bands are made of, at their ends. @param {[number, number][][]} all @param {Place} at @param {Element} parent */
function countMarks(all, at, parent) {
  if (bandHigh(at) < BANDED.high) return;
  for (const places of all) {
    const [[from], [to, y], count] = [places[0], places[places.length - 1], `× ${places.length}`];
    const said = [`··· ${count} ···`, count].find((text) => to - from > 2 * measured(text, BANDED.font)); // what is left out, and how much
    if (places.length >= BANDED.marks && said) {
      const wide = measured(said, BANDED.font) + 8;
      const x = (from + to - wide) / 2;
      shape("rect", { class: "mg-times-plate", rx: 3, x, y: y - BANDED.font * 0.6, width: wide, height: BANDED.font * 1.2 }, parent);
      shape("text", { class: "mg-times", x: x + wide / 2, y: y + BANDED.font * 0.36 }, parent).textContent = said;
    }
  }
}

/** How far the ring within the mark of what was built and ran at once is from its edge. @param {Note} note @param {Place} at */
const ringed = ([, , kind, , sort = "operator"], { radius }) => (kind !== "both" || sort !== "operator" ? 0 : radius > DOUBLE ? 3 : 1.4);

/**
 * The number in a mark, the size of its letters, and the radius: larger where only that makes room, and no other mark is there.
 * @param {Note} note @param {Note[]} notes @param {Place} at @param {Scored} data
 */
function numberOf(note, notes, at, data) {
  const [, , kind, ids, , step] = note;
  const known = held(ids[ids.length - 1], kind, step, data.nodes);
  if (!known || known.bad || at.silent || coded(data, known)) return { text: "", font: 0, radius: at.radius, beside: 0 };
  const text = /^(True|False)$/.test(known.short) ? known.short[0] : known.short.replace(/^\((.*)\)$/, (_, own) => (/,/.test(own) ? "…" : own)); // of several values no one
  const needs = (/** @type {number} */ font) => ringed(note, at) + (text.length > 1 ? Math.hypot(measured(text, font) / 2, HALF_HIGH * font) + 1 : 4.4);
  const [font, smaller] = LETTERS_OF_MARK;
  if (at.radius >= DASHED && needs(font) < at.radius) return { text, font, radius: at.radius, beside: 0 };
  const [x, y] = middle(note, at);
  const near = notes.filter((other) => other !== note && drawnLarge(other)).map((other) => middle(other, at)).map(([u, v]) => Math.hypot(u - x, v - y)).filter(Boolean);
  const radius = Math.max(at.radius, needs(smaller));
  const room = Math.max(at.radius, Math.min(LARGER_MARK * at.radius, OF_ROW * at.row, ...near.map((far) => far / 2 - 1)));
  return at.radius >= WRITTEN && radius <= room ? { text, font: smaller, radius, beside: 0 } : { text, font: 0, radius: at.radius, beside: 0 };
}

/** Numbers that have no room in their marks are beside them, right or left, where nothing else is. @param {Note[]} notes @param {Place} at */
function numbersBeside(notes, at) {
  const circles = [...at.own].map(([note, { radius }]) => ({ note, place: middle(note, at), radius }));
  /** @type {[number, number, number][]} */
  const taken = [];
  for (const [note, own] of at.own) {
    if (!own.text || own.font || at.row < SMALLEST) continue;
    const [x, y] = middle(note, at);
    const wide = measured(own.text, SMALL_NUMBER) + HALO;
    const sum = /\d\+/.test(own.text); // of the rounds of a loop: above the line of its row
    const level = sum ? y - at.row / 2 : y;
    const spans = [1, -1].map((side) => [side, x + side * (own.radius + (sum ? 0 : BESIDE)) - (side < 0 ? wide : 0)]);
    const [side, from] = spans.find(([, left]) => left > at.left && left + wide + BESIDE_MARKS + FROM_EDGE < at.wide && taken.every(([a, b, row]) => row !== note[1] || left > b || left + wide < a)
      && circles.every(({ note: other, place: [u, v], radius }) => other === note || u + radius < left || u - radius > left + wide || Math.abs(v - level) > radius + SMALL_NUMBER / 2)) ?? [0, 0];
    own.beside = side;
    if (side) taken.push([from, from + wide, note[1]]);
    if (sum) Object.assign(own, { text: side ? own.text : "Σ", font: SMALL_NUMBER });
  }
}

/** What is added to a gradient is below its line, before the sum, where neither a mark nor a line is. @param {Place} at @param {Element[]} ways @param {Scored} data */
function addends(at, ways, { edges = {}, frames }) {
  for (const [note, own] of at.own) {
    const sent = Object.entries(/** @type {Partial<Frame>} */ (frames[note[0]]).flows ?? {}).find(([id]) => note[3].includes(edges[id]?.[0]))?.[1];
    if (note[2] !== "gradient" || !own.font || own.beside || !sent || typeof sent === "string" || !sent.before || !/^-?[\d.]+$/.test(sent.value)) continue;
    const text = sent.value.replace(/^(?=\d)/, "+");
    const [wide, half, [x, y]] = [measured(text, SMALL_NUMBER), SMALL_NUMBER / 2 - HALO, middle(note, at)];
    const circles = [...at.own].map(([other, { radius }]) => [...middle(other, at), radius]);
    const low = y + at.row / 2 + LOWERED;
    const free = (/** @type {number} */ end) => [end - wide, end - wide / 2, end].every((u) => [-half, 0, half].map((more) => new DOMPoint(u, low + more)).every((point) => (
      circles.every(([cx, cy, radius]) => Math.hypot(cx - point.x, cy - point.y) > radius + HALO) && !ways.some((way) => way instanceof SVGGeometryElement && way.isPointInStroke(point)))));
    const end = [1, 0.8, 0.6, 0.4, 0.2, 0].map((part) => x - part * own.radius).find(free);
    if (end) own.added = { text, x: end, y: low + 4 };
  }
}

/** Whether a constant would lie on a mark or its number. @param {Note} note @param {Place} at */
function hidden(note, at) {
  const x = middle(note, at)[0];
  return note[4] === "constant" && [...at.own].some(([other, { text, radius, beside }]) => {
    const [from, more] = [middle(other, at)[0], beside && BESIDE + HALO + measured(text, SMALL_NUMBER)];
    return other[1] === note[1] && x > from - radius - CONSTANT - (beside < 0 ? more : 0) && x < from + radius + CONSTANT + (beside > 0 ? more : 0);
  });
}

/**
 * What happened at a step: a ring around what came out, as a number or as the colours of a tensor.
 * @param {Note} note @param {Place} at @param {Element} parent @param {Scored} data
 */
function mark(note, at, parent, data) {
  const [, , kind, ids, sort = "operator", step] = note;
  const known = held(ids[ids.length - 1], kind, step, data.nodes);
  const [cx, cy] = middle(note, at);
  const g = shape("g", { class: `mg-note mg-note-${kind} mg-note-of-${sort}${known?.bad ? " mg-note-bad" : ""}` }, parent);
  const inner = ringed(note, at);
  const around = inner && at.radius <= DOUBLE ? (at.radius < NUMBERED ? 0.6 : 1.2) : 0;
  const { text, font, radius, beside, added } = at.own.get(note) ?? { text: "", font: 0, radius: Math.min(CONSTANT, at.radius), beside: 0 };
  shape("circle", { cx, cy, r: radius + around }, g);
  const within = radius - inner;
  if (inner) shape("circle", { cx, cy, r: within }, g);
  if (at.radius < (inner ? DOUBLE : DASHED)) g.classList.add("mg-plain");
  if (beside) shape("text", { class: `mg-small-number mg-beside mg-beside-${beside > 0 ? "right" : "left"}`, x: cx + beside * (radius + (font ? 0 : around + BESIDE)), y: cy + 4 - (font ? at.row / 2 : 0) }, g).textContent = text;
  if (added) shape("text", { class: "mg-small-number mg-beside mg-beside-left", x: added.x, y: added.y }, g).textContent = added.text;
  if (!drawnLarge(note) || !known || (beside && !font)) return;
  const tensor = at.radius < COLOURED ? "" : coded(data, known).replace(/^\w/, "c"); // bars would be too low
  const colours = known.grid ? tensor : ""; // many cells would be too small
  g.classList.toggle("mg-mute", !tensor && !font);
  if (colours) {
    const inside = shape("g", { class: "mg-svg mg-colours", transform: `translate(${cx - within} ${cy - within})` }, g);
    shape("g", { class: `mg-swatch mg-of-${kind === "gradient" ? "grad" : "value"}` }, inside).innerHTML = swatch(colours, 2 * within, 2 * within);
  } else if (font) shape("text", { x: cx, y: cy + 4, ...(font < LETTERS_OF_MARK[0] ? { class: "mg-small-number" } : {}) }, g).textContent = beside ? "Σ" : text;
}
