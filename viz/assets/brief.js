// What is written on a card that is too small for its own words: as many of its name, its value and
// its gradient as it has room for, at a size that can be read, whatever the scale.
const LETTERS = 3; // of a name that is cut, at least
const SQUEEZED = 1.12; // times as long as its room a name may be: narrower letters, none of them cut
const SPARE = 14; // pixels that a number may be wider than its card
const ROUNDED = 5; // beside the name of a reference, whose ends are round
const PICTURED = 0.28; // scale from which swatches can be read
const SURE = 1.25; // times that, from which their key comes, which takes some of the room of the drawing
const [THIN, CELL] = [8, 9.2]; // pixels at least of a swatch, and of a number on a cell
const [DEL, BETWEEN, OF_LINES] = [11, 1.5, 4]; // pixels of the ∂ before a gradient, and from a value to it, which may have several lines
const [NAMED, HIGHER] = [3, 40]; // pixels above the name of a compact card, and below it; and of one that has them
const [BARELY, LOWER] = [2, 36]; // and of a lower one with one picture
const INSIDE = 8; // pixels beside a name and its value on a board, if there is room, and more between them
const SIDES = 3; // pixels around a number, twice as many around a long one
const LENGTHY = 4; // letters of one, more than which are long
const ARMS = /** @type {Record<string, Pair>} */ ({ then: ["then", "成立时"], else: ["else", "否则"] }); // of a Cond
const BODIES = /** @type {Record<string, Pair>} */ ({ test: ["test", "条件"], body: ["body", "循环体"] }); // of a While
const [ALL, ENOUGH, POWER] = [5, 3, 2]; // digits: more than any number has; as many as are left of one that has room for them; and of one with a power of ten
const ALONG = [0, 1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]; // of what is left of a frame beside its name, from the left: where the name may be
const BRIEF = { font: 11, line: 12, edge: 2, strip: 4, air: 1 }; // pixels of the screen
const [GENEROUS, LEADING] = [[15, 14, 13], 3]; // sizes of letters, if all cards of a player have room for them, and between their lines
const STRETCHED = 2; // how many times as long or as high as it is a tensor of many cells may become
const [ROOMY_CARD, AIRY] = [76, 3]; // pixels of a card with tensors that has room for air, and of this
const CLOSE = 28; // and of one whose name is just above its numbers
const TALLER = 40 / 28; // times as high as it is a picture with two lines of numbers (cards.py)
const PILL = 14; // pixels that a reference is high, at least

const MARK = /^[^\w∂] /; // before the name of a reference

/** How long a text of such a card is, in pixels. */
const written = once((/** @type {string} */ text) => measured(text, BRIEF.font));

/**
 * A text, shortened to a width; "" where too little of it would be left to be read. Of one of many
 * calls the name is left, of a strip of them how many there are, of a module's parameter its own name.
 * @param {string} text @param {number} wide
 */
function shortened(text, wide) {
  const less = text.match(/ (× \d+)$/)?.[1] ?? text.replace(/ \(\d+\)$/, "");
  const own = text.match(/\.([A-Za-z_]\w*)$/)?.[1] ?? less;
  const bare = own.replace(MARK, "");
  for (const one of [text, less, own, bare]) if (written(one) <= wide) return one;
  if (written(bare) <= wide * SQUEEZED) return bare;
  for (let end = Math.min(text.length - 1, Math.floor(wide / 4)); end >= Math.max(LETTERS, text.length / 3); end--)
    if (written(`${text.slice(0, end)}…`) <= wide) return `${text.slice(0, end)}…`;
  return "";
}

/**
 * A value as it fits a width, with fewer digits if need be, and with no more than others of its drawing
 * have; "" where too little would be left.
 * @param {string} text @param {number} wide @param {Digits} digits
 */
