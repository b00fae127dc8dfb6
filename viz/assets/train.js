// Training: curves that grow. The kernel sends the curves; this file draws them.
const COLORS = 7; // --mg-c0, --mg-c1, …
const DASHES = ["none", "8 4", "2 3", "10 3 2 3", "4 4", "1 4"];
const NONE = "NaN/∞"; // what cannot be drawn
const [WIDEST, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [460, 220, 56, 16, 12, 34];

/** A number in few characters, however small or large it is. @param {number} v */
function short(v) {
  const size = Math.abs(v);
  return size && (size < 1e-3 || size >= 1e5) ? v.toExponential(1) : String(Number(v.toPrecision(3)));
}

/**
 * One chart: a title, axes with their ends, a line for each curve, and beneath it the whole names.
 * @param {string} key @param {TrainData} data @param {Series[]} series @param {boolean} logarithmic
 * @param {Element} parent
 */
function chart(key, { words, labels }, series, logarithmic, parent) {
  if (!series.length) return;
  const figure = make("figure", "mg-curves", parent);
  figure.tabIndex = 0; // it pans where it is narrow
  const wide = Math.min(WIDEST, figure.clientWidth || WIDEST); // one unit is one pixel
  const caption = make("figcaption", "", figure);
  caption.innerHTML = words[key];
  const values = series.flatMap((s) => s.points.flatMap(([, v]) => (v == null ? [] : [v])));
  const last = Math.max(1, ...series.map((s) => latestOf(s)[0]));
  const log = logarithmic && values.length > 0 && values.every((v) => v > 0);
  const map = (/** @type {number} */ v) => (log ? Math.log10(v) : v);
  if (log) make("small", "", caption).innerHTML = words.train_log;
  let [low, high] = [Math.min(...values.map(map)), Math.max(...values.map(map))];
  if (!values.length) [low, high] = [0, 1];
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const x = (/** @type {number} */ i) => LEFT + ((wide - LEFT - RIGHT) * i) / last;
  const y = (/** @type {number} */ v) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (map(v) - low)) / (high - low);
  const ends = series.map((s) => `${s.name} ${latestOf(s)[1] ?? NONE}`);
  const drawing = shape("svg", { viewBox: `0 0 ${wide} ${HEIGHT}`, width: wide, role: "img" }, figure);
  drawing.setAttribute("aria-label", `${labels[key]}: ${ends.join(", ")}`);
  shape("path", { d: `M${LEFT},${TOP}V${HEIGHT - BOTTOM}H${wide - RIGHT}`, class: "mg-axis" }, drawing);
  const back = (/** @type {number} */ t) => (log ? 10 ** t : t);
  for (const [t, at] of [[low, HEIGHT - BOTTOM], [high, TOP + 8]]) {
    shape("text", { x: LEFT - 4, y: at, "text-anchor": "end" }, drawing).textContent = short(back(t));
  }
  shape("text", { x: LEFT, y: HEIGHT - 14 }, drawing).textContent = "0";
  shape("text", { x: wide - RIGHT, y: HEIGHT - 14, "text-anchor": "end" }, drawing).textContent = String(last);
  shape("text", { x: (LEFT + wide - RIGHT) / 2, y: HEIGHT - 14, "text-anchor": "middle" }, drawing).innerHTML = words.train_step;
  const names = make("ul", "mg-names", figure);
  series.forEach((one, k) => {
    const dash = DASHES[(k + Math.floor(k / COLORS)) % DASHES.length]; // the pairs differ
    const style = `stroke: var(--mg-c${k % COLORS}); stroke-dasharray: ${dash}`;
    shape("path", { d: line(one.points, x, y), class: "mg-curve", style }, drawing);
    const name = make("li", "", names);
    const key = shape("svg", { viewBox: "0 0 28 8", width: 28, height: 8, "aria-hidden": "true" }, name);
    shape("path", { d: "M0,4h28", class: "mg-curve", style }, key);
    make("span", "", name).textContent = one.name;
    make("b", "", name).textContent = newest(one);
  });
}

/** @param {Series} series */
const latestOf = ({ points }) => points[points.length - 1];

/** @param {Series} series */
function newest(series) {
  const [, value] = latestOf(series);
  return value == null ? NONE : short(value);
}

/**
 * The path of a curve, with a gap where there is no number.
 * @param {Series["points"]} points @param {(i: number) => number} x @param {(v: number) => number} y
 */
function line(points, x, y) {
  let pen = "M";
  let d = "";
  for (const [i, v] of points) {
    if (v != null) d += `${pen}${x(i).toFixed(1)},${y(v).toFixed(1)}`;
    pen = v == null ? "M" : "L";
  }
  return d;
}

/** @param {{model: Model, el: HTMLElement}} view */
function render({ model, el }) {
  const root = make("section", "mg-player mg-train", el);
  const status = make("div", "mg-caption", root);
  const bar = make("progress", "", root);
  const times = make("div", "mg-times", root);
  const charts = make("div", "mg-stage", root);
  const details = make("details", "", root);
  const summary = make("summary", "", details);
  const table = make("table", "mg-table", details);
  const paint = () => {
    /** @type {TrainData} */
    const data = model.get("data");
    root.setAttribute("aria-label", data.labels.train_loss);
    status.innerHTML = data.status;
    bar.setAttribute("aria-label", data.labels.train_progress);
    if (data.total == null && data.state === "running") bar.removeAttribute("value");
    else {
      bar.max = data.total ?? 1;
      bar.value = data.total == null ? 1 : data.done;
    }
    times.innerHTML = data.times;
    charts.replaceChildren();
    chart("train_loss", data, data.series, false, charts);
    chart("train_norms", data, data.norms, true, charts);
    summary.innerHTML = data.words.table;
    table.replaceChildren();
    for (const s of [...data.series, ...data.norms]) {
      const line = make("tr", "", table);
      make("th", "", line).textContent = s.name;
      for (const p of [s.points[0], latestOf(s)]) make("td", "", line).textContent = `${p[0]}: ${p[1] ?? NONE}`;
    }
  };
  model.on("change:data", paint);
  paint();
  return () => model.off("change:data", paint);
}

export default { render };
