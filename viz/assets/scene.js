// One step of one drawing: the state of its cards and arrows, and the values on their way. Whatever
// asks where things are (`aim`) comes before anything changes (`paint`), for all drawings.
const FEW = 14; // letters of a value that is written on a chip, not coloured
const LONG = 24; // letters of a product that is written on a chip
const MANY = 12; // values on their way at once; more are not followed

/** @param {Cargo} cargo */
function sized({ text, grid }) {
  const map = grid ? thumb(grid) : [0, 0];
  const wide = (text ? measured(text, LETTER.font) : 0) + map[0] + 2 * LETTER.pad;
  return { wide, high: Math.max(LETTER.high, map[1] + 8) };
}

/** A value as a chip has it: a number, or a heat map in place of many. @param {Summary | undefined} value @returns {Cargo | null} */
function cargo(value) {
  if (!value) return null;
  const short = value.short.length <= FEW && !value.short.includes("…");
  if (short || !value.grid?.length) return { text: value.short, bad: value.bad };
  return { text: "", grid: value.grid, bad: value.bad };
}

/** How a share of a gradient came about: "1 × 2 = 2", or what it is where that is too long. @param {Share} share @returns {Cargo | null} */
function product({ upstream, local, rule, value, grid, bad }) {
  const made = rule ?? (local ? `${upstream} × ${local}` : "");
  const whole = `${made} = ${value}`;
  return made && whole.length <= LONG ? { text: whole, bad } : cargo({ short: value, grid, bad });
}

/**
 * What goes along the arrows of a drawing at a step: forward an operand, back a share of a gradient.
 * @param {Stage} stage @param {Frame} frame @param {Data} data @param {number} index
 * @returns {Flow[]}
 */
function flows(stage, frame, data, index) {
  /** @type {Flow[]} */
  const found = [];
  for (const [id, sent] of Object.entries(frame.flows ?? {})) {
    const arrow = stage.arrows.get(stage.home(id));
    if (!arrow || found.some((flow) => flow.arrow === arrow)) continue;
    const back = typeof sent !== "string";
    const path = (back && arrow.lane) || arrow.line;
    const source = data.nodes[data.edges[id]?.[0] ?? arrow.ends[0]];
    const known = latest(source?.values, index);
    const value = cargo(back ? { ...sent, short: sent.value } : { ...known, short: sent });
    const told = back ? product(sent) : value;
    if (path && value && told) found.push({ arrow, back, path, value, told });
  }
  return found.slice(0, MANY);
}

/**
 * Learn where the values of a step can stand, as long as the drawing is laid out.
 * @param {Stage} stage @param {Flow[]} flows @param {number} scale
 * @returns {Aim[]}
 */
function aim(stage, flows, scale) {
  if (!flows.length || scale < 0.6) return [];
  const scaled = (/** @type {{x: number, y: number}} */ { x, y }) => ({
    x: (x + stage.offset.x) * scale,
    y: (y + stage.offset.y) * scale,
  });
  const corners = (/** @type {Extent} */ box) => {
    const [a, b] = [scaled({ x: box.left, y: box.top }), scaled({ x: box.right, y: box.bottom })];
    return { left: a.x, top: a.y, right: b.x, bottom: b.y, x: 0, y: 0 };
  };
  const others = [...stage.arrows.values()].filter((arrow) => !flows.some((flow) => flow.arrow === arrow));
  const lines = others.flatMap(({ line }) => (line && others.length < 60 ? stage.course(line).map(scaled) : []));
  const solid = [...[...stage.cards.values()].map(({ g }) => g), ...stage.references];
  const taken = solid.map((g) => corners(stage.extent(g)));
  return flows.map((flow) => {
    const points = stage.course(flow.path).map(scaled);
    for (const told of [flow.told, flow.value]) {
      const size = sized(told);
      const spot = roomiest(points, size, taken, lines);
      if (!spot) continue;
      taken.push(around(spot, size));
      return { flow, points, spot, told };
    }
    return { flow, points, spot: null, told: flow.value };
  });
}

/**
 * The values of a step stand beside their arrows; on a step forward they come along them.
 * @param {Stage} stage @param {Aim[]} aims @param {boolean} moves
 */
