// The cards of the atlas: what they say depends on how large they are on the screen. Material says
// what has become of a node: a dashed outline is planned, green from the left has run.

const smooth = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ v) => {
  const x = clamp((v - from) / (to - from), 0, 1);
  return x * x * (3 - 2 * x);
};
const [OPENS, IS_OPEN] = [0.42, 0.84]; // the part of the stage that a group fills when it opens, and is open
const MANY_IN_STRIP = 7; // above it, a strip shows its first and its last three

/** What a node is, in words. @param {Atlas} atlas @param {AtlasNode} node */
function kindOfNode({ m, speech }, node) {
  if (node.input !== undefined) return speech.line("input");
  if (node.repeats) {
    const parts = partsOf(m, node);
    return `${parts.length} × ${parts[0].kind || parts[0].name.replace(/ \(\d+\)$|[=_.]?\d+$/, "")}`;
  }
  if (node.kind) return node.kind;
  if (node.op === undefined) {
    const groups = partsOf(m, node).some((part) => part.children);
    const inside = groups ? partsOf(m, node).map((part) => part.name) : m.data.operators.slice(node.a, node.b).map((op) => op.op);
    const names = [...new Set(inside)];
    return names.slice(0, 3).join(", ") + (names.length > 3 ? ", …" : "");
  }
  const op = m.data.operators[node.op];
  return node.name === op.op ? op.title[speech.chinese() ? 1 : 0] : op.op;
}

/** What a node is, where that isn't in its title. @param {Atlas} atlas @param {AtlasNode} node */
function kindBesideTitle(atlas, node) {
  const [kind, title] = [kindOfNode(atlas, node), titleOf(atlas.m, node)];
  const told = [...title.split(" "), `${node.children?.length} × ${title}`].includes(kind);
  return told ? "" : kind;
}

/** What is different about a node: frozen, cut off, or calling the original. @param {Atlas} atlas @param {AtlasNode} node */
function marksOf({ m, speech }, node) {
  const { operators, parameters, system } = m.data;
  const weights = node.sum.weights.filter((w) => parameters[w].kept !== "buffer");
  const told = weights.length && weights.every((w) => parameters[w].kept) ? [speech.line("mark_frozen")] : [];
  const inside = operators.slice(node.a, node.b).map((op) => op.mark);
  for (const mark of ["cut", "box", "rule"]) {
    const count = inside.filter((one) => one === mark).length;
    if (count) told.push(speech.line(`mark_${mark}`, { system }) + (count > 1 ? ` ×${count}` : ""));
  }
  return told.join(", ");
}

/** The shape of a tensor in words. @param {Atlas} atlas @param {number} tensor */
function shapeOf({ m, speech }, tensor) {
  const { shape, unknown } = m.tensors[tensor];
  return unknown ? "" : shape.length ? sizes(shape) : speech.line("scalar");
}

/** A shape without a batch of one, where there is no room for that. @param {Atlas["pen"]} pen @param {string} shape @param {number} most */
const briefly = (pen, shape, most) => (pen.c.measureText(shape).width > most ? shape.replace(/^1×/, "") : shape);

/**
 * A node and, where it is large, what is in it.
 * @param {Atlas} atlas @param {AtlasNode} node @param {Box} box @param {number} alpha
 */
function drawNode(atlas, node, box, alpha) {
  const { size } = atlas;
  if (box.x > size.w + 30 || box.y > size.h + 30 || box.x + box.w < -30 || box.y + box.h < -30) return;
  const filled = Math.min(box.w / size.w, box.h / size.h);
  const opened = node.children ? smooth(OPENS, IS_OPEN, filled) : 0;
  node.shown = box;
  if (opened < 1) drawCard(atlas, node, box, alpha, opened);
  if (opened > 0) {
    drawFrame(atlas, node, box, alpha * smooth(0, 0.55, opened));
    drawGroup(atlas, node, box, alpha * smooth(0.05, 0.5, opened), opened);
  }
}

