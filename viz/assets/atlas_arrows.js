// The arrows of an open module: values go along them to the right, gradients come back beside them.

/** @typedef {[number, number][]} Points */

/** A line through points, with round corners. @param {CanvasRenderingContext2D} c @param {Points} points @param {number} r */
function trace(c, points, r) {
  c.beginPath();
  c.moveTo(...points[0]);
  for (let i = 1; i < points.length - 1; i++) {
    const [a, b, d] = [points[i - 1], points[i], points[i + 1]];
    const room = Math.min(r, Math.hypot(b[0] - a[0], b[1] - a[1]) / 2, Math.hypot(d[0] - b[0], d[1] - b[1]) / 2);
    c.arcTo(b[0], b[1], d[0], d[1], room);
  }
  c.lineTo(...points[points.length - 1]);
}

/** The line beside a line. @param {Points} points @param {number} by @returns {Points} */
function shifted(points, by) {
  const normal = (/** @type {number} */ i) => {
    const [a, b] = [points[i], points[i + 1]];
    if (!a || !b) return [0, 0];
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
    return [(-(b[1] - a[1]) / length) * by, ((b[0] - a[0]) / length) * by];
  };
  return points.map(([x, y], i) => {
    const [before, after] = [normal(i - 1), normal(i)];
    const pick = (/** @type {number} */ k) => (Math.abs(after[k]) > 0.01 ? after[k] : before[k]);
    return [x + pick(0), y + pick(1)];
  });
}

/** The point at this share of a line. @param {Points} points @param {number} share @returns {[number, number]} */
function along(points, share) {
  const lengths = points.slice(1).map(([x, y], i) => Math.hypot(x - points[i][0], y - points[i][1]));
  let left = share * lengths.reduce((sum, x) => sum + x, 0);
  for (let i = 0; i < lengths.length; i++) {
    if (left <= lengths[i] || i === lengths.length - 1) {
      const part = lengths[i] ? clamp(left / lengths[i], 0, 1) : 0;
      const [a, b] = [points[i], points[i + 1]];
      return [a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part];
    }
    left -= lengths[i];
  }
  return points[0];
}

/** @param {CanvasRenderingContext2D} c @param {[number, number]} tip @param {[number, number]} from @param {number} size */
function arrowhead(c, tip, from, size) {
  const angle = Math.atan2(tip[1] - from[1], tip[0] - from[0]);
  c.beginPath();
  c.moveTo(...tip);
  for (const turn of [-0.43, 0.43]) c.lineTo(tip[0] - size * Math.cos(angle + turn), tip[1] - size * Math.sin(angle + turn));
  c.fill();
}

/** @param {Points} points @param {Box} box @returns {Points} */
const onScreen = (points, box) => points.map(([x, y]) => [box.x + x * box.w, box.y + y * box.h]);

/**
 * What is in an open module: arrows, ports, cards, and what travels.
 * @param {Atlas} atlas @param {AtlasNode} group @param {Box} box @param {number} alpha @param {number} [opened]
 */
function drawGroup(atlas, group, box, alpha, opened = 1) {
  if (alpha < 0.02) return;
  const { m, pen, size } = atlas;
  const places = atlasPlaces(m, group, size);
  const scale = Math.min(box.w / size.w, box.h / size.h);
  pen.c.globalAlpha = alpha * smooth(0.45, 1, opened);
  const lines = places.edges.map((edge) => ({ edge, points: onScreen(edge.points, box) }));
  for (const { edge, points } of lines) if (edge.from.node?.repeats && !edge.label) points[0][0] += 6; // at the edge of its stack
  /** @type {Map<string, (typeof lines)[0]>} */
  const apart = new Map(); // of those on one line the one that got furthest
  const far = (/** @type {AtlasEdge} */ edge) => Number(isThere(m, edge.tensor, atlas.time)) + 2 * Number(passedBack(m, edge, atlas.time)) + 4 * Number(stopsAt(m, edge, atlas.time));
  for (const line of lines) {
    const [way, before] = [line.points.join(), apart.get(line.points.join())];
    if (!before || far(line.edge) > far(before.edge)) apart.set(way, line);
  }
  for (const line of apart.values()) drawArrow(atlas, line, scale);
  if (scale > 0.6) for (const line of lines) if (line.edge.label) drawState(atlas, line);
  if (scale > 0.45) for (const stub of places.stubs) drawStub(atlas, stub, box);
  if (places.wide && scale > 0.6) drawShapes(atlas, lines, places);
  for (const port of places.ports) drawPort(atlas, group, port, places, box, scale);
  partsOf(m, group).forEach((node, i) => {
    const place = /** @type {number[]} */ (places.rects.get(node.i));
    let at = { x: box.x + place[0] * box.w, y: box.y + place[1] * box.h, w: place[2] * box.w, h: place[3] * box.h };
    if (opened < 1) at = between(cradle(m, group, i, place, places.head, box), at, smooth(0, 1, opened));
    drawNode(atlas, node, at, alpha);
  });
  if (atlas.moving?.group === group) drawTravellers(atlas, lines, places, alpha);
}

