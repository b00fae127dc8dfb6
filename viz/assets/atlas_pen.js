// What the atlas draws with: colours, text in pixels of the screen, numbers, portraits of tensors.
const CODES = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const CODE = Object.fromEntries([...CODES].map((c, i) => [c, i]));
const NARROWER = 0.87; // letters, before a text is cut
const EMPTY_CELL = 63; // 0 is a number that is not finite, 31 is zero
const TOKENS = ["paper", "ink", "soft", "line", "card", "built", "run", "ran", "grad", "now", "lit", "bad", "spoilt"];

/** @param {string} color @returns {number[]} */
const rgb = (color) => [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));

/** @param {string} a @param {string} b @param {number} share of b */
function mix(a, b, share) {
  const [from, to] = [rgb(a), rgb(b)];
  return `#${from.map((v, i) => Math.round(v + (to[i] - v) * share).toString(16).padStart(2, "0")).join("")}`;
}

/** The colours as the page has them now. @param {HTMLElement} root @returns {Record<string, string>} */
function inks(root) {
  const probe = make("span", "", root);
  const found = Object.fromEntries(TOKENS.map((name) => {
    probe.style.color = `var(--mg-${name})`;
    const parts = getComputedStyle(probe).color.match(/\d+/g)?.slice(0, 3) ?? [0, 0, 0];
    return [name, `#${parts.map((v) => Number(v).toString(16).padStart(2, "0")).join("")}`];
  }));
  probe.remove();
  const dark = rgb(found.paper)[0] < 128;
  return { ...found, hair: mix(found.line, found.paper, 0.62), below: dark ? "#8C97C4" : "#39456E", zero: dark ? "#10131A" : "#FFFFFF" };
}

/** @param {unknown} value */
function figure(value) {
  if (typeof value !== "number") return String(value ?? "").replace("-", "−").replace("inf", "∞").replace("nan", "NaN");
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e4 || size < 1e-3 ? value.toExponential(1).replace("e+", "e").replace(".0e", "e") : String(+value.toPrecision(3));
  return text.replaceAll("-", "−");
}

/** @param {number} value @param {[number, string][]} units */
const inUnits = (value, units) => {
  const [size, unit] = units.find(([least]) => value >= least) ?? units[units.length - 1];
  return `${+(value / size).toPrecision(3)}${unit}`;
};
const amount = (/** @type {number} */ v) => inUnits(v, [[1e9, " G"], [1e6, " M"], [1e3, " k"], [1, ""]]);
const bytes = (/** @type {number} */ v) => inUnits(v, [[1e9, " GB"], [1e6, " MB"], [1e3, " kB"], [1, " B"]]);
const lasting = (/** @type {number} */ v) => inUnits(v, [[1000, "\u00a0s"], [1, "\u00a0ms"], [1e-3, "\u00a0µs"]]);
const sizes = (/** @type {number[]} */ shape) => (shape.length === 1 ? `[${shape[0]}]` : shape.join("×"));

/**
 * A pen for one canvas.
 * @param {HTMLCanvasElement} canvas @param {() => Record<string, string>} colours
 */
