// What is written on a card that is too small for its own words: as many of its name, its value and
// its gradient as it has room for, at a size that can be read, whatever the scale.
const LETTERS = 3; // of a name that is cut, at least
const SPARE = 14; // pixels that a number may be wider than its card
const PICTURED = 0.28; // scale from which swatches can be read
const BRIEF = { font: 11, line: 12, edge: 2 }; // pixels of the screen

/** How long a text of such a card is, in pixels. */
const written = once((/** @type {string} */ text) => measured(text, BRIEF.font));

/**
 * A text, shortened to a width; "" where too little of it would be left to be read. Of one of many
 * calls the name is left, of a strip of them how many there are.
 * @param {string} text @param {number} wide
 */
function shortened(text, wide) {
  const less = text.match(/ (× \d+)$/)?.[1] ?? text.replace(/ \(\d+\)$/, "");
  for (const one of [text, less]) if (written(one) <= wide) return one;
  for (let end = Math.min(text.length - 1, Math.floor(wide / 4)); end >= Math.max(LETTERS, text.length / 3); end--)
    if (written(`${text.slice(0, end)}…`) <= wide) return `${text.slice(0, end)}…`;
  return "";
}

/** A value as it fits a width, with fewer digits if need be; "" where too little would be left. @param {string} text @param {number} wide */
function rounded(text, wide) {
  const [, sign, number] = text.match(/^(∂ )?(-?[\d.]+(?:e[-+]?\d+)?)$/) ?? [];
  const digits = number?.includes("e") ? [4, 3, 2] : [4, 3];
  const fewer = number ? digits.map((most) => `${sign ?? ""}${Number(Number(number).toPrecision(most))}`) : [];
  return [text, ...fewer].find((one) => written(one) <= wide) ?? "";
}

/**
 * Write on all cards and references of a box what they have room for at a scale, where it is too small
 * for their own words.
 * @param {HTMLElement} box @param {number} scale
 */