/** @param {Box} a @param {Box} b @param {number} share */
function between(a, b, share) {
  const part = (/** @type {number} */ x, /** @type {number} */ y) => x + (y - x) * share;
  return { x: part(a.x, b.x), y: part(a.y, b.y), w: part(a.w, b.w), h: part(a.h, b.h) };
}

/** Where a part is in the card of its module, before that opens: in its pictures. @param {AtlasModel} m @param {AtlasNode} group @param {number} i @param {number[]} place @param {number} head @param {Box} box */
function cradle(m, group, i, place, head, box) {
  const inner = { x: box.x + 10, y: box.y + 43, w: box.w - 20, h: box.h - 67 };
  if (!group.repeats) {
    const rest = 1 - head;
    return { x: inner.x + place[0] * inner.w, y: inner.y + ((place[1] - head) / rest) * inner.h, w: place[2] * inner.w, h: (place[3] / rest) * inner.h };
  }
  const count = /** @type {number[]} */ (group.children).length;
  const gap = count > 6 ? 2 : 4;
  const wide = (inner.w - gap * (count - 1)) / count;
  return { x: inner.x + i * (wide + gap), y: inner.y, w: wide, h: inner.h };
}

/** Whether an arrow leads to the operator that stopped the run. @param {AtlasModel} m @param {AtlasEdge} edge @param {number} time */
const stopsAt = (m, edge, time) => Boolean(edge.to.node && hasFailed(m, edge.to.node, time)) && m.data.operators[m.failed].reads.includes(edge.tensor);

/** @param {Atlas} atlas @param {{edge: AtlasEdge, points: Points}} line @param {number} scale */
function drawArrow({ m, pen, ink, time }, { edge, points }, scale) {
  const { c } = pen;
  const there = isThere(m, edge.tensor, time);
  const back = passedBack(m, edge, time);
  const bad = stopsAt(m, edge, time);
  const shrink = clamp(scale, 0.4, 1);
  const elements = m.tensors[edge.tensor].shape.reduce((a, b) => a * b, 1);
  const value = back ? shifted(points, -2.2 * shrink) : points;
  c.lineJoin = "round";
  trace(c, value, 10);
  c.strokeStyle = bad ? ink.bad : there ? mix(ink.run, ink.paper, 0.25) : ink.built;
  c.lineWidth = bad ? 3 : clamp(0.8 + Math.log10(elements + 1) * 0.42, 1.2, 3.2) * clamp(scale * 1.2, 0.45, 1);
  c.setLineDash(there || bad ? [] : [5, 4]);
  c.stroke();
  c.setLineDash([]);
  c.fillStyle = c.strokeStyle;
  if (scale > 0.3) arrowhead(c, value[value.length - 1], value[value.length - 2], bad ? 9 : 7);
  if (!back) return;
  const gradient = shifted(points, 2.6 * shrink);
  trace(c, gradient, 10);
  c.strokeStyle = ink.grad;
  c.lineWidth = 1.5 * clamp(scale, 0.5, 1);
  c.stroke();
  c.fillStyle = ink.grad;
  if (scale > 0.3) arrowhead(c, gradient[0], gradient[1], 6);
}

/** @param {Atlas} atlas @param {AtlasPlaces["stubs"][number]} stub @param {Box} box */
function drawStub({ m, pen, ink, time }, { port, points }, box) {
  const there = isThere(m, /** @type {number} */ (port.tensor), time);
  trace(pen.c, onScreen(points, box), 7);
  pen.c.strokeStyle = there ? mix(ink.run, ink.paper, 0.25) : ink.built;
  pen.c.lineWidth = 2;
  pen.c.setLineDash(there ? [] : [5, 4]);
  pen.c.stroke();
  pen.c.setLineDash([]);
}

