// What a saved page computes between the positions that it keeps: it learns from these what is said of
// which output of its program, and puts signs there. What is said of a value, and its picture, are
// those of viz/picture/summary.py and swatch.py.

/**
 * A number as Python's format writes it with so many digits ("{:.4g}"); 0: a whole one.
 * @param {number} value @param {number} digits
 */
function formatted(value, digits) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value < 0 ? "-∞" : "∞";
  if (!digits) return String(value);
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const exact = value.toExponential(100).split("e");
  const end = exact[0].indexOf(".") + digits; // where the digits that are not written begin
  const half = /^50*$/.test(exact[0].slice(end)) && /[02468]\.?$/.test(exact[0].slice(0, end));
  const [shown, power] = half ? [exact[0].slice(0, end), exact[1]] : value.toExponential(digits - 1).split("e");
  const short = (/** @type {string} */ text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (+power < -4 || +power >= digits) return `${short(shown)}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  return short(Number(`${shown}e${power}`).toFixed(digits - 1 - +power));
}

/**
 * What is said of an output: `x` its numbers, the next what is known of it, `said` whole sentences.
 * @param {number[]} x @param {ProgramOutput} known @param {Words} said @returns {Said}
 */
function summarized(x, { shape, dtype }, said) {
  const WRITTEN = 6; // numbers that a sentence writes out
  const [SHORT, BESIDE] = [18, 20]; // characters of several numbers in a card, and beneath its swatch
  const write = (/** @type {number} */ value, digits = 4) => (dtype === "bool" ? ["False", "True"][value] : formatted(value, dtype.startsWith("float") ? digits : 0));
  const list = (/** @type {number[]} */ values, digits = 4) => `[${Array.from(values, (value) => write(value, digits)).join(", ")}]`;
  /** @type {(key: string, fields: Record<string, any>) => Pair} */
  const sentence = (key, fields) => /** @type {Pair} */ (said[`summary_${key}`].map((half) => half.replace(/\{(\w+)\}/g, (_, name) => fields[name])));
  const size = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
  const wrong = x.reduce((count, value) => count + Number(!Number.isFinite(value)), 0);
  const [low, high] = [Math.min, Math.max].map((most) => x.reduce((a, b) => most(a, b), x[0])).map((found) => found || Math.abs(found));
  /** @type {() => [string, Pair]} */
  const summary = () => {
    const few = x.length === 1 ? write(x[0]) : shape.length === 1 && x.length <= 3 ? list(x) : "";
    if (x.length === 1 || (few && few.length <= SHORT)) return [few, [few, few]];
    if (!x.length) return ["∅", sentence("empty", { shape: size })];
    if (wrong) return ["NaN/∞", sentence("bad", { shape: size, bad: wrong })];
    if (low === high) return [`[${write(low)}, ${write(low)}, …]`, sentence("same", { shape: size, value: write(low) })];
    const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
    const fields = { shape: size, mean: formatted(mean, 3), low: formatted(low, 3), high: formatted(high, 3) };
    return [`${formatted(low, 2)} … ${formatted(high, 2)}`, sentence("array", fields)];
  };
  const written = (/** @type {number} */ digits) => {
    if (!x.length || x.length > WRITTEN || shape.length > 2) return "";
    if (shape.length < 2) return x.length === 1 ? write(x[0], digits) : list(x, digits);
    return `[${Array.from({ length: shape[0] }, (_, i) => list(x.slice(i * shape[1], (i + 1) * shape[1]), digits)).join(", ")}]`;
  };
  const [short, long] = summary();
  const text = written(4) || short;
  const few = [4, 3, 2].map(written).find((one) => one.length <= BESIDE) || text;
  const raster = rasterOf(x, shape, !dtype.startsWith("float"));
  const beside = raster ? (few.startsWith("[") && few.length <= BESIDE ? few : "") : short;
  const whole = text === short ? long : [text, text];
  const operand = text.includes(" ") && !"[(".includes(text[0]) ? `(${text})` : text;
  const decision = Number(dtype === "bool" && x.length === 1 ? x[0] : !wrong); // what must be the same for the same content
  return { short, long, raster, beside, bad: wrong > 0, decision, forms: { s: short, t: text, o: operand, b: beside, e: long[0], z: long[1], p: whole[0], q: whole[1] } };
}

/** Python's round: halves to the even neighbour. @param {number} x */
const toEven = (x) => (Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));

/** The means of at most `most` equal parts of rows, which are lists. @param {number[][]} rows @param {number} most */
function averaged(rows, most) {
  if (rows.length <= most) return rows;
  return Array.from({ length: most }, (_, i) => {
    const part = rows.slice(Math.floor((i * rows.length) / most), Math.floor(((i + 1) * rows.length) / most));
    return part[0].map((_, k) => part.reduce((sum, row) => sum + row[k], 0) / part.length);
  });
}
const turned = (/** @type {number[][]} */ rows) => rows[0].map((_, k) => rows.map((row) => row[k]));
/** @type {(rows: number[][], high: number, wide: number) => number[][]} */
const means = (rows, high, wide) => turned(averaged(turned(averaged(rows, high)), wide));

/**
 * The cells of a tensor of several numbers: bars, cells or tiles, with nothing in the gaps of these.
 * @param {number[]} x @param {number[]} shape @param {boolean} whole @returns {Raster | null}
 */
function rasterOf(x, shape, whole) {
  const [WIDE, HIGH, COLUMNS, ROWS, CELL, TILE] = [84, 28, 28, 14, 2, 8]; // as in swatch.py
  if (x.length < 2) return null;
  const split = (/** @type {number} */ wide) => Array.from({ length: x.length / wide }, (_, i) => Array.from(x.slice(i * wide, (i + 1) * wide)));
  const sides = shape.filter((n) => n > 1);
  if (sides.length < 2) return { kind: "b", cells: means(split(x.length), 1, COLUMNS), whole };
  const [high, wide] = shape.slice(-2);
  if (shape.length < 3 || high === 1 || wide === 1) return { kind: "c", cells: means(split(sides[sides.length - 1]), ROWS, COLUMNS), whole };
  const lines = split(wide);
  const matrices = Array.from({ length: lines.length / high }, (_, i) => lines.slice(i * high, (i + 1) * high));
  const count = matrices.length;
  /** @type {(rows: number, columns: number) => number} */
  const side = (rows, columns) => Math.min((HIGH - CELL * (rows - 1)) / rows / high, (WIDE - CELL * (columns - 1)) / columns / wide);
  let rows = [1, 2, 3].reduce((best, n) => (side(n, Math.ceil(count / n)) > side(best, Math.ceil(count / best)) ? n : best));
  let columns = Math.ceil(count / rows);
  if (side(rows, columns) * high < TILE) {
    rows = 3;
    columns = Math.max(1, Math.floor((WIDE + CELL) / (Math.min((TILE / high) * wide, WIDE) + CELL)));
  }
  const part = Math.max(1, CELL / side(rows, columns));
  const [down, across] = [Math.max(1, toEven(high / part)), Math.max(1, toEven(wide / part))];
  /** @type {Raster["cells"]} */
  const cells = Array.from({ length: rows * (down + 1) - 1 }, () => Array(columns * (across + 1) - 1).fill(undefined));
  matrices.slice(0, rows * columns).forEach((matrix, i) => means(matrix, down, across).forEach((line, k) => {
    cells[Math.floor(i / columns) * (down + 1) + k].splice((i % columns) * (across + 1), across, ...line);
  }));
  return { kind: "t", cells, whole };
}

/** Where colours are full: nearly all numbers are below, tensors weighted equally. @param {number[][]} tensors */
function sharedScale(tensors) {
  const ROBUST = 0.985;
  const sizes = tensors.flatMap((cells) => cells.map((value) => [Math.abs(value), 1 / cells.length])).sort((a, b) => a[0] - b[0]);
  if (!sizes.length) return 1;
  let total = 0;
  const reached = sizes.map(([, weight]) => (total += weight));
  const place = reached.findIndex((weight) => weight >= ROBUST * total);
  return sizes[Math.min(place, sizes.length - 1)][0] || 1;
}
const finite = (/** @type {Raster} */ { cells }) => /** @type {number[]} */ (cells.flat().filter(Number.isFinite));
const counted = (/** @type {Raster} */ raster) => (raster.whole ? [] : finite(raster));

/** The cells as text, a letter for each, after the kind and the number of columns. @param {Raster} raster @param {number} top */
function encoded({ kind, cells }, top) {
  const letters = "0123456789abcdefghijklmnopqrstu";
  const letter = (/** @type {number | undefined} */ value) => {
    if (value === undefined) return ".";
    if (!Number.isFinite(value)) return Number.isNaN(value) ? "N" : "I";
    const strength = Math.max(Number(value !== 0), toEven(15 * Math.sqrt(Math.min(Math.abs(value) / top, 1))));
    return letters[15 + (value > 0 ? strength : -strength)];
  };
  return `${kind}${cells[0].length}:${cells.flat().map(letter).join("")}`;
}

/** @type {(a: any, b: any) => boolean} */
const alike = (a, b) => a === b || (Object(a) === a && Object(b) === b && Object.keys(a).length === Object.keys(b).length
  && Object.keys(a).every((key) => alike(a[key], b[key])));

/** What a content says of a value, but for its colours, which depend on other values. @param {Said} said */
function colourless({ short, long, bad, beside, raster }) {
  const found = { short, ...(bad && { bad }), ...(long.some((half) => half !== short) && { long }) };
  if (!raster) return found;
  /** @type {(value: any) => string} */
  const plain = (value) => (Number.isFinite(value) ? formatted(value, 3) : Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf");
  const few = raster.kind !== "t" && raster.cells.length <= 6 && raster.cells[0].length <= 4;
  return { ...found, ...(beside !== short && { beside }), ...(few && { grid: raster.cells.map((line) => line.map(plain)) }) };
}

/**
 * A content with signs for what is said of outputs, from contents of several places and what is said
 * of each output there. Throws where a difference has no such reason.
 * @param {any[]} contents @param {Said[][]} outputs
 */
function learned(contents, outputs) {
  /** @type {() => never} */
  const unknown = () => { throw new RangeError("not computed"); };
  const forms = outputs.flatMap((summaries, k) => Object.keys(summaries[0].forms).map((form) => ({
    sign: `\x01${form}${k}\x01`,
    texts: summaries.map((summary) => summary.forms[form]),
  }))).filter(({ texts }) => texts.every(Boolean) && texts.some((text) => text !== texts[0]));
  forms.sort((a, b) => b.texts.join("").length - a.texts.join("").length);
  /** @type {Map<string, typeof forms>} */
  const begin = new Map();
  for (const form of forms) begin.set(form.texts[0][0], [...(begin.get(form.texts[0][0]) ?? []), form]);
  const sentence = (/** @type {string[]} */ texts) => {
    const at = texts.map(() => 0);
    let found = "";
    while (texts.some((text, j) => at[j] < text.length)) {
      const able = begin.get(texts[0][at[0]]) ?? [];
      const begins = able.length && texts.every((text, j) => !/[\w.]/.test(text[at[j] - 1] ?? ""));
      /** @type {(text: string, from: number) => boolean} */
      const ends = (text, from) => !/^(\d|\.\d|e[-+])/.test(text.slice(from, from + 2));
      const form = begins && able.find((one) => texts.every((text, j) =>
        text.startsWith(one.texts[j], at[j]) && ends(text, at[j] + one.texts[j].length)));
      const letter = texts[0][at[0]];
      if (!form && (letter === undefined || texts.some((text, j) => text[at[j]] !== letter))) unknown();
      found += form ? form.sign : letter;
      texts.forEach((_, j) => { at[j] += form ? form.texts[j].length : 1; });
    }
    return found;
  };
  /** @type {(held: any[], of: string) => any} */
  const value = (held, of) => {
    const { origin, drawn } = held[0];
    const told = held.map(({ swatch, top, origin: first, drawn: reduced, ...rest }) => rest);
    const output = outputs.findIndex((summaries) => summaries.every((summary, j) => alike(colourless(summary), told[j])));
    if (output < 0) return held.every((one) => alike(one, held[0])) ? held[0] : unknown();
    if (held.some((one) => one.origin !== origin)) unknown();
    return { computed: [output, of], ...(origin && { origin }), ...(drawn && { drawn }) };
  };
  /** @type {(each: any[], of: string) => any} */
  const learn = (each, of) => {
    const [first] = each;
    if (each.every((x) => x === first)) return first?.swatch ? value(each, of) : Object(first) === first ? inside(each, of) : first;
    if (each.every((x) => typeof x === "string")) return sentence(each);
    if (each.some((x) => Object(x) !== x || Object.keys(x).length !== Object.keys(first).length) && !("short" in Object(first))) unknown();
    return "short" in first ? value(each, of) : inside(each, of);
  };
  /** @type {(each: any[], of: string) => any} */
  const inside = (each, of) => {
    const { swatch, ...rest } = each[0];
    const flows = swatch !== undefined && "value" in rest; // along an arrow: its words, and its colours
    const parts = Object.keys(flows ? rest : each[0]).map((key) => [key, learn(each.map((x) => x[key]), key === "gradients" ? "grad" : of)]);
    if (Array.isArray(each[0])) return parts.map(([, part]) => part);
    if (!flows) return Object.fromEntries(parts);
    const output = outputs.findIndex((summaries) => summaries.every(({ raster, forms: { t } }, j) => raster && t === each[j].value));
    return { ...Object.fromEntries(parts), swatch: output < 0 ? unknown() : `\x01g${output}\x01` };
  };
  return learn(contents, "value");
}

/** A content with what is said of these outputs in place of its signs. @param {any} content @param {Said[]} outputs */
function completed(content, outputs) {
  /** @type {Record<string, number[][]>} */
  const tensors = { value: [], grad: [] };
  const collect = (/** @type {any} */ x) => {
    if (Object(x) !== x) return;
    const raster = x.computed && outputs[x.computed[0]].raster;
    if (raster) tensors[x.computed[1]].push(counted(raster));
    else Object.values(x).forEach(collect);
  };
  collect([content.nodes, content.values]);
  /** @type {Record<string, number>} */
  const tops = { value: sharedScale(tensors.value), grad: sharedScale(tensors.grad) };
  /** @type {(raster: Raster, top: number) => number} */
  const topOf = (raster, top) => (raster.whole ? Math.max(...finite(raster).map(Math.abs), 0) || 1 : top);
  /** @type {(said: Said, top: number) => { swatch: string, top: string } | null} */
  const coloured = ({ raster }, top) => raster && { swatch: encoded(raster, topOf(raster, top)), top: formatted(topOf(raster, top), 2) };
  /** @type {(sign: string, form: string, k: number) => string} */
  const text = (_, form, k) => (form === "g" ? coloured(outputs[k], tops.grad)?.swatch ?? "" : outputs[k].forms[form]);
  /** @type {(x: any) => any} */
  const fill = (x) => {
    if (typeof x === "string") return x.includes("\x01") ? x.replace(/\x01([a-z])(\d+)\x01/g, text) : x;
    if (Array.isArray(x)) return x.map(fill);
    if (Object(x) !== x) return x;
    const { computed, ...rest } = x;
    if (computed) return { ...colourless(outputs[computed[0]]), ...coloured(outputs[computed[0]], tops[computed[1]]), ...rest };
    return Object.fromEntries(Object.entries(x).map(([key, value]) => [key, fill(value)]));
  };
  return fill(content);
}

/**
 * What computes the content for some inputs: that of the kept places whose program and decisions (the
 * truth values in it) are the same, with other numbers. Nothing where too few are, or not all fit.
 * @param {KeptPlace[]} kept @param {{ said: Words }} words @param {Network[]} networks
 */
function recomputing(kept, { said }, networks) {
  const [LEAST, LEARNED] = [3, 8]; // places that show what changes, and of which it is learned, at most
  /** @type {(network: Network, inputs: number[]) => Said[] | undefined} */
  const run = (network, inputs) => {
    /** @type {Record<string, number[]>} */
    const feeds = {};
    let from = 0;
    for (const { name, shape } of network.feeds) feeds[name] = inputs.slice(from, from += shape.reduce((n, m) => n * m, 1));
    try {
      return network.run(feeds).map((x, k) => summarized(x, network.outputs[k], said));
    } catch {
      return undefined;
    }
  };
  /** @type {(program: number, outputs?: Said[]) => string} */
  const kind = (program, outputs) => `${program} ${outputs?.map(({ decision }) => decision).join("")}`;
  /** @type {Map<string, ShownPlace[]>} */
  const groups = new Map();
  for (const { inputs, program, ...shown } of kept) {
    const outputs = run(networks[program], inputs);
    const key = kind(program, outputs);
    if (outputs) groups.set(key, [...(groups.get(key) ?? []), { ...shown, outputs }]);
  }
  const templates = new Map();
  const learn = (/** @type {ShownPlace[]} */ places) => {
    if (places.length < LEAST || places.some(({ index }) => index !== places[0].index)) return undefined;
    try {
      for (let some = places.slice(0, LEAST); some.length <= LEARNED; ) {
        const content = learned(some.map(({ data }) => data), some[0].outputs.map((_, k) => some.map(({ outputs }) => outputs[k])));
        const other = places.find(({ data, outputs }) => !alike(completed(content, outputs), data));
        if (!other) return content;
        some = [...some, other];
      }
    } catch {
      // something changes for another reason
    }
    return undefined;
  };
  return (/** @type {number[]} */ inputs) => {
    for (const [program, network] of networks.entries()) {
      const outputs = run(network, inputs);
      const key = kind(program, outputs);
      const places = groups.get(key);
      if (!outputs || !places) continue;
      if (!templates.has(key)) templates.set(key, learn(places));
      const content = templates.get(key);
      return content && { data: completed(content, outputs), index: places[0].index };
    }
    return undefined;
  };
}

/**
 * A content after the changes of its parts, by their names, or of all of it: a list with the new one.
 * @param {any} old @param {any} change @returns {any}
 */
function patched(old, change) {
  if (Array.isArray(change)) return change[0];
  const made = Array.isArray(old) ? [...old] : { ...old };
  for (const [key, part] of Object.entries(change)) made[key] = patched(old[key], part);
  return made;
}
