// Tensors as small pictures: what viz/picture/swatch.py draws in files, drawn in pages.
const [SWATCH_WIDE, SWATCH_HIGH] = [84, 28]; // of a swatch on a card, pixels
/** @type {[number, number]} */
const LARGER = [168, 56]; // of one in an inspector
const SAID = [30, 14]; // of cells on which a word is written, at least: it lies on no others, pixels
const LEVELS = 15; // steps of strength, above zero and below
const DIGITS = "0123456789abcdefghijklmnopqrstu"; // from -LEVELS to LEVELS
/** @type {Record<string, string>} */
const WITHOUT = { N: "nan", I: "infinite", ".": "" }; // letters that are no level, and their looks

const pixel = (/** @type {number} */ x) => String(Math.floor(x * 100 + 0.5) / 100);
const level = (/** @type {string} */ letter) => (letter in WITHOUT ? 0 : DIGITS.indexOf(letter) - LEVELS);

/**
 * Lines of one look, which is a letter's or has a name.
 * @param {string} name @param {string} d @param {number} thick @param {number} [strength]
 */
function looking(name, d, thick, strength = LEVELS) {
  const look = WITHOUT[name] ?? (name.length > 1 ? name : level(name) > 0 ? "above" : "below");
  const faint = strength > 0 && strength < LEVELS ? ` stroke-opacity="${pixel(strength / LEVELS)}"` : "";
  return `<path class="mg-${look}" stroke-width="${pixel(thick)}"${faint} d="${d}"/>`;
}

/** Paths by their looks, in the order in which these come. */
function collected() {
  /** @type {Map<string, string>} */
  const paths = new Map();
  return { paths, add: (/** @type {string} */ name, /** @type {string} */ d) => paths.set(name, (paths.get(name) ?? "") + d) };
}

/**
 * A line for each run of equal cells; those of one strength are one path.
 * @param {string[]} rows @param {number} x @param {number} y @param {number} across @param {number} down
 */
function cellLines(rows, x, y, across, down) {
  const { paths, add } = collected();
  rows.forEach((row, k) => {
    for (let at = 0, end; at < row.length; at = end) {
      for (end = at + 1; row[end] === row[at]; ) end++;
      if (row[at] === "." || row[at] === DIGITS[LEVELS]) continue;
      add(row[at], `M${pixel(x + at * across)},${pixel(y + (k + 0.5) * down)}H${pixel(x + end * across)}`);
    }
  });
  return [...paths].map(([letter, d]) => looking(letter, d, down, Math.abs(level(letter)))).join("");
}

/**
 * Bars from zero, which lies at the end of the swatch where all of them are on one side.
 * @param {string} cells @param {number} across @param {number} high
 */
function barLines(cells, across, high) {
  const levels = [...cells].map(level);
  const [low, top] = [Math.min(...levels), Math.max(...levels)];
  const zero = low < 0 && top > 0 ? high / 2 : low < 0 ? 1 : high - 1;
  const room = top > 0 ? zero - 1 : high - 1 - zero;
  const { paths, add } = collected();
  levels.forEach((value, i) => {
    const look = value > 0 ? "above" : value < 0 ? "below" : cells[i];
    const length = Math.max(2, room * (value / LEVELS) ** 2);
    const ends = value ? [zero, value > 0 ? zero - length : zero + length] : [1, high - 1];
    if (value || WITHOUT[look]) add(look, `M${pixel((i + 0.5) * across)},${pixel(ends[0])}V${pixel(ends[1])}`);
  });
  const base = looking("zero", `M0,${pixel(zero)}H${pixel(across * cells.length)}`, 1);
  return [...paths].map(([look, d]) => looking(look, d, across > 4 ? across - 1 : across)).join("") + base;
}

/**
 * The word on what is no number: on the longest run of such cells, or on all of them, and on no others.
 * @param {string[]} rows @param {number} x @param {number} y @param {number} across @param {number} down
 */
function bad(rows, x, y, across, down) {
  const cells = rows.join("");
  const letter = cells.includes("N") ? "N" : "I";
  const whole = [...cells].every((cell) => cell === letter);
  const high = whole ? down * rows.length : down;
  const runs = (whole ? rows.slice(0, 1) : rows).flatMap((row, k) =>
    [...row.matchAll(new RegExp(`${letter}+`, "g"))].map((run) => [run[0].length, run.index, -k]));
  const [long, start, k] = runs.sort((a, b) => b[0] - a[0] || b[1] - a[1] || b[2] - a[2])[0] ?? [0, 0, 0];
  if (long * across < SAID[0] || high < SAID[1]) return "";
  const place = `x="${pixel(x + (start + long / 2) * across)}" y="${pixel(y + (0.5 - k) * high + 4)}"`;
  return `<text class="mg-said" ${place} text-anchor="middle">${letter === "N" ? "NaN" : "∞"}</text>`;
}