/** The shapes on the arrows that have room for them. @param {Atlas} atlas @param {{edge: AtlasEdge, points: Points}[]} lines @param {AtlasPlaces} places */
function drawShapes(atlas, lines, places) {
  const { m, pen, ink, time } = atlas;
  const { c } = pen;
  pen.font(11);
  c.fillStyle = ink.soft;
  /** @type {[number, number, number][]} */
  const put = [];
  for (const { edge, points } of lines) {
    if (edge.label || edge.to.port || !isThere(m, edge.tensor, time)) continue;
    const reader = edge.to.node && places.rects.get(edge.to.node.i);
    if (points.length > 4 && !edge.turns && !(reader && reader[1] < 0.2)) continue;
    let [at, longest] = [-1, 0];
    for (let i = 1; i < points.length; i++) {
      const length = Math.abs(points[i][1] - points[i - 1][1]) < 1 ? Math.abs(points[i][0] - points[i - 1][0]) : 0;
      if (length > longest) [at, longest] = [i, length];
    }
    const stacked = edge.from.node?.repeats && at === 1 ? 4 : 0;
    const text = briefly(pen, shapeOf(atlas, edge.tensor), longest > 60 ? longest - 12 - 2 * stacked : Infinity);
    const width = c.measureText(text).width;
    if (at < 0 || longest < width + (longest > 90 ? 20 : 4)) continue;
    const forked = at === points.length - 1 && edge.to.node && addsInput(m, edge.to.node) ? FORK / 2 : 0;
    const [x, y] = [(points[at][0] + points[at - 1][0]) / 2 + stacked - forked, points[at][1] - 7];
    if (x < width / 2 || x > atlas.size.w - width / 2) continue;
    if (put.some(([px, py, pw]) => Math.abs(px - x) < (pw + width) / 2 + 4 && Math.abs(py - y) < 13)) continue;
    put.push([x, y, width]);
    pen.text(text, x, y, null, "center");
  }
}

/** What goes from call to call, between its arrow and its stack: its name and, where there's room, its shape. @param {Atlas} atlas @param {{edge: AtlasEdge, points: Points}} line */
function drawState(atlas, { edge, points: [[right, y], , [left]] }) {
  const { pen, ink } = atlas;
  pen.font(11, 600);
  pen.c.fillStyle = ink.soft;
  const said = [`${edge.label}  ${shapeOf(atlas, edge.tensor)}`, String(edge.label)].find((text) => pen.c.measureText(text).width < right - left - 10);
  if (said) pen.text(said, (left + right) / 2, y + 15.5, null, "center");
}

/** @param {Atlas} atlas @param {AtlasNode} group @param {AtlasEnd} port @param {AtlasPlaces} places @param {Box} box @param {number} scale */
function drawPort(atlas, group, port, places, box, scale) {
  const { m, pen, ink, time } = atlas;
  const { c } = pen;
  const tensor = /** @type {number} */ (port.tensor);
  const row = m.tensors[tensor];
  const there = isThere(m, tensor, time);
  const [x, y] = [box.x + (port.x ?? 0) * box.w, box.y + (port.y ?? 0) * box.h];
  if (!places.wide) {
    c.beginPath();
    c.arc(x, y, 5, 0, 7);
    c.fillStyle = there ? ink.run : ink.paper;
    c.strokeStyle = there ? ink.run : ink.built;
    c.lineWidth = 1.5;
    c.fill();
    c.stroke();
    return;
  }
  if (scale < 0.6) return;
  const [w, h] = [62, 31];
  pen.swatch(there ? portraitOf(m, row.v) : null, false, x - w / 2, y - h / 2, w, h);
  const back = time >= 2 * m.n - (port.port === "in" ? group.a : group.b) - 0.01;
  const pictured = row.g !== undefined && !port.tight;
  if (pictured) pen.swatch(back ? portraitOf(m, row.g) : null, true, x - w / 2, y + h / 2 + 3, w, 18, undefined, 3);
  pen.font(11);
  c.fillStyle = ink.soft;
  const name = outsideName(m, group, port);
  pen.text(port.port === "in" ? `${name} →` : `→ ${name}`, x, y - h / 2 - 6, 82, "center");
  if (!port.tight && there) {
    const shape = shapeOf(atlas, tensor);
    pen.text(briefly(pen, shape, 74), x, y + h / 2 + (pictured ? 35 : 14), 82, "center");
  }
}

