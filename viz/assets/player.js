// The player. All content comes from the kernel once; a step only changes classes and text here.
const SVG = "http://www.w3.org/2000/svg";

// One graph: its views (in full, folded to layers), of which one is shown.
function stage(graph, data, parent, choose) {
  const figure = make("figure", "mg-graph", parent);
  if (graph.title) make("figcaption", "", figure).innerHTML = graph.title;
  const tools = make("div", "mg-tools", figure);
  const drawing = make("div", "mg-drawing", figure);
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", graph.alt);
  let shown = graph.views.length - 1;
  let scale = 1;
  const resize = () => {
    const svg = drawing.querySelector("svg");
    if (!svg) return;
    svg.dataset.width ??= String(parseFloat(svg.style.width) || 400);
    svg.style.width = `${svg.dataset.width * scale}px`;
    svg.style.maxWidth = scale === 1 ? "100%" : "none";
  };
  const self = {
    home: {},
    elements: new Map(),
    edges: new Map(),
    show() {
      const view = graph.views[shown];
      drawing.innerHTML = view.svg;
      self.home = view.home;
      self.elements = new Map([...drawing.querySelectorAll("g.node")].map((g) => [g.id, g]));
      self.edges = new Map([...drawing.querySelectorAll("g.edge")].map((g) => [g.id, g]));
      for (const [id, g] of self.elements) {
        g.setAttribute("tabindex", "0");
        mine(g);
        g.setAttribute("role", "button");
        g.addEventListener("click", () => choose(id));
        g.addEventListener("keydown", (e) => {
          if (e.key === "Enter") choose(id);
        });
      }
      resize();
    },
    members(id) {
      const inside = Object.keys(self.home).filter((node) => self.home[node] === id);
      return inside.length ? inside : [id];
    },
  };
  if (graph.views.length > 1) {
    const fold = button("▤", data.labels.fold, tools, () => {
      shown = 1 - shown;
      fold.setAttribute("aria-pressed", String(shown === 1));
      self.show();
      self.refresh();
    });
    fold.setAttribute("aria-pressed", "true");
  }
  const zoom = (factor) => () => {
    scale = factor ? scale * factor : 1;
    resize();
  };
  button("+", data.labels.zoom_in, tools, zoom(1.25));
  button("−", data.labels.zoom_out, tools, zoom(0.8));
  button("1:1", data.labels.fit, tools, zoom(0));
  self.show();
  return self;
}

// A heat map: blue below zero, white at zero, orange above; grey where there is no number.
function heat(grid, parent) {
  const canvas = make("canvas", "", parent);
  canvas.width = grid[0].length;
  canvas.height = grid.length;
  const cell = Math.max(4, Math.min(16, Math.floor(160 / Math.max(grid.length, grid[0].length))));
  canvas.style.width = `${cell * canvas.width}px`;
  const paint = canvas.getContext("2d");
  const top = Math.max(...grid.flat().map((v) => Math.abs(v ?? 0))) || 1;
  grid.forEach((line, r) =>
    line.forEach((v, c) => {
      const t = Math.abs(v ?? 0) / top;
      const end = v >= 0 ? [230, 159, 0] : [0, 114, 178];
      paint.fillStyle =
        v === null ? "#888" : `rgb(${end.map((e) => Math.round(255 + (e - 255) * t)).join(",")})`;
      paint.fillRect(c, r, 1, 1);
    }),
  );
}

function render({ model, el }) {
  let leave = play(model, el);
  const replace = () => {
    leave();
    el.replaceChildren();
    leave = play(model, el);
  };
  model.on("change:data", replace);
  return () => {
    model.off("change:data", replace);
    leave();
  };
}

