// From one drawing to the next: what has the same name in both moves from where it stood to where it
// stands, what is gone fades where it stood, what is new appears. What was in a box that opened comes
// out of it, and goes into one that closes. By the browser's own animations.
const MORPH = 300; // milliseconds
const FOLLOWED = 80; // cards that change or move at once; of more, the browser would paint too long

/**
 * @typedef {{g: Element, x: number, y: number, path: string | null | undefined, node: boolean}} Standing
 * @typedef {Map<string, Standing>} Standings
 */

/**
 * Where the parts of a drawing stand on the screen, and how its arrows run, by their names in it.
 * @param {Element} box @param {string} prefix of the ids
 * @returns {Standings}
 */
function standing(box, prefix) {
  const found = new Map();
  for (const g of box.querySelectorAll("g.node, g.edge")) {
    const { e: x, f: y } = /** @type {SVGGElement} */ (g).getScreenCTM() ?? { e: 0, f: 0 };
    const path = g.querySelector(".mg-line")?.getAttribute("d");
    found.set(g.id.slice(prefix.length), { g, x, y, path, node: g.matches(".node") });
  }
  return found;
}

/**
 * Puts another drawing in a box, and shows what became of the one that was there.
 * @param {Element} box @param {string} from @param {string} to prefixes of the ids before and after
 * @param {() => void} replace
 * @param {(name: string) => (string | undefined)[]} [kin] of a card the boxes that it comes out of or
 *   goes into, by their names
 */
function morph(box, from, to, replace, kin = () => []) {
  const few = () => box.querySelectorAll("g.node").length <= FOLLOWED;
  const still = calm() || !few();
  const before = still ? new Map() : standing(box, from);
  const graph = () => /** @type {SVGGElement | null} */ (box.querySelector("g.graph"));
  const origin = still ? null : graph()?.getScreenCTM();
  replace();
  if (!origin || !few()) return;
  const now = graph();
  const screen = now?.getScreenCTM();
  if (!now || !screen) return;
  const after = standing(box, to);
  const back = screen.inverse();
  const inside = (/** @type {Point} */ { x, y }) => new DOMPoint(x, y).matrixTransform(back);
  const shift = inside({ x: origin.e, y: origin.f });
  const moved = Math.abs(shift.x) + Math.abs(shift.y) > 0.5;
  const stays = (/** @type {string} */ name) =>
    after.get(name)?.node ?? (!moved && after.get(name)?.path === before.get(name)?.path);
  const among = (/** @type {Standings} */ others, /** @type {string} */ name) =>
    kin(name).map((other) => others.get(other ?? "")).find((other) => other?.node);

  const left = shape("g", { "aria-hidden": "true", transform: `translate(${shift.x} ${shift.y})` });
  now.prepend(left);
  const there = (/** @type {Point} */ point) => less(inside(point), shift); // in what is left
  for (const [name, old] of before) {
    if ((after.has(name) && stays(name)) || old.g.matches(".mg-unborn")) continue;
    const copy = bare(old.g);
    const into = old.node && among(after, name);
    left.append(copy);
    if (into) moves(copy, there(old), there(into));
  }
  const gone = left.animate({ opacity: [1, 0] }, { duration: MORPH, easing: "ease-out" });
  const remove = () => left.remove();
  gone.finished.then(remove, remove);

  for (const [name, { g, x, y, node }] of after) {
    const old = before.get(name);
    const from = node ? (old ?? among(before, name)) : undefined;
    if (from) moves(g, inside(from), inside({ x, y }));
    if (!old || !stays(name)) g.animate({ opacity: [0, 1] }, { duration: MORPH, easing: "ease-in" });
  }
}

/** A copy that nobody can find, click or focus. @param {Element} g */
function bare(g) {
  const copy = /** @type {Element} */ (g.cloneNode(true));
  for (const name of ["id", "tabindex", "role", "aria-label"]) copy.removeAttribute(name);
  copy.classList.remove("node", "edge");
  return copy;
}

/** @param {Point} one @param {Point} other */
const less = (one, other) => ({ x: one.x - other.x, y: one.y - other.y });

/** @param {Element} g @param {Point} from @param {Point} to */
function moves(g, from, to) {
  if (Math.abs(from.x - to.x) + Math.abs(from.y - to.y) < 0.5) return;
  const transform = [from, to].map(({ x, y }) => `translate(${x}px, ${y}px)`);
  g.animate({ transform }, { duration: MORPH, easing: "ease-in-out" });
}