function penOf(canvas, colours) {
  const c = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  let family = "sans-serif";
  /** @type {{portrait: Portrait, back: boolean, x: number, y: number, w: number, h: number}[]} */
  let shown = []; // the pictures since the last clearing whose numbers are known
  const pictureAt = (/** @type {number} */ x, /** @type {number} */ y) => shown.findLast((p) => x >= p.x && x < p.x + p.w && y >= p.y && y < p.y + p.h);
  const pen = {
    c,
    ratio: 1,
    /** @param {number} width @param {number} height */
    resize(width, height) {
      pen.ratio = Math.min(window.devicePixelRatio || 1, 2.5);
      canvas.width = Math.round(width * pen.ratio);
      canvas.height = Math.round(height * pen.ratio);
      family = getComputedStyle(canvas).fontFamily || family;
    },
    clear() {
      shown = [];
      c.setTransform(pen.ratio, 0, 0, pen.ratio, 0, 0);
      c.clearRect(0, 0, canvas.width, canvas.height);
      c.textBaseline = "alphabetic";
    },
    /** @param {number} size @param {number} [weight] */
    font(size, weight = 400) {
      c.font = `${weight} ${size}px ${family}`;
    },
    /** A little narrower where it doesn't fit, or cut short. @param {string} text @param {number} x @param {number} y @param {number | null} [most] @param {CanvasTextAlign} [align] */
    text(text, x, y, most = null, align = "left") {
      if (most != null && most < 7) return 0;
      let shown = text;
      const wide = c.measureText(text).width;
      if (most != null && wide > most && wide * NARROWER > most) {
        let n = text.length;
        while (n > 1 && c.measureText(`${text.slice(0, n)}…`).width > most) n--;
        shown = n < 2 && text.length > 2 ? text.slice(0, 1) : `${text.slice(0, n)}…`;
      }
      c.textAlign = align;
      c.fillText(shown, x, y, most ?? undefined);
      return Math.min(c.measureText(shown).width, most ?? Infinity);
    },
    /** @param {number} x @param {number} y @param {number} w @param {number} h @param {number} r */
    round(x, y, w, h, r) {
      c.beginPath();
      c.roundRect(x, y, Math.max(0, w), Math.max(0, h), Math.max(0, Math.min(r, w / 2, h / 2)));
    },
    /**
     * The picture of a tensor; an outline where there is none.
     * @param {Portrait | null} portrait @param {boolean} back a gradient
     * @param {number} x @param {number} y @param {number} w @param {number} h
     * @param {string} [color] of its outline @param {number} [r]
     * @param {number} [scale] the size of a cell in full colour, where pictures are compared
     */
    swatch(portrait, back, x, y, w, h, color, r = 4, scale = portrait?.scale) {
      if (w < 3 || h < 3) return;
      const ink = colours();
      c.save();
      pen.round(x, y, w, h, r);
      if (!portrait?.cells) {
        c.setLineDash([3, 3]);
        c.strokeStyle = ink.hair;
        c.lineWidth = 1;
        c.stroke();
        c.restore();
        return;
      }
      c.clip();
      c.fillStyle = ink.zero;
      c.fillRect(x, y, w, h);
      if (portrait.values) shown.push({ portrait, back, x, y, w, h });
      c.imageSmoothingEnabled = false;
      c.drawImage(bitmap(portrait, back, ink, scale), x, y, w, h);
      const [wide, tall, tile] = [portrait.w ?? 1, portrait.h ?? 1, portrait.tile ?? 0];
      if (tile > 1 && Math.min((w * tile) / wide, (h * tile) / tall) >= 7) {
        c.fillStyle = ink.paper;
        c.globalAlpha *= 0.8;
        for (let i = tile; i < wide; i += tile) c.fillRect(Math.round(x + (i * w) / wide) - 0.5, y, 1, h);
        for (let i = tile; i < tall; i += tile) c.fillRect(x, Math.round(y + (i * h) / tall) - 0.5, w, 1);
      }
      c.restore();
      c.lineWidth = 1;
      c.strokeStyle = color ?? (back ? ink.grad : ink.run);
      pen.round(x + 0.5, y + 0.5, w - 1, h - 1, r);
      c.stroke();
    },
    /** Whether a picture lies at a point whose numbers are known. @param {number} x @param {number} y */
    legible: (x, y) => Boolean(pictureAt(x, y)),
    /** Outline the cell at a point, and write which element it is and its number. Whether there is one. @param {number} x @param {number} y @param {number} width */
    reading(x, y, width) {
      const at = pictureAt(x, y);
      const { values = [], w: columns = 1, h: rows = 1, shape = [] } = at?.portrait ?? {};
      if (!at) return false;
      const [row, column] = [Math.floor(((y - at.y) / at.h) * rows), Math.floor(((x - at.x) / at.w) * columns)];
      let rest = row * columns + column;
      if (rest >= values.length) return false; // behind the end of a vector that is wrapped
      const number = figure(values[rest]);
      const place = [...shape].reverse().map((n) => {
        const i = rest % n;
        rest = Math.floor(rest / n);
        return i;
      });
      const ink = colours();
      c.globalAlpha = 1;
      c.lineWidth = 1.5;
      c.strokeStyle = ink.ink;
      c.strokeRect(at.x + (column * at.w) / columns, at.y + (row * at.h) / rows, at.w / columns, at.h / rows);
      const text = `[${place.reverse().join(", ")}] = ${number}`;
      pen.font(11, 600);
      const wide = c.measureText(text).width + 10;
      const [left, top] = [clamp(at.x + ((column + 0.5) * at.w) / columns - wide / 2, 0, width - wide), at.y + at.h >= 40 && y - at.y > 22 ? at.y + 1 : Math.max(0, at.y + (row * at.h) / rows - 18)];
      pen.round(left, top, wide, 16, 4);
      c.fillStyle = ink.paper;
      c.fill();
      c.lineWidth = 1;
      c.strokeStyle = ink.line;
      c.stroke();
      c.fillStyle = at.back ? ink.grad : ink.ink;
      pen.text(text, left + 5, top + 12);
      return true;
    },
  };
  return pen;
}