/** What is called at the other side of a port. @param {AtlasModel} m @param {AtlasNode} group @param {AtlasEnd} port */
function outsideName(m, group, port) {
  const tensor = /** @type {number} */ (port.tensor);
  if (tensor >= m.n) return m.data.inputs[tensor - m.n].name;
  const op = port.port === "in" ? tensor : m.readers[tensor].find((r) => r < group.a || r >= group.b);
  if (op === undefined) return "";
  let node = /** @type {AtlasNode | null} */ (m.leaves[op]);
  let best = node;
  for (; node && !isInside(m, group, node); node = parentOf(m, node)) best = node;
  return best ? titleOf(m, best) : "";
}

/** Miniatures that travel to the card that runs now, or gradients from it. @param {Atlas} atlas @param {{edge: AtlasEdge, points: Points}[]} lines @param {AtlasPlaces} places @param {number} alpha */
function drawTravellers(atlas, lines, places, alpha) {
  const { m, pen, ink, size, moving } = atlas;
  if (!moving) return;
  const { c } = pen;
  const { node, back, share } = moving;
  const gone = clamp(share / 0.62, 0, 1);
  const eased = gone < 0.5 ? 2 * gone * gone : 1 - (2 - 2 * gone) ** 2 / 2;
  const seen = share > 0.62 ? 1 - smooth(0.62, 0.8, share) : smooth(0, 0.08, share);
  if (seen <= 0) return;
  let met = 0;
  for (const { edge, points } of lines) {
    if ((back ? edge.from.node : edge.to.node) !== node) continue;
    const row = m.tensors[edge.tensor];
    if (back && (row.g === undefined || (edge.to.node && !edge.to.node.grad))) continue;
    met++;
    const way = shifted(points, back ? 2.6 : -2.2);
    if (back) way.reverse();
    const w = places.wide ? 62 : 46;
    const [px, py] = along(way, eased);
    const [x, y] = [clamp(px, w / 2 + 4, size.w - w / 2 - 4), clamp(py, w / 4 + 4, size.h - w / 4 - 4)];
    const color = back ? ink.grad : ink.run;
    c.save();
    c.globalAlpha = alpha * 0.28 * seen;
    trace(c, way, 10);
    c.strokeStyle = color;
    c.lineWidth = 4;
    c.stroke();
    c.globalAlpha = alpha * seen;
    pen.round(x - w / 2 - 2, y - w / 4 - 2, w + 4, w / 2 + 4, 6);
    c.fillStyle = ink.paper;
    c.shadowColor = "#0006";
    c.shadowBlur = 10;
    c.fill();
    c.shadowColor = "transparent";
    const portrait = portraitOf(m, back ? row.g : row.v);
    if (!isNumber(row)) pen.swatch(portrait, back, x - w / 2, y - w / 4, w, w / 2);
    else {
      c.fillStyle = ink.ink;
      pen.font(13, 650);
      pen.text(figure(portrait?.mean), x, y + 5, w, "center");
    }
    c.lineWidth = 2;
    c.strokeStyle = color;
    pen.round(x - w / 2 - 1, y - w / 4 - 1, w + 2, w / 2 + 2, 6);
    c.stroke();
    c.restore();
  }
  if (back && met > 1 && node.shown && share > 0.45) drawPlus(atlas, node.shown, alpha * smooth(0.45, 0.6, share) * (1 - smooth(0.7, 0.8, share)));
}

/** Gradients that meet are added. @param {Atlas} atlas @param {Box} box @param {number} alpha */
function drawPlus({ pen, ink }, box, alpha) {
  const { c } = pen;
  c.globalAlpha = alpha;
  c.beginPath();
  c.arc(box.x + box.w, box.y + box.h / 2, 13, 0, 7);
  c.fillStyle = ink.paper;
  c.fill();
  c.strokeStyle = ink.grad;
  c.lineWidth = 2;
  c.stroke();
  pen.font(17, 700);
  c.fillStyle = ink.grad;
  pen.text("+", box.x + box.w, box.y + box.h / 2 + 6, null, "center");
}
