// Training: curves that grow. The kernel sends the curves; this file draws them.
const NS = "http://www.w3.org/2000/svg";
const COLORS = ["--mg-c1", "--mg-c2", "--mg-c3", "--mg-c4", "--mg-c5", "--mg-c6"];
const DASHES = ["none", "8 4", "2 3", "10 3 2 3", "4 4", "1 4"];
const NONE = "NaN/∞"; // what cannot be drawn
const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [460, 220, 56, 136, 12, 30];

// A number in few characters, however small or large it is.
function short(v) {
  const size = Math.abs(v);
  return size && (size < 1e-3 || size >= 1e5) ? v.toExponential(1) : String(Number(v.toPrecision(3)));
}

// The end of a long name: layers differ there.
function clip(name) {
  const letters = [...name];
  return letters.length > 14 ? `…${letters.slice(-13).join("")}` : name;
}

function svg(tag, attributes, parent) {
  const element = document.createElementNS(NS, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
}

// One chart: a title, axes with their ends, and a line for each curve with its name at the end.
function chart(key, { words, labels }, series, logarithmic, parent) {
  if (!series.length) return;
  const figure = make("figure", "mg-curves", parent);
  const caption = make("figcaption", "", figure);
  caption.innerHTML = words[key];
  const values = series.flatMap((s) => s.points.map((p) => p[1])).filter((v) => v !== null);
  const last = Math.max(1, ...series.map((s) => s.points.at(-1)[0]));
  const log = logarithmic && values.length > 0 && values.every((v) => v > 0);
  const map = log ? Math.log10 : (v) => v;
  if (log) make("small", "", caption).innerHTML = words.train_log;
  let [low, high] = [Math.min(...values.map(map)), Math.max(...values.map(map))];
  if (!values.length) [low, high] = [0, 1];
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const x = (i) => LEFT + ((WIDTH - LEFT - RIGHT) * i) / last;
  const y = (v) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (map(v) - low)) / (high - low);
  const ends = series.map((s) => `${s.name} ${s.points.at(-1)[1] ?? NONE}`);
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" }, figure);
  drawing.setAttribute("aria-label", `${labels[key]}: ${ends.join(", ")}`);
  svg("path", { d: `M${LEFT},${TOP}V${HEIGHT - BOTTOM}H${WIDTH - RIGHT}`, class: "mg-axis" }, drawing);
  const back = (t) => (log ? 10 ** t : t);
  for (const [t, at] of [[low, HEIGHT - BOTTOM], [high, TOP + 8]]) {
    svg("text", { x: LEFT - 4, y: at, "text-anchor": "end" }, drawing).textContent = short(back(t));
  }
  svg("text", { x: LEFT, y: HEIGHT - 10 }, drawing).textContent = "0";
  svg("text", { x: WIDTH - RIGHT, y: HEIGHT - 10, "text-anchor": "end" }, drawing).textContent = last;
  svg("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 10, "text-anchor": "middle" }, drawing).innerHTML = words.train_step;
  const names = series.map((s, k) => ({ k, s, y: y(s.points.findLast((p) => p[1] !== null)?.[1] ?? (log ? 10 ** low : low)) }));
  names.sort((a, b) => a.y - b.y);
  names.forEach((n, i) => {
    if (i) n.y = Math.max(n.y, names[i - 1].y + 14); // no name on another
  });
  for (const { k, s, y: height } of names) {
    const dash = DASHES[(k + Math.floor(k / COLORS.length)) % DASHES.length]; // the pairs differ
    const style = `stroke: var(${COLORS[k % COLORS.length]}); stroke-dasharray: ${dash}`;
    let d = "";
    let pen = "M";
    for (const [i, v] of s.points) {
      if (v === null) pen = "M"; // a gap where there is no number
      else {
        d += `${pen}${x(i).toFixed(1)},${y(v).toFixed(1)}`;
        pen = "L";
      }
    }
    svg("path", { d, class: "mg-curve", style }, drawing);
    svg("path", { d: `M${WIDTH - RIGHT + 4},${height}h18`, class: "mg-curve", style }, drawing);
    svg("text", { x: WIDTH - RIGHT + 26, y: height + 4 }, drawing).textContent =
      s.points.at(-1)[1] === null ? `${clip(s.name)} ${NONE}` : clip(s.name);
  }
}

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
    const data = model.get("data");
    root.setAttribute("aria-label", data.labels.train_loss);
    status.innerHTML = data.status;
    bar.setAttribute("aria-label", data.labels.train_progress);
    if (data.total === null && data.state === "running") bar.removeAttribute("value");
    else {
      bar.max = data.total ?? 1;
      bar.value = data.total === null ? 1 : data.done;
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
      for (const p of [s.points[0], s.points.at(-1)]) make("td", "", line).textContent = `${p[0]}: ${p[1] ?? NONE}`;
    }
  };
  model.on("change:data", paint);
  paint();
  return () => model.off("change:data", paint);
}

export default { render };