function carry(stage, aims, moves) {
  stage.layer.replaceChildren();
  for (const { flow, points, spot, told } of aims) {
    const kind = flow.back ? "back" : "forward";
    if (spot) {
      const standing = chip(stage.layer, told, kind);
      standing.style.transform = at(spot, 1);
      if (moves && !flow.back) appear(standing);
    }
    if (moves) travel(chip(stage.layer, flow.value, kind), points, 1);
  }
}

/**
 * The row of a gradient: while a share arrives, how it is added to what was there, if there is room.
 * @param {Summary | undefined} gradient @param {Share | undefined} share @param {number} room
 */
function gradientRow(gradient, share, room) {
  if (!gradient) return "";
  const sum = share?.before ? `∂ ${share.before} + ${share.value} = ${share.after}` : "";
  return sum && measured(sum, LETTER.font) <= room ? sum : `∂ ${gradient.short}`;
}

/**
 * Bring the cards and arrows of a drawing to a step.
 * @param {Stage} stage @param {Data} data @param {number} index
 * @param {{chosen: string | undefined, linked: Set<string>, moves: boolean, flows: Flow[], used: Map<string, number>}} now
 */
function paint(stage, data, index, { chosen, linked, moves, flows, used }) {
  const frame = data.frames[index];
  const active = new Set(frame.active.map(stage.home));
  const [arrived] = Object.values(frame.flows ?? {}).filter((sent) => typeof sent !== "string");
  for (const [id, box] of stage.cards) {
    const nodes = box.counts.map((i) => data.nodes[i]);
    if (data.still) call(box, nodes, "", undefined);
    else tellCard(stage, box, nodes, data, index, active.has(id) ? arrived : undefined, moves && active.has(id));
    look(box, {
      "mg-now": active.has(id),
      "mg-chosen": id === chosen,
      "mg-linked": linked.has(id),
    });
  }
  stage.reach();
  const flowing = new Map(flows.map((flow) => [flow.arrow.id, flow]));
  for (const [id, arrow] of stage.arrows) {
    const flow = flowing.get(id);
    const target = stage.cards.get(arrow.ends[1] ?? "");
    look(arrow, {
      "mg-flow": flow && !flow.back,
      "mg-back": flow?.back,
      "mg-used": (used.get(id) ?? Infinity) <= index,
      "mg-chosen": id === chosen,
      "mg-unborn": target?.seen["mg-unborn"],
      "mg-waits": target?.seen["mg-born"],
    });
  }
}

/**
 * @param {Stage} stage @param {Card} box @param {PlayedNode[]} nodes @param {Data} data
 * @param {number} index @param {Share | undefined} share @param {boolean} moves
 */
function tellCard(stage, box, nodes, data, index, share, moves) {
  const state = life(nodes, index);
  const { failed = [], notes = {} } = data.frames[index];
  const stopped = failed.find((i) => stage.home(i) === box.id);
  look(box, material(box, state, stage.plan, stopped !== undefined));
  fill(box, state);
  unroll(box, data, index, stage.plan);
  const value = (stopped && notes[stopped]) || (state.value?.short ?? "");
  const { left, right } = stage.extent(box.g);
  const grown = write(box, "value", value);
  const added = write(box, "grad", gradientRow(state.gradient, share, right - left - 22));
  if (moves && grown) appear(box.parts.value);
  if (moves && added) appear(box.parts.grad);
  if (grown || added) renewBrief(box.g);
  write(box, "clock", clockwork(box, state, data.words));
  call(box, nodes, value, state.gradient);
}

/**
 * What a card is called for those who do not see it, with what it holds.
 * @param {Card} box @param {PlayedNode[]} nodes
 * @param {string} value @param {Summary | undefined} gradient
 */
function call(box, nodes, value, gradient) {
  const called = box.members.length > 1 ? box.title : (nodes[nodes.length - 1]?.label ?? box.title);
  const said = [value, gradient && `∂ ${gradient.short}`].filter(Boolean).join(", ");
  const label = said ? `${called}: ${said}` : called;
  if (box.seen.label === label) return;
  box.seen.label = label;
  box.g.setAttribute("aria-label", label);
}
