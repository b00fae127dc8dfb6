// The explorer of a whole model. All content comes from the kernel once; what is shown depends on the
// time on the playhead, the modules that are open, and the camera.
const STEP = 600; // ms of a step that is played

/** @param {{model: Model, el: HTMLElement}} view */
function render({ model, el }) {
  const explored = explore(model, el);
  return () => explored.leave();
}

/** @param {HTMLElement} el @param {AtlasData} data */
function explorerPlaces(el, data) {
  const root = make("div", "mg-player mg-explorer", el);
  region(root, data.name);
  const top = make("header", "mg-x-top", root);
  const crumbs = make("nav", "mg-x-crumbs", top);
  const main = make("div", "mg-x-main", root);
  const box = make("div", "mg-x-stage", main);
  const look = make("button", "mg-x-look", top);
  look.type = "button";
  const canvas = scrolls(make("canvas", "", box));
  canvas.setAttribute("role", "application");
  const list = make("ul", "mg-x-list", box);
  const side = scrolls(make("aside", "mg-x-side", main));
  const panel = make("section", "mg-x-panel", root);
  const bar = make("div", "mg-x-bar", panel);
  const score = scrolls(make("canvas", "mg-x-score", panel));
  score.setAttribute("role", "slider");
  return { root, top, crumbs, look, main, box, canvas, list, side, panel, bar, score };
}

