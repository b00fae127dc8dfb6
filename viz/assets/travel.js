// Values travel: chips that move along an arrow into a card, and back along its lane. They are
// elements of the page above the drawing, so that moving them does not paint the drawing again.
const PACE = 420; // milliseconds of a way
const [BIRTH, FILLS] = [260, 260]; // and of the birth of a card, and of its fill
/** @type {[number, number]} */
const MINIATURE = [50, 17]; // of a swatch, in pixels
const WAYPOINTS = 16; // of a curve, between which a chip moves straight on
const LETTER = { font: 13, high: 22, pad: 10.5 }; // of a chip, in pixels; with its border

// Where a chip is looked for, the nearest first: in its widths to the side, in half lines up or down.
const ASIDE = [-4.6, -3.4, -2.4, -1.6, -1, 0, 1, 1.6, 2.4, 3.4, 4.6]
  .flatMap((dy) => [-0.9, -0.6, -0.35, 0, 0.35, 0.6, 0.9].map((dx) => [dx, dy]))
  .sort((a, b) => Math.hypot(4 * a[0], a[1]) - Math.hypot(4 * b[0], b[1]));

/**
 * A value on its way: a number, a product, or the miniature of a swatch.
 * @param {Element} layer @param {Cargo} cargo @param {string} kind "forward" or "back"
 */
function chip(layer, { text, swatch: code, bad }, kind) {
  const element = make("div", `mg-chip mg-chip-${kind}`, layer);
  element.classList.toggle("mg-bad", Boolean(bad));
  element.classList.toggle("mg-mapped", Boolean(code));
  if (code) pictured(code, kind === "back" ? "grad" : "value", MINIATURE, element);
  else make("span", "", element).textContent = text;
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

/** @param {{x: number, y: number}} point */
const at = ({ x, y }) => `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) translate(-50%, -50%)`;

/**
 * Move a chip along points, once: it comes out of one card, and the other one takes it in.
 * @param {HTMLElement} chip @param {{x: number, y: number}[]} points @param {number} size of it, at most 1
 */
function travel(chip, points, size) {
  chip.classList.add("mg-travels");
  chip.setAttribute("aria-hidden", "true");
  const last = points.length - 1;
  const ways = points.map((point, i) => Math.hypot(point.x - points[Math.max(i - 1, 0)].x, point.y - points[Math.max(i - 1, 0)].y));
  const whole = ways.reduce((sum, way) => sum + way, 0) || 1;
  let gone = 0;
  const frames = points.map((point, i) => {
    gone += ways[i];
    const ends = i === 0 || i === last;
    return { transform: `${at(point)} scale(${ends ? 0.3 * size : size})`, opacity: ends ? 0 : 1, offset: Math.min(1, gone / whole) };
  });
  frames[last].offset = 1;
  const move = chip.animate(frames, { duration: PACE, easing: "cubic-bezier(0.45, 0, 0.4, 1)", fill: "both" });
  move.addEventListener("finish", () => chip.remove());
  return move;
}

/** What arrives is filled in from the left once its value is there. @param {Element} element @param {number} [delay] */
function wipe(element, delay = PACE) {
  return element.animate({ clipPath: ["inset(-4px 100% -4px -4px)", "inset(-4px)"] }, { delay, duration: FILLS, easing: "ease-out", fill: "backwards" });
}

/**
 * How a card becomes what it is next: it is born, filled or freed. Call it before its classes change,
 * and what it returns after.
 * @param {Card} card @param {Record<string, unknown>} next
 */
function becoming({ g, seen }, next) {
  const turns = (/** @type {string} */ name) => Boolean(next[name]) !== Boolean(seen[name]);
  const [born, filled, freed] = [turns("mg-unborn") && !next["mg-unborn"], turns("mg-ran") && next["mg-ran"], turns("mg-freed") && next["mg-freed"]];
  const outline = g.querySelector(".mg-card");
  if (!outline || !(born || filled || freed)) return () => {};
  const was = /** @type {SVGElement} */ (outline.cloneNode());
  const { fill, stroke, strokeWidth, strokeDasharray } = getComputedStyle(outline);
  Object.assign(was.style, { fill, stroke, strokeWidth, strokeDasharray });
  was.setAttribute("class", "mg-was");
  return () => {
    const [x = 0, y = 0] = numbers(g, "transform");
    const grown = [0.6, 1].map((size) => `translate(${x}px, ${y}px) scale(${size})`);
    if (born) g.animate({ transform: grown, opacity: [0.25, 1] }, { duration: BIRTH, easing: "ease-out" });
    if (!filled && !freed) return;
    if (freed) outline.after(was);
    else outline.before(was);
    const move = freed ? was.animate({ opacity: [1, 0] }, { duration: PACE, fill: "forwards" }) : wipe(outline);
    for (const end of ["finish", "cancel"]) move.addEventListener(end, () => was.remove());
  };
}

const ABOVE = 8; // pixels above a drawing that are seen (film.css)
const AWAY = 6; // pixels from a chip to a card, whose halo may be between; and to an arrow, half of that

/**
 * Where a chip can stand beside a curve: the first spot that no card is in, nor other chips.
 * @param {{x: number, y: number}[]} points of the curve
 * @param {{wide: number, high: number}} size @param {Extent[]} taken
 * @param {{x: number, y: number}[]} lines points of other arrows, to be left clear if possible @param {number[]} ends of what can be seen, from the left
 */
function roomiest(points, { wide, high }, taken, lines, [left, right]) {
  const along = [0.5, 0.35, 0.65].map((part) => points[Math.round(part * (points.length - 1))]);
  const clear = (/** @type {{x: number, y: number}} */ { x, y }) => y - high / 2 > -ABOVE && x - wide / 2 > left && x + wide / 2 < right &&
    taken.every(
      (box) =>
        x + wide / 2 + AWAY < box.left || x - wide / 2 - AWAY > box.right ||
        y + high / 2 + AWAY < box.top || y - high / 2 - AWAY > box.bottom,
    );
  const spots = ASIDE.flatMap(([dx, dy]) =>
    along.map(({ x, y }) => ({ x: x + dx * wide, y: y + dy * (high / 2 + 6) })),
  );
  const off = (/** @type {{x: number, y: number}} */ { x, y }) =>
    !lines.some((p) => Math.abs(p.x - x) < (wide + AWAY) / 2 && Math.abs(p.y - y) < (high + AWAY) / 2);
  return spots.find((spot) => clear(spot) && off(spot)) ?? spots.find(clear);
}

/** @param {{x: number, y: number}} spot @param {{wide: number, high: number}} size @returns {Extent} */
const around = ({ x, y }, { wide, high }) => ({
  left: x - wide / 2, right: x + wide / 2, top: y - high / 2, bottom: y + high / 2, x, y,
});
