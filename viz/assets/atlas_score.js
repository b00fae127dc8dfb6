// The score of the open module: a row for each part, forward on the left, backward on the right,
// and below how spread the activations and how large the gradients are. One playhead for all.

const PITCH = 16; // pixels from line to line of the legend

/** What the rows can be sorted by. @type {Record<string, "params" | "total" | "kept">} */
const SUMS = { params: "params", time: "total", kept: "kept" };

/**
 * @param {Atlas} atlas @param {HTMLCanvasElement} canvas @param {ReturnType<typeof penOf>} pen
 */
function scoreOf(atlas, canvas, pen) {
  const { m, speech } = atlas;
  let g = { w: 0, h: 0, space: 0, row: 0, lane: 0, head: 16, left: 0, right: 0, wide: false, each: 1, columns: /** @type {Record<string, [number, number]>} */ ({}) };
  let group = m.root; // the module that is open
  let rows = m.rows;
  let profile = profileOf(m, group);
  let most = { params: 1, total: 1, kept: 1 }; // of any row
  let sorted = ""; // the column by which the rows are sorted; else they are in the order in which they run
  const score = {
    /** @type {number | null} */
    pointed: null,
    over: "", // the column whose head is pointed at
    /** @param {string} column */
    sort(column) { sorted = column === sorted ? "" : column; },
    /** @param {number} x @param {number} y */
    columnAt: (x, y) => (y > g.head ? "" : (shownColumns().find(([, [from, w]]) => x >= from && x < from + w)?.[0] ?? "")),
    /** The place that it takes in a panel of this width, in a widget of this height. @param {number} w @param {number} room */
    resize(w, room) {
      const wide = w >= 1000;
      const most = Math.max(m.rows.length, 6);
      const named = most * 11 < room * 0.36; // each row has room for its name
      const space = clamp(Math.floor((room * 0.205) / most), named ? 11 : 5, w >= 600 ? 17 : 15) * most; // of the rows, whatever is open
      const lane = w >= 600 ? 64 : 54;
      const head = 16;
      /** @type {Record<string, [number, number]>} */
      const columns = wide
        ? { name: [14, 116], params: [134, 92], time: [230, 84], kept: [318, 84], weights: [408, 92] }
        : w >= 600 ? { name: [10, 112], time: [126, 74], weights: [206, 66] } : { name: [8, 84] };
      const left = wide ? 552 : w >= 600 ? 312 : 102;
      g = { w, h: head + space + 6 + lane + 8, space, row: 0, lane: 0, head, left, right: w - (wide ? 52 : 40), wide, each: 1, columns };
      follow();
      canvas.style.height = `${g.h}px`;
      pen.resize(w, g.h);
    },
    rowHeight: () => g.row,
    draw,
    timeAt,
    /** The module in whose row a point is, and whether it lies among the names. @param {number} x @param {number} y */
    rowAt: (x, y) => ({ node: rows[Math.floor((y - g.head) / g.row)] ?? null, named: x < g.left - 6 }),
  };

  const shownColumns = () => Object.entries(g.columns).filter(([name]) => name !== "name" && (m.end > m.n || !["kept", "weights"].includes(name)));

  function follow() {
    if (atlas.focus !== group) [group, profile, sorted] = [atlas.focus, profileOf(m, atlas.focus), ""];
    rows = partsOf(m, group).filter((node) => node.input === undefined);
    const by = (/** @type {AtlasNode} */ node) => (sorted === "weights" ? Math.max(0, ...node.sum.weights.map((w) => weightNorm(w) ?? 0)) : node.sum[SUMS[sorted]]);
    if (sorted) rows.sort((a, b) => by(b) - by(a));
    const largest = (/** @type {"params" | "total" | "kept"} */ key) => rows.reduce((best, node) => Math.max(best, node.sum[key]), 0) || 1;
    most = { params: largest("params"), total: largest("total"), kept: largest("kept") };
    g.row = Math.min(17, g.space / rows.length);
    [g.each, g.lane] = [Math.ceil(11 / g.row), g.h - g.head - rows.length * g.row - 14];
  }

  // An operator without a gradient takes less of the axis.
  const used = (/** @type {number} */ t) => {
    const i = Math.floor(t);
    return i >= m.n ? m.ends[m.n] : m.ends[i] + (m.ends[i + 1] - m.ends[i]) * (t - i);
  };
  const twice = m.end > m.n;
  const at = (/** @type {number} */ t) => {
    const [from, size] = [m.ends[group.a], m.ends[group.b] - m.ends[group.a]];
    const along = (/** @type {number} */ x) => clamp(used(x) - from, 0, size);
    const place = t <= m.n ? along(t) : 2 * size - along(2 * m.n - t);
    return g.left + (g.right - g.left) * (place / (size * (twice ? 2 : 1) || 1));
  };
  /** @param {number} x */
  function timeAt(x) {
    let [low, high] = [group.a && group.a + 0.01, twice ? 2 * m.n - group.a : group.b];
    for (let i = 0; i < 40; i++) {
      const middle = (low + high) / 2;
      if (at(middle) < x) low = middle;
      else high = middle;
    }
    return low;
  }

  const given = m.data.parameters.map((p) => portraitOf(m, p.g)?.norm).map((norm) => (typeof norm === "number" ? norm : null));
  const least = ROUNDING * Math.max(0, ...given.map(Number));
  const weightNorm = (/** @type {number} */ w) => (given[w] === 0 || Number(given[w]) > least ? given[w] : null);
  const norms = m.data.parameters.map((_, w) => weightNorm(w)).filter((v) => v != null && v > 0).map((v) => log(/** @type {number} */ (v)));
  const low = norms.length ? Math.floor(norms.reduce((a, b) => Math.min(a, b))) : 0;
  const high = norms.length ? Math.max(low + 3, Math.ceil(norms.reduce((a, b) => Math.max(a, b)))) : 1;

  function draw() {
    const { ink, time } = atlas;
    const { c } = pen;
    pen.clear();
    c.globalAlpha = 1;
    follow();
    const deep = group.depth + 1;
    const top = pathOf(m, atlas.hovered)[deep] ?? pathOf(m, atlas.selected)[deep];
    const now = time < m.end || m.failed >= 0 ? pathOf(m, atlas.now)[deep] : undefined;
    drawHeads();
    rows.forEach((node, i) => {
      const y = g.head + i * g.row;
      if (node === top || node === now) {
        c.fillStyle = node === now ? ink.lit : ink.card;
        c.fillRect(0, y, g.w, g.row);
      }
      if (i % g.each === 0) {
        c.fillStyle = isTrouble(m, node, time) ? ink.bad : ran(node, time) > 0 ? ink.ink : ink.soft;
        pen.font(11, node === top ? 650 : 500);
        const times = node.repeats ? `  ×${node.children?.length}` : "";
        const most = g.columns.time ? g.columns.name[1] : at(node.a) - g.columns.name[0]; // over what is empty beside it
        pen.text(titleOf(m, node) + times, g.columns.name[0], y + g.row / 2 + 4, most - 6);
      }
      drawMeasures(node, y);
      drawBar(node, y, false);
      if (m.end > m.n && node.grad) drawBar(node, y, true);
      if (hasFailed(m, node, time)) drawFailure(y);
    });
    c.fillStyle = ink.hair;
    if (twice) c.fillRect(at(m.n) - 0.5, g.head, 1, g.h - g.head - 4);
    drawProfile();
    drawPlayhead();
  }

  function drawHeads() {
    const { ink, time } = atlas;
    const { c } = pen;
    pen.font(11);
    c.fillStyle = ink.soft;
    if (group !== m.root) pen.text(titleOf(m, group), g.columns.name[0], 11, g.columns.name[1] - 6);
    for (const [name, [x, w]] of shownColumns()) {
      c.fillStyle = name === sorted || name === score.over ? ink.ink : ink.soft;
      const head = name === "weights" && !g.wide ? "|∂w|" : speech.line(`column_${name}`); // there is no room for more
      pen.text(`${head}${name === sorted ? " ↓" : ""}`, x, 11, w);
    }
    c.fillStyle = ink.soft;
    const middle = at(m.n);
    const room = middle - g.left - 70;
    const head = at(Math.min(time, twice ? 2 * m.n : m.n));
    if (room > 80 + (twice ? 0 : 90)) pen.text(speech.line("width"), head > middle - 100 && head < middle + 8 ? head - 12 : middle - 8, 11, room, "right");
    pen.font(11, 600);
    const title = (/** @type {string} */ text, /** @type {number} */ x) => pen.text(text, head > x - 10 && head < x + c.measureText(text).width + 8 ? head + 10 : x, 11);
    c.fillStyle = ink.run;
    title(`${speech.line("forward")} →`, g.left);
    if (!twice) return;
    c.fillStyle = m.failed < 0 ? ink.grad : ink.soft;
    title(`${speech.line("backward")} →`, middle + 6);
    if (!g.columns.weights || m.failed >= 0) return;
    c.fillStyle = ink.hair;
    const [x, w] = g.columns.weights;
    if (time > m.n) for (let k = low; k <= high; k++) c.fillRect(x + ((k - low) / (high - low)) * w, g.head, 1, rows.length * g.row);
  }

  /** @param {AtlasNode} node @param {number} y */
  function drawMeasures(node, y) {
    const { ink, time } = atlas;
    const { c } = pen;
    const middle = y + g.row / 2;
    pen.font(11);
    /** @type {[string, (v: number) => string, string][]} */
    const bars = [["params", amount, ink.line], ["time", lasting, ink.run], ["kept", bytes, ink.grad]];
    for (const [column, text, color] of bars) {
      const key = SUMS[column];
      const value = key === "total" ? spentBy(m, node, time) : node.sum[key];
      if (!g.columns[column] || !value || (key !== "params" && ran(node, time) < 1)) continue;
      const [x, w] = g.columns[column];
      const wide = Math.max(1.5, (value / most[key]) * (w - 48));
      c.fillStyle = mix(color, ink.paper, 0.35);
      c.fillRect(x, middle - 3, wide, Math.min(6, g.row - 1));
      c.fillStyle = ink.soft;
      if (g.row >= 11) pen.text(text(value), x + wide + 5, middle + 4, 60);
    }
    if (!g.columns.weights || m.failed >= 0 || cameBack(m, node, time) <= 0) return;
    const [x, w] = g.columns.weights;
    for (const weight of node.sum.weights) {
      const v = weightNorm(weight);
      if (v == null) continue;
      c.globalAlpha = 0.85;
      c.fillStyle = v > 0 ? ink.grad : ink.bad;
      c.beginPath();
      c.arc(x + (v > 0 ? clamp((log(v) - low) / (high - low), 0, 1) : 0) * w, middle, Math.min(2.6, g.row / 2.2), 0, 7);
      c.fill();
      c.globalAlpha = 1;
    }
  }

  /** @param {AtlasNode} node @param {number} y @param {boolean} back */
  function drawBar(node, y, back) {
    const { ink, time } = atlas;
    const { c } = pen;
    const [from, to] = back ? [2 * m.n - node.b, 2 * m.n - node.a] : [node.a, node.b];
    const [x, end] = [at(from) + 0.5, at(to)];
    const wide = Math.max(2, end - x - 0.5);
    const [top, high_] = [y + (g.row > 8 ? 1.5 : 0.5), g.row - (g.row > 8 ? 3 : 1)];
    const done = clamp((time - from) / (to - from), 0, 1);
    const color = back ? ink.grad : ink.run;
    if (done < 1) {
      c.setLineDash([3, 2]);
      c.lineWidth = 1;
      c.strokeStyle = back ? mix(ink.grad, ink.paper, 0.35) : ink.built;
      pen.round(x + 0.5, top + 0.5, wide - 1, high_ - 1, 2.5);
      c.stroke();
      c.setLineDash([]);
    }
    if (done <= 0) return;
    c.save();
    pen.round(x, top, wide, high_, 2.5);
    c.clip();
    c.fillStyle = mix(color, ink.paper, 0.2);
    c.fillRect(x, top, wide * done, high_);
    c.fillStyle = ink.paper;
    if (wide > 5 * (node.children?.length ?? 0))
      for (const part of partsOf(m, node)) {
        const border = at(back ? 2 * m.n - part.a : part.b);
        if (border < end - 2) c.fillRect(border - 0.75, top, 1.5, high_);
      }
    c.restore();
  }

  /** @param {number} y */
  function drawFailure(y) {
    const { ink } = atlas;
    const x = at(m.failed);
    const wide = Math.max(10, at(m.failed + 1) - x);
    pen.c.fillStyle = ink.bad;
    pen.round(x, y + 0.5, wide, g.row - 1, 2.5);
    pen.c.fill();
    pen.c.fillStyle = ink.paper;
    pen.font(11, 700);
    if (g.row >= 11) pen.text("✗", x + wide / 2, y + g.row / 2 + 3.5, null, "center");
  }

  /** @type {number[]} */
  const broken = [];
  m.data.operators.forEach((op, i) => {
    if (portraitOf(m, op.v)?.bad) broken.push(i + 0.5);
    if (portraitOf(m, op.g)?.bad) broken.push(2 * m.n - i - 0.5);
  });
  broken.sort((a, b) => a - b);

  /** @param {{v: number}[]} points */
  const range = (points) => {
    if (!points.length) return [0, 1];
    const [least, largest] = points.reduce(([a, b], { v }) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
    const [a, b] = [Math.floor(least), Math.ceil(largest)];
    return b - a < 2 ? [a - (b === a ? 1 : 0), a - (b === a ? 1 : 0) + 2] : [a, b];
  };

  function drawProfile() {
    const { ink, time } = atlas;
    const { c } = pen;
    const { spread, returned, silent } = profile;
    const top = g.head + rows.length * g.row + 6;
    const base = top + g.lane;
    c.fillStyle = ink.hair;
    c.fillRect(g.left, base, g.right - g.left, 1);
    const highest = silent.reduce((best, { v }) => Math.max(best, v), 0);
    let labelled = false;
    for (const [i, { t, v: zeros }] of silent.entries()) {
      if (t > time + 0.5) continue;
      c.fillStyle = zeros > 0.9 ? ink.bad : mix(ink.line, ink.paper, 0.62);
      const wide = clamp(at(t + 0.5) - at(t - 0.5) - 1, 1.5, 12);
      c.fillRect(at(t) - wide / 2, base - zeros * (g.lane - 8), wide, zeros * (g.lane - 8));
      const next = silent[i + 1] ? at(silent[i + 1].t) : Infinity;
      if (zeros < highest || labelled || next < at(t) + wide + 30) continue;
      labelled = true;
      c.fillStyle = ink.soft;
      pen.font(11);
      pen.text(`${Math.round(zeros * 100)} %`, at(t) + wide / 2 + 3, base - 3);
    }
    /** @param {Profile} points @param {string} color */
    const curve = (points, color) => {
      const [a, b] = range(points);
      c.strokeStyle = color;
      c.lineWidth = 2;
      c.lineJoin = c.lineCap = "round";
      c.beginPath();
      let last = -1;
      for (const { t, v, piece } of points) {
        if (t > time + 0.01) break;
        const [x, y] = [at(t), base - 2 - ((v - a) / (b - a)) * (g.lane - 6)];
        if (piece !== last) c.moveTo(x, y);
        c.lineTo(x, y); // a point alone is a dot
        last = piece;
      }
      c.stroke();
      c.lineCap = "butt";
      return [a, b];
    };
    const [f, b] = [curve(spread, ink.run), m.end > m.n ? curve(returned, ink.grad) : null];
    if (b) namePieces(returned, ([t, v]) => [at(t), base - 2 - ((v - b[0]) / (b[1] - b[0])) * (g.lane - 6)], top, base);
    pen.font(12, 700);
    c.fillStyle = ink.bad;
    let marked = -Infinity;
    for (const t of broken) {
      if (t > time + 0.5 || at(t) <= g.left || at(t) >= g.right || at(t) - marked <= 9) continue;
      marked = at(t);
      pen.text("✗", marked, top + 11, null, "center");
    }
    const y = top + 12;
    pen.font(11, 600);
    c.fillStyle = ink.run;
    const room = g.columns.weights ? g.columns.weights[0] - 20 : 40;
    let labels = pen.text(g.columns.weights ? speech.line("spread") : "σ", g.columns.name[0], y, room);
    c.fillStyle = ink.grad;
    if (twice) labels = Math.max(labels, pen.text(g.columns.weights ? speech.line("returned") : "|∂y|", g.columns.name[0], y + PITCH, room));
    if (norms.length && m.failed < 0 && g.columns.weights && time > m.n) {
      const [x, w] = g.columns.weights;
      pen.font(11);
      c.fillStyle = ink.soft;
      pen.text(`1e${low}`, x, top + 6, null, "center");
      pen.text(`1e${high}`, x + w, top + 6, null, "center");
    }
    const third = y + (twice ? 2 * PITCH : PITCH);
    let x = g.columns.name[0];
    pen.font(11);
    if (silent.length) {
      c.fillStyle = mix(ink.line, ink.paper, 0.5);
      c.fillRect(x, third - 9, 9, 9);
      c.fillStyle = ink.soft;
      x += 26 + pen.text(speech.line(g.wide ? "share_of_zeros" : "zero_elements"), x + 14, third);
    }
    if (g.wide && broken.length) {
      c.fillStyle = ink.bad;
      pen.text(`✗ ${speech.line("broken_elements")}`, x, third);
    }
    const beside = !g.columns.weights || g.wide; // the scales of the pictures lie at the ends of the lines above
    if (beside) x = g.columns.name[0] + labels + 8;
    const after = drawScale(x, beside ? y : third, false);
    if (twice) drawScale(beside ? x : after + 12, beside ? y + PITCH : third, true);
    if (!spread.length && !returned.length) return;
    c.fillStyle = ink.run;
    pen.font(11);
    pen.text(`1e${f[1]}`, g.left - 6, top + 10, null, "right");
    pen.text(`1e${f[0]}`, g.left - 6, base, null, "right");
    if (!b) return;
    c.fillStyle = ink.grad;
    pen.text(`1e${b[1]}`, g.right + 8, top + 10);
    pen.text(`1e${b[0]}`, g.right + 8, base);
  }

  /**
   * Say of which modules the pieces of a curve are, if there are several: beside them, where no line is.
   * @param {Profile} points @param {(at: [number, number]) => [number, number]} place @param {number} top @param {number} base
   */
  function namePieces(points, place, top, base) {
    const { ink, time } = atlas;
    /** @type {Map<number, Profile>} */
    const pieces = new Map();
    for (const point of points) pieces.set(point.piece, [...(pieces.get(point.piece) ?? []), point]);
    if (pieces.size < 2) return;
    /** @type {number[][]} */
    const lines = [...pieces.values()].flatMap((piece) => piece.flatMap(({ t, v, piece: number }, i) => {
      const next = piece[i + 1] ?? { t, v };
      return [0, 0.25, 0.5, 0.75].map((share) => [...place([t + (next.t - t) * share, v + (next.v - v) * share]), number]);
    }));
    pen.font(11);
    pen.c.fillStyle = ink.grad;
    let before = "";
    for (const piece of pieces.values()) {
      const names = [...new Set(piece.map(({ of }) => of))];
      const text = names.length > 2 ? `${names[0]} … ${names[names.length - 1]}` : names.join(", ");
      if (text === before) continue;
      before = text;
      const half = pen.c.measureText(text).width / 2;
      const spots = piece.flatMap(({ t, v }) => {
        const [x, y] = place([t, v]);
        return [[x + half + 6, y + 4], [x - half - 6, y + 4], [x, y - 6], [x, y + 15], [x + half + 6, y - 4], [x - half - 6, y + 12]];
      });
      const [first, last] = [piece[0], piece[piece.length - 1]];
      const [mx, my] = place([(first.t + last.t) / 2, (first.v + last.v) / 2]);
      const far = (/** @type {number[]} */ [x, y]) => Math.hypot(x - mx, y - my);
      const spot = spots.sort((a, b) => far(a) - far(b)).find(([x, y]) => x - half > at(m.n) && x + half + 5 < g.right && y - 9 > top && y < base - 1
        && lines.every(([lx, ly, of]) => {
          const near = of === first.piece ? 0 : 8; // another's is further away
          return Math.abs(lx - x) > half + 4 + near || ly < y - 12 - near || ly > y + 4 + near;
        }));
      if (!spot || Math.max(place([piece[0].t, 0])[0], spot[0] + half) > at(time) + 0.01) continue; // not before the playhead
      pen.text(text, spot[0], spot[1], null, "center");
      for (let x = spot[0] - half; x <= spot[0] + half; x += 6) lines.push([x, spot[1] - 4, first.piece]); // no other name there
    }
  }

  /** The colours of the pictures, from below zero to above. Where it ends. @param {number} x @param {number} y @param {boolean} back */
  function drawScale(x, y, back) {
    const { ink } = atlas;
    const { c } = pen;
    const [high, wide] = [back ? ink.grad : ink.run, g.columns.weights ? 24 : 16];
    pen.font(11);
    c.fillStyle = high;
    const from = x + pen.text(back && g.columns.weights ? "∂ −" : "−", x, y) + 3;
    const colours = c.createLinearGradient(from, 0, from + wide, 0);
    [ink.below, ink.zero, high].forEach((color, i) => colours.addColorStop(i / 2, color));
    c.fillStyle = colours;
    c.fillRect(from, y - 9, wide, 9);
    c.strokeStyle = c.fillStyle = high;
    c.lineWidth = 1;
    c.strokeRect(from + 0.5, y - 8.5, wide - 1, 8);
    return from + wide + 3 + pen.text("+", from + wide + 3, y);
  }

  function drawPlayhead() {
    const { ink, time } = atlas;
    const { c } = pen;
    const base = g.h - 8;
    if (score.pointed != null) drawReading(score.pointed, base);
    const x = at(Math.min(time, twice ? 2 * m.n : m.n));
    c.fillStyle = ink.now;
    c.fillRect(x - 1, g.head - 2, 2, base - g.head + 4);
    c.beginPath();
    for (const [dx, y] of [[-5, g.head - 9], [5, g.head - 9], [5, g.head - 4], [0, g.head + 1], [-5, g.head - 4]]) c.lineTo(x + dx, y);
    c.fill();
  }

  /** What is known of the operator under the pointer. @param {number} x @param {number} base */
  function drawReading(x, base) {
    const { ink } = atlas;
    const { c } = pen;
    const t = timeAt(x);
    const op = clamp(Math.floor(t < m.n ? t : 2 * m.n - t), 0, m.n - 1);
    const row = m.tensors[op];
    const [value, gradient] = [portraitOf(m, row.v), portraitOf(m, row.g)];
    const back = t >= m.n;
    const zeros = (value?.zeros ?? 0) > 0.2 ? `, ${speech.line("zeros", { share: Math.round((value?.zeros ?? 0) * 100) })}` : "";
    const said = back ? (gradient ? `|∂y| ${normOf(speech, gradient)}` : speech.line("no_flow")) : value?.bad ? speech.line("not_finite", { count: value.bad }) : `σ ${figure(value?.std)}${zeros}`;
    const text = `${fullName(m, m.leaves[op])}  ${said}`;
    c.fillStyle = ink.line;
    c.fillRect(x - 0.5, g.head, 1, base - g.head);
    pen.font(11, 600);
    const wide = c.measureText(text).width;
    const left = clamp(x + 6, g.left, g.w - wide - 8);
    c.fillStyle = ink.paper;
    c.fillRect(left - 4, 0, wide + 8, 15);
    c.fillStyle = back ? ink.grad : ink.run;
    pen.text(text, left, 11);
  }
  return score;
}

const MOST_POINTS = 120; // of a curve in the profile
const ROUNDING = 1e-7; // share of the largest gradient of a parameter below which one is 0, but for rounding
const LARGEST = 1e30; // of a number that isn't there to mask others

/** Points of one piece are joined by a line; of: the module that a point is in. @typedef {{t: number, v: number, piece: number, of?: string}[]} Profile */

const log = (/** @type {number} */ v) => Math.log10(Math.max(v, 1e-12));

/** What each part of a module gives, and what comes back to it. @param {AtlasModel} m @param {AtlasNode} group */
function profileOf(m, group) {
  /** @type {Profile} */
  const spread = [];
  /** @type {Profile} */
  const returned = [];
  /** @type {Profile} */
  const silent = []; // the share of zeros, of those that have many
  const rowOf = (/** @type {AtlasNode} */ part) => pathOf(m, part)[group.depth + 1];
  /** @type {AtlasNode | null} */
  let last = null;
  let piece = 0;
  for (const part of profileParts(m, group)) {
    const { out } = part;
    const op = m.data.operators[out];
    if (op.fixed) continue; // a parameter, reshaped: what it holds is no activation
    const { a, b } = last ?? part;
    const follows = m.data.operators.slice(part.a, part.b).some((x) => x.reads.some((y) => y >= a && y < b));
    if (last && rowOf(last) !== rowOf(part) && !follows) piece++; // no gradient goes from one to the other
    last = part;
    const [value, gradient] = [portraitOf(m, op.v), portraitOf(m, op.g)];
    const std = Number(value?.min) < -LARGEST ? 0 : value?.std; // a mask isn't worth a scale of its own
    if (op.g !== undefined || !m.data.backward) {
      if (typeof std === "number" && std > 0) spread.push({ t: out + 0.5, v: log(std), piece });
      if (Number(value?.zeros) > 0.3) silent.push({ t: out + 0.5, v: Number(value?.zeros), piece });
    }
    if (typeof gradient?.norm === "number" && gradient.norm > 0) returned.unshift({ t: 2 * m.n - out - 0.5, v: log(gradient.norm), piece, of: titleOf(m, rowOf(part)) });
  }
  return { spread, returned, silent };
}

/** The parts that the profile has a point for: as deep in the tree as there is room for, but one for each call of a cell. @param {AtlasModel} m @param {AtlasNode} group */
function profileParts(m, group) {
  let parts = partsOf(m, group).filter((node) => node.input === undefined);
  const calls = new Set(m.nodes.flatMap((node) => stateOf(m, node)?.calls ?? []));
  for (;;) {
    const groups = parts.filter((node) => node.children && !calls.has(node) && parts.length + node.children.length <= MOST_POINTS + 1);
    if (!groups.length) return parts;
    const largest = groups.reduce((a, b) => (b.sum.count > a.sum.count ? b : a));
    parts = parts.flatMap((node) => (node === largest ? partsOf(m, node) : [node]));
  }
}
