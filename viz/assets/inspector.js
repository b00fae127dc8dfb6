// The inspector: all that is known of one node, or of one arrow, at the step that is shown.

// The last of [frame, what] that happened by now.
function latest(entries, index) {
  let found;
  for (const entry of entries ?? []) if (entry[0] <= index) found = entry;
  return found?.[1];
}

// A heat map: blue below zero, white at zero, orange above; grey where there is no number. A small
// one has its numbers written in it.
function heat(grid, parent) {
  const top = Math.max(...grid.flat().map((v) => Math.abs(v ?? 0))) || 1;
  const color = (v) => {
    const t = Math.abs(v ?? 0) / top;
    const end = v >= 0 ? [230, 159, 0] : [86, 180, 233];
    return v === null ? "#999999" : `rgb(${end.map((e) => Math.round(255 + (e - 255) * t)).join(",")})`;
  };
  if (grid.length <= 6 && grid[0].length <= 6) {
    const sheet = make("table", "mg-cells", parent);
    for (const line of grid) {
      const tr = make("tr", "", make("tbody", "", sheet));
      for (const v of line) {
        const td = make("td", "", tr);
        td.textContent = v === null ? "–" : String(v);
        td.style.background = color(v);
      }
    }
    return;
  }
  const canvas = make("canvas", "", parent);
  canvas.width = grid[0].length;
  canvas.height = grid.length;
  const cell = Math.max(4, Math.min(16, Math.floor(160 / Math.max(grid.length, grid[0].length))));
  canvas.style.width = `${cell * canvas.width}px`;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${grid.length} × ${grid[0].length}: ±${top}`);
  const paint = canvas.getContext("2d");
  grid.forEach((line, r) =>
    line.forEach((v, c) => {
      paint.fillStyle = color(v);
      paint.fillRect(c, r, 1, 1);
    }),
  );
}

function inspectNode(id, node, index, data, parent) {
  const { words } = data;
  const part = make("div", "mg-about", parent);
  const title = make("h2", "", part);
  title.append(node.label);
  if (node.title) say(title, node.title.map((half) => ` · ${half}`));
  const list = make("dl", "", part);
  const add = (term, fill) => {
    say(make("dt", "", list), term);
    fill(make("dd", "", list));
  };
  const text = (words_) => (dd) => (typeof words_ === "string" ? dd.append(words_) : say(dd, words_));
  const value = latest(node.values, index);
  const gradient = latest(node.gradients, index);
  add(words.kind, text(node.kind));
  add(words.shape, text([node.shape, node.dtype].filter(Boolean).join("  ")));
  if (!data.still || value) {
    add(words.value, text(value ? (value.long ?? value.short) : words.not_yet));
    add(words.gradient, text(gradient ? (gradient.long ?? gradient.short) : words.not_computed));
  }
  for (const answers of Object.values(node.told ?? {})) {
    const said = latest(answers, index);
    if (said !== undefined) say(make("p", "", part), typeof said === "number" ? data.texts[said] : said);
  }
  for (const [word, summary] of [
    [words.value, value],
    [words.gradient, gradient],
  ]) {
    if (!summary?.grid?.length) continue;
    const figure = make("figure", "mg-heat", part);
    say(make("figcaption", "", figure), word);
    heat(summary.grid, figure);
  }
  return part;
}

function inspectEdge([source, target, carries], data, flow, parent) {
  const part = make("div", "mg-about", parent);
  const title = make("h2", "", part);
  title.textContent = `${data.nodes[source]?.label ?? ""} → ${data.nodes[target]?.label ?? ""}`;
  const list = make("dl", "", part);
  say(make("dt", "", list), data.words.shape);
  make("dd", "", list).textContent = carries;
  if (!flow) return;
  say(make("dt", "", list), data.words.flows);
  make("dd", "", list).textContent = flow;
}