/** The parts of a strip that are shown, and how many are left out behind the third. @param {AtlasNode[]} parts */
function strip(parts) {
  if (parts.length <= MANY_IN_STRIP) return { shown: parts, left: 0 };
  return { shown: [...parts.slice(0, 3), ...parts.slice(-3)], left: parts.length - 6 };
}

/** The norm of what came back to a node; of a strip those of its first and its last part. @param {AtlasModel} m @param {AtlasNode} node @param {number} [most] */
function normsOf(m, node, most = 2) {
  const parts = node.repeats && most > 1 ? partsOf(m, node) : [node];
  const said = [parts[0], parts[parts.length - 1]].map(({ out }) => portraitOf(m, m.tensors[out]?.g)).map((g) => (g?.bad ? "✗" : figure(g?.norm)));
  return `|∂y| ${[...new Set(said)].filter(Boolean).join(" … ")}`;
}

/** @param {Atlas} atlas @param {AtlasNode} node @param {Box} box @param {number} alpha @param {boolean} open */
function drawMaterial(atlas, node, box, alpha, open) {
  const { m, pen, ink, time } = atlas;
  const { c } = pen;
  const done = ran(node, time);
  const bad = hasFailed(m, node, time);
  const r = Math.min(10, box.h * 0.18 + 2);
  c.globalAlpha = alpha;
  if (node.repeats && !open && box.w > 46)
    for (const off of [6, 3]) {
      pen.round(box.x + off, box.y - off, box.w, box.h, r);
      c.fillStyle = ink.paper;
      c.fill();
      c.lineWidth = 1;
      c.strokeStyle = mix(done > 0 ? ink.run : ink.built, ink.paper, 0.45);
      c.setLineDash(done ? [] : [5, 4]);
      c.stroke();
      c.setLineDash([]);
    }
  pen.round(box.x, box.y, box.w, box.h, r);
  c.fillStyle = node.input === undefined ? ink.paper : ink.card;
  c.fill();
  if (node.input === undefined && (done > 0 || bad)) {
    c.save();
    c.clip();
    c.fillStyle = bad ? ink.spoilt : ink.ran;
    c.fillRect(box.x, box.y, bad ? box.w : box.w * done, box.h);
    c.restore();
  }
  pen.round(box.x + 0.75, box.y + 0.75, box.w - 1.5, box.h - 1.5, r);
  const planned = node.input === undefined && !bad && done < 1;
  c.setLineDash(planned ? [5, 4] : []);
  const red = isTrouble(m, node, time);
  c.strokeStyle = node.input !== undefined ? ink.line : red ? ink.bad : planned ? ink.built : ink.run;
  c.lineWidth = red ? 2.5 : node.input === undefined ? 1.5 : 1;
  c.stroke();
  c.setLineDash([]);
  const around = (/** @type {string} */ color, /** @type {number} */ width, /** @type {number} */ off) => {
    c.strokeStyle = color;
    c.lineWidth = width;
    pen.round(box.x - off, box.y - off, box.w + 2 * off, box.h + 2 * off, r + off);
    c.stroke();
  };
  if (node === atlas.now && time < m.end) around(ink.now, 3, 3.5);
  else if (atlas.selected && !open && node !== atlas.focus && isInside(m, atlas.selected, node)) around(ink.ink, 2, 3);
  else if (node === atlas.hovered && !open) {
    c.globalAlpha = alpha * 0.35;
    around(ink.ink, 1.5, 2.5);
    c.globalAlpha = alpha;
  }
}

