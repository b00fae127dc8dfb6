// The board. All content comes from the kernel once; a step only swaps drawings and marks here.
const CODE = 19.5; // pixels of a line of code
const PANE = { aside: 24, above: 22, chart: 16, title: 28, about: 24, high: 84, wide: 300, phone: 560 }; // pixels of a pane beside what is drawn; a phone has no more (board.css)
const [TITLE, LESS] = [24, 12]; // and of one on a phone: its title, and what it has less around its drawing
const GROWN = 1.2; // times its size that a drawing takes which stands beside no other
const CHART = 0.2; // of its width is a chart high, where that is seen at once
const SLOW = 1200; // milliseconds of a step
const COUNTED = /(?<=\d) (?=[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff]) (?=-?\d)|(?<=[,:] \d) (?=[a-z])|(?<=[a-z]) (?=-?[\d.]+(?: [✗!])?,)|(?<=→ \d+) (?=[a-z])|(?<=[a-z]) (?=\d+ →)| (?=→)|(?<=→) | (?=·)/g; // spaces between a number and what it counts or becomes, at which no line ends
const [LEAST, SCANT] = [150, 190]; // pixels of the drawings, however much stands around them, and up to which they are alone

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
  const body = make("div", "mg-body", root);
  let shown = show(model, root, body, follow);
  listen(root, () => shown.keys());
  const replace = () => {
    const { offsetHeight: high, offsetWidth: wide } = root;
    shown.leave();
    body.replaceChildren();
    shown = show(model, root, body, follow, { high, wide });
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
 * What a pane needs: its drawing at full size, which may become smaller, and the words around it.
 * @param {BoardData} data @param {PanelData[]} each what it shows, scene by scene @returns {Pane}
 */
function needs(data, each) {
  const size = (/** @type {string} */ html) => {
    const [, wide, part, high] = / width="(\d+)(%?)" height="(\d+)"/.exec(html) ?? [];
    return high ? [part ? PANE.wide : Number(wide), Number(high)] : undefined; // some take what there is
  };
  const alone = data.scenes.every(({ panels }) => panels.length === 1) ? GROWN : 1; // larger, where there is room
  const found = each.map(({ drawing, svg, code, message }) => {
    const drawn = drawing == null ? undefined : size(data.drawings[drawing].svg);
    if (drawn) return { width: alone * drawn[0] + PANE.aside, height: alone * drawn[1] + PANE.above, fixed: PANE.title + (message ? PANE.about : 0) };
    const [wide, high] = size(svg) ?? [PANE.wide, code.length ? code.length * CODE : PANE.high];
    const whole = svg.includes('width="100%"'); // it has its margins
    return { width: wide + PANE.aside, height: 1, fixed: PANE.title + high + (whole ? PANE.chart : PANE.above), whole };
  });
  const most = (/** @type {"width" | "height" | "fixed"} */ name) => Math.max(...found.map((one) => one[name]));
  return { width: most("width"), height: most("height"), fixed: most("fixed"), whole: found.some((one) => one.whole) };
}

/**
 * The scenes of a board, of which one is shown.
 * @param {Model} model @param {HTMLElement} board @param {HTMLElement} root
 * @param {(inputs: number[]) => void} moved @param {{high: number, wide: number}} [before] what it
 *   took for other scenes: as long as it is as wide, its height stays; else it plays once when it is seen
 * @returns {{keys(): Keys, goes(inputs: number[]): boolean, leave(): void}}
 */
function show(model, board, root, moved, before) {
  /** @type {BoardData} */
  const data = model.get("data");
  const { scenes, words, labels } = data;
  if (!scenes.length) {
    say(root, data.verdict);
    return { keys: () => ({}), goes: () => false, leave() {} };
  }
  if (data.verdict) say(make("div", "mg-fact", root), data.verdict);
  const head = make("div", "mg-head", root);
  const { place: caption, fit } = steady("mg-said", head, say);
  const tied = (/** @type {Pair} */ [en, zh]) => /** @type {Pair} */ ([en, zh].map((text) => text.replace(COUNTED, "\u00a0")));
  fit(scenes.map((scene) => tied(scene.caption)));
  caption.className = "mg-caption";
  caption.setAttribute("aria-live", "polite");
  const tools = make("div", "mg-tools", head);
  const scale = scaled(tools, labels, words);
  for (const zoom of /** @type {HTMLCollectionOf<HTMLElement>} */ (tools.children)) {
    zoom.hidden = !data.drawings.length;
  }
  const still = scenes.length === 1;
  const controls = make("div", "mg-controls", root);
  const stage = make("div", "mg-stage", root);
  const room = make("div", "mg-panes", stage);
  root.classList.toggle("mg-called", data.lanes.length > 0);
  const inside = make("div", "");
  if (data.drawings.length) {
    say(overlay("", halves(data.table_title), tools, stage, (panel) => panel.append(inside)), words.board_table);
  }
  if (!still || data.drawings.length) overlay("?", labels.help, tools, stage, (panel) => {
    panel.classList.add("mg-help");
    say(make("p", "mg-keys", panel), still ? words.board_still_keys : words.board_keys);
  });
  const score_ = make("div", "mg-score", root);
  score_.hidden = !data.lanes.length;
  region(score_, labels.score);
  const nodes = Object.assign({}, ...data.lanes.map((lane) => lane.nodes));
  const staffs = data.lanes.length ? score(score_, { lanes: data.lanes, frames: scenes, nodes, words }, { hover() {} }) : undefined;
  const marks = staffs && make("div", "mg-key", root);
  if (marks) scoreKey(marks, { lanes: data.lanes, words, nodes });
  const explain = legend(data, marks ?? root);
  switches(model, data, root);
  const below = make("div", "mg-below", root);
  const codes = make("div", "mg-codes", below);
  const more = make("details", "mg-facts", below);
  say(make("summary", "", more), words.details); // on a phone, where the table tells most
  const { box: about, place: facts, fit: hold } = steady("", scrolls(more), list);
  hold(scenes.map((scene) => scene.facts.map(tied)));
  more.hidden = !scenes.some((scene) => scene.facts.length);
  const light = table(data, below);
  const inspect = inspector(words, labels, stage, (id) => {
    const [held] = scenes[index].panels.flatMap((panel) => panel.held[id] ?? []);
    return data.values[held];
  });

  const most = Math.max(...scenes.map((scene) => scene.panels.length));
  const eachOf = (/** @type {number} */ i) => scenes.flatMap(({ panels }) => panels[i] ?? []);
  // Drawings share the room there is; words that stand in place of one have a line below them.
  const parentOf = (/** @type {PanelData[]} */ each) => {
    if (each.some(({ drawing, svg }) => drawing != null || svg)) return room;
    if (!each.some(({ code }) => code.length)) return stage;
    return data.drawings.length ? codes : room;
  };
  const folding = (/** @type {HTMLElement} */ figure) => { // words in place of a drawing: on a phone a line, until they are asked for
    const open = button("…", labels.details, figure, () => open.setAttribute("aria-expanded", String(figure.classList.toggle("mg-open"))));
    open.className = "mg-unfold";
    open.setAttribute("aria-expanded", "false");
  };
  const panes = Array.from({ length: most }, (_, i) => {
    const each = eachOf(i);
    return { ...pane(data, parentOf(each), inspect.choose, scale, each), i, need: needs(data, each) };
  });
  panes.filter(({ figure }) => figure.parentElement === stage).forEach(({ figure }) => folding(figure));
  const seen = (/** @type {SceneData} */ { panels }) => panes.filter(({ figure, i }) => figure.parentElement === room && i < panels.length);
  let taller = 0; // pixels that a chart is higher than it must be
  const needed = (/** @type {SceneData} */ scene, /** @type {number} */ wide) => seen(scene).map(({ need }) => (
    need.whole ? { ...need, fixed: need.fixed + taller } : wide > PANE.phone || need.height === 1 ? need : { width: need.width - LESS, height: need.height - LESS, fixed: TITLE }
  ));
  const fresh = renewing();
  let index = Math.min(model.get("index"), scenes.length - 1);
  const rest = index;
  let resting = true;
  const steps = stepper(controls, labels, data.slider, pace(scenes.length - 1, SLOW), {
    words,
    at: () => index,
    last: () => scenes.length - 1,
    rest: () => rest,
    fresh: () => resting,
    show(to, jump, touched = true) {
      resting = !touched && to === rest;
      index = to;
      paint();
      if (!touched) return;
      model.set("index", index);
      model.save_changes();
    },
  }, staffs && score_);
  controls.hidden = still;
  const unseen = before || still ? () => {} : onceSeen(board, caption, steps);
  const keys = () => ({ ...(still ? {} : steps.keys), ...zoomKeys(scale) });

  let size = [0, 0]; // of the room
  let known = ""; // what it was arranged for
  // Its height is the same at each step: what the largest of them needs, up to what is seen at once.
  const arrange = () => {
    const wide = stage.clientWidth;
    if (!wide) return;
    const seenAtOnce = available(board);
    board.style.setProperty("--mg-most", `${seenAtOnce}px`);
    board.classList.toggle("mg-small", wide <= PANE.phone);
    if (wide !== size[0]) more.open = wide > PANE.phone || !data.sheet;
    const around = board.offsetHeight - room.offsetHeight;
    known = `${board.offsetWidth} ${around}`;
    room.hidden = !room.firstChild;
    if (room.hidden) return;
    taller = 0;
    const least = Math.max(...scenes.map((scene) => packed(needed(scene, wide), wide, 1e5).needed));
    const high = Math.max(0, ...panes.map(({ need }) => (need.whole ? need.fixed - PANE.title - PANE.chart : 0)));
    if (high) taller = Math.max(0, Math.floor(Math.min(CHART * wide - high, seenAtOnce - around - least)));
    room.style.setProperty("--mg-taller", `${taller}px`);
    const full = least + taller;
    const kept = before?.wide === board.offsetWidth ? before.high - around : 0;
    const chart = wide > PANE.phone ? 0 : Math.max(0, ...panes.map(({ need }) => (need.whole ? need.fixed : 0))); // beside which a drawing has room of its own
    size = [wide, kept || Math.max(chart ? Math.min(Math.ceil(full), chart + LEAST) : LEAST, Math.min(Math.ceil(full), seenAtOnce - around))];
    room.style.height = `${size[1]}px`;
    board.classList.toggle("mg-scant", size[1] <= SCANT);
    settle();
  };
  const settle = () => {
    const now = seen(scenes[index]);
    const { spots } = packed(needed(scenes[index], size[0]), size[0], size[1]);
    now.forEach(({ figure }, k) => {
      for (const [name, part] of Object.entries(spots[k])) {
        figure.style.setProperty(name, `${(100 * part).toFixed(2)}%`);
      }
    });
  };
  const sized = new ResizeObserver(() => { // another width, or another language
    if (`${board.offsetWidth} ${board.offsetHeight - room.offsetHeight}` !== known) arrange();
  });
  sized.observe(board);

  function paint() {
    const scene = scenes[index];
    fresh("count", seen(scene).map(({ i }) => i), settle);
    fresh("caption", scene.caption, () => tell(caption, tied(scene.caption)));
    panes.forEach((p, i) => {
      if (i < scene.panels.length) p.paint(scene.panels[i]);
      else p.figure.hidden = true;
    });
    fresh("facts", scene.facts, () => {
      facts.replaceChildren();
      list(facts, scene.facts.map(tied));
    });
    light(scene.row);
    explain(scene);
    const shown = [...new Set(scene.panels.map((p) => p.drawing))];
    fresh("tables", shown, () => {
      inside.innerHTML = shown.map((number) => data.drawings[number ?? -1]?.table ?? "").join("");
    });
    inspect.renew();
    steps.tell(scene.say, scene.place);
    staffs?.show(index);
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
      resting = false;
      paint();
    }
  };
  model.on("change:index", follow);
  paint();
  arrange();
  return {
    keys,
    goes,
    leave() {
      unseen();
      steps.leave();
      staffs?.leave();
      sized.disconnect();
      model.off("change:index", follow);
    },
  };
}

export default { render };
