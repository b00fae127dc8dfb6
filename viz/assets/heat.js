// Heat maps: blue below zero, white at zero, orange above; grey where there is no number.

/** @param {number | null} v @param {number} top the largest size of all numbers */
function warmth(v, top) {
  if (v == null) return "#999999";
  const t = Math.abs(v) / top;
  const end = v >= 0 ? [230, 159, 0] : [86, 180, 233];
  return `rgb(${end.map((e) => Math.round(255 + (e - 255) * t)).join(",")})`;
}

/** @param {Grid} grid */
const largest = (grid) => Math.max(...grid.flat().map((v) => Math.abs(v ?? 0))) || 1;

/** How large a map is on a chip: recognised, not read. @param {Grid} grid @returns {[number, number]} */
function thumb(grid) {
  const [rows, columns] = [grid.length, grid[0].length];
  const wide = Math.max(10, Math.min(30, 8 * columns));
  return [wide, Math.max(10, Math.min(24, (wide * rows) / columns))];
}

/**
 * The map as coloured cells without numbers, one pixel each, shown at this size.
 * @param {Grid} grid @param {[number, number]} size @param {Element} parent
 */
function heatmap(grid, [wide, high], parent) {
  const top = largest(grid);
  const canvas = make("canvas", "mg-heatmap", parent);
  canvas.width = grid[0].length;
  canvas.height = grid.length;
  canvas.style.width = `${wide}px`;
  canvas.style.height = `${high}px`;
  const paint = canvas.getContext("2d");
  grid.forEach((line, r) =>
    line.forEach((v, c) => {
      if (!paint) return;
      paint.fillStyle = warmth(v, top);
      paint.fillRect(c, r, 1, 1);
    }),
  );
  return canvas;
}

/**
 * The map at a size to be read: a small one has its numbers written in it.
 * @param {Grid} grid @param {Element} parent
 */
function heat(grid, parent) {
  const [rows, columns, top] = [grid.length, grid[0].length, largest(grid)];
  if (rows > 6 || columns > 4) {
    const cell = Math.max(4, Math.min(16, Math.floor(160 / Math.max(rows, columns))));
    const canvas = heatmap(grid, [cell * columns, cell * rows], parent);
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${rows} × ${columns}: ±${top}`);
    return;
  }
  const body = make("tbody", "", make("table", "mg-cells", parent));
  for (const line of grid) {
    const tr = make("tr", "", body);
    for (const v of line) {
      const td = make("td", "", tr);
      td.textContent = v == null ? "–" : String(v);
      td.style.background = warmth(v, top);
    }
  }
}