/** @param {Atlas} atlas @param {AtlasNode} node @param {Box} box @param {number} alpha @param {number} opened */
function drawCard(atlas, node, box, alpha, opened) {
  const { m, pen, ink, speech, time } = atlas;
  const { c } = pen;
  drawMaterial(atlas, node, box, alpha, opened > 0.3);
  const seen = alpha * (1 - smooth(0, 0.7, opened));
  if (seen < 0.02 || box.w < 26 || box.h < 15) return;
  c.globalAlpha = seen;
  if (box.w >= 66 && box.h >= 44 && addsInput(m, node)) drawBypass(atlas, node, box);
  const bad = hasFailed(m, node, time);
  const done = ran(node, time);
  const there = done >= 1 && !bad;
  const tensor = m.tensors[node.out];
  const value = there ? portraitOf(m, tensor?.v) : null;
  const gradient = cameBack(m, node, time) >= 1 ? portraitOf(m, tensor?.g) : null;
  const name = (bad ? "✗ " : "") + titleOf(m, node);
  const color = bad ? ink.bad : done > 0 ? ink.ink : ink.soft;
  c.fillStyle = color;
  if (box.w < 66 || box.h < 44) {
    pen.font(11, 600);
    pen.text(name, box.x + box.w / 2, box.y + box.h / 2 + 4, box.w - 6, "center");
    return;
  }
  const pad = box.w < 90 ? 6 : 10;
  const [x, w] = [box.x + pad, box.w - 2 * pad];
  const shape = there && tensor ? shapeOf(atlas, node.out) : "";
  if (box.w < 128 || box.h < 88) {
    const times = node.repeats ? `×${partsOf(m, node).length}` : "";
    pen.font(12, 600);
    const used = pen.text(name, x, box.y + 16, times ? w - 24 : w);
    pen.font(11, 600);
    c.fillStyle = ink.soft;
    if (times) pen.text(times, x + w, box.y + 16, 24, "right");
    pen.font(11);
    c.fillStyle = bad ? ink.bad : ink.soft;
    const told = bad ? speech.line("stopped") : shape || kindBesideTitle(atlas, node);
    let y = box.y + 21;
    const brief = briefly(pen, told, w);
    if (box.h >= 66) {
      pen.text(brief, x, box.y + 30, w);
      y = box.y + 35;
    } else if (used + c.measureText(brief).width + 8 <= w - (times ? 24 : 0))
      pen.text(brief, x + w - (times ? 22 : 0), box.y + 16, null, "right");
    const foot = box.h >= 110 && node.grad && m.end > m.n ? 16 : 0;
    const h = box.y + box.h - 6 - foot - y;
    if (h >= 8) drawPictures(atlas, node, { x, y, w, h }, value, gradient);
    if (!foot || !gradient) return;
    c.fillStyle = gradient.bad ? ink.bad : ink.grad;
    pen.font(11);
    pen.text(normsOf(m, node, w < 101 ? 1 : 2), x, box.y + box.h - 8, w);
    return;
  }
  const chip = node.children ? (node.repeats ? `×${node.children.length}` : `${node.children.length} ▸`) : "";
  const chipWidth = chip ? drawChip(atlas, chip, box.x + box.w - pad + 2, box.y + 8, done > 0) : 0;
  c.fillStyle = color;
  const [large, most] = [box.h >= 150 ? 14 : 13, w - chipWidth - 4];
  pen.font(large, 650);
  const fitting = Math.min(large, (large * most) / c.measureText(name).width); // smaller letters before it is cut
  pen.font(fitting < 11 ? 13 : fitting, 650);
  pen.text(name, x, box.y + 20, most);
  pen.font(11);
  c.fillStyle = bad ? ink.bad : ink.soft;
  const group = /** @type {AtlasNode} */ (parentOf(m, node));
  const says = shape && (node.input !== undefined || !atlasPlaces(m, group, atlas.size).wide) ? shape : kindBesideTitle(atlas, node) || shape;
  const marks = bad ? "" : marksOf(atlas, node);
  const told = bad ? speech.line("stopped") : says;
  const spent = there && node.sum.ms && w >= 140 ? pen.text(lasting(spentBy(m, node, time)), x + w, box.y + 35, null, "right") + 6 : 0;
  const kind = pen.text(told, x, box.y + 35, w - spent);
  c.fillStyle = ink.grad;
  if (marks) pen.text(`· ${marks}`, x + kind + 4, box.y + 35, w - spent - kind - 4);
  const foot = box.h >= 90 && (node.input === undefined || node.grad) ? 18 : 4;
  drawPictures(atlas, node, { x, y: box.y + 43, w, h: box.h - foot - 49 }, value, gradient);
  if (box.h < 90 || !tensor) return;
  pen.font(11);
  const y = box.y + box.h - 9;
  c.fillStyle = gradient?.bad ? ink.bad : ink.grad;
  const right = gradient ? pen.text(normsOf(m, node), x + w, y, node.repeats ? w : w / 2, "right") + 6 : 0;
  c.fillStyle = ink.soft;
  if (node.input === undefined && value && !isNumber(tensor) && w - right > 44) drawShort(atlas, node, value, x, y, w - right);
}