function rounded(text, wide, digits) {
  const [, sign, number] = text.match(/^(∂ )?(-?[\d.]+(?:e[-+]?\d+)?)$/) ?? [];
  if (!number) return written(text) <= wide ? text : /^\(.+,/.test(text) ? "…" : ""; // of several values no one
  const precise = (/** @type {number} */ to) => `${sign ?? ""}${number.replace(/^[^e]+/, (own) => String(Number(Number(own).toPrecision(to))))}`;
  if (/e/.test(number)) text = precise(POWER);
  const most = /e/.test(number) ? [1] : /\./.test(number) ? [4, 3, 2] : [4, 3];
  const need = written(text) <= wide ? ALL : most.find((to) => written(precise(to)) <= wide);
  if (!need) return "";
  digits.need = Math.min(digits.need, need);
  const to = Math.min(need, /[.e]/.test(number) ? digits.most : ALL);
  return to < ALL && !(/e/.test(number) && to > POWER) ? precise(to) : text;
}

/** A value as it fits beside a name. @param {string} name @param {string} value @param {number} wide @param {Digits} digits */
function besideName(name, value, wide, digits) {
  const left = wide - written(name) - 4 * BRIEF.edge;
  const tight = written(value) <= left ? value : value.replaceAll(" ", "");
  return name && rounded(tight, left - (/\d\.\d/.test(tight) && !/[✗!]$/.test(tight) ? SIDES : 0), digits); // one digit less is better than one at the border
}

/**
 * Write on all cards and references of a box what they have room for at a scale, where it is too small
 * for their own words.
 * @param {HTMLElement} box @param {number} scale
 */
function abridge(box, scale) {
  const compact = box.querySelector(".mg-compact");
  if (compact) scale = Math.min(1, scale); // its words grow with it
  const frames = box.querySelectorAll("g.cluster");
  const references = box.querySelectorAll(".mg-ref");
  const cards = frames.length || references.length ? [...box.querySelectorAll("g.node")].map(extent) : [];
  const ways = frames.length ? pointsOf(box) : [];
  for (const g of frames) nameFrame(g, scale, cards, ways);
  for (const g of references) widen(g, scale, cards);
  for (const g of box.querySelectorAll("g.node, .mg-ref")) {
    if (scale < (g.matches(".node") ? SIGNED : FULL) || compact) brief(g, scale);
    else {
      g.querySelector(".mg-short")?.remove();
      for (const slot of g.querySelectorAll(".mg-swatch[data-own]")) {
        setPlace(slot, slot.getAttribute("data-own") ?? "");
        drawn(slot, false);
      }
      lift(g);
      numbered(g);
    }
  }
}

/**
 * Let a reference be as wide as its name, away from its arrow, if no card is there.
 * @param {Element} g @param {number} scale @param {Extent[]} cards
 */
function widen(g, scale, cards) {
  const rect = /** @type {SVGElement} */ (g.querySelector(".mg-ref-card"));
  const [own, high] = (rect.dataset.own ??= `${rect.getAttribute("width")} ${rect.getAttribute("height")}`).split(" ").map(Number);
  const place = (/** @type {number} */ more, above = 0) => {
    const box = { x: -more, y: -above, width: own + more, height: high + 2 * above, rx: high / 2 + above };
    for (const [name, size] of Object.entries(box)) rect.setAttribute(name, size.toFixed(2));
  };
  const name = (g.querySelector(".mg-ref-name")?.textContent ?? "").replace(MARK, "");
  const small = scale < FULL || g.closest(".mg-brief");
  place(small ? Math.max(0, (written(name) + 2 * ROUNDED) / scale - own) : 0, small ? Math.max(0, (PILL / scale - high) / 2) : 0);
  const { left, right, top, bottom } = extent(g);
  if (left < 0 || cards.some((card) => card.left < right && card.right > left && card.top < bottom && card.bottom > top)) place(0);
}

/**
 * How far the rows of a card that stay when its small words give way are from its middle.
 * @param {Element} g
 */
function lift(g) {
  if (g.matches(".mg-pictured, .mg-ref") || g.querySelector(".mg-cell")) return;
  const [high] = numbers(g.querySelector(".mg-card"), "height");
  const rows = ["sign", "grad"].flatMap((name) => numbers(g.querySelector(`.mg-${name}`), "y"));
  const middle = (rows[0] - 12 + rows[rows.length - 1] + 1) / 2; // their letters stand on y
  /** @type {SVGElement} */ (g).style.setProperty("--mg-lift", `${((high ?? 0) / 2 - middle).toFixed(1)}px`);
}

/** Points on the arrows of a box, close enough that none passes a word between two. @param {HTMLElement} box */
function pointsOf(box) {
  return [.../** @type {NodeListOf<SVGPathElement>} */ (box.querySelectorAll("g.edge > .mg-line"))].flatMap((line) => {
    const long = line.getTotalLength();
    return Array.from({ length: Math.ceil(long / BRIEF.line) }, (_, i) => line.getPointAtLength(i * BRIEF.line));
  });
}

/**
 * The name of a frame, inside it where neither card nor arrow is: all of it or what it says of a body, at its
 * left, at its right, or between them.
 * @param {Element} g @param {number} scale @param {Extent[]} cards @param {{x: number, y: number}[]} ways
 */
function nameFrame(g, scale, cards, ways) {
  const text = /** @type {SVGElement} */ (g.querySelector(".mg-frame-name"));
  const name = (text.dataset.name ??= text.textContent ?? "");
  const [[left = 0], [top = 0], [wide = 0], [tall = 0]] = ["x", "y", "width", "height"].map((part) => numbers(g.querySelector(".mg-frame"), part));
  const [edge, last] = [(4 * BRIEF.edge) / scale, name.split(": ").pop() ?? ""];
  const arm = name.includes(": ") && ARMS[last];
  const part = name.startsWith("While: ") && BODIES[last];
  const names = /** @type {(string | Pair)[]} */ (arm ? [arm] : part ? [[name, `While: ${part[1]}`], part] : [name, last]);
  const places = names.flatMap((said) => {
    const long = Math.max(...[said].flat().map(written)) / scale;
    return ALONG.map((part) => ({ said, end: Number(part === 1), from: left + edge + part * (wide - 2 * edge - long), long }));
  });
  const low = top + (BRIEF.line + (arm ? 3 : 2)) / scale;
  const fits = places.filter(({ long }) => long <= wide - edge);
  const free = fits.filter(({ from, long }) => !cards.some((card) => card.left < from + long && card.right > from && card.top < low && card.bottom > top));
  const clear = [...free, ...fits].find(({ from, long }) => !ways.some(({ x, y }) => x > from - edge && x < from + long + edge && y > top && y < low));
  const lone = cards.filter((card) => card.left > left && card.right < left + wide && card.top > top && card.bottom < top + tall).length < 2; // its card says what it is
  const crowded = arm || !(lone || g.closest(".mg-far")) ? (free[0] ?? fits[0]) : undefined; // a small name on a line can't be read
  g.classList.toggle("mg-unnamed", lone && !clear); // nor a frame without its name
  const { said, end, from, long } = clear ?? crowded ?? { said: "", end: 0, from: left, long: 0 };
  if (typeof said === "string") text.textContent = said;
  else {
    text.textContent = "";
    bilingual(said, text);
  }
  text.setAttribute("x", String(end ? from + long : from)); // a font that comes later may be wider than measured
  text.setAttribute("y", String(top + (BRIEF.line + (arm && free.length ? 1 : free.length ? 0 : -1.5)) / scale));
  text.setAttribute("text-anchor", end ? "end" : "start");
}

/** The same for one card whose words have changed. @param {Element} g */
function renewBrief(g) {
  const scale = g.querySelector(".mg-short")?.getAttribute("data-scale");
  if (scale) brief(g, Number(scale));
  else numbered(g);
}

/** Write the numbers of tensors on the cells of a card that has no other place for them. @param {Element} g */
function numbered(g) {
  for (const old of g.querySelectorAll(".mg-number")) old.remove();
  if (g.querySelector(".mg-value")) return;
  for (const slot of g.querySelectorAll(".mg-swatch[data-grid]")) {
    const grid = slot.getAttribute("data-grid") ?? "";
    const found = grid && !/n/.test(grid) ? cellsOf(grid, { x: 0, y: 0, across: 1, down: grid.includes(";") ? TALLER : 1 }, 1, { most: ALL, need: ALL }) : null; // a word says it where some are not finite
    setPlace(slot, slot.getAttribute("data-own") ?? slot.getAttribute("transform") ?? "");
    const [left, top] = numbers(slot, "transform");
    if (grid.includes(";")) setPlace(slot, `translate(${left},${top}) scale(1 ${TALLER})`);
    drawn(slot, Boolean(found));
    for (const { x, y, text } of found ?? []) {
      const place = { x: (left + x).toFixed(1), y: (top + y + 0.5).toFixed(1), "text-anchor": "middle" };
      shape("text", { class: `mg-number${slot.matches(".mg-of-grad") ? " mg-short-of-grad" : ""}`, ...place }, g).textContent = text;
    }
  }
}

/** What holds the drawings that are seen together: their numbers have as many digits. @param {Element} part */
const together = (part) => /** @type {HTMLElement | null} */ (part.closest(".mg-player, .mg-board"))?.dataset ?? {};

/** Of a drawing of another size digits are counted anew, and letters measured. @param {Element} box */
function recount(box) {
  delete together(box).digits;
  delete together(box).larger;
}

/**
 * Let all such cards of a box show the same: a value, numbers in cells only where each that has one has
 * room for it; and those of all boxes as many digits. A gradient is shown by each that has room for it.
 * @param {HTMLElement} box
 */
function even(box) {
  const all = together(box);
  const shorts = [...(box.closest(".mg-player, .mg-board") ?? box).querySelectorAll("g.node > .mg-short")];
  const least = Math.max(ENOUGH, Math.min(Number(all.digits ?? ALL), ...shorts.map((short) => Number(short.getAttribute("data-digits")))));
  all.digits = String(least);
  const before = all.larger; // what had no room at one step is not larger at another
  all.larger = String(box.closest(".mg-film") ? Math.min(Number(before ?? GENEROUS[0]), ...shorts.map((short) => Number(short.getAttribute("data-roomy")))) : 0);
  for (const short of shorts) if (short.getAttribute("data-most") !== all.digits || before !== all.larger) renewBrief(/** @type {Element} */ (short.parentElement));
  const cards = [...box.querySelectorAll("g.node > .mg-short")].map((short) => /** @type {Element} */ (short.parentElement));
  if (!cards.length) return;
  const without = ["value", "cells", "back"].filter((part) => cards.some((g) => g.matches(`.mg-no-${part}`)));
  for (const [first, then] of [["value", "grad"], ["cells", "back"]]) if (without.includes(first) && !without.includes(then)) without.push(then);
  const key = without.join(" ");
  if ((box.dataset.without ?? "") === key) return;
  box.dataset.without = key;
  cards.forEach(renewBrief);
}

/** @param {Element} g @param {number} scale */
function brief(g, scale) {
  const [[from = 0], [above = 0], [wide = 0], [high = 0]] = ["x", "y", "width", "height"].map((name) => numbers(g.querySelector(".mg-card, .mg-ref-card"), name));
  const room = wide * scale - 2 * BRIEF.edge;
  const without = /** @type {HTMLElement | null} */ (g.closest(".mg-drawing"))?.dataset.without ?? "";
  /** @type {Digits} */
  const digits = { most: Number(together(g).digits ?? ALL), need: ALL };
  const compact = g.matches(".mg-compact");
  const leading = g.matches(".mg-leading"); // its name is before its numbers
  const strip = g.querySelector(".mg-cell-card"); // the first of the calls in it, which come below the name
  const [[own = 0], [thick = 0]] = strip ? ["y", "height"].map((name) => numbers(strip, name)) : [[], []];
  const calls = strip ? thick * scale + BRIEF.strip + BRIEF.air : 0;
  let top = BRIEF.line + calls;
  const letters = Number(together(g).larger ?? 0) || BRIEF.font;
  const larger = letters > BRIEF.font;
  const board = Boolean(g.closest(".mg-board"));
  const fused = board ? g.querySelector(".mg-name")?.textContent ?? "" : "";
  const slots = [...g.querySelectorAll(".mg-swatch")]; // those to come have their room, too
  const three = !strip && !slots.length && [".mg-value", ".mg-grad"].every((row) => g.querySelector(row)?.textContent);
  const dense = three && high * scale < 3 * BRIEF.line + 4; // its gradient has a line as soon as it can
  const [spare, line] = g.matches(".mg-wrong") ? [0, BRIEF.font] : dense ? [1, BRIEF.font] : [fused.includes("+") ? 1 : 4, BRIEF.line]; // a wrong value has a line of its own as soon as it can, and what a kernel is made of
  const most = high * scale < BRIEF.font - 1 ? 0 : Math.max(1, Math.floor((high * scale - (strip ? top - BRIEF.line : spare)) / line));
  g.classList.toggle("mg-low", most < 2);
  const strips = high * scale - top - BRIEF.edge < THIN ? [] : slots.filter((slot) => slot.matches(".mg-of-value"));
  const pictures = scale < PICTURED ? strips : slots; // of a low card that of its value, in a strip
  const parts = g.matches(".mg-ref") ? ["ref-name"] : pictures.length ? ["sign"] : slots.length ? ["sign", "del"] : ["sign", "value", "grad"];
  const said = parts.map((name) => ({ name, text: g.querySelector(`.mg-${name}`)?.textContent ?? "" }));
  const number = g.matches(".mg-kind-constant") ? SPARE : 0; // it needs no frame
  const lines = said.map(({ name, text }) => ({ name, text: name === "sign" || name === "ref-name" ? shortened(text, room + BRIEF.edge + number) : rounded(text, room - (name === "grad" ? 3 : 1) * BRIEF.edge, digits) }));
  const low = compact || (!strip && lines.filter(({ text }) => text).length > most && most < 3);
  const aside = board && !g.matches(".mg-kept, .mg-again, .mg-changed.mg-kind-constant"); // on a board as on its full card
  const beside = (low || aside) && said[1]?.name === "value" && said[1].text ? besideName(lines[0].text, said[1].text, room + Number(board) * 1.5 * BRIEF.edge, digits).replace(dense && most > 1 ? "…" : "", "") : ""; // in the line of its name
  if (beside) lines[1].text = "";
  else if (most === 1 && g.matches(".mg-kept, .mg-again")) lines.unshift(...lines.splice(1, 1)); // its star, which the board is about
  const some = lines.filter(({ text }) => text).slice(0, most);
  for (const part of ["value", "grad"])
    g.classList.toggle(`mg-no-${part}`, said.some(({ name, text }) => name === part && text) && !some.some(({ name }) => name === part || (beside && part === "value")));
  const shown = lines[0].text ? some.filter(({ name }) => !without.includes(name)) : []; // the name first
  if (shown.length > 1 && g.matches(".mg-changed.mg-kind-constant")) shown.shift(); // its value says it, and what it was
  const word = most > Math.max(shown.length, pictures.length ? 2 : 1) && shown.length && g.querySelector(".mg-word");
  const became = word ? [...word.querySelectorAll("tspan")].map((half) => half.textContent ?? "") : [];
  if (leading || g.matches(".mg-gone") || became.some((half) => written(half) > room + BRIEF.edge)) became.length = 0;
  const made = board && fused.includes("+") && written(fused) <= room; // their names say more than that it is new
  if (made && most < 3) became.length = 0;
  const given = strip && !became.length && most > shown.length + 1 && shown.length ? g.querySelector(".mg-name")?.textContent ?? "" : ""; // the inputs of its calls
  if (became.length || given) shown.unshift(given ? { name: "shape", text: `▷ ${given}` } : { name: "word", text: "" });
  const extents = g.querySelector(".mg-shape")?.textContent ?? "";
  if (board && !g.closest(".mg-drawing")?.querySelector(".mg-value")) { // no card of the drawing has a value
    if (made) shown.length < most ? shown.push({ name: "op", text: fused }) : (shown[shown.length - 1] = { name: "op", text: fused });
    if (extents && shown.length < most && written(extents) <= room) shown.push({ name: "shape", text: extents });
  }
  const head = became.length || given ? 2 : 1; // lines above its pictures, or its calls
  if (head > 1 && (pictures.length || strip)) top += BRIEF.line;
  const ease = slots.length && compact ? (high * scale > HIGHER ? NAMED : pictures.length === 1 && !leading && high * scale > LOWER ? BARELY : 0) : pictures.length > 1 && high * scale > ROOMY_CARD ? AIRY : 0;
  top += ease * (compact && !strip ? 1.5 : strip ? 2.5 : 2); // above its name, below it, and below its calls
  const grids = pictures.map((slot) => slot.getAttribute("data-grid") ?? "");
  const pair = without.includes("value") ? "" : beside;
  const key = `${scale} ${wide} ${pair} ${pictures.length} ${slots.map((slot) => slot.getAttribute("data-code"))} ${became} ${shown.map(({ text }) => text).join("|")} ${without} ${grids} ${digits.most} ${letters}`;
  const old = g.querySelector(".mg-short");
  if (old?.getAttribute("data-key") === key) return;
  old?.remove();
  g.classList.toggle("mg-mute", !shown.length);
  g.classList.toggle("mg-frameless", number > 0 && shown.some(({ text }) => written(text) > room + BRIEF.edge));
  for (const slot of slots) {
    setPlace(slot, "scale(0)");
    drawn(slot, false);
  }
  const lead = leading ? written(shown[0]?.text ?? "") + 2.5 * BRIEF.edge : DEL;
  const places = enlarge(pictures, wide, high, scale, leading ? (BRIEF.edge + BRIEF.air / 2) / scale : (top + BRIEF.edge + (strip ? 0 : BRIEF.air)) / scale, lead / scale);
  const cells = places.map((place, i) => cellsOf(grids[i], place, scale, digits));
  const back = (/** @type {number} */ i) => slots[i].matches(".mg-of-grad");
  const mute = (/** @type {number} */ i) => without.includes(back(i) ? "back" : "cells");
  for (const [name, of] of /** @type {[string, boolean][]} */ ([["cells", false], ["back", true]]))
    g.classList.toggle(`mg-no-${name}`, cells.some((found, i) => !found && back(i) === of));
  const at = `translate(${from + wide / 2} ${above + high / 2}) scale(${1 / scale})`;
  const roomy = slots.length || (strip && pair) || word ? 0 : GENEROUS.find((font) =>
    shown.length * (font + LEADING) + calls + spare <= high * scale && [...shown.map(({ text }) => written(text)), pair ? written(shown[0]?.text ?? "") + written(pair) + BRIEF.edge : 0].every((long) => long * (font / BRIEF.font) <= room - 4 * BRIEF.edge));
  const group = shape("g", { class: larger ? "mg-short mg-larger" : "mg-short", transform: at, "data-scale": scale, "data-key": key, "data-digits": digits.need, "data-most": digits.most, "data-roomy": roomy ?? 0 }, g);
  if (larger) /** @type {SVGElement} */ (group).style.setProperty("--mg-letters", `${letters}px`);
  const lone = aside && !pair && shown.length === 1 && g.matches(".mg-kind-constant") && !g.closest(".mg-drawing")?.querySelector(".mg-swatch"); // as the names of pairs
  const pitch = larger || (dense && shown.length * (letters + LEADING) < high * scale) ? letters + LEADING : line;
  const chips = pictures.length ? head * BRIEF.line + 2 * ease + BRIEF.strip : (high * scale - shown.length * pitch - calls + BRIEF.strip + BRIEF.air) / 2 + head * pitch;
  if (strip) /** @type {SVGElement} */ (g).style.setProperty("--mg-calls", `${(chips / scale - own).toFixed(1)}px`);
  shown.forEach(({ name, text }, i) => {
    const lines = (i - (shown.length - 1) / 2) * pitch + letters * 0.35;
    const below = i < head ? ease + (i + 1) * BRIEF.line - (high * scale < CLOSE ? 2 : 1) : top + (i - head + 1) * BRIEF.line - (strip ? 0 : BRIEF.edge);
    const apart = lines + (i < head ? -calls : calls) / 2; // above and below its calls
    const y = pictures.length ? below - (high * scale) / 2 : strip ? apart : lines;
    const spare = aside ? (wide * scale - written(text) - Math.max(BRIEF.font, written(pair)) - INSIDE - 2) / 2 : 0; // a sign may be as wide as a Chinese letter
    const half = (wide * scale) / 2 - (compact ? 3 : Math.max(1.5, Math.min(spare, INSIDE) / BRIEF.edge)) * BRIEF.edge;
    const write = (/** @type {string} */ of, /** @type {object} */ at) => shape("text", { class: `mg-short-${of}`, y: y.toFixed(1), ...at }, group);
    const named = i - head + 1; // 0: the line of its name
    const sides = named ? { x: half, "text-anchor": "end" } : { x: -half }; // its gradient is beneath its value
    const lettering = write(name, lone || (pair && named >= 0) ? sides : { "text-anchor": "middle" });
    if (pair && !named) write("value", { x: half, "text-anchor": "end" }).textContent = pair;
    if (name === "word") bilingual([became[0], became[1]], lettering);
    else lettering.textContent = text;
    if (/sign|ref/.test(name) && !number && !larger && written(text) > room - 2 * BRIEF.edge)
      for (const [part, value] of Object.entries({ textLength: (room - 2 * BRIEF.edge).toFixed(1), lengthAdjust: "spacingAndGlyphs" })) lettering.setAttribute(part, value);
  });
  places.forEach(({ x, y, down }, i) => {
    const middle = (y + (down * SWATCH_HIGH) / 2 - high / 2) * scale + BRIEF.font * 0.35;
    const before = { x: ((x - wide / 2) * scale - lead / 2).toFixed(1), y: middle.toFixed(1) };
    if (!back(i) && leading) for (const [name, at] of Object.entries(before)) group.firstElementChild?.setAttribute(name, at);
    if (back(i) && slots[i].firstChild) shape("text", { class: "mg-short-del", "text-anchor": "middle", ...before }, group).textContent = "∂";
  });
  cells.forEach((found, i) => {
    if (mute(i) || !found?.length) return;
    drawn(pictures[i], true);
    for (const { x, y, text } of found) {
      const place = { x: (x - (wide * scale) / 2).toFixed(1), y: (y - (high * scale) / 2).toFixed(1) };
      shape("text", { class: `mg-short-cell${back(i) ? " mg-short-of-grad" : ""}`, ...place, "text-anchor": "middle" }, group).textContent = text;
    }
  });
}

/**
 * The numbers of a tensor on its cells, in pixels of the card; null where they don't fit.
 * @param {string} grid rows of numbers, "" if there are too many @param {{x: number, y: number, across: number, down: number}} place @param {number} scale @param {Digits} digits
 */
function cellsOf(grid, { x, y, ...by }, scale, digits) {
  const rows = grid ? grid.split(";").map((row) => row.split(" ")) : [];
  const [broad, down] = [by.across * SWATCH_WIDE * scale, (by.down * SWATCH_HIGH * scale) / rows.length];
  const own = { most: digits.most, need: ALL };
  const write = () => rows.flatMap((row, k) => {
    const across = broad / row.length;
    return row.map((number, i) => ({ x: x * scale + (i + 0.5) * across, y: y * scale + (k + 0.5) * down + BRIEF.font * 0.35,
      text: down < CELL ? "" : rounded(number, across - (number.length > LENGTHY ? 2 : 1) * SIDES, own) }));
  });
  write();
  digits.need = Math.min(digits.need, own.need, grid ? ENOUGH : ALL); // a row holds no more of its numbers
  own.most = Math.min(own.most, own.need); // of one tensor all have as many
  const found = write();
  return found.every(({ text }) => text) ? found : null;
}

/** Draw a swatch as it is, or as cells with lines between them, on which its numbers are written. @param {Element} slot @param {boolean} cells */
function drawn(slot, cells) {
  if (slot.classList.contains("mg-written") === cells) return;
  slot.classList.toggle("mg-written", cells);
  const own = slot.getAttribute("data-code") ?? "";
  const code = cells ? own.replace(/^b/, "c") : own;
  slot.innerHTML = code && swatch(code);
  if (!cells) return;
  const [columns, all] = [Number(code.slice(1, code.indexOf(":"))), code.length - code.indexOf(":") - 1];
  const between = (/** @type {number} */ count, /** @type {(part: number) => string} */ line) => Array.from({ length: count - 1 }, (_, i) => line((i + 1) / count)).join("");
  const d = between(columns, (part) => `M${part * SWATCH_WIDE},0v${SWATCH_HIGH}`) + between(all / columns, (part) => `M0,${part * SWATCH_HIGH}h${SWATCH_WIDE}`);
  shape("path", { class: "mg-between", d }, slot);
}

/** Where a swatch stands: at its own place, or for a while elsewhere. @param {Element} slot @param {string} place */
function setPlace(slot, place) {
  if (!slot.hasAttribute("data-own")) slot.setAttribute("data-own", slot.getAttribute("transform") ?? "");
  slot.setAttribute("transform", place);
}

/**
 * The swatches of such a card, beneath its name, as large as there is room for: that of a gradient has a ∂ before
 * it, below that of its value or beside it. Few numbers fill the card, so that they can be written on their cells.
 * @param {Element[]} slots @param {number} wide @param {number} high @param {number} scale @param {number} top @param {number} lead what is before them
 */
function enlarge(slots, wide, high, scale, top, lead) {
  const grids = slots.map((slot) => slot.getAttribute("data-grid") ?? "");
  const [edge, gap] = [1.5 * BRIEF.edge, grids[0]?.includes(";") ? OF_LINES : BETWEEN].map((px) => px / scale);
  const leads = lead > (DEL + 1) / scale;
  const numbers = grids.map((grid) => grid || (grids.find(Boolean) ?? "")); // a gradient to come is as large as its value
  const few = Boolean(numbers[0]);
  const backs = slots.map((slot) => (slot.matches(".mg-of-grad") || leads ? lead : 0));
  const [broad, room] = [wide - 2 * edge - Math.max(0, ...backs), high - top - Math.min(edge, top)];
  const below = (room - gap * (slots.length - 1)) / slots.length;
  const by = (/** @type {number} */ across, /** @type {number} */ down) => Math.min(across / SWATCH_WIDE, down / SWATCH_HIGH);
  const lines = numbers[0]?.split(";").length ?? 0;
  const beside = slots.length > 1 && !leads && (few ? (below * scale) / lines < CELL : by((broad - gap) / 2, room) > by(broad, below));
  const shares = numbers.map((grid) => (few ? breadth(grid) : 1));
  const all = shares.reduce((a, b) => a + b, 0);
  let left = edge + (beside ? 0 : Math.max(0, ...backs));
  return slots.map((slot, i) => {
    left += beside ? backs[i] : 0;
    const [across, down] = beside ? [((broad - gap) * shares[i]) / all, room] : [broad, below];
    const most = by(across, down); // many cells fill it, too, but are not much longer than high
    const [w, h] = [across / SWATCH_WIDE, down / SWATCH_HIGH].map((size) => (few ? size : Math.min(size, STRETCHED * most)));
    const place = { x: left + (across - w * SWATCH_WIDE) / 2, y: top + (beside ? 0 : i * (below + gap)) + (down - h * SWATCH_HIGH) / 2, across: w, down: h };
    left += beside ? across + gap : 0;
    setPlace(slot, most > 0 ? `translate(${place.x.toFixed(1)},${place.y.toFixed(1)}) scale(${w.toFixed(3)} ${h.toFixed(3)})` : "scale(0)");
    return place;
  });
}

/** How wide the numbers of a tensor are on its cells, in pixels. @param {string} grid */
function breadth(grid) {
  const rows = grid.split(";").map((row) => row.split(" ").map((number) => written(number) + 2 * SIDES));
  return rows[0].length * Math.max(...rows.flat());
}
