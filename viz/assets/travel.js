// Values travel: chips that move along an arrow into a card, and back along its lane. They are
// elements of the page above the drawing, so that moving them does not paint the drawing again.
const PACE = 300; // milliseconds of a way
const WAYPOINTS = 16; // of a curve, between which a chip moves straight on
const LETTER = { font: 13, high: 22, pad: 9 }; // of a chip, in pixels

// Where a chip is looked for, the nearest first: in its widths to the side, in half lines up or down.
const ASIDE = [-4.6, -3.4, -2.4, -1.6, -1, 0, 1, 1.6, 2.4, 3.4, 4.6]
  .flatMap((dy) => [-0.9, -0.6, -0.35, 0, 0.35, 0.6, 0.9].map((dx) => [dx, dy]))
  .sort((a, b) => Math.hypot(4 * a[0], a[1]) - Math.hypot(4 * b[0], b[1]));

/**
 * A value on its way: a number, a product, or the heat map of what is too much to write.
 * @param {Element} layer @param {Cargo} cargo @param {string} kind "forward" or "back"
 */
function chip(layer, { text, grid, bad }, kind) {
  const element = make("div", `mg-chip mg-chip-${kind}`, layer);
  element.classList.toggle("mg-bad", Boolean(bad));
  element.classList.toggle("mg-mapped", Boolean(grid));
  if (grid) heatmap(grid, thumb(grid), element);
  if (text) make("span", "", element).textContent = text;
  return element;
}

/**
 * Points along a path, from its start to its end.
 * @param {SVGPathElement} path
 */
function waypoints(path) {
  const length = path.getTotalLength();
  return Array.from({ length: WAYPOINTS + 1 }, (_, i) => path.getPointAtLength((length * i) / WAYPOINTS));
}

/** @param {{x: number, y: number}} point @param {number} scale */
const at = ({ x, y }, scale) => `translate(${(x * scale).toFixed(1)}px, ${(y * scale).toFixed(1)}px) translate(-50%, -50%)`;

/**
 * Move a chip along points, once; then it is gone.
 * @param {HTMLElement} chip @param {{x: number, y: number}[]} points @param {number} scale
 */
function travel(chip, points, scale) {
  chip.classList.add("mg-travels");
  chip.setAttribute("aria-hidden", "true");
  const last = points.length - 1;
  const frames = points.map((point, i) => ({
    transform: at(point, scale),
    opacity: i === last ? 0.2 : 1,
    offset: i / last,
  }));
  const move = chip.animate(frames, { duration: PACE, easing: "ease-in-out", fill: "both" });
  move.addEventListener("finish", () => chip.remove());
  return move;
}

/**
 * What arrives is seen when the chip is there.
 * @param {Element | null} element
 */
function appear(element) {
  element?.animate({ visibility: ["hidden", "hidden"] }, PACE);
}

/**
 * Where a chip can stand beside a curve: the first spot that no card is in, nor other chips.
 * @param {{x: number, y: number}[]} points of the curve
 * @param {{wide: number, high: number}} size @param {Extent[]} taken
 * @param {{x: number, y: number}[]} lines points of other arrows, to be left clear if possible
 */
function roomiest(points, { wide, high }, taken, lines) {
  const along = [0.5, 0.35, 0.65].map((part) => points[Math.round(part * (points.length - 1))]);
  const clear = (/** @type {{x: number, y: number}} */ { x, y }) =>
    taken.every(
      (box) =>
        x + wide / 2 + 2 < box.left || x - wide / 2 - 2 > box.right ||
        y + high / 2 + 1 < box.top || y - high / 2 - 1 > box.bottom,
    );
  const spots = ASIDE.flatMap(([dx, dy]) =>
    along.map(({ x, y }) => ({ x: x + dx * wide, y: y + dy * (high / 2 + 6) })),
  );
  const off = (/** @type {{x: number, y: number}} */ { x, y }) =>
    !lines.some((p) => Math.abs(p.x - x) < wide / 2 && Math.abs(p.y - y) < high / 2);
  return spots.find((spot) => clear(spot) && off(spot)) ?? spots.find(clear);
}

/** @param {{x: number, y: number}} spot @param {{wide: number, high: number}} size @returns {Extent} */
const around = ({ x, y }, { wide, high }) => ({
  left: x - wide / 2, right: x + wide / 2, top: y - high / 2, bottom: y + high / 2, x, y,
});
