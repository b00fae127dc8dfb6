// The clocks: one lane for each mode, with a mark for each thing that happened, on the axis of steps
// that the slider has, too. Marks have the colours of the cards; inputs are hollow.
const MANY_AT_ONCE = 3; // marks of one kind at one step that stand beside each other
const LESS = ["mg-tight", "mg-once", "mg-short", "mg-tick"]; // looks of a step that has too little room

/**
 * The lanes and the playhead.
 * @param {Element} labels where the lanes are named @param {HTMLElement} track where they run
 * @param {Data} data
 * @param {{go(index: number): void, hover(id: string, on: boolean): void, sign(id: string): string}} actions
 */
function clocks(labels, track, data, { go, hover, sign }) {
  const count = data.frames.length;
  track.style.setProperty("--mg-steps", String(count));
  const head = make("div", "mg-playhead", track);
  const lanes = data.lanes.map((lane) => {
    say(make("div", "mg-lane-name", labels), lane.label);
    const row = make("div", "mg-clock-lane", track);
    row.setAttribute("role", "img");
    row.setAttribute("aria-label", lane.said);
    return { row, marks: moments(lane, row, data, sign) };
  });
  const all = lanes.flatMap((lane) => lane.marks);
  for (const { element, nodes } of all) {
    element.addEventListener("pointerenter", () => nodes.forEach((node) => hover(node, true)));
    element.addEventListener("pointerleave", () => nodes.forEach((node) => hover(node, false)));
  }
  for (const { row } of lanes)
    row.addEventListener("click", (event) => {
      const box = row.getBoundingClientRect();
      go(Math.max(0, Math.min(count - 1, Math.floor(((event.clientX - box.left) / box.width) * count))));
    });
  const steps = [...new Set(all.map(({ element }) => /** @type {HTMLElement} */ (element.parentElement)))];
  // As much as there is room for: the words of all, else the names of a step; these closer together;
  // what stands twice once; its last one; none.
  const fit = () => {
    const wide = track.clientWidth / count;
    const crowded = () => {
      const widths = steps.map((step) => step.offsetWidth);
      /** How far it reaches into the step beside it, which may leave it that room. @param {number} i @param {number} by */
      const reaches = (i, by) => {
        const beside = steps[i + by]?.parentElement === steps[i].parentElement ? i + by : -1;
        const far = beside < 0 ? 1.5 : Math.abs(columnOf(steps[beside]) - columnOf(steps[i]));
        return (widths[i] + (widths[beside] ?? wide)) / 2 > far * wide - 2;
      };
      return steps.map((_, i) => widths[i] > wide - 2 && (reaches(i, -1) || reaches(i, 1)));
    };
    for (const step of steps) step.classList.remove(...LESS);
    track.classList.add("mg-wordy");
    track.classList.toggle("mg-wordy", !crowded().includes(true));
    for (const less of LESS)
      crowded().forEach((is, i) => steps[i].classList.toggle(less, is));
  };
  new ResizeObserver(fit).observe(track);
  return {
    /** @param {number} index */
    show(index) {
      head.style.left = column(index, count);
      for (const mark of all) {
        const lit = mark.frame <= index;
        if (lit === mark.lit) continue;
        mark.element.classList.toggle("mg-lit", lit);
        mark.lit = lit;
      }
    },
    /** @param {Set<string>} nodes @param {boolean} on */
    point(nodes, on) {
      for (const mark of all) if (mark.nodes.some((node) => nodes.has(node))) mark.element.classList.toggle("mg-hover", on);
    },
  };
}

/** What the clocks count. @param {Words} words @returns {Words} */
const verbs = (words) => ({
  clock_built: words.clock_built,
  clock_run: words.clock_run,
  clock_gradient: words.clock_gradient,
});

/** The middle of a step on the axis. @param {number} index @param {number} count */
const column = (index, count) => `${((100 * (index + 0.5)) / count).toFixed(3)}%`;

/** The column of a step in its lane. @param {HTMLElement} step */
const columnOf = (step) => Number(step.style.gridColumnStart);

/** What marks have in common that happen at once. @param {Lane["marks"][0]} mark */
const kindOf = ([frame, clock, , sort]) => `${frame} ${clock} ${sort}`;

/**
 * The marks of a lane; those of one step stand together. Many of one kind that happen at once, and
 * the gradient nodes of a step, are one mark.
 * @param {Lane} lane @param {Element} row @param {Data} data @param {(id: string) => string} sign
 */
function moments(lane, row, data, sign) {
  /** @type {Map<number, HTMLElement>} */
  const steps = new Map();
  /** @type {Map<string, Moment>} */
  const gathered = new Map();
  /** @type {Moment[]} */
  const found = [];
  const said = verbs(data.words);
  /** @type {Map<string, number>} */
  const together = new Map();
  for (const mark of lane.marks) together.set(kindOf(mark), (together.get(kindOf(mark)) ?? 0) + 1);
  for (const mark of lane.marks) {
    const [frame, clock, node, sort] = mark;
    const one = gathered.get(kindOf(mark));
    if (one) {
      one.nodes.push(node);
      // No number beside ∂: it would read like a constant, and the nodes that this takes are others.
      one.whose.textContent = sort === "gradient" ? "∂…" : `${one.nodes.length} ${sort === "input" ? "▷" : "○"}`;
      one.element.title = `${frame}: ${halves(said[clock])} ${one.whose.textContent}`;
      continue;
    }
    if (!steps.has(frame)) {
      const step = make("span", "mg-moment", row);
      step.style.gridColumn = String(frame + 1);
      steps.set(frame, step);
    }
    const element = make("span", `mg-mark mg-${clock}`, steps.get(frame));
    if (sort) element.classList.add("mg-hollow", `mg-sort-${sort}`); // not counted
    element.title = `${frame}: ${halves(said[clock])} ${data.nodes[node]?.label ?? ""}`;
    if (clock !== "clock_gradient") say(make("span", "mg-word", element), said[clock]);
    const whose = make("span", "mg-whose", element);
    whose.textContent = `${clock === "clock_gradient" || sort === "gradient" ? "∂ " : ""}${sign(node)}`;
    const moment = { element, whose, frame, nodes: [node], lit: false };
    if (sort === "gradient" || (together.get(kindOf(mark)) ?? 0) > MANY_AT_ONCE) gathered.set(kindOf(mark), moment);
    found.push(moment);
  }
  for (const { element, whose } of found) // built and run at once: one name is enough for both
    element.classList.toggle("mg-same", element.nextElementSibling?.querySelector(".mg-whose")?.textContent === whose.textContent);
  return found;
}
