// A picture in a box that scrolls: one unit of the drawing is one pixel, and a text that would get
// too small to be read is not shown (theme.css). Panels beside each other share one scale.
const SMALLEST = 11; // pixels of a text that is shown
const SIZES = { far: 12, farther: 16 }; // what is hidden first, and last: sizes of texts in cards

/**
 * The scale that some boxes share, and the buttons that change it.
 * @param {Element} tools @param {Labels} labels @param {Words} words
 */
function scaled(tools, labels, words) {
  /** @type {Zoom[]} */
  const zooms = [];
  const shared = {
    scale: 1,
    /** @param {number} scale */
    set(scale) {
      shared.scale = Math.max(0.05, Math.min(4, scale));
      for (const zoom of zooms) zoom.apply();
    },
    /** @param {number} factor */
    zoom: (factor) => shared.set(shared.scale * factor),
    fit: () => shared.set(Math.min(1, ...zooms.map((zoom) => zoom.widest()))),
    /** @param {HTMLElement} box */
    add(box) {
      const zoom = zoomable(box, shared);
      zooms.push(zoom);
      return zoom;
    },
  };
  button("−", labels.zoom_out, tools, () => shared.zoom(0.8));
  button("+", labels.zoom_in, tools, () => shared.zoom(1.25));
  const fitting = button("", labels.fit, tools, shared.fit);
  say(fitting, words.fit);
  return shared;
}

/**
 * A box whose picture has the shared scale; the wheel and dragging move it.
 * @param {HTMLElement} box @param {{scale: number, zoom(factor: number): void}} shared
 * @returns {Zoom}
 */
function zoomable(box, shared) {
  const picture = () => box.querySelector("svg");
  const apply = () => {
    const svg = picture();
    if (!svg) return;
    const middle = [
      (box.scrollLeft + box.clientWidth / 2) / box.scrollWidth,
      (box.scrollTop + box.clientHeight / 2) / box.scrollHeight,
    ];
    const { width, height } = svg.viewBox.baseVal;
    svg.style.width = `${width * shared.scale}px`;
    svg.style.height = `${height * shared.scale}px`;
    svg.style.maxWidth = "none";
    for (const [name, size] of Object.entries(SIZES))
      box.classList.toggle(`mg-${name}`, size * shared.scale < SMALLEST);
    box.scrollLeft = middle[0] * box.scrollWidth - box.clientWidth / 2;
    box.scrollTop = middle[1] * box.scrollHeight - box.clientHeight / 2;
  };
  const widest = () => {
    const svg = picture();
    if (!svg) return 1;
    const { width, height } = svg.viewBox.baseVal;
    return Math.min((box.clientWidth - 16) / width, (box.clientHeight - 16) / height);
  };
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
  return { box, apply, widest };
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
