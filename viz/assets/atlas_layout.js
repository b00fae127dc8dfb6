// Where the parts of one module lie, in the pixels that it has when it is open: columns by who reads
// whom, wrapped into rows like text. Linear in the operators inside; docs/layout.md explains it.
const ROWS_AT_MOST = 10;

/**
 * Who reads what among the parts of a module; what crosses its border gets a port.
 * @param {AtlasModel} m @param {AtlasNode} group
 */
function atlasEdges(m, group) {
  const parts = partsOf(m, group);
  const top = group.parent == null;
  /** @type {AtlasEnd[]} */
  const owner = []; // of each operator inside
  const ends = new Map(parts.map((node) => [node.i, /** @type {AtlasEnd} */ ({ id: `n${node.i}`, node })]));
  const end = (/** @type {AtlasNode} */ node) => /** @type {AtlasEnd} */ (ends.get(node.i));
  for (const node of parts) for (let i = node.a; i < node.b; i++) owner[i - group.a] = end(node);
  /** @type {Map<string, AtlasEdge>} */
  const edges = new Map();
  /** @type {Map<string, AtlasEnd>} */
  const ports = new Map();
  const port = (/** @type {"in" | "out"} */ side, /** @type {number} */ tensor) => {
    const id = `${side}${tensor}`;
    if (!ports.has(id)) ports.set(id, { id, port: side, tensor });
    return /** @type {AtlasEnd} */ (ports.get(id));
  };
  const add = (/** @type {AtlasEnd} */ from, /** @type {AtlasEnd} */ to, /** @type {number} */ tensor) => {
    if (from !== to) edges.set(`${from.id}>${to.id}:${tensor}`, { from, to, tensor, points: [], turns: false });
  };
  for (let i = group.a; i < group.b; i++) {
    for (const x of m.data.operators[i].reads) {
      if (x >= group.a && x < group.b) add(owner[x - group.a], owner[i - group.a], x);
      else {
        const given = top ? parts.find((node) => node.out === x && node.input !== undefined) : null;
        if (given) add(end(given), owner[i - group.a], x);
        else if (!top) add(port("in", x), owner[i - group.a], x);
      }
    }
    const leaves = m.readers[i].some((r) => r < group.a || r >= group.b) || m.data.outputs.includes(i);
    if (!top && leaves) add(owner[i - group.a], port("out", i), i);
  }
  return { parts, end, edges: [...edges.values()], ports: [...ports.values()], failed: m.failed };
}

/**
 * The column and the lane of each part: as early as it can run, then as late as its readers allow.
 * @param {ReturnType<typeof atlasEdges>} graph
 */
function atlasColumns({ parts, end, edges, failed }) {
  const before = new Map(parts.map((node) => [node, /** @type {AtlasNode[]} */ ([])]));
  const after = new Map(parts.map((node) => [node, /** @type {AtlasNode[]} */ ([])]));
  for (const { from, to } of edges)
    if (from.node && to.node) {
      before.get(to.node)?.push(from.node);
      after.get(from.node)?.push(to.node);
    }
  const column = new Map();
  const order = [...parts].sort((x, y) => x.a - y.a || x.b - y.b);
  order.forEach((node, i) => { // what did not run any more follows in the order in which it is declared
    if (failed >= 0 && node.a > failed && i) before.get(node)?.push(order[i - 1]);
  });
  for (const node of order)
    column.set(node, Math.max(-1, ...(before.get(node) ?? []).map((x) => column.get(x) ?? 0)) + 1);
  const first = order.find((node) => node.input !== undefined);
  for (const node of [...order].reverse()) {
    const readers = after.get(node) ?? [];
    const latest = Math.min(...readers.map((x) => column.get(x))) - 1;
    if (readers.length && latest > column.get(node) && node !== first) column.set(node, latest);
  }
  const used = [...new Set(column.values())].sort((x, y) => x - y);
  /** @type {AtlasNode[][]} */
  const columns = used.map(() => []);
  for (const node of order) columns[used.indexOf(column.get(node))].push(node);
  const lane = new Map();
  for (const inside of columns) {
    const wanted = inside.map((node) => {
      const lanes = (before.get(node) ?? []).filter((x) => lane.has(x)).map((x) => lane.get(x));
      const lonely = after.get(node)?.length ? 1 : 2;
      return { node, wish: lanes.length ? Math.min(...lanes) : lonely, weight: node.b - node.a + (node.grad ? 5 : 0) };
    });
    wanted.sort((x, y) => x.wish - y.wish || y.weight - x.weight || x.node.a - y.node.a);
    wanted.forEach(({ node }, i) => lane.set(node, i));
  }
  return { columns, lane, end };
}

