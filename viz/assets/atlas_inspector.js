// What is known of the node that is selected; of the whole model what is worth a look, and the legend.

/** The index of an element of an array, by its place in memory. @param {number[]} shape @param {number} place */
function indexOf(shape, place) {
  const index = [...shape].reverse().map((n) => {
    const i = place % n;
    place = (place - i) / n;
    return i;
  });
  return index.reverse().join(", ");
}

const CLEAR = 6; // pixels from the last line that is seen to the button below it

/** Which section of a part a finding is about: its gradient, its cost, or its weights. @type {Record<string, number>} */
const PROMISED = { nan_back: 1, nan_relu: 1, vanishing_calls: 1, exploding_calls: 1, slowest: 2, slowest_two: 2, shares: 2, gradients: 3, vanishing: 3, exploding: 3, no_gradient: 3, frozen: 3, unreached: 3 };

/**
 * @param {Atlas} atlas @param {HTMLElement} place
 * @param {{show(op: number, group?: AtlasNode, about?: string): void, close(): void}} told
 */
function inspectorOf(atlas, place, told) {
  const { m, speech } = atlas;
  const body = make("div", "", place);
  const more = button("↓ ", halves(speech.pair("more")), place, () => place.scrollBy({ top: place.clientHeight - 60 })); // while something is below
  more.className = "mg-x-more";
  say(make("span", "", more), speech.pair("more"));
  const below = () => {
    more.style.setProperty("--mg-cut", "0px");
    more.hidden = place.scrollHeight - place.scrollTop - place.clientHeight < 12;
    if (!more.hidden && !place.scrollTop) more.style.setProperty("--mg-cut", `${halfLine()}px`);
  };
  /** How high what is cut by the button is: a paragraph, a row or a small box, with the heading over it. */
  const halfLine = () => {
    const [edge, all] = [place.getBoundingClientRect().bottom - 26, document.createRange()];
    all.selectNodeContents(body);
    const boxes = [...body.querySelectorAll("button, .mg-x-path, .mg-x-verdict")].map((box) => box.getBoundingClientRect());
    const lines = [...all.getClientRects()].filter(({ height }) => height && height < 22);
    const cut = [...lines, ...boxes].filter(({ bottom }) => bottom > edge - CLEAR).reduce((least, rect) => Math.min(least, rect.top), edge);
    const top = lines.reduce((most, { bottom }) => (bottom <= edge - CLEAR && bottom < cut + 8 ? Math.max(most, bottom) : most), cut); // lines overlap
    const heads = [...body.querySelectorAll("h3")].map((head) => head.getBoundingClientRect());
    return edge - (heads.find(({ bottom }) => bottom <= cut + 1 && bottom > cut - 8)?.top ?? top);
  };
  place.addEventListener("scroll", below);
  const watch = new ResizeObserver(below);
  for (const e of [body, place]) watch.observe(e);
  /** @param {string} className @param {Element} parent @param {keyof HTMLElementTagNameMap} [tag] */
  const part = (className, parent, tag = "div") => make(tag, className, parent);
  /** @param {Element} parent @param {string} key @param {string} [more] @param {string} [className] */
  const heading = (parent, key, more = "", className = "") => {
    const h = part(className, parent, "h3");
    say(h, speech.pair(key));
    if (more) part("", h, "b").textContent = more;
  };
  /** @param {Element} parent @param {[Pair | string, Pair | string][]} rows */
  const table = (parent, rows) => {
    const t = part("", parent, "table");
    for (const row of rows) {
      const tr = part("", t, "tr");
      for (const cell of row) say(part("", tr, "td"), typeof cell === "string" ? [cell, cell] : cell);
    }
  };
  /** A pen on a canvas of its own. @param {Element} parent @param {number} w @param {number} h */
  const sheet = (parent, w, h) => {
    const canvas = make("canvas", "", parent);
    canvas.style.cssText = `width:${w}px;height:${h}px`;
    canvas.setAttribute("aria-hidden", "true");
    const pen = penOf(canvas, () => atlas.ink);
    pen.resize(w, h);
    pen.clear();
    return { canvas, pen };
  };
  /** @param {Element} parent @param {Portrait | null} portrait @param {boolean} back @param {number} w @param {number} h */
  const picture = (parent, portrait, back, w, h) => {
    const { canvas, pen } = sheet(parent, w, h);
    const draw = (/** @type {PointerEvent | null} */ e) => {
      pen.clear();
      pen.c.globalAlpha = 1;
      pen.swatch(portrait, back, 0, 0, w, h);
      if (e) pen.reading(e.offsetX, e.offsetY, w);
    };
    draw(null);
    for (const type of ["pointermove", "pointerdown"]) canvas.addEventListener(type, (e) => draw(/** @type {PointerEvent} */ (e)));
    canvas.addEventListener("pointerleave", () => draw(null));
  };
  /** @param {Element} parent @param {Portrait} portrait @param {boolean} back @param {number} w @param {number} h */
  const histogram = (parent, portrait, back, w, h) => {
    if (!portrait.hist) return;
    const { pen } = sheet(parent, w, h);
    const wide = w / portrait.hist.length;
    pen.c.fillStyle = mix(back ? atlas.ink.grad : atlas.ink.run, atlas.ink.paper, 0.35);
    [...portrait.hist].forEach((letter, i) => {
      const high = (CODE[letter] / 62) * (h - 2);
      pen.c.fillRect(i * wide + 0.5, h - high, wide - 1, high);
    });
    pen.c.fillStyle = atlas.ink.hair;
    pen.c.fillRect(0, h - 1, w, 1);
  };
  const share = (/** @type {number} */ v, /** @type {number} */ whole) => (whole ? ` (${Math.round((100 * v) / whole)} %)` : "");
  const wide = () => Math.max(180, place.clientWidth - 34);

  /** @param {AtlasNode} node */
  const cost = (node) => {
    const { sum } = node;
    const all = m.root.sum;
    const own = node !== m.root;
    heading(body, "cost");
    /** @type {[Pair | string, Pair | string][]} */
    const rows = [[speech.pair("column_params"), amount(sum.params) + (own ? share(sum.params, all.params) : "")]];
    if (m.failed < 0 || ran(node, atlas.time) >= 1) {
      rows.push([speech.pair("forward"), lasting(sum.ms) + (own ? share(sum.ms, all.ms) : "")]);
      if (m.end > m.n) rows.push([speech.pair("backward"), lasting(sum.back) + (own ? share(sum.back, all.back) : "")], [speech.pair("column_time"), lasting(sum.total) + (own ? share(sum.total, all.total) : "")]);
      if (m.end > m.n) rows.push([speech.pair("column_kept"), bytes(sum.kept) + (own ? share(sum.kept, all.kept) : "")]);
    }
    if (node.children) rows.push([speech.pair("operators"), String(sum.count)]);
    table(body, rows);
    if (m.data.system !== "minigrad") say(part("mg-x-path", body), speech.pair("own_times", { system: m.data.system }));
  };

  /** @param {Portrait} p @param {boolean} back @param {number[]} shape */
  const statistics = (p, back, shape) => {
    const w = wide();
    histogram(body, p, back, w, 34);
    if (p.min === undefined) return;
    /** @type {[Pair | string, Pair | string][]} */
    const rows = [[speech.pair("from_to"), `${figure(p.min)} … ${figure(p.max)}`], [speech.pair("mean_spread"), `${figure(p.mean)},  ${figure(p.std)}`]];
    rows.push([speech.pair("norm"), figure(p.norm)], [speech.pair("zero_elements"), `${Math.round(100 * (p.zeros ?? 0))} %`]);
    if (p.bad) rows.push([speech.pair("broken_elements"), String(p.bad)]);
    if (p.at) { // of what is too large to be read element by element
      const [first, largest, smallest] = p.at;
      for (const [key, i, value] of /** @type {const} */ ([["element_first", 0, first], ["element_largest", largest, p.max], ["element_smallest", smallest, p.min]]))
        rows.push([speech.pair(key), `[${indexOf(shape, i)}] = ${figure(value)}`]);
    }
    table(body, rows);
  };

  const whole = () => {
    const { data } = m;
    if (data.about) say(part("mg-x-path", body), data.about);
    if (data.findings.length) heading(body, "worth_a_look");
    for (const { text, op, bad, node, about } of data.findings) {
      const b = make("button", `mg-x-finding${bad ? " mg-x-bad" : ""}`, body);
      b.type = "button";
      say(b, text);
      b.addEventListener("click", () => told.show(op, node === undefined ? undefined : m.nodes[node], about));
    }
    cost(m.root);
    if (data.verdict) {
      heading(body, "checked");
      say(part("mg-x-verdict", body), data.verdict);
    }
    heading(body, "legend");
    const list = part("mg-x-legend", body);
    for (const [look, key] of [["planned", "legend_planned"], ["ran", "legend_ran"], ["now", "legend_now"], ["back", "legend_back"], ["value", "legend_value"], ["gradient", "legend_gradient"]]) {
      part(`mg-x-sample mg-x-${look}`, list);
      say(part("", list), speech.pair(key));
    }
    for (const key of ["legend_figures", "keys"]) say(part("mg-x-path", body), speech.pair(key));
  };

  /** @param {AtlasNode} node */
  const passes = (node) => {
    const half = Math.floor((wide() - 22) / 2);
    const inside = m.data.operators.slice(node.a, node.b).flatMap((op) => op.reads).filter((x) => x < node.a || x >= node.b);
    const reads = [...new Set(inside)].slice(0, 3);
    const there = ran(node, atlas.time) >= 1 && !hasFailed(m, node, atlas.time);
    heading(body, "in_out");
    if (addsInput(m, node)) say(part("mg-x-path", body), speech.pair("adds_input"));
    const row = part("mg-x-io", body);
    const left = part("", row);
    for (const x of reads) {
      const f = part("", left, "figure");
      const tensor = m.tensors[x];
      if (!isNumber(tensor)) picture(f, isThere(m, x, atlas.time) ? portraitOf(m, tensor.v) : null, false, half, Math.round(half / 2) - (reads.length > 1 ? 14 : 0));
      const from = x < m.n ? outsideName(m, node, { id: "", port: "in", tensor: x }) : m.data.inputs[x - m.n].name;
      part("", f, "figcaption").textContent = `${shapeOf(atlas, x)} ${from}`;
    }
    part("", row).textContent = "→";
    const f = part("", row, "figure");
    const tensor = m.tensors[node.out];
    const value = portraitOf(m, tensor.v);
    if (!isNumber(tensor)) picture(f, there ? value : null, false, half, Math.round(half / 2));
    else part("mg-x-scalar", f).textContent = there ? figure(value?.mean) : "?";
    part("", f, "figcaption").textContent = `${shapeOf(atlas, node.out)} ${tensor.dtype}`;
    if (there && value && !isNumber(tensor)) statistics(value, false, tensor.shape);
  };

  /** @param {AtlasNode} node */
  const gradient = (node) => {
    if (m.end <= m.n) return;
    const tensor = m.tensors[node.out];
    const g = cameBack(m, node, atlas.time) >= 1 ? portraitOf(m, tensor.g) : null;
    heading(body, "gradient_of_output", g ? `|∂y| ${normOf(speech, g)}` : "", "mg-x-back-words");
    if (!node.grad) say(part("mg-x-path", body), speech.pair("no_flow"));
    else if (!g) say(part("mg-x-path", body), speech.pair("not_yet"));
    else if (isNumber(tensor)) part("", body).textContent = figure(g.mean);
    else {
      picture(body, g, true, wide(), 56);
      statistics(g, true, tensor.shape);
    }
  };

  /** @param {AtlasNode} node */
  const weights = (node) => {
    const used = node.sum.weights;
    if (!used.length || used.length > 8) return;
    heading(body, "weights");
    const half = Math.floor((wide() - 22) / 2);
    for (const w of used) {
      const p = m.data.parameters[w];
      const row = part("mg-x-io", body);
      const back = cameBack(m, node, atlas.time) >= 1 ? portraitOf(m, p.g) : null;
      const high = p.shape.length > 1 ? Math.round(half / 2.6) : 14;
      const [left, arrow, right] = [part("", row, "figure"), part("", row), part("", row, "figure")];
      picture(left, portraitOf(m, p.v), false, half, high);
      part("", left, "figcaption").textContent = `${p.name.split(".").pop()} ${p.shape.length ? sizes(p.shape) : ""}`;
      arrow.textContent = m.end > m.n ? "∂" : "";
      arrow.className = "mg-x-back-words";
      if (p.kept) say(part("", right, "figcaption"), speech.pair(`mark_${p.kept}`));
      else if (m.end > m.n) {
        picture(right, back, true, half, high);
        const norm = Number(portraitOf(m, p.v)?.norm);
        part("mg-x-whole", right, "figcaption").textContent = back ? `|∂w| ${normOf(speech, back)}${norm && !back.bad ? ` · |∂w|/|w| ${figure(Number(back.norm) / norm)}` : ""}` : "";
      }
    }
  };

  /** @param {AtlasNode} node */
  const code = (node) => {
    const op = m.data.operators[node.op ?? node.a];
    if (node.op !== undefined) {
      const formula = m.data.formulas[op.formula];
      if (formula) {
        heading(body, "formula");
        part("mg-x-formula", body).textContent = `y = ${formula}`;
      }
    }
    const [file, number, text] = m.data.lines[op.line] ?? [];
    if (!text) return;
    heading(body, "line");
    const box = part("mg-x-code", body, "code");
    part("", box, "em").textContent = `${file}:${number}`;
    box.append(text);
  };

  return {
    /** @param {AtlasNode | null} node @param {string} [promised] the finding that led here: what it said comes first */
    show(node, promised = "") {
      body.replaceChildren();
      place.scrollTop = 0;
      const about = node ?? m.root;
      const head = part("mg-x-head", body);
      const title = part("", head, "h2");
      title.append(about === m.root ? modelName(m) : titleOf(m, about));
      part("", title, "small").textContent = about === m.root ? [modelName(m) === m.data.name ? "" : m.data.name, m.data.system].filter(Boolean).join(" · ") : kindBesideTitle(atlas, about);
      const close = make("button", "mg-x-close", head);
      close.type = "button";
      close.textContent = "✕";
      close.setAttribute("aria-label", halves(speech.pair("close")));
      close.addEventListener("click", told.close);
      if (about === m.root) return whole();
      if (!titleOf(m, about).startsWith(fullName(m, about))) part("mg-x-path", body).textContent = fullName(m, about);
      if (hasFailed(m, about, atlas.time) && m.data.failure) {
        heading(body, "stopped", "", "mg-x-bad-words");
        say(part("mg-x-verdict", body), m.data.failure);
      }
      const marks = marksOf(atlas, about);
      if (marks) part("mg-x-mark", body).textContent = marks;
      if (about.input !== undefined) {
        const p = portraitOf(m, m.tensors[about.out].v);
        picture(body, p, false, wide(), Math.round(wide() / 2));
        if (p) statistics(p, false, m.tensors[about.out].shape);
        return gradient(about);
      }
      const sections = [passes, gradient, cost, weights, code];
      const first = PROMISED[promised] ?? 0;
      for (const section of [sections[first], ...sections.filter((_, i) => i !== first)])
        if (section !== cost || !hasFailed(m, about, atlas.time) || about.sum.params) section(about);
    },
  };
}