function play(model, el) {
  const data = model.get("data");
  const { frames, nodes, words, labels } = data;
  if (!frames.length) return () => {};
  const root = make("section", "mg-player", el);
  root.tabIndex = 0;
  root.setAttribute("aria-label", labels.player);
  const caption = make("div", "mg-caption", root);
  caption.setAttribute("aria-live", "polite");
  const code = make("div", "mg-code", root);
  const stages = make("div", "mg-stage", root);
  const controls = make("div", "mg-controls", root);
  const clocks = make("div", "mg-clocks", root);
  const inspector = make("div", "mg-inspector", root);
  let index = Math.min(model.get("index"), frames.length - 1);
  let chosen = null;
  let timer = null;

  const choose = (id) => {
    chosen = id;
    paint();
  };
  const graphs = data.graphs.map((g) => stage(g, data, stages, choose));
  for (const g of graphs) g.refresh = () => paint();

  const go = (to) => {
    index = Math.max(0, Math.min(frames.length - 1, to));
    paint();
    model.set("index", index);
    model.save_changes();
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    playing.textContent = "▶";
  };
  const run = () => {
    if (timer) return stop();
    if (index === frames.length - 1) go(0);
    playing.textContent = "‖";
    timer = setInterval(() => (index < frames.length - 1 ? go(index + 1) : stop()), 900);
  };

  button("|←", labels.first, controls, () => go(0));
  button("←", labels.back, controls, () => go(index - 1));
  const playing = button("▶", labels.play, controls, run);
  button("→", labels.forward, controls, () => go(index + 1));
  button("→|", labels.last, controls, () => go(frames.length - 1));
  const slider = make("input", "", controls);
  slider.type = "range";
  slider.min = 0;
  slider.max = frames.length - 1;
  slider.setAttribute("aria-label", labels.position);
  slider.addEventListener("input", () => go(Number(slider.value)));
  const counter = make("output", "", controls);
  make("div", "mg-keys", controls).innerHTML = words.keys;

  const lanes = data.lanes.filter((lane) => lane.marks.length).map((lane) => clock(lane, clocks));
  if (data.verdict) {
    const verdict = make("div", `mg-verdict${data.equal ? " mg-equal" : ""}`, root);
    verdict.innerHTML = data.verdict;
  }
  const tables = make("details", "", root);
  make("summary", "", tables).innerHTML = data.table_title;
  make("div", "", tables).innerHTML = data.graphs.map((g) => g.table).join("");

  root.addEventListener("keydown", (event) => {
    const inSlider = event.target === slider;
    const moves = {
      ArrowRight: () => go(index + 1),
      ArrowLeft: () => go(index - 1),
      Home: () => go(0),
      End: () => go(frames.length - 1),
      " ": run,
    };
    if (!moves[event.key] || (event.key === " " && event.target.tagName === "BUTTON")) return;
    if (inSlider && event.key !== " ") return; // the slider moves itself
    event.preventDefault();
    event.stopPropagation();
    moves[event.key]();
  });

  // One clock: a row of ticks, one column for each step.
  function clock(lane, parent) {
    make("div", "", parent).innerHTML = lane.label;
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("class", "mg-lane");
    svg.setAttribute("viewBox", `0 0 ${frames.length} 10`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `${lane.marks.length}`);
    parent.append(svg);
    const now = document.createElementNS(SVG, "rect");
    now.setAttribute("y", 0);
    now.setAttribute("width", 1);
    now.setAttribute("height", 10);
    now.setAttribute("fill", "#F0E442");
    svg.append(now);
    const color = { clock_built: "#0072B2", clock_run: "#009E73", clock_gradient: "#D55E00" };
    const ticks = lane.marks.map(([frame, node]) => {
      const tick = document.createElementNS(SVG, "rect");
      tick.setAttribute("x", frame + 0.15);
      tick.setAttribute("y", 2);
      tick.setAttribute("width", 0.7);
      tick.setAttribute("height", 6);
      tick.setAttribute("fill", color[lane.clock]);
      const title = document.createElementNS(SVG, "title");
      title.textContent = `${frame}: ${nodes[node]?.label ?? ""}`;
      tick.append(title);
      svg.append(tick);
      return { tick, frame };
    });
    svg.style.cursor = "pointer";
    svg.addEventListener("click", (event) => {
      const box = svg.getBoundingClientRect();
      go(Math.floor(((event.clientX - box.left) / box.width) * frames.length));
    });
    return () => {
      now.setAttribute("x", index);
      for (const { tick, frame } of ticks) tick.setAttribute("opacity", frame <= index ? 1 : 0.3);
    };
  }

  // The last of [frame, summary] that happened by now.
  const latest = (entries) => entries?.filter(([frame]) => frame <= index).pop()?.[1];

  function life(members) {
    const inside = members.map((m) => nodes[m]).filter(Boolean);
    const born = inside.every((n) => n.born !== null && n.born <= index);
    const some = inside.some((n) => n.born !== null && n.born <= index);
    const ran = inside.every((n) => latest(n.values));
    return { born: born || some, ran, value: ran && latest(inside[inside.length - 1]?.values) };
  }

  function paint() {
    const frame = frames[index];
    caption.innerHTML = frame.caption;
    code.replaceChildren();
    for (const [place, before, inside, after] of frame.code) {
      const line = make("div", "", code);
      line.append(before);
      make("mark", "", line).textContent = inside;
      line.append(after);
      make("span", "mg-place", line).textContent = `   ${place}`;
    }
    slider.value = index;
    slider.setAttribute("aria-valuetext", `${index}: ${frame.say}`);
    counter.textContent = `${index} / ${frames.length - 1}`;
    for (const repaint of lanes) repaint();
    for (const old of root.querySelectorAll("text.mg-share")) old.remove();
    for (const graph of graphs) {
      const active = new Set(frame.active.map((id) => graph.home[id] ?? id));
      for (const [id, g] of graph.elements) {
        const { born, ran, value } = life(graph.members(id));
        g.classList.toggle("mg-unborn", !born && !ran);
        g.classList.toggle("mg-born", born && !ran);
        g.classList.toggle("mg-now", active.has(id));
        g.classList.toggle("mg-chosen", id === chosen);
        const texts = g.querySelectorAll("text");
        const slot = texts[texts.length - 1];
        slot.classList.add("mg-value");
        slot.textContent = value ? value.short : "\u2007";
      }
      const flows = new Map();
      for (const [id, text] of Object.entries(frame.edges)) flows.set(graph.home[id] ?? id, text);
      for (const [id, g] of graph.edges) {
        const share = flows.get(id);
        g.classList.toggle("mg-flow", share !== undefined);
        g.classList.toggle("mg-back", Boolean(share));
        if (share) write(g, share);
      }
    }
    inspect(chosen && shownIn(chosen) ? chosen : frame.active[0]);
  }

  const shownIn = (id) => graphs.some((g) => g.elements.has(id) || nodes[id]);

  // What flows along an edge, written beside its middle: all of it, or as much as there is room
  // for (the caption says it in full).
  function write(g, text) {
    const path = g.querySelector("path");
    const middle = path.getPointAtLength(path.getTotalLength() / 2);
    const label = document.createElementNS(SVG, "text");
    label.setAttribute("class", "mg-share");
    label.setAttribute("x", middle.x);
    label.setAttribute("y", middle.y - 6);
    label.setAttribute("text-anchor", "middle");
    g.parentNode.append(label); // above all nodes
    for (const choice of [text, `∂ = ${text.split(" = ").pop()}`, "∂"]) {
      label.textContent = choice;
      if (label.getComputedTextLength() <= path.getTotalLength() + 6) break;
    }
  }

  function inspect(id) {
    inspector.replaceChildren();
    const members = graphs.flatMap((g) => (g.elements.has(id) ? g.members(id) : []));
    const node = nodes[id] ?? nodes[members[members.length - 1]];
    if (!node) {
      inspector.innerHTML = words.select;
      return;
    }
    const list = make("dl", "");
    const title = make("h4", "", inspector);
    title.innerHTML = node.title;
    title.style.flexBasis = "100%";
    const add = (term, html) => {
      make("dt", "", list).innerHTML = term;
      make("dd", "", list).innerHTML = html;
    };
    const value = latest(node.values);
    const gradient = latest(node.gradients);
    add(words.shape, node.shape);
    add(words.value, value ? value.long : words.not_yet);
    add(words.gradient, gradient ? gradient.long : words.not_computed);
    if (node.born !== null && node.born <= index) for (const [term, text] of node.facts) add(term, text);
    inspector.append(list);
    for (const [word, summary] of [
      [words.value, value],
      [words.gradient, gradient],
    ]) {
      if (!summary?.grid?.length) continue;
      const figure = make("figure", "mg-heat", inspector);
      make("figcaption", "", figure).innerHTML = word;
      heat(summary.grid, figure);
    }
  }

  const follow = () => {
    if (model.get("index") !== index) {
      index = model.get("index");
      paint();
    }
  };
  model.on("change:index", follow);
  paint();
  return () => {
    clearInterval(timer);
    model.off("change:index", follow);
  };
}

export default { render };