/**
 * The sizes of what is around the cards: less where there is less room.
 * @param {number} width @param {boolean} top
 */
function atlasMargins(width, top) {
  const small = width < 700;
  const wide = width >= 860;
  const side = top ? (small ? 16 : wide ? 40 : 24) : wide ? 116 : width < 500 ? 34 : 50;
  return {
    small,
    wide, // shapes on the edges, pictures at the ports
    side,
    head: top ? 0 : small ? 42 : 56,
    foot: top ? (small ? 6 : 10) : 14,
    gap: small ? (width < 500 ? 16 : 22) : wide ? 84 : top ? 32 : 40,
    gutter: small ? (width < 500 ? 22 : 24) : 36,
    lanes: small ? 8 : 14,
    most: top ? [230, 200] : [430, 330],
    bypass: 0, // pixels of what goes around a card, above it
  };
}

/**
 * The number of rows with the largest cards.
 * @param {AtlasNode[][]} columns @param {AtlasEdge[]} edges @param {{w: number, h: number}} size
 * @param {ReturnType<typeof atlasMargins>} sizes @param {boolean} top
 */
function atlasRows(columns, edges, size, sizes, top) {
  const count = columns.length;
  const at = new Map(columns.flatMap((column, i) => column.map((node) => [node, i])));
  const far = edges.map(({ from, to }) => {
    const column = (/** @type {AtlasEnd} */ end, /** @type {number} */ port) => (end.node ? Number(at.get(end.node)) : port);
    const [a, b] = [column(from, -1), column(to, count)];
    return { a, b, port: !to.node, long: b - a > 1 };
  });
  let best = null;
  for (let rows = 1; rows <= Math.min(count, ROWS_AT_MOST); rows++) {
    const across = Math.ceil(count / rows);
    if (Math.ceil(count / across) !== rows) continue;
    const lines = Array.from({ length: rows }, (_, r) => columns.slice(r * across, (r + 1) * across));
    const lanes = lines.map((row) => Math.max(...row.map((column) => column.length)));
    const all = lanes.reduce((sum, x) => sum + x, 0);
    const over = far.some(({ b, port, long }) => long && (port ? rows === 1 : b < across));
    const above = over ? (sizes.small ? sizes.gutter : 46) : sizes.small ? 12 : 18;
    let w = (size.w - 2 * sizes.side - (across - 1) * sizes.gap) / across;
    let h = (size.h - sizes.head - sizes.foot - (rows - 1) * sizes.gutter - above - (all - rows) * sizes.lanes - (top ? 0 : 4)) / all;
    w = Math.min(w, sizes.most[0]);
    h = Math.min(h, sizes.most[1]);
    w = Math.min(w, h * 2.4);
    h = Math.min(h, w * 1.25);
    if ((w < 24 || h < 14) && best) continue;
    const alone = rows > 1 && across > 2 && lines[rows - 1].length === 1 ? 0.1 : 0;
    const worth = Math.min(w / 170, 1.15) + Math.min(h / 128, 1.15) - rows * 0.02 - alone;
    if (!best || worth > best.worth) best = { worth, across, lines, lanes, w: Math.max(w, 8), h: Math.max(h, 6), all, above };
  }
  return /** @type {NonNullable<typeof best>} */ (best);
}

/**
 * The places of the parts of a module, as fractions of it; asked for when it is drawn.
 * @param {AtlasModel} m @param {AtlasNode} group @param {{w: number, h: number}} size
 * @returns {AtlasPlaces}
 */