/** @param {Model} model @param {HTMLElement} el */
function explore(model, el) {
  /** @type {AtlasData} */
  const data = model.get("data");
  const alone = !model.widget_manager;
  const parts = explorerPlaces(el, data);
  const { root, canvas, list, side, score: scoreCanvas } = parts;
  const m = atlasModel(data);
  const speech = speaker(root, data.words);
  let ink = inks(root);
  const pen = penOf(canvas, () => ink);
  /** @type {Atlas} */
  const atlas = {
    m, pen, speech,
    get ink() { return ink; },
    size: { w: 800, h: 500 },
    time: m.end,
    now: m.failed >= 0 ? m.leaves[m.failed] : null,
    focus: m.root,
    open: new Set([0]),
    selected: m.failed >= 0 ? m.leaves[m.failed] : null,
    hovered: null,
    moving: null,
    camera: { x: 0, y: 0, kx: 800, ky: 500 },
  };
  const score = scoreOf(atlas, scoreCanvas, penOf(scoreCanvas, () => ink));
  const inspector = inspectorOf(atlas, side, { show: follow, close: () => drawer(false) });
  const stage = stageOf(atlas, canvas, {
    click(node, outside) {
      if (node) open(node);
      else if (outside || atlas.selected === around()) close();
      else if (!drawer(false)) select(around());
    },
    zoomed(group) {
      focusOn(group);
      told();
    },
    stop,
  });
  let promised = ""; // by the finding that was followed
  let fresh = false; // whether the inspector shows what is so
  const inspect = () => { fresh = false; stage.need(); };
  stage.drawn = () => {
    if (!root.clientWidth) return; // hidden, as in a folded cell: drawn when it has a size
    score.draw();
    if (!fresh) inspector.show(atlas.selected, promised);
    fresh = true;
  };

  // ---- What is open, and what is selected ----

  const steps = () => stepsOf(m, atlas.open);
  const ends = () => atlas.time >= m.end - 1e-6;
  /** What the inspector shows where no part is selected: the open module; null for the whole model. */
  const around = () => (atlas.focus === m.root ? null : atlas.focus);

  function focusOn(/** @type {AtlasNode} */ group) {
    atlas.focus = group;
    atlas.open = new Set(pathOf(m, group).map((node) => node.i));
    atlas.selected = group.parent == null ? null : group;
    promised = "";
  }

  /** @param {AtlasNode} node */
  function open(node) {
    stop();
    if (!node.children) return select(node, true);
    const from = atlas.focus;
    focusOn(node);
    atlas.focus = from;
    drawer(false);
    void stage.flyTo(node);
    told();
  }

  /** @type {AtlasNode | null} */
  let closed = null; // where the keys go on

  function close() {
    stop();
    if (drawer(false)) return;
    closed = atlas.focus;
    open(parentOf(m, closed) ?? m.root);
  }

  /** @param {AtlasNode | null} node @param {boolean} [show] */
  function select(node, show = false) {
    atlas.selected = node;
    promised = "";
    inspect();
    if (show) drawer(true);
  }

  /** Go to an operator, wherever it is; or to a module around it. @param {number} op @param {AtlasNode | null} [group] */
  function reveal(op, group = parentOf(m, m.leaves[op])) {
    open(group ?? m.root);
    select(m.leaves[op], true);
  }

  /** Show what a finding is about. @param {number} op @param {AtlasNode} [module] @param {string} [about] */
  function follow(op, module, about = "") {
    if (module?.children) open(module);
    else reveal(op);
    drawer(true);
    promised = about;
  }

  /** On a narrow page the inspector lies above the atlas. Whether it was there. @param {boolean} on */
  function drawer(on) {
    const was = root.classList.contains("mg-x-told");
    root.classList.toggle("mg-x-told", on);
    return was && !root.classList.contains("mg-x-wide");
  }

  // ---- Time ----

  let run = 0;
  let playing = false;

  function stop() {
    run++;
    playing = false;
    if (atlas.moving) {
      const { node, back } = atlas.moving;
      atlas.time = steps().find((s) => s.node === node && s.back === back)?.to ?? atlas.time;
      atlas.moving = null;
    }
    told();
  }

  /** Run the next step; whether there is one more behind it. @param {number} id */
  async function advance(id) {
    const all = steps();
    const k = all.findIndex((s) => s.to > atlas.time + 1e-6);
    if (k < 0) return false;
    const { node, back, to } = all[k];
    const group = /** @type {AtlasNode} */ (parentOf(m, node));
    [atlas.now, atlas.selected] = [node, node];
    caption(all[k], k, all.length);
    if (group !== atlas.focus) {
      await stage.flyTo(group, 520);
      if (id !== run) return false;
    }
    const from = atlas.time;
    if (!calm()) {
      atlas.moving = { node, back, group, share: 0 };
      await new Promise((done) => {
        const start = performance.now();
        const frame = (/** @type {number} */ now) => {
          if (id !== run || !atlas.moving) return done(undefined);
          const share = clamp((now - start) / STEP, 0, 1);
          atlas.moving.share = share;
          atlas.time = from + (to - from) * smooth(0.5, 1, share);
          stage.need();
          if (share < 1) requestAnimationFrame(frame);
          else done(undefined);
        };
        requestAnimationFrame(frame);
      });
    } else if (playing) await new Promise((done) => setTimeout(done, 450));
    if (id !== run) return false;
    [atlas.time, atlas.moving] = [to, null];
    told();
    return k < all.length - 1;
  }

  async function play() {
    if (playing) return stop();
    const id = ++run;
    playing = true;
    if (ends()) {
      atlas.time = atlas.focus.parent == null ? 0 : Math.min(atlas.focus.a, m.end);
      atlas.now = null;
    }
    told();
    while (id === run && (await advance(id)));
    if (id !== run) return;
    playing = false;
    if (m.failed < 0) atlas.now = null;
    told();
  }

  function forward() {
    stop();
    if (ends()) return jump(0);
    void advance(++run);
  }

  function back() {
    stop();
    const before = steps().filter((s) => s.to < atlas.time - 1e-6);
    jump(before.length ? before[before.length - 1].to : 0);
  }

  /** @param {number} time */
  function jump(time) {
    run++;
    playing = false;
    atlas.moving = null;
    atlas.time = clamp(time, 0, m.end);
    const all = steps();
    const k = all.findIndex((s) => s.to >= atlas.time - 1e-6);
    const here = k < 0 ? null : all[k];
    atlas.now = atlas.time <= 0 || (ends() && m.failed < 0) ? null : (here?.node ?? null);
    const group = atlas.now && parentOf(m, atlas.now);
    if (group && group !== atlas.focus) void stage.flyTo(group, 420);
    if (atlas.now || atlas.time <= 0) select(atlas.now ?? around());
    told();
  }

  // ---- What is said ----

  const bar = explorerBar(parts.bar, data, { first: () => jump(0), back, play: () => void play(), forward, last: () => jump(m.end) });

  /** @param {AtlasStep | null} [step] @param {number} [k] @param {number} [count] */
  function caption(step, k = 0, count = 0) {
    if (!step) {
      if (m.failed >= 0 && ends()) return bar.say(speech.pair("said_failed", { name: fullName(m, m.leaves[m.failed]), count: m.failed }), "bad");
      if (atlas.time <= 0) return bar.say(speech.pair("said_start"));
      const [first] = data.findings; // troubles come first; a wide page lists all beside it
      const look = first && (first.bad || !root.classList.contains("mg-x-wide"));
      const { ms, back: ms_back } = m.root.sum;
      const key = m.end > m.n ? "said_finished" : "said_finished_forward";
      const finished = speech.pair(key, { count: m.n, forward: lasting(ms), backward: lasting(ms_back) });
      if (look) return bar.say(first.text, first.bad ? "bad" : "", finished, () => follow(first.op, first.node === undefined ? undefined : m.nodes[first.node], first.about));
      return bar.say(finished, "", speech.pair("said_hint"));
    }
    const { node } = step;
    const tensor = m.tensors[node.out];
    const about = { name: fullName(m, node), kind: kindOfNode(atlas, node), step: k + 1, count };
    if (step.back) return bar.say(speech.pair("said_back", { ...about, norm: normOf(speech, portraitOf(m, tensor.g)) }), "grad");
    const reads = m.data.operators.slice(node.a, node.b).flatMap((op) => op.reads).filter((x) => x < node.a || x >= node.b);
    const shapes = [...new Set(reads.map((x) => shapeOf(atlas, x)))].slice(0, 3).join(", ") || "·";
    const value = portraitOf(m, tensor.v);
    const what = isNumber(tensor) ? `y = ${figure(value?.mean)}` : `σ ${figure(value?.std)}`;
    bar.say(speech.pair("said_forward", { ...about, reads: shapes, gives: shapeOf(atlas, node.out), what, ms: lasting(node.sum.ms) }), "run");
  }

  function told() {
    const all = steps();
    const k = all.filter((s) => s.to <= atlas.time + 1e-6).length;
    const here = all[Math.max(0, k - 1)] ?? null;
    bar.tell(playing, `${k} / ${all.length}`);
    if (!atlas.moving && !playing) caption(atlas.time <= 0 || ends() ? null : here, k - 1, all.length);
    for (const [name, value] of Object.entries({ min: 0, max: all.length, now: k, text: bar.text() }))
      scoreCanvas.setAttribute(`aria-value${name}`, String(value));
    explorerCrumbs(parts.crumbs, atlas, (node) => {
      const here = atlas.focus === node && !(atlas.selected === around() && root.classList.contains("mg-x-told"));
      open(node);
      canvas.focus({ preventScroll: true }); // the button is gone
      drawer(here); // a click on what is open shows what is known of it, a second one hides that
    });
    explorerList(list, atlas, open);
    inspect();
  }

  // ---- Keys, the score, sizes ----

  /** @param {number} by */
  function neighbour(by) {
    const all = partsOf(m, atlas.focus).sort((x, y) => x.a - y.a || x.b - y.b);
    const at = all.findIndex((node) => node === (atlas.selected === around() ? closed : atlas.selected));
    select(all[at < 0 ? (by > 0 ? 0 : all.length - 1) : clamp(at + by, 0, all.length - 1)]);
  }
  /** @returns {Keys} */
  const keys = () => ({
    ArrowRight: forward,
    ArrowLeft: back,
    ArrowDown: () => neighbour(1),
    ArrowUp: () => neighbour(-1),
    Enter: () => { if (atlas.selected && atlas.selected !== atlas.focus) open(atlas.selected); },
    Escape: close,
    Home: () => jump(0),
    End: () => jump(m.end),
    " ": () => void play(),
    f: () => open(m.root),
  });
  const ungrasp = keyboard(root, keys, alone);

  let scrubbing = false;
  const seek = (/** @type {PointerEvent} */ e) => jump(score.timeAt(clamp(e.offsetX, 0, scoreCanvas.clientWidth)));
  scoreCanvas.addEventListener("pointerdown", (e) => {
    const { node, named } = score.rowAt(e.offsetX, e.offsetY);
    const column = score.columnAt(e.offsetX, e.offsetY);
    if (column) {
      score.sort(column);
      return stage.need();
    }
    if (named) {
      if (node?.children) open(node);
      else if (node) reveal(node.a);
      return;
    }
    scoreCanvas.setPointerCapture(e.pointerId);
    scrubbing = true;
    seek(e);
  });
  scoreCanvas.addEventListener("pointermove", (e) => {
    if (scrubbing) return seek(e);
    if (e.pointerType === "touch") return;
    const { node, named } = score.rowAt(e.offsetX, e.offsetY);
    [score.pointed, score.over] = [named ? null : e.offsetX, score.columnAt(e.offsetX, e.offsetY)];
    atlas.hovered = node;
    stage.need();
  });
  scoreCanvas.addEventListener("pointerup", () => { scrubbing = false; });
  scoreCanvas.addEventListener("pointerleave", () => {
    [score.pointed, score.over, atlas.hovered] = [null, "", null];
    stage.need();
  });

  const size = () => {
    const w = root.clientWidth;
    if (!w) return;
    if (root.classList.contains("mg-x-wide") !== root.classList.toggle("mg-x-wide", w >= 1100)) told();
    root.classList.toggle("mg-x-phone", w <= 560);
    root.style.height = `${explorerHeight(root, alone)}px`;
    score.resize(parts.panel.clientWidth, root.clientHeight);
    atlas.size = { w: parts.box.clientWidth, h: parts.box.clientHeight };
    pen.resize(atlas.size.w, atlas.size.h);
    stage.fit();
    inspect();
  };
  const watch = new ResizeObserver(size);
  watch.observe(root);
  window.addEventListener("resize", size);
  const restyle = () => {
    ink = inks(root);
    size();
    told();
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", restyle);
  const themes = new MutationObserver(restyle);
  for (const e of [document.body, el.closest(".jp-Notebook")])
    if (e) themes.observe(e, { attributes: true, attributeFilter: ["data-mg-language", "data-jp-theme-light", "class"] });
  side.setAttribute("aria-label", halves(speech.pair("about_selected")));
  canvas.setAttribute("aria-label", halves(speech.pair("canvas", { name: data.name })));
  scoreCanvas.setAttribute("aria-label", halves(speech.pair("score")));
  say(parts.look, speech.pair("worth_a_look"));
  parts.look.hidden = !data.findings.length;
  parts.look.addEventListener("click", () => {
    const there = atlas.selected == null && root.classList.contains("mg-x-told");
    open(m.root);
    drawer(!there);
  });
  if (data.start) open(m.nodes[data.start]);
  size();
  told();
  Object.assign(root, { atlas: { atlas, score, open, jump, reveal, steps } }); // for tests, and for the console
  return {
    leave() {
      stage.leave();
      watch.disconnect();
      themes.disconnect();
      ungrasp();
      dark.removeEventListener("change", restyle);
      window.removeEventListener("resize", size);
    },
  };
}

/** As high as there is room, so that everything is on one screen. @param {HTMLElement} root @param {boolean} alone */
function explorerHeight(root, alone) {
  if (!alone) return clamp(window.innerHeight * 0.82, 420, 760);
  return Math.max(460, window.innerHeight - root.getBoundingClientRect().top - window.scrollY - 12);
}

/**
 * @param {HTMLElement} bar @param {AtlasData} data
 * @param {{first(): void, back(): void, play(): void, forward(): void, last(): void}} go
 */
function explorerBar(bar, data, go) {
  const { words } = data;
  const named = (/** @type {string} */ sign, /** @type {string} */ key, /** @type {() => void} */ action) => button(sign, halves(words[key]), bar, action);
  named("|←", "to_first", go.first).classList.add("mg-x-less");
  named("←", "to_back", go.back);
  const playing = named("▶", "to_play", go.play);
  playing.classList.add("mg-play");
  named("→", "to_forward", go.forward);
  named("→|", "to_last", go.last).classList.add("mg-x-less");
  const said = make("div", "mg-x-said", bar);
  said.setAttribute("aria-live", "polite");
  const counter = make("output", "", bar);
  return {
    /** @param {Pair} pair @param {string} [look] @param {Pair} [more] @param {() => void} [go] to what is meant */
    say(pair, look = "", more, go) {
      said.replaceChildren();
      said.className = `mg-x-said ${look ? `mg-x-${look}-words` : ""}`;
      const place = go ? make("button", "", said) : said;
      if (go) place.addEventListener("click", go);
      say(place, pair);
      if (more) say(make("small", "", said), more);
    },
    text: () => said.textContent ?? "",
    /** @param {boolean} plays @param {string} place */
    tell(plays, place) {
      playing.textContent = plays ? "∥" : "▶";
      counter.textContent = place;
    },
  };
}

/** The modules around what is open, each a button. @param {HTMLElement} nav @param {Atlas} atlas @param {(node: AtlasNode) => void} open */
function explorerCrumbs(nav, atlas, open) {
  const { m } = atlas;
  nav.replaceChildren();
  nav.setAttribute("aria-label", halves(atlas.speech.pair("crumbs")));
  const group = m.nodes[[...atlas.open].at(-1) ?? 0];
  pathOf(m, group).forEach((node, i) => {
    if (i) make("i", "", nav).textContent = "›";
    const b = make("button", "", nav);
    b.type = "button";
    b.textContent = node === m.root ? modelName(m) : node.name;
    if (node === group) b.setAttribute("aria-current", "true");
    make("small", "", b).textContent = node === m.root ? "" : kindOfNode(atlas, node);
    b.addEventListener("click", () => open(node));
  });
  const about = make("span", "mg-x-inputs", nav);
  const [english, chinese] = m.data.heading.map((half) => half.split(" · "));
  const told = english.map((part, i) => /** @type {Pair} */ ([part, chinese[i]]));
  if (m.data.about) told.push(atlas.speech.pair("from_outputs"));
  for (const pair of told) say(make("span", "", about), pair);
}

/** What the canvas shows, for a screen reader. @param {HTMLElement} list @param {Atlas} atlas @param {(node: AtlasNode) => void} open */
function explorerList(list, atlas, open) {
  const { m, speech, time } = atlas;
  const group = m.nodes[[...atlas.open].at(-1) ?? 0];
  list.replaceChildren();
  for (const node of partsOf(m, group)) {
    const b = make("button", "", make("li", "", list));
    b.type = "button";
    b.tabIndex = -1;
    const tensor = m.tensors[node.out];
    const there = ran(node, time) >= 1;
    const norm = cameBack(m, node, time) >= 1 ? `, |∂y| ${normOf(speech, portraitOf(m, tensor.g))}` : "";
    b.textContent = `${titleOf(m, node)}, ${kindOfNode(atlas, node)}, ${there ? shapeOf(atlas, node.out) : speech.line("not_yet")}${norm}`;
    b.addEventListener("click", () => open(node));
  }
}

export default { render };
