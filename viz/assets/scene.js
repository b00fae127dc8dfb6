// One step of one drawing: the state of its cards and arrows, and the values on their way. Whatever
// asks where things are (`aim`) comes before anything changes (`paint`), for all drawings.
const LONG = 24; // letters of a product that is written on a chip
const [TOO_FAR, READ] = [0.3, 0.6]; // scales: below, nothing is followed; and no product is written
const MANY = 12; // values on their way at once; more are not followed

/** @param {Cargo} cargo */
function sized({ text, swatch: code }) {
  const family = getComputedStyle(document.documentElement).getPropertyValue("--mg-font") || undefined;
  const [wide, high] = code ? MINIATURE : [measured(text, LETTER.font, family) + 2 * LETTER.pad, LETTER.high - 6];
  return { wide, high: high + 6 };
}

/** A value as it travels: a number, or the swatch of a tensor. @param {Summary | undefined} value @param {Data} data @returns {Cargo | null} */
function cargo(value, data) {
  return value ? { text: value.short, swatch: coded(data, value), bad: value.bad } : null;
}

/** How a share of a gradient came about: "1 × 2 = 2"; null where that is too long. @param {Share} share @returns {Cargo | null} */
function product({ upstream, local, rule, value, bad }) {
  const made = rule ?? (local ? `${upstream} × ${local}` : "");
  const whole = `${made} = ${value}`;
  return made && whole.length <= LONG ? { text: whole, bad } : null;
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
    const value = cargo(back ? { ...sent, short: sent.value } : { ...known, short: sent }, data);
    if (path && value) found.push({ arrow, back, path, value, told: back ? product(sent) : null });
  }
  return found.slice(0, MANY);
}

/**
 * Learn where the values of a step can stand, as long as the drawing is laid out.
 * @param {Stage} stage @param {Flow[]} flows @param {number} scale
 * @returns {Aim[]}
 */
function aim(stage, flows, scale) {
  if (!flows.length || scale < TOO_FAR) return [];
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
  const ends = scale >= READ && flows.some((flow) => flow.told) ? endsOf(stage) : []; // else nothing is laid out for them
  return flows.map((flow) => {
    const points = stage.course(flow.path).map(scaled);
    const told = flow.told ?? flow.value;
    const spot = (flow.told && scale >= READ && roomiest(points, sized(told), taken, lines, ends)) || null;
    if (spot) taken.push(around(spot, sized(told)));
    return { flow, points: between(stage, flow, points, scaled), spot, told, size: Math.min(1, scale) };
  });
}

/** What can be seen of a drawing, from the left. @param {Stage} stage */
function endsOf({ layer, drawing }) {
  const [{ left }, seen, svg] = [layer, drawing, drawing.querySelector("svg") ?? drawing].map((part) => part.getBoundingClientRect());
  return [Math.min(seen.left, svg.left) - left, Math.max(seen.right, svg.right) - left];
}

/** Where on the screen they will stand. @param {Stage} stage @param {Aim[]} aims */
function chipsOf({ layer }, aims) {
  const { left, top } = layer.getBoundingClientRect();
  return aims.flatMap(({ spot, told }) => (spot ? [around({ x: left + spot.x, y: top + spot.y }, sized(told))] : []));
}

/**
 * From the middle of one card to the middle of the other; from a reference, if the arrow begins there.
 * @param {Stage} stage @param {Flow} flow @param {Point[]} points @param {(point: Point) => Point} scaled
 */
function between(stage, { arrow, back }, points, scaled) {
  const middles = arrow.ends.map((id) => {
    const g = stage.cards.get(id)?.g;
    const { x, y } = g ? stage.extent(g) : { x: NaN, y: NaN };
    return scaled({ x, y });
  });
  if (back) middles.reverse();
  const begins = arrow.g.querySelector(".mg-ref");
  if (begins) {
    const { x, y } = stage.extent(begins);
    middles[back ? 1 : 0] = scaled({ x, y });
  }
  return [middles[0], ...points, middles[1]].filter((point) => point && !Number.isNaN(point.x));
}

/**
 * How a share of a gradient came about stands beside its arrow; on a step forward all values travel.
 * @param {Stage} stage @param {Aim[]} aims @param {boolean} moves
 */
function carry(stage, aims, moves) {
  stage.layer.replaceChildren();
  for (const { flow, points, spot, told, size } of aims) {
    const kind = flow.back ? "back" : "forward";
    if (spot) chip(stage.layer, told, kind).style.transform = at(spot);
    if (moves) travel(chip(stage.layer, flow.value, kind), points, size);
  }
}