function atlasPlaces(m, group, size) {
  const known = m.places.get(group.i);
  if (known) return known;
  const top = group.parent == null;
  const graph = atlasEdges(m, group);
  const { columns, lane } = atlasColumns(graph);
  const sizes = atlasMargins(size.w, top);
  const states = graph.parts.map((node) => stateOf(m, node));
  const over = graph.parts.some((node, i) => states[i] && columns.some((column) => column.includes(node) && lane.get(node) < column.length - 1));
  if (states.some(Boolean)) [sizes.gutter, sizes.foot] = [sizes.gutter + 26, sizes.foot + 23]; // for their arrows
  if (over) sizes.lanes += 20;
  if (graph.parts.some((node) => addsInput(m, node))) [sizes.gutter, sizes.bypass] = [sizes.gutter + 6, bypassHigh(size)];
  const { edges, ports } = graph;
  const { across, lines, lanes, w, h, all, above } = atlasRows(columns, edges, size, sizes, top);
  const rows = lines.length;
  const left = (size.w - across * w - (across - 1) * sizes.gap) / 2;
  const high = all * h + (all - rows) * sizes.lanes + (rows - 1) * sizes.gutter + above;
  let y = sizes.head + Math.max(0, (size.h - sizes.head - sizes.foot - high) / 2);
  /** @type {Map<string, AtlasSpot>} */
  const spots = new Map();
  /** @type {number[]} */
  const tops = [];
  lines.forEach((row, r) => {
    y += r ? sizes.gutter : above;
    tops[r] = y;
    const aside = row.length === 1 && across > 2 ? (across - 1) / 2 : 0; // one alone is in the middle
    row.forEach((column, c) => {
      for (const node of column) {
        const place = { x: left + (c + aside) * (w + sizes.gap), y: y + lane.get(node) * (h + sizes.lanes) };
        spots.set(`n${node.i}`, { ...place, w, h, row: r, column: c, lane: lane.get(node), port: false });
      }
    });
    y += lanes[r] * h + (lanes[r] - 1) * sizes.lanes;
  });
  atlasPorts(edges, ports, spots, { size, sizes, rows, tops, h });
  atlasRoutes(edges, spots, { sizes, rows: lines, tops, across, h });
  states.forEach((state, i) => { // out of the stack and, below it, back in
    if (!state) return;
    const { calls, tensor, name } = state;
    const { x, y: over, w: wide, h: tall } = /** @type {AtlasSpot} */ (spots.get(`n${graph.parts[i].i}`));
    const apart = Math.max(wide * 0.25, Math.min(wide / 2 - 5, 22));
    const [left, right, card] = [x + wide / 2 - apart, x + wide / 2 + apart, over + tall];
    const [from, to] = [{ id: "", node: calls[0] }, { id: "", node: calls[calls.length - 1] }];
    edges.push({ from, to, tensor, label: name || `× ${calls.length - 1}`, turns: false, points: [[right, card], [right, card + 22], [left, card + 22], [left, card]] });
  });
  const scaled = (/** @type {[number, number]} */ [x, y_]) => /** @type {[number, number]} */ ([x / size.w, y_ / size.h]);
  for (const edge of edges) edge.points = edge.points.map(scaled);
  const rects = new Map();
  for (const node of graph.parts) {
    const spot = /** @type {AtlasSpot} */ (spots.get(`n${node.i}`));
    rects.set(node.i, [spot.x / size.w, spot.y / size.h, spot.w / size.w, spot.h / size.h]);
  }
  const stubs = ports.map((port) => {
    const spot = /** @type {AtlasSpot} */ (spots.get(port.id));
    const [edge, inner] = port.port === "in" ? [0, spot.x] : [size.w, spot.x + spot.w];
    const at = spot.y + spot.h / 2;
    const middle = (edge + inner) / 2;
    /** @type {[number, number][]} */
    const points = [[edge, size.h / 2], [middle, size.h / 2], [middle, at], [inner, at]];
    return { port, points: (port.port === "in" ? points : points.reverse()).map(scaled) };
  });
  const found = { rects, edges, ports, stubs, head: sizes.head / size.h, wide: sizes.wide };
  for (const port of ports) {
    const spot = /** @type {AtlasSpot} */ (spots.get(port.id));
    [port.x, port.y] = [(spot.x + spot.w / 2) / size.w, (spot.y + spot.h / 2) / size.h];
  }
  m.places.set(group.i, found);
  return found;
}

