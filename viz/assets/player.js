const LABEL = 12; // how high what is written beside arrows is, in the drawing's own units

// The player. All content comes from the kernel once; a step only changes classes and text here.
function render({ model, el }) {
  let playing = play(model, el);
  // New values for the same drawings change in place; anything else is shown afresh.
  const replace = () => {
    const data = model.get("data");
    if (data.name === playing.name) return playing.renew(data);
    playing.leave();
    el.replaceChildren();
    playing = play(model, el);
  };
  model.on("change:data", replace);
  return () => {
    model.off("change:data", replace);
    playing.leave();
  };
}

function play(model, el) {
  let data = model.get("data");
  if (!data.frames.length) return { name: null, leave() {}, renew() {} };
  const { words, labels } = data;
  const root = make("section", "mg-player", el);
  root.tabIndex = 0;
  root.setAttribute("aria-label", labels.player);
  root.style.setProperty("--mg-graphs", data.graphs.length);
  root.classList.toggle("mg-drawn", data.still);
  const caption = make("div", "mg-caption", root);
  caption.setAttribute("aria-live", "polite");
  const trouble = make("div", "mg-trouble", root);
  trouble.setAttribute("role", "alert");
  const moving = make("div", "mg-inputs", root);
  const code = make("div", "mg-code", root);
  const stages = make("div", "mg-stage", root);
  const controls = make("div", "mg-controls", root);
  controls.hidden = data.still; // nothing moves in a film of one frame
  const clocks = make("div", "mg-clocks", root);
  region(clocks, labels.clocks);
  const inspector = make("div", "mg-inspector", root);
  let index = Math.min(model.get("index"), data.frames.length - 1);
  let chosen = null;
  let painted = null; // the step that is on the screen
  const ruler = document.createElement("canvas").getContext("2d");
  let family = ""; // of the font, which is known once the player is on a page
  let written = []; // what stands beside arrows and boxes at this step only
  let within = []; // the nodes in the chosen box, of which one is chosen when the box is opened

  // ---- What is chosen, and what belongs to it in the other drawing ----

  const boxOf = (id) => {
    for (const graph of graphs) {
      const place = graph.place(id);
      const found = graph.boxes.get(place) ?? graph.arrows.get(place);
      if (found) return { graph, id: place, ...found };
    }
    return null;
  };
  // The nodes in a box, and those that correspond to them.
  const partners = (id) => {
    const inside = boxOf(id)?.members ?? [];
    const other = inside.map((node) => data.links[node]).filter(Boolean);
    return [...new Set(other.map((node) => boxOf(node)?.id).filter(Boolean))];
  };
  const choose = (id, focus = false) => {
    chosen = id;
    const box = boxOf(id);
    within = box?.members ?? [];
    if (box?.members) {
      box.graph.enter(box);
      if (focus) box.g.focus({ preventScroll: true });
      if (focus) reveal(box.g, box.graph.drawing);
    }
    paint();
  };
  const hover = (id, on) => {
    for (const other of [id, ...partners(id)]) boxOf(other)?.g.classList.toggle("mg-hover", on);
  };
  // The node before or after the chosen one; from one drawing to the next.
  const walk = (by) => {
    const all = graphs.flatMap((graph) => [...graph.boxes.keys()]);
    const at = all.indexOf(boxOf(chosen)?.id ?? "");
    choose(all[at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length], true);
  };
  const graphs = [];
  const repaint = (focused) => {
    paint();
    if (focused) (boxOf(chosen)?.g ?? root).focus({ preventScroll: true });
  };
  const actions = { choose, hover, repaint, graphs: () => graphs };
  data.graphs.forEach((g, i) => graphs.push(stage(g, i, data, model, stages, actions)));

  // ---- Steps ----

  const last = () => data.frames.length - 1;
  let told = null; // the kernel hears of the step when the reader rests, not of each one
  const tell = () => {
    model.set("index", index);
    model.save_changes();
  };
  const steps = stepper(controls, labels, labels.position, 900, {
    at: () => index,
    last,
    show(to) {
      index = to;
      paint();
      clearTimeout(told);
      told = setTimeout(tell, 150);
    },
  });
  say(make("div", "mg-keys", data.still ? root : controls), words.keys);

  listen(root, () => ({
    ...steps.keys,
    ArrowUp: () => walk(-1),
    ArrowDown: () => walk(1),
    o: () => toggle(chosen),
    ...zoomKeys(graphs.map((graph) => graph.zoom)),
  }));

  // ---- Inputs that the reader moves ----

  movable(model, data, moving);

  // ---- The program, the clocks, the legend, the table ----

  const lines = program(code, labels.program);
  let lanes = [];
  let passed = []; // the gradients that go along arrows: step, arrow, text
  const verdict = make("div", "mg-verdict", root);
  legend(data.legend, words.legend, root);
  const tables = make("details", "", root);
  say(make("summary", "", tables), data.table_title);
  make("div", "mg-tables", tables).innerHTML = data.graphs.map((g) => g.table).join("");

  function renew(newer) {
    data = newer;
    index = Math.min(index, last());
    clocks.replaceChildren();
    lanes = data.lanes
      .filter((lane) => lane.marks.length)
      .map((lane) => clock(lane, data, clocks, steps.go));
    lines.list(data.listing);
    passed = data.frames.flatMap((frame, i) =>
      Object.entries(frame.edges ?? {}).flatMap(([edge, text]) => (text ? [[i, edge, text]] : [])),
    );
    verdict.hidden = !data.verdict;
    verdict.classList.toggle("mg-equal", Boolean(data.equal));
    verdict.replaceChildren();
    say(verdict, data.verdict);
    trouble.textContent = data.trouble ?? "";
    for (const graph of graphs) for (const box of graph.boxes.values()) box.seen = {};
    paint();
  }

  // The captions of all films that have not ended, for an attribute, which no style rule reaches.
  const spoken = (frame) =>
    frame.captions
      .filter((_, i) => !frame.still?.[i])
      .map(([en, zh]) => (en === zh ? en : `${en} / ${zh}`))
      .join(" | ");

  // ---- One step on the screen: only what differs from the step before is touched ----

  function life(members) {
    if (data.still) return { born: true, ran: true };
    const inside = members.map((m) => data.nodes[m]).filter(Boolean);
    const born = inside.some((n) => n.born !== null && n.born <= index);
    const own = inside.filter((n) => n.values.length);
    const ran = own.length > 0 && own.every((n) => latest(n.values, index));
    const value = inside.length > 1 ? own[own.length - 1] : inside[0];
    const freed = own.length > 0 && own.every((n) => n.freed !== null && n.freed <= index);
    return { born, ran, freed, value: ran ? latest(value?.values, index) : null };
  }

  function look(entry, state) {
    const { g, seen } = entry;
    for (const [name, on] of Object.entries(state)) {
      if (Boolean(on) === Boolean(seen[name])) continue;
      g.classList.toggle(name, Boolean(on));
      seen[name] = on;
    }
  }

  function paint() {
    const frame = data.frames[index];
    if (chosen && !boxOf(chosen)) chosen = within[within.length - 1] ?? null;
    const chosenBox = chosen && boxOf(chosen)?.id;
    // Whatever needs to know where things are comes first: after a change it would have the browser
    // lay out everything again, at once.
    for (const graph of graphs) {
      const now = frame.active.map((id) => graph.boxes.get(graph.place(id))).find(Boolean);
      if (now && graph.drawing.scrollHeight > graph.drawing.clientHeight) reveal(now.g, graph.drawing);
      if (frame.edges) for (const arrow of graph.arrows.values()) graph.course(arrow);
    }
    lines.show(frame.code.map((line) => data.codes[line]));
    caption.replaceChildren();
    frame.captions.forEach((pair, i) => {
      say(make("div", frame.still?.[i] ? "mg-ended" : "", caption), pair);
    });
    steps.tell(spoken(frame));
    for (const repaint of lanes) repaint(index);
    for (const old of written) old.remove();
    written = [];
    const linked = new Set(chosen ? partners(chosen) : []);
    for (const graph of graphs) {
      const active = new Set(frame.active.map(graph.place));
      for (const [id, box] of graph.boxes) {
        const { born, ran, freed, value } = life(box.members);
        look(box, {
          "mg-unborn": !born && !ran,
          "mg-born": born && !ran,
          "mg-freed": freed,
          "mg-now": active.has(id),
          "mg-chosen": id === chosenBox,
          "mg-linked": linked.has(id),
        });
        const short = value ? value.short : "\u2007";
        if (box.seen.short === short) continue;
        box.seen.short = short;
        if (box.slot) box.slot.textContent = short;
        const name = data.nodes[box.members[box.members.length - 1]]?.label;
        const called = box.members.length > 1 ? box.title : (name ?? box.title);
        box.g.setAttribute("aria-label", data.still ? called : `${called}: ${short.trim()}`);
      }
      const flows = new Map(Object.entries(frame.edges ?? {}).map(([id, text]) => [graph.place(id), text]));
      const past = new Map();
      for (const [at, edge, text] of passed) if (at < index) past.set(graph.place(edge), text);
      let incoming = null;
      for (const [id, arrow] of graph.arrows) {
        const share = flows.get(id);
        look(arrow, { "mg-flow": share !== undefined, "mg-back": share, "mg-chosen": id === chosenBox });
        if (share) incoming = write(graph, id, share);
        remember(graph, id, share === undefined ? past.get(id) : undefined);
      }
      for (const [id, text] of Object.entries(frame.notes ?? {})) {
        const box = graph.boxes.get(graph.place(id));
        const sum = box && note(graph, box, text);
        if (sum && incoming && index !== painted) add(incoming, sum);
      }
    }
    inspect(frame);
    painted = index;
  }

  // Whether an arrow runs beneath another one between the same two nodes.
  function below(graph, id) {
    const half = (other) => graph.course(graph.arrows.get(other)).middle.y;
    const ends = (other) => (data.edges[other] ?? [other]).slice(0, 2).join(" ");
    const beside = [...graph.arrows.keys()].filter((other) => other !== id && ends(other) === ends(id));
    return beside.some((other) => half(other) < half(id));
  }

  // What flows along an edge, written beside its middle: all of it, or as much as there is room
  // for (the caption says it in full). A gradient flows against the arrow, so its head is turned.
  function write(graph, id, text) {
    const arrow = graph.arrows.get(id);
    const { tip, behind } = graph.course(arrow);
    const [dx, dy] = [(behind.x - tip.x) / 9, (behind.y - tip.y) / 9];
    const points = [
      [tip.x, tip.y],
      [behind.x - 3.5 * dy, behind.y + 3.5 * dx],
      [behind.x + 3.5 * dy, behind.y - 3.5 * dx],
    ];
    const head = { class: "mg-share mg-head", points: points.join(" ") };
    written.push(shape("polygon", head, arrow.g.parentNode));
    const label = beside(graph, id, [text, arrived(text), "∂"], "mg-share");
    written.push(label);
    return label;
  }

  const arrived = (text) => `∂ = ${text.split(" = ").pop()}`;

  // How long a text is, in the drawing's own units.
  const long = (text) => {
    ruler.font = `${LABEL}px ${(family ||= getComputedStyle(root).fontFamily) || "sans-serif"}`;
    return ruler.measureText(text).width;
  };

  // The first of these texts that there is room for (else the last) beside the middle of an arrow.
  function beside(graph, id, texts, kind) {
    const arrow = graph.arrows.get(id);
    const { length, places, slope } = graph.course(arrow);
    const text = texts.find((text) => long(text) <= length - 8) ?? texts[texts.length - 1];
    const half = long(text) / 2;
    const lift = 6 + Math.min(slope * half, 18); // so far that a slanting arrow does not touch it
    const sides = below(graph, id) ? [lift + 8, -lift] : [-lift, lift + 8];
    const spots = places.flatMap(({ x, y }) => sides.map((by) => ({ x, y: y + by })));
    const at = roomiest(graph, arrow, spots, half);
    if (!text) return null;
    return Object.assign(label_at(arrow.g.parentNode, at, text, kind), { room: { ...at, half } });
  }

  // Of these spots beside an arrow the first for words of this width that no box is in, nor other
  // words, nor another arrow; the later of these give way where there is none.
  function roomiest(graph, arrow, spots, half) {
    const boxes = [...graph.boxes.values()].map(({ g }) => graph.extent(g));
    const off = ({ x, y }) => (b) =>
      x + half < b.left || x - half > b.right || y + 3 < b.top || y - LABEL > b.bottom;
    const others = [...graph.arrows.values()].filter((other) => other !== arrow);
    const words = [...others.map((other) => other.past), ...written]
      .filter((label) => label?.room && label.parentNode === arrow.g.parentNode);
    const apart = ({ x, y }) => ({ room }) =>
      Math.abs(x - room.x) > half + room.half || Math.abs(y - room.y) > LABEL + 2;
    const lines = others.flatMap((other) => graph.course(other).points);
    const beyond = (at) => ({ x, y }) => off(at)({ left: x, right: x, top: y, bottom: y });
    const wishes = [[boxes, off], [words, apart], [lines, beyond]];
    const fits = (at) => wishes.every(([things, clear]) => things.every(clear(at)));
    while (wishes.length && !spots.some(fits)) wishes.pop();
    return spots.find(fits);
  }

  // What went along an arrow in an earlier step stays beside it, in quiet, if there is room.
  function remember(graph, id, text) {
    const arrow = graph.arrows.get(id);
    if (arrow.seen.past === text) return;
    arrow.seen.past = text;
    arrow.past?.remove();
    arrow.past = text ? beside(graph, id, [arrived(text), ""], "mg-past") : null;
    if (arrow.past) arrow.g.after(arrow.past); // the same place, whichever step was before
  }

  // The sum where a gradient arrives that has one already, above its node.
  function note(graph, { g }, text) {
    const { x, top } = graph.extent(g);
    const label = label_at(g.parentNode, { x, y: top - 5 }, text, "mg-share mg-sum");
    written.push(label);
    return label;
  }

  // What arrived along an arrow goes on to the sum: from where it is written to where it is added.
  // One label moves, once, and not at all for those who do not want motion.
  function add(label, sum) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const moved = label.cloneNode(true);
    moved.classList.add("mg-summand");
    moved.setAttribute("aria-hidden", "true");
    for (const axis of ["x", "y"]) {
      const by = sum.getAttribute(axis) - label.getAttribute(axis);
      moved.style.setProperty(`--mg-d${axis}`, `${by}px`);
    }
    label.parentNode.append(moved);
    written.push(moved);
    moved.addEventListener("animationend", () => moved.remove());
  }

  function label_at(parent, place, text, kind) {
    const label = shape("text", { class: kind, ...place, "text-anchor": "middle" }, parent);
    label.textContent = text;
    return label;
  }

  // ---- The inspector ----

  const groupsOf = (box) => {
    if (!box) return [];
    const closed = box.graph.view.closed[box.id] ?? [];
    const around = box.members ? box.graph.around(box) : [];
    return [
      ...(closed.length ? [[words.open_group, closed]] : []),
      ...around.map((group) => [words.close_group, [group]]),
    ].filter(([, groups]) => box.graph.can(groups));
  };
  function toggle(id) {
    const box = boxOf(id);
    const first = groupsOf(box)[0];
    if (first) box.graph.toggle(first[1]);
  }

  function inspect(frame) {
    inspector.replaceChildren();
    const id = chosen ?? frame.active[0];
    const box = id && boxOf(id);
    if (box && !box.members) {
      const arrow = Object.keys(data.edges).find((e) => e === id) ?? id;
      const carried = data.edges[arrow];
      if (carried) inspectEdge(carried, data, frame.edges?.[arrow], inspector);
      return;
    }
    const shown = data.nodes[id] ? [id] : (box?.members.slice(-1) ?? []);
    if (!shown.length) {
      say(inspector, words.select);
      return;
    }
    const link = data.links[shown[0]];
    const both = link ? [shown[0], link].sort() : shown;
    for (const node of both) {
      const part = inspectNode(node, data.nodes[node], index, data, inspector);
      if (node !== shown[0]) continue;
      for (const [word, groups] of groupsOf(box)) {
        const b = button("", "", part, () => box.graph.toggle(groups));
        b.removeAttribute("aria-label");
        b.removeAttribute("title");
        say(b, word);
        b.append(` ${groups.map((group) => group.split("/").pop()).join(", ")}`);
      }
    }
  }

  const follow = () => {
    if (model.get("index") === index) return;
    index = Math.min(model.get("index"), last());
    paint();
  };
  const hear = (message) => graphs.forEach((graph) => graph.arrived(message));
  model.on("change:index", follow);
  model.on("msg:custom", hear);
  renew(data);
  return {
    name: data.name,
    renew,
    leave() {
      steps.leave();
      clearTimeout(told);
      model.off("change:index", follow);
      model.off("msg:custom", hear);
    },
  };
}

export default { render };
