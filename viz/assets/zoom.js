// A picture in a box: all of it at first, then as large as the reader wants. Panels beside each other
// are enlarged together, each from the scale at which it fits. Detail follows the scale (brief.js).
const FULL = 11 / 12; // scale at which the smallest words of a card have 11 pixels, and all is shown
const NEAR = 0.71; // down to which small words still fit when they are written larger
const SIGNED = 11 / 16; // at which its sign and its value still have them where they stand
const [MARGIN, SLIM, TIGHT] = [20, 8, 4]; // pixels of a box around its picture, of one on a board on a phone, and of a compact one there (film.css)
const MOST = 4; // times its size
const [CLOSER, FRAMED] = [1.35, 1.23]; // times its size, at most, at first, for a compact picture: its words are small; and for one with frames
const ALONE = 1.2; // times its size, at most, at first, for a picture that stands beside no other, and in no player

/**
 * The scale that some boxes share, and the buttons that change it.
 * @param {Element} tools @param {Labels} labels @param {Words} words
 */
function scaled(tools, labels, words) {
  /** @type {Zoom[]} */
  const zooms = [];
  const shared = {
    factor: 1, // of the scale at which a picture fits
    /** @param {number} factor */
    set(factor) {
      const least = Math.min(...zooms.map((zoom) => zoom.fits()));
      shared.factor = Math.max(0.5, Math.min(MOST / least, factor));
      for (const zoom of zooms) zoom.apply();
    },
    /** @param {number} by */
    zoom: (by) => shared.set(shared.factor * by),
    fit: () => shared.set(1),
    alone: () => zooms.length === 1,
    /** @param {HTMLElement} box */
    add(box) {
      const zoom = zoomable(box, shared, words);
      zooms.push(zoom);
      return zoom;
    },
  };
  button("−", labels.zoom_out, tools, () => shared.zoom(0.8));
  button("+", labels.zoom_in, tools, () => shared.zoom(1.25));
  say(button("", labels.fit, tools, shared.fit), words.fit);
  for (const zoom of tools.children) zoom.classList.add("mg-zoom");
  return shared;
}

/**
 * The signs in the corners of small cards, where there is room beside the name.
 * @param {HTMLElement} box @param {number} scale
 */
function badges(box, scale) {
  for (const badge of box.querySelectorAll(".mg-badge")) {
    const g = /** @type {Element} */ (badge.parentElement);
    const [wide = 0] = numbers(g.querySelector(".mg-card"), "width");
    const said = [...g.querySelectorAll(".mg-short > text")].map((line) => written(line.textContent ?? ""));
    badge.classList.toggle("mg-tight", (wide * scale - Math.max(0, ...said)) / 2 < BRIEF.font + 1); // a sign is as wide as high
  }
}

/**
 * A box whose picture is scaled; the wheel and dragging move it.
 * @param {HTMLElement} box @param {{factor: number, zoom(by: number): void, alone(): boolean}} shared
 * @param {Words} words
 * @returns {Zoom}
 */