/** What a module adds goes around it, above its card, to a plus. @param {Atlas} atlas @param {AtlasNode} node @param {Box} box */
function drawBypass({ m, pen, ink, time, size }, node, box) {
  const { c } = pen;
  const done = ran(node, time) >= 1;
  const top = box.y - (node.repeats ? 6 : 0);
  const [over, right] = [top - bypassHigh(size), box.x + box.w - (box.w < 128 ? 18 : 60)];
  const { edges, rects } = atlasPlaces(m, /** @type {AtlasNode} */ (parentOf(m, node)), size);
  const edge = edges.find(({ to, label }) => to.node === node && !label);
  const [[x, y] = [0, 0], [corner, low] = [0, 0], [, above] = [0, 0]] = [...(edge?.points ?? [])].reverse();
  const back = edge && passedBack(m, edge, time) ? 2.2 : 0; // the arrow is beside its gradient
  const down = Number(edge?.points.length) > 2 && above < low - 0.001 && low === y; // from the row above
  const fork = box.x - (down ? ((x - corner) * box.w) / /** @type {number[]} */ (rects.get(node.i))[2] - back : FORK);
  /** @type {Points} */
  const way = [[fork, over], [right, over], [right, top - 6]];
  if (!down) way.unshift([fork, box.y + box.h / 2 - back]);
  trace(c, way, 7);
  c.fillStyle = c.strokeStyle = done ? ink.run : ink.built;
  c.lineWidth = 1.8;
  c.setLineDash(done ? [] : [5, 4]);
  c.stroke();
  c.setLineDash([]);
  c.beginPath();
  c.arc(...way[0], 2.6, 0, 7);
  c.fill();
  arrowhead(c, [right, top - 5], [right, top - 9], 6);
  c.beginPath();
  c.arc(right, top, 5.5, 0, 7);
  c.fillStyle = done ? ink.ran : ink.card;
  c.fill();
  c.moveTo(right - 5.5, top);
  c.lineTo(right + 5.5, top);
  c.moveTo(right, top - 5.5);
  c.lineTo(right, top + 5.5);
  c.lineWidth = 1.5;
  c.stroke();
}

const FORK = 9; // pixels from a card to where what goes around it leaves its arrow

/** How far above its card what a module adds goes around it: on a phone other arrows are near. @param {{w: number}} size */
const bypassHigh = ({ w }) => (w < 500 ? 10 : 13);

/** What is most worth saying of a value in half a line. @param {Atlas} atlas @param {AtlasNode} node @param {Portrait} value @param {number} x @param {number} y @param {number} most */
function drawShort({ m, pen, ink, speech }, node, value, x, y, most) {
  const zeros = value.zeros ?? 0;
  const silent = zeros > 0.9 && m.data.operators[node.b - 1]?.op === "ReLU";
  pen.c.fillStyle = value.bad || silent ? ink.bad : ink.soft;
  if (value.bad) pen.text(speech.line("not_finite", { count: value.bad }), x, y, most);
  else if (zeros >= 0.2) pen.text(speech.line("zeros", { share: Math.round(zeros * 100) }), x, y, most);
  else pen.text(`σ ${figure(value.std)}`, x, y, most);
}

