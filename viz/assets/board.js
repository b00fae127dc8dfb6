// The board. All content comes from the kernel once; a step only swaps drawings and marks here.
const HIGHEST = 360; // pixels of a drawing that are seen at once
const ROOM = 16; // pixels that a drawing has around itself
const MESSAGE = 64; // pixels of what is said beneath it, where it has a row of its own

/** @param {{model: Model, el: HTMLElement}} view */
function render({ model, el }) {
  const root = make("section", "mg-player mg-board", el);
  root.tabIndex = 0;
  /** @type {BoardData} */
  const data = model.get("data");
  const inputs = make("div", "mg-inputs", root); // stays, while what it changes is shown afresh
  const follow = data.sliders.length ? movable(model, data, inputs, (to) => shown.goes(to)) : () => {};
  const trouble = make("div", "mg-trouble", root);
  trouble.setAttribute("role", "alert");
  const body = make("div", "", root);
  let shown = show(model, body, follow);
  listen(root, () => shown.keys());
  const replace = () => {
    shown.leave();
    body.replaceChildren();
    shown = show(model, body, follow);
    name();
  };
  const name = () => {
    const { slider, trouble: said } = model.get("data");
    root.setAttribute("aria-label", slider);
    trouble.textContent = said;
  };
  name();
  model.on("change:data", replace);
  return () => {
    model.off("change:data", replace);
    shown.leave();
  };
}

/**
 * Width and height of each drawing as it is; of what stands in place of one, some.
 * @param {BoardData} data @returns {[number, number][]}
 */
const sizesOf = ({ drawings }) => drawings.map(({ svg }) => {
  const [, width, height] = / width="(\d+)" height="(\d+)"/.exec(svg) ?? [0, HIGHEST, HIGHEST];
  return [Number(width), Number(height)];
});

/** Columns for drawings of these widths: each has what it needs, less the gaps, or its part. @param {number[]} widths */
const columns = (widths) => widths.map((wide) => (
  `minmax(min(${wide + ROOM}px, (100% - ${widths.length - 1}px) / ${widths.length}), ${wide}fr)`
)).join(" ");

/**
 * How high a drawing may be: as the highest of the board is, so that no step changes its size.
 * @param {[number, number][]} sizes @param {SceneData[]} scenes
 */
function height(sizes, scenes) {
  const others = scenes.length > 1 && scenes.some((s) => s.panels.some((p) => p.drawing == null && !p.svg));
  return Math.min(scenes.length > 1 ? HIGHEST : HIGHEST + 80, Math.max(60, others ? 200 : 0, ...sizes.map(([, high]) => high)) + 20);
}

/**
 * The scenes of a board, of which one is shown.
 * @param {Model} model @param {HTMLElement} root @param {(inputs: number[]) => void} moved
 * @returns {{keys(): Keys, goes(inputs: number[]): boolean, leave(): void}}
 */