function abridge(box, scale) {
  const frames = box.querySelectorAll("g.cluster");
  const cards = frames.length ? [...box.querySelectorAll("g.node")].map(extent) : [];
  for (const g of frames) nameFrame(g, scale, cards);
  for (const g of box.querySelectorAll("g.node, .mg-ref")) {
    if (scale < (g.matches(".node") ? SIGNED : FULL)) brief(g, scale);
    else {
      g.querySelector(".mg-short")?.remove();
      for (const slot of g.querySelectorAll(".mg-swatch[data-own]")) setPlace(slot, slot.getAttribute("data-own") ?? "");
      lift(g);
    }
  }
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

/**
 * The name of a frame, where no card is: from its left, all of it or what it says of a body, "else" of
 * "Cond: else"; or that from its right. @param {Element} g @param {number} scale @param {Extent[]} cards
 */
function nameFrame(g, scale, cards) {
  const text = /** @type {SVGElement} */ (g.querySelector(".mg-frame-name"));
  const name = (text.dataset.name ??= text.textContent ?? "");
  const [[left = 0], [top = 0], [wide = 0]] = ["x", "y", "width"].map((part) => numbers(g.querySelector(".mg-frame"), part));
  const [edge, last] = [(4 * BRIEF.edge) / scale, name.split(": ").pop() ?? ""];
  const places = [[name, 0], [last, 0], [last, 1]].map(([said, end]) => {
    const long = written(String(said)) / scale;
    return { said, from: end ? left + wide - edge - long : left + edge, long };
  });
  const low = top + (BRIEF.line - 1) / scale;
  const fits = places.filter(({ long }) => long <= wide - edge);
  const free = fits.find(({ from, long }) => !cards.some((card) => card.left < from + long && card.right > from && card.top < low && card.bottom > top));
  const { said, from } = free ?? fits[0] ?? { said: "", from: left };
  text.textContent = String(said);
  text.setAttribute("x", String(from));
  text.setAttribute("y", String(top + (BRIEF.line - 1.5) / scale));
  text.setAttribute("text-anchor", "start");
}

/** The same for one card whose words have changed. @param {Element} g */
function renewBrief(g) {
  const scale = g.querySelector(".mg-short")?.getAttribute("data-scale");
  if (scale) brief(g, Number(scale));
}

/** @param {Element} g @param {number} scale */
function brief(g, scale) {
  const [[wide = 0], [high = 0]] = ["width", "height"].map((name) => numbers(g.querySelector(".mg-card, .mg-ref-card"), name));
  const room = wide * scale - 2 * BRIEF.edge;
  const strip = g.querySelector(".mg-cell-card"); // the first of the calls in it, which come below the name
  const [[own = 0], [thick = 0]] = strip ? ["y", "height"].map((name) => numbers(strip, name)) : [[], []];
  let top = BRIEF.line + (strip ? thick * scale + BRIEF.edge : 0);
  if (strip) /** @type {SVGElement} */ (g).style.setProperty("--mg-calls", `${((BRIEF.line + BRIEF.edge) / scale - own).toFixed(1)}px`);
  const most = high * scale < BRIEF.font - 1 ? 0 : Math.max(1, Math.floor((high * scale - (strip ? top - BRIEF.line : 4)) / BRIEF.line));
  g.classList.toggle("mg-low", most < 2);
  const slots = [...g.querySelectorAll(".mg-swatch")]; // those to come have their room, too
  const pictures = scale < PICTURED ? [] : slots;
  const parts = g.matches(".mg-ref") ? ["ref-name"] : pictures.length ? ["sign"] : slots.length ? ["sign", "del"] : ["sign", "value", "grad"];
  const said = parts.map((name) => ({ name, text: g.querySelector(`.mg-${name}`)?.textContent ?? "" }));
  const number = g.matches(".mg-kind-constant") ? SPARE : 0; // it needs no frame
  const lines = said.map(({ name, text }) => ({ name, text: name === "sign" || name === "ref-name" ? shortened(text, room + BRIEF.edge + number) : rounded(text, room) }));
  const shown = lines[0].text ? lines.filter(({ text }) => text).slice(0, most) : []; // the name first
  const word = most > (pictures.length ? 2 : 1) && shown.length && !g.matches(".mg-gone") && g.querySelector(".mg-word");
  const became = word ? [...word.querySelectorAll("tspan")].map((half) => half.textContent ?? "") : [];
  if (became.some((half) => written(half) > room + BRIEF.edge)) became.length = 0;
  if (became.length) shown.splice(0, shown.length, { name: "word", text: "" }, ...shown.slice(0, most - 1));
  const head = became.length ? 2 : 1; // lines above its pictures, or its calls
  if (head > 1 && (pictures.length || strip)) top += BRIEF.line;
  const key = `${scale} ${pictures.length} ${became} ${shown.map(({ text }) => text).join("|")}`;
  const old = g.querySelector(".mg-short");
  if (old?.getAttribute("data-key") === key) return;
  old?.remove();
  g.classList.toggle("mg-mute", !shown.length);
  g.classList.toggle("mg-frameless", shown.some(({ text }) => written(text) > room + BRIEF.edge));
  for (const slot of slots) setPlace(slot, "scale(0)");
  enlarge(pictures, wide, high, scale, (top + BRIEF.edge) / scale);
  const at = `translate(${wide / 2} ${high / 2}) scale(${1 / scale})`;
  const group = shape("g", { class: "mg-short", transform: at, "data-scale": scale, "data-key": key }, g);
  shown.forEach(({ name, text }, i) => {
    const lines = (i - (shown.length - 1) / 2) * BRIEF.line + BRIEF.font * 0.35;
    const below = i < head ? (i + 1) * BRIEF.line : top + (i - head + 1) * BRIEF.line - BRIEF.edge;
    const y = pictures.length || strip ? below - (high * scale) / 2 : lines;
    const line = shape("text", { class: `mg-short-${name}`, y: y.toFixed(1), "text-anchor": "middle" }, group);
    if (name === "word") bilingual([became[0], became[1]], line);
    else line.textContent = text;
  });
}

/** Where a swatch stands: at its own place, or for a while elsewhere. @param {Element} slot @param {string} place */
function setPlace(slot, place) {
  if (!slot.hasAttribute("data-own")) slot.setAttribute("data-own", slot.getAttribute("transform") ?? "");
  slot.setAttribute("transform", place);
}

/**
 * The swatches of such a card, beneath its name, as large as there is room for: one below the other or beside it.
 * @param {Element[]} slots @param {number} wide @param {number} high @param {number} scale @param {number} top
 */
function enlarge(slots, wide, high, scale, top) {
  const edge = BRIEF.edge / scale;
  const ways = [1, slots.length].map((columns) => {
    const [broad, each] = [(wide - edge) / columns, (high - top - edge) / (slots.length / columns)];
    return { columns, broad, each, by: Math.min((broad - edge) / SWATCH_WIDE, (each - edge / 2) / SWATCH_HIGH) };
  });
  const { columns, broad, each, by } = ways[1].by > ways[0].by ? ways[1] : ways[0];
  slots.forEach((slot, i) => {
    const [column, row] = columns > 1 ? [i, 0] : [0, i];
    const x = edge / 2 + column * broad + (broad - by * SWATCH_WIDE) / 2;
    const y = top + row * each + (each - edge / 2 - by * SWATCH_HIGH) / 2;
    setPlace(slot, by > 0 ? `translate(${x.toFixed(1)},${y.toFixed(1)}) scale(${by.toFixed(3)})` : "scale(0)");
  });
}