/** @param {Atlas} atlas @param {string} chip @param {number} right @param {number} top @param {boolean} done */
function drawChip({ pen, ink }, chip, right, top, done) {
  const { c } = pen;
  pen.font(11, 600);
  const width = c.measureText(chip).width + 12;
  c.fillStyle = done ? mix(ink.ran, ink.run, 0.16) : ink.card;
  pen.round(right - width, top, width, 17, 8);
  c.fill();
  c.fillStyle = ink.ink;
  pen.text(chip, right - width / 2, top + 12.5, null, "center");
  return width;
}

/**
 * The pictures of a value and its gradient; of a strip those of its parts.
 * @param {Atlas} atlas @param {AtlasNode} node @param {Box} box
 * @param {Portrait | null} value @param {Portrait | null} gradient
 */
function drawPictures(atlas, node, { x, y, w, h }, value, gradient) {
  const { m, pen, ink, time } = atlas;
  const { c } = pen;
  if (h < 4) return;
  const tensor = m.tensors[node.out];
  if (node.repeats) {
    const { shown, left } = strip(partsOf(m, node));
    const gap = shown.length > 6 ? 2 : 4;
    const room = left ? 22 : 0;
    const wide = (w - room - gap * (shown.length - 1)) / shown.length;
    const low = Math.max(5, Math.round(h * 0.42));
    const [values, gradients] = /** @type {const} */ (["v", "g"]).map((of) => Math.max(...shown.map((part) => portraitOf(m, m.tensors[part.out]?.[of])?.scale ?? 0)));
    shown.forEach((part, i) => {
      const at = x + i * (wide + gap) + (left && i > 2 ? room : 0);
      const out = m.tensors[part.out];
      const failed = hasFailed(m, part, time);
      pen.swatch(ran(part, time) >= 1 ? portraitOf(m, out?.v) : null, false, at, y, wide, h - low - 3, undefined, 3, values);
      pen.swatch(cameBack(m, part, time) >= 1 ? portraitOf(m, out?.g) : null, true, at, y + h - low, wide, low, undefined, 3, gradients);
      if (failed) {
        c.fillStyle = ink.bad;
        pen.font(13, 700);
        pen.text("✗", at + wide / 2, y + (h - low) / 2 + 4, null, "center");
      } else if (isTrouble(m, part, time)) {
        c.strokeStyle = ink.bad;
        c.lineWidth = 2;
        pen.round(at - 1, y - 1, wide + 2, h + 2, 4);
        c.stroke();
      }
    });
    if (left) {
      pen.font(11);
      c.fillStyle = partsOf(m, node).slice(3, -3).some((part) => isTrouble(m, part, time)) ? ink.bad : ink.soft;
      pen.text(`+${left}`, x + 3 * (wide + gap) - gap / 2 + room / 2, y + h / 2 + 4, null, "center");
    }
    return;
  }
  if (tensor?.unknown) return pen.swatch(null, false, x, y, w, h);
  if (tensor && isNumber(tensor)) {
    c.fillStyle = value ? ink.ink : ink.soft;
    const size = Math.min(30, Math.max(11, h * 0.7));
    pen.font(size, 650);
    if (value?.bad) c.fillStyle = ink.bad;
    pen.text(value ? figure(value.mean) : "?", x + w / 2, y + h / 2 + size * 0.36, w, "center");
    return;
  }
  const plain = node.input === undefined ? undefined : ink.line;
  if (!node.grad) pen.swatch(value, false, x, y, w, h, plain);
  else if (w > h * 1.9) {
    const back = Math.round((w - 4) * 0.42);
    pen.swatch(value, false, x, y, w - back - 4, h, plain);
    pen.swatch(gradient, true, x + w - back, y, back, h);
  } else {
    const low = Math.max(4, Math.round((h - 3) * 0.42));
    pen.swatch(value, false, x, y, w, h - low - 3, plain);
    pen.swatch(gradient, true, x, y + h - low, w, low);
  }
}

