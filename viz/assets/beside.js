// What stands over and beneath the drawings of a board: switches, marks, details, facts, table.
const FADE = 12; // pixels at the end of a box of words (board.css)

/** @param {HTMLElement} parent @param {Pair[]} facts */
const list = (parent, facts) => {
  const found = make("ul", "", parent);
  for (const fact of facts) say(make("li", "", found), fact);
};

/**
 * What the kernel makes again: without one (a saved page) the switches only tell.
 * @param {Model} model @param {BoardData} data @param {Element} parent
 */
function switches(model, { switches: all, words }, parent) {
  const box = make("div", "mg-switches", parent);
  const off = model.get("off");
  if (off === undefined && all.length) say(make("span", "", box), words.board_live);
  for (const { key, on } of off === undefined ? [] : all) {
    const label = make("label", "", box);
    const input = make("input", "", label);
    input.type = "checkbox";
    input.checked = on;
    label.append(key);
    input.addEventListener("change", () => {
      const rest = model.get("off").filter((/** @type {string} */ other) => other !== key);
      model.set("off", input.checked ? rest : [...rest, key]);
      model.save_changes();
    });
  }
}

/**
 * What the marks of a step mean, in a place that has room for those of any step.
 * @param {BoardData} data @param {Element} parent @returns {(scene: SceneData) => void}
 */
function legend({ scenes, signs, legend: words, sheet, lanes }, parent) {
  const kinds = (/** @type {SceneData} */ { panels }) => {
    const marked = new Set(panels.flatMap((p) => [...Object.values(p.marks), ...p.code.map((c) => c[0])]));
    if (/ !</.test(sheet)) marked.add("baked"); // in the table
    if (panels.some(({ marks, notes }) => Object.keys(notes).some((id) => !marks[id] && notes[id].includes("→")))) marked.add("value");
    return Object.keys(signs).filter((each) => marked.has(each) && (each !== "ran" || !lanes.length)); // the key of a score has it
  };
  const write = (/** @type {HTMLElement} */ box, /** @type {string[]} */ marks) => {
    box.className = "mg-signs";
    for (const kind of marks) {
      const entry = make("span", "", box);
      make("b", `mg-sign-${kind}`, entry).textContent = kind === "ran" ? "" : signs[kind]; // of a card that ran, the fill says so
      entry.append(" ");
      say(entry, words[kind]);
    }
  };
  const all = scenes.map(kinds);
  const box = make("div", "mg-legend", parent);
  box.hidden = all.every((marks) => !marks.length);
  const { place, fit } = steady("", box, write);
  fit(all);
  return (scene) => {
    place.replaceChildren();
    const marks = kinds(scene);
    box.classList.toggle("mg-blank", !marks.length);
    write(place, marks);
  };
}

/**
 * What a click on a node tells, over the drawings until it is closed; `renew` tells it of the step.
 * @param {Words} words @param {Labels} labels @param {Element} parent
 * @param {(id: string) => Summary | undefined} valueOf what a node holds at the step
 */
function inspector(words, labels, parent, valueOf) {
  const box = make("div", "mg-inspector", parent);
  const close = () => { box.hidden = true; };
  close();
  button("×", labels.close, box, close).classList.add("mg-close");
  const inside = scrolls(make("div", "", box));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });
  /** @type {[string, Drawn] | undefined} */
  let chosen;
  const renew = () => {
    if (!chosen || box.hidden) return;
    const [id, picture] = chosen;
    const [node, value] = [picture.nodes[id], valueOf(id)];
    inside.replaceChildren();
    say(make("h2", "", inside), node.title);
    const found = make("dl", "", inside);
    /** @type {[Pair, string | Pair | undefined][]} */
    const lines = [[words.shape, node.shape], [words.value, value && (value.long ?? value.short)], [words.line, node.line]];
    for (const [term, text] of lines) {
      if (!text) continue;
      say(make("dt", "", found), term);
      say(make("dd", "", found), typeof text === "string" ? [text, text] : text);
    }
    if (value?.swatch) larger(words.value, value, String(value.swatch), "value", words.swatch_value, inside);
  };
  return {
    renew,
    choose(/** @type {string} */ id, /** @type {Drawn} */ picture) {
      chosen = [id, picture];
      box.hidden = !picture.nodes[id];
      renew();
    },
  };
}

/**
 * The table of all steps; returns what lights the row of one.
 * @param {BoardData} data @param {Element} parent
 */
function table(data, parent) {
  const sheet = /** @type {HTMLElement} */ (scrolls(make("div", "mg-sheet", parent)));
  sheet.innerHTML = data.sheet;
  sheet.hidden = !data.sheet;
  for (const cell of data.lanes.length ? sheet.querySelectorAll("td") : [])
    cell.innerHTML = cell.innerHTML.replace(/ ?[(（][^()（）\d<>]+[)）]/g, ""); // what is said aside is in the caption
  const rows = /** @type {NodeListOf<HTMLElement>} */ (sheet.querySelectorAll("tbody tr"));
  sheet.querySelectorAll("th").forEach((head, i) => { // numbers are read from their last digit
    const cells = [...rows].map((row) => row.children[i]);
    if (2 * cells.filter((cell) => /^-?[\d.]+( ?[kMGBs%✓✗!]*)?$/.test(cell.textContent ?? "")).length <= cells.length) return;
    for (const cell of [head, ...cells]) cell.classList.add("mg-end");
    const hung = cells.some((cell) => /[✗!]$/.test(cell.textContent ?? ""));
    for (const cell of hung ? [head, ...cells] : []) cell.classList.add("mg-hung");
    for (const cell of cells) cell.innerHTML = cell.innerHTML.replace(/ ([✗!])(?=<|$)/g, '<span class="mg-hangs"> $1</span>'); // beside the column of digits
  });
  sheet.classList.toggle("mg-even", !sheet.querySelector("th:not(.mg-end)"));
  /** @type {HTMLElement | undefined} */
  let current;
  /** @type {number[]} */
  let tops = []; // of the rows, if there is no room for all of them
  // As high as some whole rows.
  const settle = () => {
    sheet.style.maxHeight = "";
    let high = (rows[0]?.offsetTop ?? 0) + FADE + 1;
    if (sheet.scrollHeight > sheet.clientHeight) {
      for (const row of [...rows].reverse()) {
        if (high + row.offsetHeight > sheet.offsetHeight) break;
        high += row.offsetHeight;
      }
      sheet.style.maxHeight = `${high}px`;
    }
    tops = sheet.scrollHeight > sheet.clientHeight ? [...rows].map((row) => row.offsetTop - rows[0].offsetTop) : [];
    scroll();
  };
  // To this row and the one before it; a table that is seen whole asks for no layout.
  const scroll = () => {
    if (!tops.length) return;
    const above = /** @type {HTMLElement | null} */ (current?.previousElementSibling) ?? current;
    sheet.scrollTop = above ? tops[[...rows].indexOf(above)] : 0;
  };
  new ResizeObserver(settle).observe(sheet);
  return (/** @type {number | null} */ number) => {
    const now = number == null ? undefined : rows[number];
    if (now === current) return;
    current?.classList.remove("mg-row");
    current?.removeAttribute("aria-current");
    now?.classList.add("mg-row");
    now?.setAttribute("aria-current", "true");
    current = now;
    scroll();
  };
}
