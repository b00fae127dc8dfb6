// From one drawing to the next: what has the same name in both moves from where it stood to where it
// stands, what is gone fades where it stood, what is new appears. By the browser's own animations.
const MORPH = 300; // milliseconds

/**
 * Where the parts of a drawing stand on the screen, and how its arrows run, by their names in it.
 * @param {Element} box @param {string} prefix of the ids
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
 */
function morph(box, from, to, replace) {
  const before = standing(box, from);
  const origin = box.querySelector("g.graph")?.getScreenCTM();
  replace();
  const graph = box.querySelector("g.graph");
  const screen = graph?.getScreenCTM();
  if (!origin || !screen || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const inside = (x, y) => new DOMPoint(x, y).matrixTransform(screen.inverse());
  const shift = inside(origin.e, origin.f);
  const moved = Math.abs(shift.x) + Math.abs(shift.y) > 0.5;
  const after = standing(box, to);
  const stays = (name) => after.get(name)?.node ?? (!moved && after.get(name)?.path === before.get(name).path);

  const left = shape("g", { "aria-hidden": "true", transform: `translate(${shift.x} ${shift.y})` });
  for (const [name, { g }] of before) if (!after.has(name) || !stays(name)) left.append(bare(g));
  graph.prepend(left);
  const gone = left.animate({ opacity: [1, 0] }, { duration: MORPH, easing: "ease-out" });
  const remove = () => left.remove();
  gone.finished.then(remove, remove);

  for (const [name, { g, x, y, node }] of after) {
    const old = before.get(name);
    if (old && node) moves(g, inside(old.x, old.y), inside(x, y));
    else if (!old || !stays(name)) g.animate({ opacity: [0, 1] }, { duration: MORPH, easing: "ease-in" });
  }
}

/** A copy that nobody can find, click or focus. @param {Element} g */
function bare(g) {
  const copy = /** @type {Element} */ (g.cloneNode(true));
  for (const name of ["id", "tabindex", "role"]) copy.removeAttribute(name);
  copy.classList.remove("node", "edge");
  return copy;
}

/** @param {Element} g @param {DOMPoint} from @param {DOMPoint} to */
function moves(g, from, to) {
  if (Math.abs(from.x - to.x) + Math.abs(from.y - to.y) < 0.5) return;
  const transform = [from, to].map(({ x, y }) => `translate(${x}px, ${y}px)`);
  g.animate({ transform }, { duration: MORPH, easing: "ease-in-out" });
}