/** The frame of an open module, with its name. @param {Atlas} atlas @param {AtlasNode} node @param {Box} box @param {number} alpha */
function drawFrame(atlas, node, box, alpha) {
  if (alpha < 0.02) return;
  const { m, pen, ink, speech, time } = atlas;
  const { c } = pen;
  const [done, back] = [ran(node, time), cameBack(m, node, time)];
  const bad = hasFailed(m, node, time);
  c.globalAlpha = alpha;
  pen.round(box.x + 1.5, box.y + 1.5, box.w - 3, box.h - 3, 12);
  c.fillStyle = ink.paper;
  c.fill();
  const high = atlasPlaces(m, node, atlas.size).head * box.h;
  c.save();
  c.clip();
  c.fillStyle = ink.card;
  c.fillRect(box.x, box.y, box.w, high);
  c.fillStyle = ink.ran;
  c.fillRect(box.x, box.y, box.w * done, high);
  c.fillStyle = back > 0 ? ink.grad : ink.hair;
  c.fillRect(box.x + box.w * (back > 0 ? 1 - back : 0), box.y + high - (back > 0 ? 3 : 1), back > 0 ? box.w * back : box.w, back > 0 ? 3 : 1);
  c.restore();
  pen.round(box.x + 1, box.y + 1, box.w - 2, box.h - 2, 12);
  c.lineWidth = bad ? 2.5 : 1.5;
  c.strokeStyle = bad ? ink.bad : done >= 1 ? ink.run : ink.built;
  c.setLineDash(done < 1 && !bad ? [6, 5] : []);
  c.stroke();
  c.setLineDash([]);
  if (high < 22) return;
  let right = miniBox(atlas, box, high).x - 12;
  const tensor = m.tensors[node.out];
  if (high >= 50 && box.w > 600 && tensor && !isNumber(tensor)) {
    const [w, h] = [76, 34];
    const y = box.y + (high - h) / 2;
    if (node.grad) pen.swatch(back >= 1 ? portraitOf(m, tensor.g) : null, true, (right -= w), y, w, h);
    pen.swatch(done >= 1 ? portraitOf(m, tensor.v) : null, false, (right -= w + (node.grad ? 6 : 0)), y, w, h);
    right -= 12;
  }
  const small = high < 50;
  c.fillStyle = ink.ink;
  pen.font(small ? 14 : 17, 650);
  pen.text(titleOf(m, node), box.x + 14, box.y + high / 2 + (small ? -1 : 0), right - box.x - 20);
  pen.font(small ? 11 : 12);
  c.fillStyle = ink.soft;
  const { params, count } = node.sum;
  const about = [kindBesideTitle(atlas, node), params ? speech.line("with_parameters", { count: amount(params) }) : "", speech.line("with_operators", { count }), m.failed >= 0 && done < 1 ? "" : lasting(spentBy(m, node, time))].filter(Boolean);
  while (about.length > 1 && c.measureText(about.join(" · ")).width > right - box.x - 20) about.pop(); // none is cut
  pen.text(about.join(" · "), box.x + 14, box.y + high / 2 + (small ? 13 : 17), right - box.x - 20);
}

/** Where the map of the whole model is, in the head of an open module. @param {Atlas} atlas @param {Box} box @param {number} high */
function miniBox({ size }, box, high) {
  const [w, h] = [size.w < 560 ? 84 : 132, Math.max(26, high - 14)];
  return { x: box.x + box.w - w - 10, y: box.y + (high - h) / 2 - 1, w, h };
}
