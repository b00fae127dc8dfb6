// The board. All content comes from the kernel once; a step only swaps drawings and marks here.
function render({ model, el }) {
  let leave = show(model, el);
  const replace = () => {
    leave();
    el.replaceChildren();
    leave = show(model, el);
  };
  model.on("change:data", replace);
  return () => {
    model.off("change:data", replace);
    leave();
  };
}

// One panel: a drawing that stays as long as its picture does, and the marks on it.
function pane(data, parent, choose) {
  const figure = make("figure", "mg-graph", parent);
  const title = make("figcaption", "", figure);
  const tools = make("div", "mg-tools", figure);
  const drawing = make("div", "mg-drawing", figure);
  const extra = make("div", "mg-extra", figure);
  const code = make("pre", "mg-lines", figure);
  const message = make("p", "mg-message", figure);
  let shown = null;
  let scale = 1;
  const resize = () => {
    const svg = drawing.querySelector("svg");
    if (!svg) return;
    svg.dataset.width ??= String(parseFloat(svg.style.width) || 400);
    svg.style.width = `${svg.dataset.width * scale}px`;
    svg.style.maxWidth = scale === 1 ? "100%" : "none";
    svg.style.maxHeight = scale === 1 ? "440px" : "none";
  };
  const zoom = (factor) => () => {
    scale = factor ? scale * factor : 1;
    resize();
  };
  button("+", data.labels.zoom_in, tools, zoom(1.25));
  button("−", data.labels.zoom_out, tools, zoom(0.8));
  button("1:1", data.labels.fit, tools, zoom(0));

  const place = (number) => {
    if (number === shown) return;
    shown = number;
    const picture = data.drawings[number];
    drawing.innerHTML = picture ? picture.svg : "";
    drawing.hidden = tools.hidden = !picture;
    for (const g of drawing.querySelectorAll("g.node")) {
      g.setAttribute("tabindex", "0");
      g.setAttribute("role", "button");
      mine(g);
      g.addEventListener("click", () => choose(g.id, picture));
      g.addEventListener("keydown", (e) => {
        if (e.key === "Enter") choose(g.id, picture);
      });
    }
    resize();
  };
  return {
    figure,
    paint(panel) {
      title.innerHTML = panel.title;
      place(panel.drawing ?? -1);
      drawing.setAttribute("role", "group");
      drawing.setAttribute("aria-label", data.drawings[panel.drawing]?.alt ?? "");
      for (const g of drawing.querySelectorAll("g.node")) {
        const kind = panel.marks[g.id];
        g.setAttribute("class", kind ? `node mg-${kind}` : "node");
        const texts = g.querySelectorAll("text");
        const slot = texts[texts.length - 1];
        const said = `${kind ? data.signs[kind] : ""} ${panel.notes[g.id] ?? ""}`.trim();
        slot.classList.add("mg-value");
        slot.textContent = said || "\u2007";
      }
      extra.innerHTML = panel.svg;
      code.hidden = !panel.code.length;
      code.replaceChildren();
      for (const [kind, line] of panel.code) {
        const part = make("span", kind ? `mg-line mg-line-${kind}` : "mg-line", code);
        part.textContent = `${kind ? data.signs[kind] : " "} ${line}\n`;
      }
      message.hidden = !panel.message;
      message.innerHTML = panel.message;
    },
  };
}

function show(model, el) {
  const data = model.get("data");
  const { scenes, words, labels } = data;
  if (!scenes.length) {
    el.innerHTML = data.verdict;
    return () => {};
  }
  const root = make("section", "mg-player mg-board", el);
  root.tabIndex = 0;
  root.setAttribute("aria-label", data.slider);
  const switches = make("div", "mg-switches", root);
  const caption = make("div", "mg-caption", root);
  caption.setAttribute("aria-live", "polite");
  const stages = make("div", "mg-stage", root);
  const legend = make("div", "mg-legend", root);
  const controls = make("div", "mg-controls", root);
  const facts = make("ul", "mg-facts", root);
  const sheet = make("div", "mg-sheet", root);
  sheet.innerHTML = data.sheet;
  const inspector = make("div", "mg-inspector", root);
  if (data.verdict) make("div", "mg-fact", root).innerHTML = data.verdict;
  const tables = make("details", "", root);
  make("summary", "", tables).innerHTML = data.table_title;
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
  if (data.switches.length && off === undefined) make("span", "", switches).innerHTML = words.board_live;

  const most = Math.max(...scenes.map((scene) => scene.panels.length));
  const choose = (id, picture) => {
    const node = picture.nodes[id];
    inspector.replaceChildren();
    if (!node) return;
    make("h4", "", inspector).innerHTML = node.title;
    const list = make("dl", "", inspector);
    for (const [term, text] of [
      [words.shape, node.shape],
      [words.line, node.line],
    ]) {
      make("dt", "", list).innerHTML = term;
      make("dd", "", list).innerHTML = text;
    }
  };
  const panes = Array.from({ length: most }, () => pane(data, stages, choose));

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
  make("div", "mg-keys", controls).innerHTML = words.board_keys;
  controls.hidden = scenes.length === 1;

  listen(root, () => steps.keys);

  function paint() {
    const scene = scenes[index];
    caption.innerHTML = scene.caption;
    panes.forEach((p, i) => {
      p.figure.hidden = i >= scene.panels.length;
      if (i < scene.panels.length) p.paint(scene.panels[i]);
    });
    const kinds = new Set(scene.panels.flatMap((p) => [...Object.values(p.marks), ...p.code.map((c) => c[0])]));
    legend.replaceChildren();
    for (const kind of Object.keys(data.signs)) {
      if (kinds.has(kind)) make("span", "", legend).innerHTML = `<b>${data.signs[kind]}</b> ${data.legend[kind]}`;
    }
    facts.replaceChildren();
    for (const fact of scene.facts) make("li", "", facts).innerHTML = fact;
    [...sheet.querySelectorAll("tbody tr")].forEach((line, i) => {
      line.classList.toggle("mg-row", i === scene.row);
      if (i === scene.row) line.setAttribute("aria-current", "true");
      else line.removeAttribute("aria-current");
    });
    inside.innerHTML = scene.panels.map((p) => data.drawings[p.drawing]?.table ?? "").join("");
    steps.tell(scene.say, scene.place);
  }

  const follow = () => {
    if (model.get("index") !== index) {
      index = Math.min(model.get("index"), scenes.length - 1);
      paint();
    }
  };
  model.on("change:index", follow);
  paint();
  return () => {
    steps.leave();
    model.off("change:index", follow);
  };
}

export default { render };
