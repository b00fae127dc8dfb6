// The canvas: one panel for each graph, with drawings that are walked through with the keys, and
// whose groups open.

/**
 * One graph: the drawings of it that were sent, by the groups open in them; one is shown.
 * @param {GraphData} graph @param {number} number @param {Data} data @param {Model} model
 * @param {Element} parent @param {ReturnType<typeof scaled>} scale @param {StageActions} actions
 * @returns {Stage}
 */
function stage(graph, number, data, model, parent, scale, actions) {
  const figure = make("figure", "mg-graph", parent);
  if (graph.title) say(make("figcaption", "", figure), graph.title);
  const drawing = make("div", "mg-drawing", figure);
  const sheet = make("div", "mg-sheet", drawing);
  region(drawing, graph.alt);
  mine(drawing);
  const alone = !model.widget_manager; // a saved page
  const views = { ...graph.views };
  const zoom = scale.add(drawing);
  let slim = 0; // 1 in a notebook, 2 on a phone
  /** @type {Stage} */
  const self = {
    drawing,
    plan: graph.plan,
    cards: new Map(),
    arrows: new Map(),
    references: [],
    layer: sheet,
    shown: graph.shown,
    view: views[graph.shown],
    offset: { x: 0, y: 0 },
    stop: null,
    scale: () => zoom.scale,
    suit(size) {
      const [before, now] = [slim, size].map((size) => fittest(self.view, size));
      slim = size;
      drawing.classList.toggle("mg-on-phone", size > 1);
      if (before !== now) self.show(self.shown);
    },
    extent: once(extent),
    course: once(waypoints),
    show(key) {
      self.shown = key;
      const view = (self.view = views[key]);
      Object.assign(data.nodes, view.nodes); // results with boxes of their own
      sheet.innerHTML = fittest(view, slim);
      self.layer = make("div", "mg-chips", sheet);
      const [x = 0, y = 0] = numbers(sheet.querySelector("g.graph"), "transform");
      self.offset = { x, y };
      self.cards = cards(view);
      drawing.classList.toggle("mg-many", self.cards.size > FOLLOWED);
      self.enter(self.cards.values().next().value);
      self.arrows = arrows(view);
      drawing.classList.toggle("mg-downwards", downwards([...self.arrows.values()]));
      self.references = [...sheet.querySelectorAll(".mg-ref")];
      referring(sheet, (id) => actions.choose(id, true), (ids, on) => ids.forEach((id) => actions.hover(id, on)));
      self.extent = once(extent);
      self.course = once(waypoints);
      frames = [];
      for (const frame of sheet.querySelectorAll("g.cluster")) {
        const group = view.open[frame.id];
        if (group === undefined) continue;
        frame.addEventListener("dblclick", () => self.toggle([group]));
        for (const part of frame.querySelectorAll(".mg-frame")) frames.push([part, group]); // one in each row
      }
      zoom.apply();
    },
    // The one card of a drawing at which the Tab key stops.
    enter(box) {
      if (!box || box === self.stop) return;
      self.stop?.g.setAttribute("tabindex", "-1");
      box.g.setAttribute("tabindex", "0");
      self.stop = box;
    },
    // A card that is not born is not there for the Tab key: the first that is, or the drawing itself.
    reach() {
      const there = (/** @type {Card} */ box) => !box.seen["mg-unborn"];
      if (!self.stop || !there(self.stop)) self.enter([...self.cards.values()].find(there));
      if (!self.stop || !there(self.stop)) drawing.tabIndex = 0;
      else if (drawing !== document.activeElement) drawing.removeAttribute("tabindex");
    },
    // The open groups that a card is in.
    around(box) {
      const { x, y } = self.extent(box.g);
      const holds = (/** @type {Extent} */ { left, right, top, bottom }) =>
        left < x && x < right && top < y && y < bottom;
      return frames.filter(([frame]) => holds(self.extent(frame))).map(([, group]) => group);
    },
    toggle(groups) {
      for (const other of actions.graphs()) other.open(toggled(groups));
    },
    open(wanted) {
      const opened = wanted.filter((group) => graph.groups.includes(group)).sort();
      const key = opened.join("\n");
      if (key === self.shown) return;
      if (!views[key]) return alone ? undefined : model.send({ kind: "view", graph: number, key, opened });
      exchange(key);
    },
    // Whether the drawing that `toggle` would show is here, or can be asked for.
    can: (groups) => !alone || Boolean(views[toggled(groups).join("\n")]),
    home: (id) => self.view.home[id] ?? id,
    arrived(message) {
      if (message.kind !== "view" || message.graph !== number) return;
      views[message.key] = message.view;
      exchange(message.key);
    },
  };
  /** @type {[Element, string][]} */
  let frames = [];

  /** The open groups when these are opened, or closed if they are open. @param {string[]} groups */
  function toggled(groups) {
    const opened = new Set(self.shown ? self.shown.split("\n") : []);
    const closing = groups.every((group) => opened.has(group));
    for (const group of groups) closing ? opened.delete(group) : opened.add(group);
    return [...opened].sort();
  }

  /** @param {View} view @returns {Map<string, Card>} */
  function cards(view) {
    /** @type {Map<string, string[]>} */
    const members = new Map();
    for (const [node, box] of Object.entries(view.home)) {
      if (data.nodes[node]) members.set(box, [...(members.get(box) ?? []), node]);
    }
    const born = new Map(Object.keys(data.nodes).map((id, place) => [id, place]));
    const order = (/** @type {Element} */ g) => born.get(members.get(g.id)?.[0] ?? g.id) ?? 0;
    const drawn = [.../** @type {NodeListOf<SVGGElement>} */ (sheet.querySelectorAll("g.node"))];
    drawn.sort((a, b) => order(a) - order(b));
    const known = (/** @type {string} */ id) => (members.get(id) ?? [id]).filter((i) => data.nodes[i]);
    for (const g of drawn) reachable(g);
    const counts = (/** @type {string} */ id) => view.counts[id] ?? [data.nodes[id] ? [id] : []];
    return new Map(drawn.map((g) => [g.id, card(g, known(g.id), counts(g.id))]));
  }

  /** @param {View} view @returns {Map<string, Arrow>} */
  function arrows(view) {
    const found = new Map();
    const ends = (/** @type {string} */ id) =>
      view.arrows[id] ?? data.edges[id]?.slice(0, 2).map((end) => view.home[end] ?? end) ?? [];
    for (const g of /** @type {NodeListOf<SVGGElement>} */ (sheet.querySelectorAll("g.edge"))) {
      const [line, lane] = ["line", "lane"].map((name) => g.querySelector(`path.mg-${name}`));
      found.set(g.id, { g, id: g.id, line, lane, ends: ends(g.id), seen: {} });
      g.addEventListener("click", () => actions.choose(g.id));
    }
    return found;
  }

  /** Show another drawing; the keys stay with it if its predecessor had them. @param {string} key */
  function exchange(key) {
    const focused = drawing.contains(document.activeElement);
    const homes = [self.view, views[key]].map(({ home }) => home);
    const replace = () => {
      self.show(key);
      actions.repaint(focused);
    };
    morph(sheet, "", "", replace, (name) => kin(name, homes));
  }

  /** @param {SVGGElement} g */
  function reachable(g) {
    const { id } = g;
    g.setAttribute("tabindex", "-1");
    g.setAttribute("role", "button");
    mine(g);
    g.addEventListener("click", () => actions.choose(id));
    g.addEventListener("dblclick", () => self.view.closed[id] && self.toggle(self.view.closed[id]));
    g.addEventListener("pointerenter", () => actions.hover(id, true));
    g.addEventListener("pointerleave", () => actions.hover(id, false));
    g.addEventListener("keydown", (e) => {
      if (e.key === "Enter") actions.choose(id);
    });
  }
  self.show(graph.shown);
  return self;
}

/** A drawing as it is laid out for a page, a notebook or a phone. @param {View} view @param {number} size */
const fittest = (view, size) => (size > 1 && view.narrow) || (size === 1 && view.middle) || view.svg;

/**
 * A card, the nodes that are or were in it, and the boxes that these are or were in.
 * @param {string} id @param {Record<string, string>[]} homes of two drawings
 */
function kin(id, homes) {
  const inside = homes.flatMap((home) => Object.keys(home).filter((node) => home[node] === id));
  const all = [id, ...inside];
  return [...all, ...homes.flatMap((home) => all.map((node) => home[node]))];
}

/** Whether most arrows of a drawing run down. @param {Arrow[]} arrows */
function downwards(arrows) {
  const down = arrows.filter(({ line }) => {
    const way = numbers(line, "d");
    return way[way.length - 1] - way[1] > way[way.length - 2] - way[0];
  });
  return down.length > arrows.length / 2;
}
