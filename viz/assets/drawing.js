// One graph of a player: drawings that are walked through with the keys, and whose groups open.

// Bring an element of a drawing into its box, without moving the page.
function reveal(element, box) {
  const [inner, outer] = [element.getBoundingClientRect(), box.getBoundingClientRect()];
  const by = (low, high, from, to) => (low < from ? low - from - 12 : high > to ? high - to + 12 : 0);
  const dx = by(inner.left, inner.right, outer.left, outer.right);
  const dy = by(inner.top, inner.bottom, outer.top, outer.bottom);
  if (dx) box.scrollLeft += dx;
  if (dy) box.scrollTop += dy;
}

// Where something of a drawing is, from what is written in it: nothing has to be laid out for that.
function extent(g) {
  const [xs, ys] = [[], []];
  for (const outline of g.querySelectorAll("ellipse, polygon, polyline, path")) {
    const read = (name) => outline.getAttribute(name) ?? "";
    const numbers = (name) => (read(name).match(/-?[\d.]+/g) ?? []).map(Number);
    const [[cx], [cy], [rx], [ry]] = ["cx", "cy", "rx", "ry"].map(numbers);
    const points = cx === undefined ? numbers("points").concat(numbers("d")) : [cx - rx, cy - ry, cx + rx, cy + ry];
    points.forEach((value, i) => (i % 2 ? ys : xs).push(value));
  }
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  return { left, right, top, bottom, x: (left + right) / 2, y: (top + bottom) / 2 };
}

// An arrow as what is written beside it needs it: how long, its tip, where there is room for words,
// the best place first, how steep it is, and where it runs, which other words keep clear of.
function course(path) {
  const length = path.getTotalLength();
  const [tip, behind, third, middle, later] = [0, Math.min(9, length), length / 3, length / 2, (2 * length) / 3]
    .map((at) => path.getPointAtLength(at));
  const slope = Math.abs((later.y - third.y) / (later.x - third.x || 1));
  const steps = Math.min(60, Math.ceil(length / 8));
  const points = Array.from({ length: steps }, (_, i) => path.getPointAtLength((length * i) / steps));
  return { length, tip, behind, middle, slope, points, places: [middle, third, later] };
}

// The same question is answered once.
function once(answer) {
  const known = new Map();
  return (key) => {
    if (!known.has(key)) known.set(key, answer(key));
    return known.get(key);
  };
}