function show(model, root, moved) {
  /** @type {BoardData} */
  const data = model.get("data");
  const { scenes, words, labels } = data;
  if (!scenes.length) {
    say(root, data.verdict);
    return { keys: () => ({}), goes: () => false, leave() {} };
  }
  const head = make("div", "mg-head", root);
  const { place: caption, fit } = steady("mg-said", head, say);
  fit(scenes.map((scene) => scene.caption));
  caption.className = "mg-caption";
  caption.setAttribute("aria-live", "polite");
  const tools = make("div", "mg-tools", head);
  const scale = scaled(tools, labels, words);
  for (const zoom of /** @type {HTMLCollectionOf<HTMLElement>} */ (tools.children)) zoom.hidden = !data.drawings.length;
  const stage = make("div", "mg-stage", root);
  const still = scenes.length === 1;
  if (!still || data.drawings.length) overlay("?", labels.help, tools, stage, (panel) => {
    say(make("p", "mg-keys", panel), still ? words.board_still_keys : words.board_keys);
  });
  const sizes = sizesOf(data);
  stage.style.setProperty("--mg-tall", `${height(sizes, scenes)}px`);
  legend(data, root);
  const controls = make("div", "mg-controls", root);
  switches(model, data, root);
  const below = make("div", "mg-below", root);
  const { box: about, place: facts, fit: hold } = steady("mg-facts", below, list);
  hold(scenes.map((scene) => scene.facts));
  scrolls(about).hidden = !scenes.some((scene) => scene.facts.length);
  const light = table(data, below);
  const choose = inspector(words, data.drawings.length > 0, below);
  if (data.verdict) say(make("div", "mg-fact", root), data.verdict);
  const tables = make("details", "", root);
  say(make("summary", "", tables), data.table_title);
  const inside = make("div", "", tables);

  const most = Math.max(...scenes.map((scene) => scene.panels.length));
  const isCode = (/** @type {number} */ i) => data.drawings.length > 0 && scenes.every(({ panels }) => !panels[i] || panels[i].code.length);
  const panes = Array.from({ length: most }, (_, i) => {
    const each = scenes.flatMap(({ panels }) => panels[i] ?? []);
    const made = pane(data, isCode(i) ? below : stage, choose, scale, each);
    const own = sizes.filter((_, number) => each.some(({ drawing }) => drawing === number));
    const beneath = each.some(({ message }) => message) ? MESSAGE : 0;
    made.figure.style.setProperty("--mg-own", `${height(own, scenes) + beneath}px`);
    made.figure.style.setProperty("--mg-lines", String(Math.max(...each.map(({ code }) => code.length))));
    return made;
  });
  const fresh = renewing();
  let index = Math.min(model.get("index"), scenes.length - 1);
  const steps = stepper(controls, labels, data.slider, 1200, {
    at: () => index,
    last: () => scenes.length - 1,
    show(to) {
      index = to;
      paint();
      model.set("index", index);
      model.save_changes();
    },
  });
  controls.hidden = still;
  const keys = () => ({ ...(still ? {} : steps.keys), ...zoomKeys(scale) });

  // Where its drawings do not fit beside each other, four of them stand in two rows.
  let beside = 0;
  const narrow = () => stage.toggleAttribute("data-narrow", beside > stage.clientWidth);
  new ResizeObserver(narrow).observe(stage);

  function paint() {
    const scene = scenes[index];
    fresh("count", scene.panels.map((p) => p.drawing), () => {
      stage.dataset.panels = String(scene.panels.length);
      const widths = scene.panels.flatMap(({ drawing }) => (drawing == null ? [] : [sizes[drawing][0]]));
      stage.style.setProperty("--mg-drawn", String(Math.max(1, widths.length)));
      stage.style.setProperty("--mg-columns", columns(widths) || "minmax(0, 1fr)");
      const two = [0, 1].map((column) => Math.max(...widths.filter((_, i) => i % 2 === column)));
      stage.style.setProperty("--mg-two", columns(two));
      beside = widths.reduce((sum, wide) => sum + wide + ROOM, 0);
      narrow();
    });
    fresh("caption", scene.caption, () => tell(caption, scene.caption));
    panes.forEach((p, i) => {
      if (i < scene.panels.length) p.paint(scene.panels[i]);
      else p.figure.hidden = true;
    });
    fresh("facts", scene.facts, () => {
      facts.replaceChildren();
      list(facts, scene.facts);
    });
    light(scene.row);
    const drawn = [...new Set(scene.panels.map((p) => p.drawing))];
    fresh("tables", drawn, () => {
      inside.innerHTML = drawn.map((number) => data.drawings[number ?? -1]?.table ?? "").join("");
    });
    steps.tell(scene.say, scene.place);
    moved(scene.inputs);
  }

  /** To the step of these inputs, if there is one: no kernel is needed for it. @param {number[]} inputs */
  function goes(inputs) {
    const at = scenes.findIndex((scene) => String(scene.inputs) === String(inputs));
    if (at >= 0) steps.go(at);
    return at >= 0;
  }

  const follow = () => {
    if (model.get("index") !== index) {
      index = Math.min(model.get("index"), scenes.length - 1);
      paint();
    }
  };
  model.on("change:index", follow);
  paint();
  return {
    keys,
    goes,
    leave() {
      steps.leave();
      model.off("change:index", follow);
    },
  };
}

export default { render };
