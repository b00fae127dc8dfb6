// The camera: which part of a picture its box shows. Cards out of sight are counted at the edge that
// leads to them, and a picture of many has a small map.
const GLIDE = 350; // milliseconds of a move
const MAPPED = 25; // cards; fewer need no map
const MAP = { wide: 132, high: 88 }; // pixels, at most
const PAGE = 0.7; // of a box, by which an edge moves it
/** @type {[string, string, "x" | "y", number][]} */
const EDGES = [["left", "←", "x", -1], ["right", "→", "x", 1], ["up", "↑", "y", -1], ["down", "↓", "y", 1]];

/** What each box is on its way to. @type {WeakMap<Element, object>} */
const gliding = new WeakMap();

/**
 * Scroll a box to a place, in time or at once.
 * @param {HTMLElement} box @param {Point} to @param {boolean} moves
 */
function glide(box, { x, y }, moves) {
  const way = {};
  gliding.set(box, way);
  if (!moves || calm()) return box.scrollTo({ left: x, top: y, behavior: "instant" });
  const [left, top, start] = [box.scrollLeft, box.scrollTop, performance.now()];
  const step = (/** @type {number} */ now) => {
    if (gliding.get(box) !== way) return; // another one has begun, or the reader took over
    const part = Math.max(0, Math.min(1, (now - start) / GLIDE));
    const eased = part * part * (3 - 2 * part);
    box.scrollTo({ left: left + eased * (x - left), top: top + eased * (y - top), behavior: "instant" });
    if (part < 1) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

/**
 * Bring an element of a picture into the middle third of its box, where all does not fit, and into sight
 * what is written beside it.
 * @param {Element} element @param {HTMLElement} box @param {boolean} moves @param {Extent[]} chips on the screen
 */
function reveal(element, box, moves, chips = []) {
  const over = [box.scrollWidth - box.clientWidth, box.scrollHeight - box.clientHeight];
  if (over[0] < 2 && over[1] < 2) return;
  const [inner, outer] = [element.getBoundingClientRect(), box.getBoundingClientRect()];
  const off = (/** @type {number} */ middle, /** @type {number} */ start, /** @type {number} */ size) => {
    const from = middle - start - size / 2;
    return Math.abs(from) > size / 6 ? from : 0;
  };
  let x = off((inner.left + inner.right) / 2, outer.left, outer.width);
  let y = off((inner.top + inner.bottom) / 2, outer.top, outer.height);
  for (const { left, right, top, bottom } of chips) {
    x = Math.min(left - outer.left, Math.max(right - outer.right, x));
    y = Math.min(top - outer.top, Math.max(bottom - outer.bottom, y));
  }
  if (x || y) glide(box, { x: box.scrollLeft + x, y: box.scrollTop + y }, moves);
}

/**
 * What is out of sight in a box: how many cards at each edge, and where they are on a map.
 * @param {HTMLElement} box @param {Words} words
 * @returns {(whole: boolean) => void} for another picture, or another scale; whole: nothing is out of sight
 */
function overview(box, words) {
  const parent = /** @type {HTMLElement} */ (box.parentElement);
  const edges = EDGES.map(([name, arrow, axis, sign]) => {
    const edge = button("", "", parent, () => {
      const { clientWidth, clientHeight, scrollLeft, scrollTop } = box;
      const by = { x: 0, y: 0, [axis]: sign * PAGE * (axis === "x" ? clientWidth : clientHeight) };
      glide(box, { x: scrollLeft + by.x, y: scrollTop + by.y }, true);
    });
    edge.classList.add("mg-more", `mg-more-${name}`);
    edge.removeAttribute("aria-label");
    edge.removeAttribute("title");
    edge.hidden = true;
    return { edge, arrow, axis, sign, count: 0 };
  });
  const map = shape("svg", { class: "mg-map", "aria-hidden": "true" }, parent);
  const cards = shape("path", {}, map);
  const window_ = shape("rect", { class: "mg-map-window" }, map);
  /** @type {Extent[]} */
  let places = [];
  let [shown, scale] = [new DOMRect(), 1];

  // The part of the picture that the box shows, in the picture's own units.
  const seen = () => {
    const svg = box.querySelector("svg");
    if (!svg || !box.clientWidth) return;
    const [inner, outer] = [svg.getBoundingClientRect(), box.getBoundingClientRect()];
    scale = inner.width / svg.viewBox.baseVal.width || 1;
    shown = new DOMRect((outer.left - inner.left) / scale, (outer.top - inner.top) / scale, box.clientWidth / scale, box.clientHeight / scale);
  };
  const mark = () => {
    if (places.length) seen();
    const { left, right, top, bottom } = shown;
    const out = {
      x: [places.filter((place) => place.x < left).length, places.filter((place) => place.x > right).length],
      y: [places.filter((place) => place.y < top).length, places.filter((place) => place.y > bottom).length],
    };
    for (const one of edges) {
      const count = out[/** @type {"x" | "y"} */ (one.axis)][one.sign > 0 ? 1 : 0];
      if (count === one.count) continue;
      one.count = count;
      one.edge.hidden = !count;
      one.edge.replaceChildren();
      const said = words.more.map((text) => text.replace("{count}", String(count)));
      const [en, zh] = said.map((text) => (one.arrow === "→" ? `${text} →` : `${one.arrow} ${text}`));
      say(one.edge, [en, zh]);
    }
    const hidden = places.length < MAPPED || !edges.some(({ count }) => count);
    map.toggleAttribute("hidden", hidden);
    if (hidden) return;
    for (const [name, value] of Object.entries({ x: left, y: top, width: shown.width, height: shown.height }))
      window_.setAttribute(name, value.toFixed(1));
  };
  const renew = (/** @type {boolean} */ whole) => {
    const svg = whole ? null : box.querySelector("svg");
    const { width, height } = svg?.viewBox.baseVal ?? { width: 0, height: 0 };
    const [dx = 0, dy = 0] = numbers(svg?.querySelector("g.graph") ?? null, "transform");
    places = [...(svg?.querySelectorAll("g.node") ?? [])].map(extent).map(({ left, right, top, bottom, x, y }) => (
      { left: left + dx, right: right + dx, top: top + dy, bottom: bottom + dy, x: x + dx, y: y + dy }
    ));
    if (places.length >= MAPPED) {
      const by = Math.min(MAP.wide / width, MAP.high / height);
      for (const [name, value] of Object.entries({ width: width * by, height: height * by, viewBox: `0 0 ${width} ${height}` }))
        map.setAttribute(name, String(value));
      cards.setAttribute("d", places.map(({ left, right, top, bottom }) => `M${left},${top}H${right}V${bottom}H${left}Z`).join(""));
    }
    mark();
  };
  let waits = 0;
  box.addEventListener("scroll", () => { waits ||= requestAnimationFrame(() => { waits = 0; mark(); }); }, { passive: true });
  for (const event of ["wheel", "pointerdown"]) box.addEventListener(event, () => gliding.delete(box), { passive: true });
  const drag = (/** @type {PointerEvent} */ event) => {
    if (!(event.buttons & 1)) return;
    const place = map.getBoundingClientRect();
    const [width, height] = (map.getAttribute("viewBox") ?? "0 0 1 1").split(" ").slice(2).map(Number);
    const x = ((event.clientX - place.left) / place.width) * width - shown.width / 2;
    const y = ((event.clientY - place.top) / place.height) * height - shown.height / 2;
    glide(box, { x: x * scale, y: y * scale }, event.type === "pointerdown");
  };
  map.addEventListener("pointerdown", drag);
  map.addEventListener("pointermove", drag);
  return renew;
}