/**
 * The inside of a swatch: a sheet, cells or bars, a rim; and in words what is wrong.
 * @param {string} code @param {number} [wide] @param {number} [high]
 */
function swatch(code, wide = SWATCH_WIDE, high = SWATCH_HIGH) {
  const [head, cells] = code.split(":");
  const [kind, columns] = [head[0], Number(head.slice(1))];
  const rows = Array.from({ length: cells.length / columns }, (_, i) => cells.slice(i * columns, (i + 1) * columns));
  const [wider, higher] = [wide / columns, high / rows.length];
  const [across, down] = kind === "t" ? Array(2).fill(Math.min(wider, higher)) : [wider, higher];
  const [width, height] = [across * columns, down * rows.length];
  const [x, y] = [wide - width, (high - height) / 2];
  const found = kind === "b" ? barLines(cells, across, high) : cellLines(rows, x, y, across, down);
  const size = `x="${pixel(x)}" y="${pixel(y)}" width="${pixel(width)}" height="${pixel(height)}"`;
  return `<rect class="mg-sheet" ${size}/>${found}<rect class="mg-rim" ${size}/>${bad(rows, x, y, across, kind === "b" ? high : down)}`;
}

/**
 * Draw a tensor on a card.
 * @param {Element} slot @param {string} code "" for none @param {string[][]} [grid] its numbers, if they are few
 */
function depict(slot, code, grid) {
  slot.setAttribute("data-grid", gridded(grid));
  slot.setAttribute("data-code", code);
  slot.classList.remove("mg-written");
  slot.innerHTML = code && swatch(code);
}

/** Few numbers as an attribute holds them: rows of them. @param {string[][]} [grid] */
const gridded = (grid) => grid?.map((row) => row.join(" ")).join(";") ?? "";

/** The swatch of a value, as it was sent. @param {{swatches?: string[]}} data @param {{swatch?: number | string} | undefined} value */
function coded(data, value) {
  const found = value?.swatch;
  return typeof found === "number" ? data.swatches?.[found] ?? "" : (found ?? "");
}

/**
 * A swatch as an element of the page, of this size.
 * @param {string} code @param {"value" | "grad"} of @param {[number, number]} size @param {Element} parent
 */
function pictured(code, of, [wide, high], parent) {
  const size = { width: wide, height: high, viewBox: `0 0 ${wide} ${high}` };
  const svg = shape("svg", { class: "mg-svg", ...size }, parent);
  shape("g", { class: `mg-swatch mg-of-${of}` }, svg).innerHTML = swatch(code, wide, high);
}

/**
 * Few numbers as a table, each on its colour.
 * @param {string[][]} grid @param {string} code @param {"value" | "grad"} of @param {Element} parent
 */
function numbersOf(grid, code, of, parent) {
  const letters = [...code.slice(code.indexOf(":") + 1)];
  const body = make("tbody", "", make("table", `mg-cells mg-of-${of}`, parent));
  for (const line of grid) {
    const tr = make("tr", "", body);
    for (const said of line) {
      const td = make("td", "", tr);
      td.textContent = said;
      const letter = letters.shift() ?? ".";
      td.className = letter in WITHOUT ? "mg-cell-bad" : level(letter) < 0 ? "mg-cell-below" : "mg-cell-above";
      td.style.setProperty("--mg-strength", `${Math.round((50 * Math.abs(level(letter))) / LEVELS)}%`);
    }
  }
}

/**
 * All there is to see of a tensor: few numbers as a table, many as a large swatch, and what its colours mean.
 * @param {Pair} word @param {Summary} summary @param {string} code @param {"value" | "grad"} of
 * @param {Pair} key @param {Element} parent
 */
function larger(word, { grid, top = "", drawn }, code, of, key, parent) {
  if (!code) return;
  const figure = make("figure", "mg-heat", parent);
  say(make("figcaption", "", figure), word);
  if (grid) numbersOf(grid, code, of, figure);
  else pictured(code, of, LARGER, figure);
  const [en, zh] = key.map((half) => half.replace("{top}", top));
  say(make("p", "", figure), [en, zh]);
  if (drawn) say(make("p", "", figure), drawn);
}