/** @type {Map<Portrait, Map<string, HTMLCanvasElement>>} */
const painted = new Map();

/** @param {Portrait} portrait @param {boolean} back @param {Record<string, string>} ink @param {number} [scale] */
function bitmap(portrait, back, ink, scale) {
  const part = scale ? (portrait.scale ?? 0) / scale : 1;
  const key = (back ? ink.grad : ink.run) + ink.zero + part;
  const kept = painted.get(portrait) ?? new Map();
  painted.set(portrait, kept);
  if (kept.has(key)) return kept.get(key);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [portrait.w ?? 1, portrait.h ?? 1];
  const c = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = c.createImageData(canvas.width, canvas.height);
  const [zero, above, below, bad] = [ink.zero, back ? ink.grad : ink.run, ink.below, ink.bad].map(rgb);
  [...(portrait.cells ?? "")].forEach((letter, i) => {
    const code = CODE[letter];
    if (code === EMPTY_CELL) return;
    const value = ((code - 31) / 30) * part;
    const end = code === 0 ? bad : value < 0 ? below : above;
    const share = code === 0 ? 1 : Math.abs(value) ** 0.72;
    for (let k = 0; k < 3; k++) image.data[i * 4 + k] = zero[k] + (end[k] - zero[k]) * share;
    image.data[i * 4 + 3] = 255;
  });
  c.putImageData(image, 0, 0);
  kept.set(key, canvas);
  return canvas;
}

/**
 * Words of the page in the language that it has now.
 * @param {HTMLElement} root @param {Record<string, Pair>} words
 */
function speaker(root, words) {
  const filled = (/** @type {string} */ text, /** @type {Record<string, unknown>} */ fields) =>
    text.replace(/\{(\w+)(?::(\w+))?\}/g, (_, name, noun) => `${fields[name] ?? ""}${noun ? ` ${noun}${fields[name] === 1 ? "" : "s"}` : ""}`);
  /** @type {(key: string, fields?: Record<string, unknown>) => Pair} */
  const pair = (key, fields = {}) => /** @type {Pair} */ (words[key].map((text, i) => {
    const own = Object.entries(fields).map(([name, x]) => [name, Array.isArray(x) ? x[i] : x]);
    return filled(text, Object.fromEntries(own));
  }));
  const chinese = () => /** @type {HTMLElement | null} */ (root.closest("[data-mg-language]"))?.dataset.mgLanguage === "zh";
  return {
    pair,
    chinese,
    /** One line in one language, for a canvas. @param {string} key @param {Record<string, unknown>} [fields] */
    line: (key, fields) => pair(key, fields)[chinese() ? 1 : 0],
  };
}
