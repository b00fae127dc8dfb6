// Training: curves that grow. The kernel sends the curves; this file draws them.
const COLORS = 5; // --mg-c0, --mg-c1, …
const NONE = "NaN/∞"; // what cannot be drawn
const [HEIGHT, LEFT, TOP, BOTTOM] = [210, 52, 14, 34];
const [LEAD, LINE, ASIDE] = [12, 16, 0.45]; // to a name, from name to name, px; part of the width for names
const [THIN, HALO, NEAR] = [1.8, 4, 0.01]; // of a curve; more for one that another covers, nearer than this part

/** A number in few characters, however small or large it is. @param {number} v */
function short(v) {
  const size = Math.abs(v);
  return size && (size < 1e-3 || size >= 1e5) ? v.toExponential(1) : String(Number(v.toPrecision(3)));
}

/**
 * One chart: a title, axes with their ends, a curve for each series, with its name where it ends.
 * @param {TrainChart} about @param {TrainData} data @param {Element} figure
 */
function chart({ title, log: logarithmic, series }, { words }, figure) {
  const caption = say(make("figcaption", "", figure), title);
  const values = series.flatMap((s) => s.points.flatMap(([, v]) => (v == null ? [] : [v])));
  const last = Math.max(1, ...series.map((s) => latestOf(s)[0]));
  const log = logarithmic && values.length > 0 && values.every((v) => v > 0);
  const map = (/** @type {number} */ v) => (log ? Math.log10(v) : v);
  if (log) say(make("small", "", caption), [` ${words.train_log[0]}`, ` ${words.train_log[1]}`]);
  let [low, high] = [Math.min(...values.map(map)), Math.max(...values.map(map))];
  if (!values.length) [low, high] = [0, 1];
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const wide = Math.max(240, figure.clientWidth); // one unit is one pixel
  const drawing = shape("svg", { viewBox: `0 0 ${wide} ${HEIGHT}`, width: wide, role: "img" }, figure);
  drawing.setAttribute("aria-label", `${halves(title)}: ${series.map((s) => `${s.name} ${newest(s)}`).join(", ")}`);
  const names = series.map((one) => named(one, drawing, wide * ASIDE));
  const right = wide - LEAD - 4 - Math.max(...names.map((name) => name.getComputedTextLength()));
  const x = (/** @type {number} */ i) => LEFT + ((right - LEFT) * i) / last;
  const y = (/** @type {number} */ v) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (map(v) - low)) / (high - low);
  shape("path", { d: `M${LEFT},${TOP}V${HEIGHT - BOTTOM}H${right}`, class: "mg-axis" }, drawing);
  const back = (/** @type {number} */ t) => (log ? 10 ** t : t);
  for (const [t, at] of [[low, HEIGHT - BOTTOM], [(low + high) / 2, (HEIGHT - BOTTOM + TOP) / 2], [high, TOP]]) {
    if (t !== low) shape("path", { d: `M${LEFT},${at}H${right}`, class: "mg-grid" }, drawing);
    shape("text", { x: LEFT - 6, y: at + 4, "text-anchor": "end" }, drawing).textContent = short(back(t));
  }
  shape("text", { x: LEFT, y: HEIGHT - 14 }, drawing).textContent = "0";
  shape("text", { x: right, y: HEIGHT - 14, "text-anchor": "end" }, drawing).textContent = String(last);
  const step = shape("text", { x: (LEFT + right) / 2, y: HEIGHT - 14, "text-anchor": "middle" }, drawing);
  words.train_step.forEach((half, i) => {
    shape("tspan", { lang: ["en", "zh"][i] }, step).textContent = i ? ` ${half}` : half;
  });
  const ends = series.map((one) => {
    const [i, v] = one.points.findLast(([, value]) => value != null) ?? [0, back(low)];
    return [x(i), y(Number(v))];
  });
  const heights = apart(ends.map((end) => end[1]));
  series.forEach((one, k) => {
    const width = THIN + HALO * series.slice(k + 1).filter((other) => covers(other, one, map, NEAR * (high - low))).length;
    const style = `stroke: var(--mg-c${k % COLORS}); stroke-width: ${width}`;
    shape("path", { d: line(one.points, x, y), class: "mg-curve", style }, drawing);
    const to = `M${ends[k].join(",")}L${right + LEAD - 3},${heights[k]}`;
    shape("path", { d: to, class: "mg-curve mg-lead", style: `stroke: var(--mg-c${k % COLORS})` }, drawing);
    names[k].setAttribute("x", String(right + LEAD));
    names[k].setAttribute("y", String(heights[k] + 4));
  });
}

/**
 * The name of a curve and its newest number; of a long name the end, in which it differs from others.
 * @param {Series} one @param {Element} drawing @param {number} room
 */
function named(one, drawing, room) {
  const text = shape("text", { class: "mg-curve-name" }, drawing);
  shape("title", {}, text).textContent = one.name;
  const name = shape("tspan", {}, text);
  const value = shape("tspan", { class: "mg-newest" }, text);
  name.textContent = one.name;
  value.textContent = ` ${newest(one)}`;
  for (let cut = 1; text.getComputedTextLength() > room && cut < one.name.length; cut += 1) {
    name.textContent = `…${one.name.slice(cut)}`;
  }
  return text;
}

/** Heights moved apart, in their order, so that names do not overlap. @param {number[]} heights */
function apart(heights) {
  const order = [...heights.keys()].sort((a, b) => heights[a] - heights[b]);
  const found = [...heights];
  let least = TOP;
  for (const k of order) least = (found[k] = Math.max(heights[k], least)) + LINE;
  let most = HEIGHT - BOTTOM + 12;
  for (const k of order.reverse()) most = (found[k] = Math.min(found[k], most)) - LINE;
  return found;
}

/**
 * Whether a curve, drawn later, runs where another runs, which then has to show on both sides of it.
 * @param {Series} one @param {Series} other @param {(v: number) => number} map @param {number} near
 */
function covers(one, other, map, near) {
  const known = new Map(other.points);
  const same = one.points.filter(([i, v]) => {
    const there = known.get(i);
    return v != null && there != null && Math.abs(map(v) - map(there)) <= near;
  });
  return same.length > other.points.length / 2;
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
  const charts = make("div", "mg-charts", root);
  const details = make("details", "", root);
  const summary = make("summary", "", details);
  const table = make("table", "mg-table", details);
  const draw = () => {
    /** @type {TrainData} */
    const data = model.get("data");
    charts.replaceChildren();
    const figures = data.charts.map(() => make("figure", "mg-curves", charts)); // all, so that each has its width
    data.charts.forEach((one, k) => chart(one, data, figures[k]));
  };
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
    draw();
    summary.replaceChildren();
    say(summary, data.words.table);
    table.replaceChildren();
    for (const s of data.charts.flatMap(({ series }) => series)) {
      const line = make("tr", "", table);
      make("th", "", line).textContent = s.name;
      for (const p of [s.points[0], latestOf(s)]) make("td", "", line).textContent = `${p[0]}: ${p[1] ?? NONE}`;
    }
  };
  let wide = 0;
  const sized = new ResizeObserver(() => {
    if (charts.clientWidth !== wide) draw();
    wide = charts.clientWidth;
  });
  model.on("change:data", paint);
  paint();
  wide = charts.clientWidth;
  sized.observe(charts);
  return () => {
    sized.disconnect();
    model.off("change:data", paint);
  };
}

export default { render };