function zoomable(box, shared, words) {
  const picture = () => box.querySelector("svg");
  let room = [0, 0]; // of the box, once it has a place; until then nothing in it is styled or laid out
  box.classList.add("mg-unplaced");
  const fits = () => {
    const { width, height } = picture()?.viewBox.baseVal ?? { width: 0, height: 0 };
    if (!width || !room[0]) return 1;
    const around = tight() ? TIGHT : box.closest(".mg-small") ? SLIM : MARGIN;
    return Math.min(compact() ? (box.querySelector("g.cluster") ? FRAMED : CLOSER) : shared.alone() && !box.closest(".mg-film") ? ALONE : 1, (room[0] - around) / width, (room[1] - around) / height);
  };
  const tight = () => compact() && box.matches(".mg-on-phone");
  const compact = () => Boolean(box.querySelector(".mg-compact")); // its words have their size at each scale
  const whole = () => shared.factor <= 1;
  const apply = () => {
    const svg = picture();
    if (!svg || !room[0]) return;
    box.classList.remove("mg-unplaced");
    box.classList.toggle("mg-tight", tight());
    box.classList.toggle("mg-packed", compact());
    const scale = (self.scale = Math.min(MOST, fits() * shared.factor));
    const middle = whole() ? [] : [ // of what is seen; all of it needs no layout
      (box.scrollLeft + room[0] / 2) / box.scrollWidth,
      (box.scrollTop + room[1] / 2) / box.scrollHeight,
    ];
    const { width, height } = svg.viewBox.baseVal;
    svg.style.width = `${width * scale}px`;
    svg.style.height = `${height * scale}px`;
    svg.style.maxWidth = "none";
    box.style.setProperty("--mg-scale", scale.toFixed(4));
    box.classList.toggle("mg-near", scale < FULL && scale >= NEAR);
    box.classList.toggle("mg-far", scale < NEAR);
    box.classList.toggle("mg-brief", scale < SIGNED || compact());
    const looks = box.closest(".mg-player")?.classList;
    looks?.toggle("mg-unseen", scale < PICTURED * (looks.contains("mg-unseen") ? SURE : 1)); // its swatches
    if (scale < NEAR) sharpen(box);
    recount(box);
    abridge(box, scale);
    even(box);
    badges(box, scale);
    if (middle.length) {
      box.scrollLeft = middle[0] * box.scrollWidth - room[0] / 2;
      box.scrollTop = middle[1] * box.scrollHeight - room[1] / 2;
    }
    survey(whole());
  };
  const survey = overview(box, words);
  draggable(box);
  box.addEventListener(
    "wheel",
    (e) => {
      if (!e.ctrlKey && !e.metaKey) return;
      e.preventDefault();
      shared.zoom(e.deltaY < 0 ? 1.15 : 1 / 1.15);
    },
    { passive: false },
  );
  new ResizeObserver(() => {
    const now = [box.clientWidth, box.clientHeight];
    if (String(now) === String(room)) return;
    room = now;
    apply();
    self.resized?.();
  }).observe(box);
  /** @type {Zoom} */
  const self = { box, scale: 0, apply, fits, whole };
  return self;
}

/** Let heads of arrows grow backwards from their points, which stay at the cards. @param {HTMLElement} box */
function sharpen(box) {
  for (const tip of /** @type {NodeListOf<SVGElement>} */ (box.querySelectorAll(".mg-tip:not([style]), .mg-lane-tip:not([style])"))) {
    const [way, corners] = [tip.previousElementSibling, tip].map((path) => numbers(path, "d"));
    const ends = [way.slice(0, 2), way.slice(-2)];
    const far = (/** @type {number} */ i) => Math.min(...ends.map(([x, y]) => Math.hypot(corners[i] - x, corners[i + 1] - y)));
    const at = [0, 2, 4].reduce((a, b) => (far(b) > far(a) ? b : a));
    tip.style.transformOrigin = `${corners[at]}px ${corners[at + 1]}px`;
  }
}

/**
 * Dragging with the mouse scrolls; a drag is no click on the node under the pointer.
 * @param {HTMLElement} box
 */
function draggable(box) {
  /** @type {{x: number, y: number, left: number, top: number, far: boolean} | null} */
  let from = null;
  box.addEventListener("pointerdown", (e) => {
    if (e.button === 0 && e.pointerType === "mouse") {
      from = { x: e.clientX, y: e.clientY, left: box.scrollLeft, top: box.scrollTop, far: false };
    }
  });
  box.addEventListener("pointermove", (e) => {
    if (!from || !(e.buttons & 1)) return;
    const [dx, dy] = [e.clientX - from.x, e.clientY - from.y];
    from.far ||= Math.abs(dx) + Math.abs(dy) > 4;
    if (!from.far) return;
    box.scrollLeft = from.left - dx;
    box.scrollTop = from.top - dy;
    box.classList.add("mg-moving");
  });
  box.addEventListener(
    "click",
    (e) => {
      box.classList.remove("mg-moving");
      if (from?.far) e.stopPropagation();
      from = null;
    },
    true,
  );
}

/**
 * The keys that change the scale.
 * @param {{zoom(factor: number): void, fit(): void}} shared
 * @returns {Keys}
 */
function zoomKeys(shared) {
  const [larger, smaller] = [1.25, 0.8].map((factor) => () => shared.zoom(factor));
  return { "+": larger, "=": larger, "-": smaller, 0: shared.fit };
}
