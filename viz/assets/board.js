// The board. All content comes from the kernel once; a step only swaps drawings and marks here.
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

// One panel: a drawing that stays as long as its picture does, and the marks on it.
function pane(data, parent, choose, scale) {
  const figure = make("figure", "mg-graph", parent);
  const title = make("figcaption", "", figure);
  const drawing = make("div", "mg-drawing", figure);
  const extra = make("div", "mg-extra", figure);
  const code = make("pre", "mg-lines", figure);
  const message = make("p", "mg-message", figure);
  const zoom = scale.add(drawing);
  const fresh = renewing();
  let shown = null;
  let nodes = []; // of the drawing: where each has its sign, and what was written there

  const place = (number) => {
    if (number === shown) return;
    shown = number;
    const picture = data.drawings[number];
    drawing.innerHTML = picture ? picture.svg : "";
    drawing.hidden = !picture;
    drawing.setAttribute("role", "group");
    drawing.setAttribute("aria-label", picture?.alt ?? "");
    nodes = [...drawing.querySelectorAll("g.node")].map((g) => (
      { g, slot: g.querySelector(".mg-value"), kind: g.getAttribute("class"), look: null, said: null }
    ));
    for (const { g } of nodes) {
      g.setAttribute("tabindex", "0");
      g.setAttribute("role", "button");
      mine(g);
      g.addEventListener("click", () => choose(g.id, picture));
      g.addEventListener("keydown", (e) => {
        if (e.key === "Enter") choose(g.id, picture);
      });
    }
    zoom.apply();
  };
  return {
    figure,
    paint(panel) {
      place(panel.drawing ?? -1);
      for (const node of nodes) {
        const kind = panel.marks[node.g.id];
        const said = `${kind ? data.signs[kind] : ""} ${panel.notes[node.g.id] ?? ""}`.trim();
        const look = [node.kind, kind && `mg-${kind}`].filter(Boolean).join(" ");
        if (look !== node.look) node.g.setAttribute("class", look);
        if (said !== node.said && node.slot) node.slot.textContent = said;
        Object.assign(node, { look, said });
      }
      fresh("title", panel.title, () => tell(title, panel.title));
      fresh("svg", panel.svg, () => { extra.innerHTML = panel.svg; });
      fresh("code", panel.code, () => {
        code.hidden = !panel.code.length;
        code.replaceChildren();
        for (const [kind, line] of panel.code) {
          const part = make("span", kind ? `mg-line mg-line-${kind}` : "mg-line", code);
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

function show(model, root, moved) {
  const data = model.get("data");
  const { scenes, words, labels } = data;
  if (!scenes.length) {
    say(root, data.verdict);
    return { keys: () => ({}), goes: () => false, leave() {} };
  }
  const switches = make("div", "mg-switches", root);
  const caption = make("div", "mg-caption", root);
  caption.setAttribute("aria-live", "polite");
  const tools = make("div", "mg-tools", root);
  tools.hidden = !data.drawings.some((picture) => picture?.svg);
  const scale = scaled(tools, labels, words);
  const stages = make("div", "mg-stage", root);
  const legend = make("div", "mg-legend", root);
  const controls = make("div", "mg-controls", root);
  const facts = make("ul", "mg-facts", root);
  const sheet = make("div", "mg-sheet", root);
  sheet.innerHTML = data.sheet;
  const rows = sheet.querySelectorAll("tbody tr");
  let current = null; // the row of the step that is shown
  const fresh = renewing();
  const inspector = make("div", "mg-inspector", root);
  if (data.verdict) say(make("div", "mg-fact", root), data.verdict);
  const tables = make("details", "", root);
  say(make("summary", "", tables), data.table_title);
  const inside = make("div", "", tables);

  // What the kernel makes again: without one (a saved page) the switches only tell.
  const off = model.get("off");
  for (const { key, on } of data.switches) {
    const box = make("label", "", switches);
    const input = make("input", "", box);
    input.type = "checkbox";
    input.checked = on;
    input.disabled = off === undefined;
    box.append(key);
    input.addEventListener("change", () => {
      const rest = model.get("off").filter((other) => other !== key);
      model.set("off", input.checked ? rest : [...rest, key]);
      model.save_changes();
    });
  }
  if (data.switches.length && off === undefined) say(make("span", "", switches), words.board_live);

  const most = Math.max(...scenes.map((scene) => scene.panels.length));
  const choose = (id, picture) => {
    const node = picture.nodes[id];
    inspector.replaceChildren();
    if (!node) return;
    say(make("h2", "", inspector), node.title);
    const list = make("dl", "", inspector);
    for (const [term, text] of [
      [words.shape, node.shape],
      [words.line, node.line],
    ].filter(([, text]) => text)) {
      say(make("dt", "", list), term);
      make("dd", "", list).textContent = text;
    }
  };
  const panes = Array.from({ length: most }, () => pane(data, stages, choose, scale));

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
  controls.hidden = scenes.length === 1;
  const [home, said] = controls.hidden ? [root, words.board_still_keys] : [controls, words.board_keys];
  say(make("div", "mg-keys", home), said);

  const keys = () => ({
    ...(controls.hidden ? {} : steps.keys),
    ...zoomKeys(scale),
  });

  function paint() {
    const scene = scenes[index];
    fresh("count", scene.panels.length, () => { stages.dataset.panels = scene.panels.length; });
    tell(caption, scene.caption);
    panes.forEach((p, i) => {
      p.figure.hidden = i >= scene.panels.length;
      if (i < scene.panels.length) p.paint(scene.panels[i]);
    });
    const marked = new Set(scene.panels.flatMap((p) => [...Object.values(p.marks), ...p.code.map((c) => c[0])]));
    const kinds = Object.keys(data.signs).filter((kind) => marked.has(kind));
    fresh("legend", kinds, () => {
      legend.replaceChildren();
      for (const kind of kinds) {
        const entry = make("span", "", legend);
        make("b", "", entry).textContent = data.signs[kind];
        entry.append(" ");
        say(entry, data.legend[kind]);
      }
    });
    fresh("facts", scene.facts, () => {
      facts.replaceChildren();
      for (const fact of scene.facts) say(make("li", "", facts), fact);
    });
    const now = rows[scene.row];
    if (now !== current) {
      current?.classList.remove("mg-row");
      current?.removeAttribute("aria-current");
      now?.classList.add("mg-row");
      now?.setAttribute("aria-current", "true");
      current = now;
    }
    const drawn = scene.panels.map((p) => p.drawing);
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