/** What a card writes: all of a value, or what there is beside its swatch. @param {Summary} value */
const beside = (value) => value.beside ?? value.short;

/**
 * The row of a gradient: while a share arrives, how it is added to what was there, if there is room.
 * @param {Summary | undefined} gradient @param {Share | undefined} share @param {number} room
 */
function gradientRow(gradient, share, room) {
  if (!gradient) return "";
  const sum = share?.before ? `∂ ${share.before} + ${share.value} = ${share.after}` : "";
  return sum && measured(sum, LETTER.font) <= room ? sum : `∂ ${beside(gradient)}`;
}

/**
 * Bring the cards and arrows of a drawing to a step.
 * @param {Stage} stage @param {Data} data @param {number} index
 * @param {{chosen: string | undefined, linked: Set<string>, moves: boolean, flows: Flow[], used: Map<string, [number, number][]>}} now
 */
function paint(stage, data, index, { chosen, linked, moves, flows, used }) {
  const frame = data.frames[index];
  const active = new Set(frame.active.map(stage.home));
  const few = stage.cards.size <= FOLLOWED; // of more, what is born or filled would be painted too long
  const [arrived] = Object.values(frame.flows ?? {}).filter((sent) => typeof sent !== "string");
  for (const [id, box] of stage.cards) {
    const nodes = box.counts.map((i) => data.nodes[i]);
    if (data.still) call(box, nodes, "", undefined);
    else tellCard(stage, box, nodes, data, index, active.has(id) ? arrived : undefined, moves && few);
    look(box, {
      "mg-now": active.has(id),
      "mg-chosen": id === chosen,
      "mg-linked": linked.has(id),
    });
  }
  if (few) even(stage.drawing);
  stage.reach();
  const flowing = new Map(flows.map((flow) => [flow.arrow.id, flow]));
  for (const [id, arrow] of stage.arrows) {
    const flow = flowing.get(id);
    const [source, target] = arrow.ends.map((end) => stage.cards.get(end ?? ""));
    look(arrow, {
      "mg-flow": flow && !flow.back,
      "mg-back": flow?.back,
      "mg-used": used.get(id)?.some(([from, until]) => from <= index && index < until),
      "mg-chosen": id === chosen,
      "mg-unborn": target?.seen["mg-unborn"],
      "mg-waits": source?.seen["mg-born"] || target?.seen["mg-born"], // no value has gone along it
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
  const next = material(box, state, stage.plan, stopped !== undefined);
  const settle = moves ? becoming(box, next) : () => {};
  look(box, next);
  fill(box, state);
  unroll(box, data, index, stage.plan);
  const { value, gradient } = state;
  const origin = Boolean(value?.origin || gradient?.origin);
  if (Boolean(box.seen.origin) !== origin) reword(box.g, origin && data.words.mark_origin);
  box.seen.origin = origin;
  const held = (stopped && notes[stopped]) || (value ? beside(value) : "");
  const { left, right } = stage.extent(box.g);
  const several = GIVEN.has(box.kind) && box.members.length > 1; // parameters: how many have theirs
  const reached = several && state.reached ? `∂ ${state.reached}/${nodes.length}` : "";
  const grad = several ? reached : gradientRow(gradient, share, right - left - 22);
  const shown = [write(box, "value", held) && box.parts.value,
    picture(box, "value", stopped ? "" : coded(data, value), stopped ? [] : value?.grid) && box.slots.value,
    write(box, "grad", box.slots.grad ? grad.slice(2) : grad) && box.parts.grad,
    picture(box, "grad", coded(data, gradient), gradient?.grid) && box.slots.grad,
    write(box, "del", gradient ? "∂" : "") && box.parts.del];
  settle();
  if (moves) for (const part of shown) if (part instanceof Element) wipe(part);
  if (shown.some(Boolean)) renewBrief(box.g);
  const [built = "", ran = ""] = clockwork(box, state, stage.plan, data.words);
  write(box, "built", built);
  write(box, "ran", ran);
  call(box, nodes, (stopped && notes[stopped]) || (value?.short ?? ""), several ? reached : gradient && `∂ ${gradient.short}`);
}

/**
 * What a card is called for those who do not see it, with what it holds.
 * @param {Card} box @param {PlayedNode[]} nodes
 * @param {string} value @param {string | undefined} gradient
 */
function call(box, nodes, value, gradient) {
  const called = box.members.length > 1 ? box.title : (nodes[nodes.length - 1]?.label ?? box.title);
  const said = [value, gradient].filter(Boolean).join(", ");
  const label = said ? `${called}: ${said}` : called;
  if (box.seen.label === label) return;
  box.seen.label = label;
  box.g.setAttribute("aria-label", label);
}
