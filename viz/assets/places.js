// Where the parts of a drawing are and how long texts get, without anything being laid out for it.
const LOWEST = 300; // pixels of a player
const [AIR, MOST_ABOVE] = [16, 200]; // pixels around it; and of a page above, which are seen with it

/**
 * Numbers in an attribute of a drawing.
 * @param {Element | null} element @param {string} name @returns {number[]}
 */
const numbers = (element, name) => (element?.getAttribute(name)?.match(/-?[\d.]+/g) ?? []).map(Number);

/**
 * Where a card or a frame is, from what is written in it: nothing has to be laid out for that.
 * @param {Element} g @returns {Extent}
 */
function extent(g) {
  const rect = g.matches("rect") ? g : g.querySelector(".mg-card, .mg-frame, .mg-ref-card");
  const [dx = 0, dy = 0] = numbers(g, "transform");
  const [[x = 0], [y = 0], [width], [height]] = ["x", "y", "width", "height"].map((name) => numbers(rect, name));
  const [left, top] = [x + dx, y + dy];
  return { left, top, right: left + width, bottom: top + height, x: left + width / 2, y: top + height / 2 };
}

/**
 * The same question is answered once.
 * @template K, V @param {(key: K) => V} answer
 */
function once(answer) {
  /** @type {Map<K, V>} */
  const known = new Map();
  return (/** @type {K} */ key) => {
    if (!known.has(key)) known.set(key, answer(key));
    return /** @type {V} */ (known.get(key));
  };
}

const PLAIN = "Helvetica, Arial, sans-serif"; // which is there from the beginning

/** How wide a text is in pixels, at a size of its letters, by default in a font that needs no loading. */
const measured = (() => {
  const ruler = document.createElement("canvas").getContext("2d");
  return (/** @type {string} */ text, /** @type {number} */ size, family = PLAIN) => {
    if (!ruler) return 0.58 * size * text.length;
    ruler.font = `600 ${size}px ${family}`;
    return ruler.measureText(text).width;
  };
})();

/** The pixels from top to bottom that a reader sees at once where the player is. @param {HTMLElement} root */
function available(root) {
  const notebook = root.closest(".jp-WindowedPanel-outer, .jp-Notebook")?.clientHeight ?? innerHeight;
  const above = root.closest("[data-mg-page]") ? root.getBoundingClientRect().top + scrollY : 0;
  return Math.max(LOWEST, Math.min(notebook, innerHeight) - (above < MOST_ABOVE ? above : 0) - AIR);
}