// One graph: the drawings of it that were sent, by the groups open in them; one is shown.
function stage(graph, number, data, model, parent, actions) {
  const figure = make("figure", "mg-graph", parent);
  if (graph.title) say(make("figcaption", "", figure), graph.title);
  const tools = make("div", "mg-tools", figure);
  const drawing = make("div", "mg-drawing", figure);
  drawing.setAttribute("role", "group");
  drawing.setAttribute("aria-label", graph.alt);
  const alone = !model.widget_manager; // a saved page
  const views = { ...graph.views };
  const zoom = zoomable(drawing, tools, data.labels, data.words);
  const self = {
    drawing,
    zoom,
    boxes: new Map(),
    arrows: new Map(),
    shown: graph.shown,
    show(key) {
      self.shown = key;
      const view = (self.view = views[key]);
      Object.assign(data.nodes, view.nodes); // results with boxes of their own
      drawing.innerHTML = view.svg;
      const members = new Map();
      for (const [node, box] of Object.entries(view.home)) {
        if (data.nodes[node]) members.set(box, [...(members.get(box) ?? []), node]);
      }
      self.boxes = new Map();
      const born = new Map(Object.keys(data.nodes).map((id, place) => [id, place]));
      const order = (g) => born.get(members.get(g.id)?.[0] ?? g.id) ?? 0;
      const drawn = [...drawing.querySelectorAll("g.node")].sort((a, b) => order(a) - order(b));
      for (const g of drawn) {
        const texts = g.querySelectorAll("text");
        const slot = data.still ? null : texts[texts.length - 1]; // where its value is written
        slot?.classList.add("mg-value");
        const inside = members.get(g.id) ?? [g.id];
        const title = texts[0]?.textContent;
        self.boxes.set(g.id, { g, slot, title, members: inside.filter((i) => data.nodes[i]), seen: {} });
        reachable(g, g.id);
      }
      self.stop = null;
      self.enter(self.boxes.values().next().value);
      self.arrows = new Map();
      for (const g of drawing.querySelectorAll("g.edge")) {
        self.arrows.set(g.id, { g, seen: {} });
        g.addEventListener("click", () => actions.choose(g.id));
      }
      self.extent = once(extent);
      self.course = once((arrow) => course(arrow.g.querySelector("path")));
      self.frames = [];
      for (const frame of drawing.querySelectorAll("g.cluster")) {
        const group = view.open[frame.id];
        if (group === undefined) continue;
        frame.addEventListener("dblclick", () => self.toggle([group]));
        self.frames.push([frame, group]);
      }
      fold?.setAttribute("aria-pressed", String(key !== graph.layers));
      zoom.apply();
    },
    // The one box of a drawing at which the Tab key stops.
    enter(box) {
      if (box === self.stop) return;
      self.stop?.g.setAttribute("tabindex", "-1");
      box?.g.setAttribute("tabindex", "0");
      self.stop = box;
    },
    // The open groups that a box is in.
    around(box) {
      const { x, y } = self.extent(box.g);
      const holds = ({ left, right, top, bottom }) => left < x && x < right && top < y && y < bottom;
      return self.frames.filter(([frame]) => holds(self.extent(frame))).map(([, group]) => group);
    },
    // Open these groups, or close them if they are open.
    toggle(groups) {
      const opened = new Set(self.shown ? self.shown.split("\n") : []);
      const closing = groups.every((group) => opened.has(group));
      for (const group of groups) closing ? opened.delete(group) : opened.add(group);
      self.change([...opened].sort());
    },
    change(opened) {
      for (const graph of actions.graphs()) graph.open(opened);
    },
    open(wanted) {
      const opened = wanted.filter((group) => graph.groups.includes(group));
      const key = opened.join("\n");
      if (key === self.shown) return;
      if (!views[key]) return alone || model.send({ kind: "view", graph: number, key, opened });
      exchange(key);
    },
    // Whether the drawing that `toggle` would show is here, or can be asked for.
    can(groups) {
      const opened = new Set(self.shown ? self.shown.split("\n") : []);
      const closing = groups.every((group) => opened.has(group));
      for (const group of groups) closing ? opened.delete(group) : opened.add(group);
      return !alone || Boolean(views[[...opened].sort().join("\n")]);
    },
    place: (id) => self.view.home[id] ?? id,
    arrived(message) {
      if (message.kind !== "view" || message.graph !== number) return;
      views[message.key] = message.view;
      exchange(message.key);
    },
  };

  // Show another drawing; the keys stay with it if its predecessor had them.
  function exchange(key) {
    const focused = drawing.contains(document.activeElement);
    self.show(key);
    actions.repaint(focused);
  }

  function reachable(g, id) {
    g.setAttribute("tabindex", "-1");
    g.setAttribute("role", "button");
    mine(g);
    g.querySelector("a")?.removeAttribute("xlink:title");
    g.addEventListener("click", () => actions.choose(id));
    g.addEventListener("dblclick", () => self.view.closed[id] && self.toggle(self.view.closed[id]));
    g.addEventListener("pointerenter", () => actions.hover(id, true));
    g.addEventListener("pointerleave", () => actions.hover(id, false));
    g.addEventListener("keydown", (e) => {
      if (e.key === "Enter") actions.choose(id);
    });
  }

  let fold = null;
  if (graph.layers !== graph.shown && (views[graph.layers] || !alone)) {
    fold = button("≡", data.labels.fold, tools, () => {
      const all = self.shown === graph.layers ? graph.shown : graph.layers;
      self.change(all ? all.split("\n") : []);
    });
    tools.prepend(fold);
  }
  self.show(graph.shown);
  return self;
}