/**
 * The ports: in on the left, out on the right, beside the card that they lead to.
 * @param {AtlasEdge[]} edges @param {AtlasEnd[]} ports @param {Map<string, AtlasSpot>} spots
 * @param {{size: {w: number, h: number}, sizes: ReturnType<typeof atlasMargins>, rows: number, tops: number[], h: number}} about
 */
function atlasPorts(edges, ports, spots, { size, sizes, rows, tops, h }) {
  const [w, tall] = sizes.wide ? [62, 31] : [0, 0];
  for (const side of ["in", "out"]) {
    const listed = ports.filter((port) => port.port === side);
    const row = side === "in" ? 0 : rows - 1;
    const slot = (size.h - sizes.head - (sizes.wide ? 16 : 30)) / Math.max(1, listed.length);
    listed.forEach((port, i) => {
      const near = edges
        .filter((edge) => edge.from === port || edge.to === port)
        .map((edge) => spots.get((edge.from === port ? edge.to : edge.from).id))
        .find((spot) => spot?.row === row);
      port.tight = sizes.wide && listed.length > 1 && slot < 84;
      let y = near ? near.y + near.h / 2 : tops[row] + h / 2;
      if (listed.length > 1) y = sizes.wide ? sizes.head + 8 + (i + 0.5) * slot - (slot > 84 ? 10 : 0) : tops[row] + h / 2 + i * 26;
      const margin = sizes.wide ? 14 + w / 2 : size.w < 500 ? 14 : 20;
      const x = side === "in" ? margin : size.w - margin;
      y = Math.min(y, size.h - 30);
      const column = side === "in" ? -1 : Infinity;
      spots.set(port.id, { x: x - w / 2, y: y - tall / 2, w, h: tall, row, column, lane: 0, port: true });
    });
  }
}

/**
 * The ways of the arrows: to a neighbour directly, else out, through the gutter above the reader's
 * row, and into its left side or its top.
 * @param {AtlasEdge[]} edges @param {Map<string, AtlasSpot>} spots
 * @param {{sizes: ReturnType<typeof atlasMargins>, rows: AtlasNode[][][], tops: number[], across: number, h: number}} about
 */
function atlasRoutes(edges, spots, { sizes, rows, tops }) {
  /** @type {Record<number, number>} */
  const taken = {};
  for (const edge of edges) {
    const a = /** @type {AtlasSpot} */ (spots.get(edge.from.id));
    const b = /** @type {AtlasSpot} */ (spots.get(edge.to.id));
    const [ax, ay, bx, by] = [a.x + a.w, a.y + a.h / 2, b.x, b.y + b.h / 2];
    const last = rows[a.row].length - 1;
    const beside = a.row === b.row && (b.column === a.column + 1 || (b.port && a.column === last));
    if (beside) {
      const middle = (ax + bx) / 2;
      edge.points = Math.abs(ay - by) < 2 ? [[ax, ay], [bx, by]] : [[ax, ay], [middle, ay], [middle, by], [bx, by]];
      continue;
    }
    const wraps = b.column === 0 && a.row === b.row - 1 && a.column === last;
    const i = (taken[b.row] ??= 0);
    taken[b.row]++;
    const gutter = tops[b.row] - (sizes.gutter + sizes.bypass) * 0.5 + (wraps ? 0 : -sizes.gutter * 0.14 + (i % 3) * 5 - (b.row ? 2 : 0));
    const stack = edge.from.node?.repeats ? 11 : 0; // its sheets are seen beside it
    const out = a.port ? ax + (sizes.wide ? 10 : 6) : ax + Math.max(stack, sizes.gap * (wraps ? 0.42 : 0.28));
    /** @type {(x: number) => [number, number][]} */
    const aside = (x) => [[ax, ay], [out, ay], [out, gutter], [x, gutter], [x, by], [bx, by]];
    if (b.port) edge.points = aside(bx - (sizes.small ? 6 : 16));
    else if (b.column === 0) edge.points = aside(bx - (sizes.small ? 8 : wraps ? (sizes.side > 60 ? 24 : 18) : 11));
    else if (b.lane > 0) edge.points = aside(bx - sizes.gap * 0.3);
    else {
      const x = bx + b.w * (0.5 + 0.12 * ((i % 3) - 1));
      edge.points = [[ax, ay], [out, ay], [out, gutter], [x, gutter], [x, b.y]];
    }
    edge.turns = wraps;
  }
}
