// The board. All content comes from the kernel once; a step only swaps drawings and marks here.
const HIGHEST = 360; // pixels of a drawing that are seen at once
const MESSAGE = 64; // pixels of what is said beneath it, where it has a row of its own
const MEANT = new Set(["now", "failed", "wrong", "new", "gone", "again"]); // marks to look at

function render({ model, el }) {
  const root = make("section", "mg-player mg-board", el);
  root.tabIndex = 0;
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

// Words in place of those that stood there.
function tell(element, pair) {
  element.replaceChildren();
  return say(element, pair);
}

// What is written again only where it differs from what stands there.
function renewing() {
  const known = {};
  return (part, content, write) => {
    const key = JSON.stringify(content ?? null);
    if (known[part] === key) return;
    known[part] = key;
    write();
  };
}

// What scrolls is reached by keys.
function scrolls(element) {
  element.tabIndex = 0;
  mine(element);
  return element;
}

const list = (parent, facts) => {
  const found = make("ul", "", parent);
  for (const fact of facts) say(make("li", "", found), fact);
};

// Scrolls a box as little as brings these nodes into view; of many the first ones.
function bring(box, nodes) {
  const { left, right, top, bottom } = box.getBoundingClientRect();
  const EDGE = 16;
  for (const node of nodes.reverse()) {
    const at = node.getBoundingClientRect();
    box.scrollLeft += Math.min(0, at.left - left - EDGE) + Math.max(0, at.right - right + EDGE);
    box.scrollTop += Math.min(0, at.top - top - EDGE) + Math.max(0, at.bottom - bottom + EDGE);
  }
}

// One panel: a drawing that stays as long as its picture does, and the marks on it.
function pane(data, parent, choose, scale, each) {
  const figure = make("figure", "mg-graph", parent);
  const title = make("figcaption", "", figure);
  const drawing = make("div", "mg-drawing", figure);
  const extra = scrolls(make("div", "mg-extra", figure));
  const code = scrolls(make("pre", "mg-lines", figure));
  const message = scrolls(make("p", "mg-message", figure));
  const zoom = scale.add(drawing);
  const fresh = renewing();
  const varies = (id) => each.some(({ marks }) => marks[id] !== "ran"); // it does not run at each step
  let shown = null;
  let parts = []; // nodes and arrows of the drawing: their classes, and what was written in them

  const draw = (picture) => {
    drawing.innerHTML = picture ? picture.svg : "";
    drawing.hidden = !picture;
    drawing.setAttribute("role", "group");
    drawing.setAttribute("aria-label", picture?.alt ?? "");
    zoom.apply();
    parts = [...drawing.querySelectorAll("g.node, g.edge")].map((g) => (
      { g, slot: g.querySelector(".mg-value"), kind: g.getAttribute("class"), look: null, said: "" }
    ));
    for (const g of drawing.querySelectorAll("g.node")) {
      g.setAttribute("tabindex", "0");
      g.setAttribute("role", "button");
      mine(g);
      g.addEventListener("click", () => choose(g.id, picture));
      g.addEventListener("keydown", (e) => {
        if (e.key === "Enter") choose(g.id, picture);
      });
    }
  };
  const place = (number) => {
    if (number === shown) return;
    const [old, picture] = [data.drawings[shown], data.drawings[number]];
    shown = number;
    if (data.moves && old && picture && !figure.hidden) {
      morph(drawing, `${old.prefix}-`, `${picture.prefix}-`, () => draw(picture));
    } else draw(picture);
  };
  return {
    figure,
    paint(panel) {
      place(panel.drawing ?? -1);
      figure.hidden = false;
      const [now, ran] = [[], []];
      for (const part of parts) {
        const kind = panel.marks[part.g.id];
        if (MEANT.has(kind) && part.slot) now.push(part.g);
        if (kind === "ran" && part.slot && varies(part.g.id)) ran.push(part.g);
        const said = `${kind ? data.signs[kind] : ""} ${panel.notes[part.g.id] ?? ""}`.trim();
        const look = [part.kind, kind && `mg-${kind}`].filter(Boolean).join(" ");
        if (look !== part.look) part.g.setAttribute("class", look);
        if (said !== part.said && part.slot) part.slot.textContent = said;
        Object.assign(part, { look, said });
      }
      bring(drawing, now.length ? now : ran);
      fresh("title", panel.title, () => tell(title, panel.title));
      fresh("svg", panel.svg, () => { extra.innerHTML = panel.svg; });
      fresh("kind", [panel.drawing, panel.code.length], () => {
        figure.dataset.kind = panel.drawing !== null ? "drawing" : panel.code.length ? "code" : "other";
      });
      fresh("code", panel.code, () => {
        code.hidden = !panel.code.length;
        code.replaceChildren();
        for (const [kind, line] of panel.code) {
          const part = make("span", kind ? `mg-code-line mg-code-${kind}` : "mg-code-line", code);
          part.textContent = `${kind ? data.signs[kind] : " "} ${line}\n`;
        }
      });
      fresh("message", panel.message, () => {
        message.hidden = !panel.message;
        tell(message, panel.message);
      });
    },
  };
}

// What the kernel makes again: without one (a saved page) the switches only tell.
function switches(model, { switches: all, words }, parent) {
  const box = make("div", "mg-switches", parent);
  const off = model.get("off");
  for (const { key, on } of all) {
    const label = make("label", "", box);
    const input = make("input", "", label);
    input.type = "checkbox";
    input.checked = on;
    input.disabled = off === undefined;
    label.append(key);
    input.addEventListener("change", () => {
      const rest = model.get("off").filter((other) => other !== key);
      model.set("off", input.checked ? rest : [...rest, key]);
      model.save_changes();
    });
  }
  if (all.length && off === undefined) say(make("span", "", box), words.board_live);
}

// What the marks mean that occur on this board.
function legend({ scenes, signs, legend: words }, parent) {
  const box = make("div", "mg-legend", parent);
  const panels = scenes.flatMap((scene) => scene.panels);
  const marked = new Set(panels.flatMap((p) => [...Object.values(p.marks), ...p.code.map((c) => c[0])]));
  for (const kind of Object.keys(signs).filter((each) => marked.has(each))) {
    const entry = make("span", "", box);
    make("b", `mg-sign-${kind}`, entry).textContent = signs[kind];
    entry.append(" ");
    say(entry, words[kind]);
  }
}

// What a click on a node tells; before the first one, which keys there are.
function inspector(words, keys, parent) {
  const box = make("div", "mg-inspector", parent);
  const inside = scrolls(make("div", "", box));
  say(make("p", "mg-keys", inside), keys);
  return (id, picture) => {
    const node = picture.nodes[id];
    inside.replaceChildren();
    if (!node) return;
    say(make("h2", "", inside), node.title);
    const found = make("dl", "", inside);
    for (const [term, text] of [[words.shape, node.shape], [words.line, node.line]]) {
      if (!text) continue;
      say(make("dt", "", found), term);
      make("dd", "", found).textContent = text;
    }
  };
}

// The table of all steps; returns what lights the row of one.
function table(data, parent) {
  const sheet = scrolls(make("div", "mg-sheet", parent));
  sheet.innerHTML = data.sheet;
  sheet.hidden = !data.sheet;
  const rows = sheet.querySelectorAll("tbody tr");
  let current = null;
  return (number) => {
    const now = rows[number];
    if (now === current) return;
    current?.classList.remove("mg-row");
    current?.removeAttribute("aria-current");
    now?.classList.add("mg-row");
    now?.setAttribute("aria-current", "true");
    current = now;
    const above = rows[Math.max(0, number - 1)];
    if (now) sheet.scrollTop = above.offsetTop - rows[0].offsetTop; // a whole row beneath the head
  };
}

// Width and height of each drawing as it is; of what stands in place of one, some.
const sizesOf = ({ drawings }) => drawings.map(({ svg }) => {
  const [, width, height] = / width="(\d+)" height="(\d+)"/.exec(svg) ?? [0, HIGHEST, HIGHEST];
  return [Number(width), Number(height)];
});

// How high a drawing may be: as the highest of the board is, so that no step changes its size.
function height(sizes, scenes) {
  const others = scenes.length > 1 && scenes.some((s) => s.panels.some((p) => p.drawing === null && !p.svg));
  return Math.min(scenes.length > 1 ? HIGHEST : HIGHEST + 80, Math.max(60, others ? 200 : 0, ...sizes.map(([, high]) => high)) + 20);
}

function show(model, root, moved) {
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
  tools.hidden = !data.drawings.length;
  const scale = scaled(tools, labels, words);
  const stage = make("div", "mg-stage", root);
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
  const still = scenes.length === 1;
  const choose = inspector(words, still ? words.board_still_keys : words.board_keys, below);
  if (data.verdict) say(make("div", "mg-fact", root), data.verdict);
  const tables = make("details", "", root);
  say(make("summary", "", tables), data.table_title);
  const inside = make("div", "", tables);

  const most = Math.max(...scenes.map((scene) => scene.panels.length));
  const isCode = (i) => data.drawings.length > 0 && scenes.every(({ panels }) => !panels[i] || panels[i].code.length);
  const panes = Array.from({ length: most }, (_, i) => {
    const each = scenes.flatMap(({ panels }) => panels[i] ?? []);
    const made = pane(data, isCode(i) ? below : stage, choose, scale, each);
    const own = sizes.filter((_, number) => each.some(({ drawing }) => drawing === number));
    const beneath = each.some(({ message }) => message) ? MESSAGE : 0;
    made.figure.style.setProperty("--mg-own", `${height(own, scenes) + beneath}px`);
    made.figure.style.setProperty("--mg-lines", Math.max(...each.map(({ code }) => code.length)));
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

  function paint() {
    const scene = scenes[index];
    fresh("count", scene.panels.map((p) => p.drawing), () => {
      stage.dataset.panels = scene.panels.length;
      const widths = scene.panels.filter((p) => p.drawing !== null).map((p) => sizes[p.drawing][0]);
      stage.style.setProperty("--mg-drawn", Math.max(1, widths.length));
      stage.style.setProperty("--mg-columns", widths.map((wide) => (
        `minmax(min(${wide + 16}px, (100% - ${widths.length - 1}px) / ${widths.length}), ${wide}fr)` // less the gaps
      )).join(" ") || "minmax(0, 1fr)");
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
      inside.innerHTML = drawn.map((number) => data.drawings[number]?.table ?? "").join("");
    });
    steps.tell(scene.say, scene.place);
    moved(scene.inputs);
  }

  // To the step of these inputs, if there is one: no kernel is needed for it.
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
