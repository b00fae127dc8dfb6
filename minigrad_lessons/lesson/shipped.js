// A shipped graph: a field and a slider for each number that goes in, a table of what comes out.
// The page begins with the program: `make`.

const STYLE = `.mg-shipped { display: flex; flex-wrap: wrap; gap: 24px; align-items: flex-start; }
.mg-shipped h2 { font-size: 16px; margin: 8px 0; }
.mg-shipped label { display: flex; gap: 8px; align-items: center; min-height: 32px; }
.mg-shipped input[type=number] { width: 6em; font: inherit; }
.mg-shipped textarea { width: min(60ch, 90vw); font: inherit; }
.mg-shipped td { text-align: right; padding: 2px 8px; font-variant-numeric: tabular-nums; }`;
const ROOM = 16; // numbers that get a slider each; more are pasted into one field
const shown = (x) => Number(x.toPrecision(4)).toString();

function add(parent, tag, attributes = {}, content = "") {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (Array.isArray(content)) content.forEach((text, i) => add(made, "span", { lang: ["en", "zh"][i] }, text));
  else made.textContent = content;
  parent.append(made);
  return made;
}

function render({ model, el }) {
  const { texts, start } = model.get("data");
  const net = make(), fields = new Map();
  add(el, "style", {}, STYLE);
  const root = add(el, "div", { class: "mg-shipped mg-shown" });
  const inputs = add(root, "form"), results = add(root, "div", { "aria-live": "polite" });
  add(inputs, "h2", {}, texts.inputs);
  net.feeds.forEach(({ name, shape, dtype }, k) => {
    const group = add(inputs, "fieldset");
    add(group, "legend", {}, `${name} [${shape.join(" × ")}]`);
    if (start[k].length > ROOM) {
      fields.set(name, add(group, "textarea", { rows: 6, "aria-label": name }));
      fields.get(name).value = start[k].join(" ");
      return;
    }
    const whole = !dtype.startsWith("float"), far = Math.max(2, ...start[k].map((x) => 2 * Math.abs(x)));
    fields.set(name, start[k].map((x, i) => {
      const row = add(group, "label"), step = whole ? 1 : far / 100;
      add(row, "span", {}, start[k].length > 1 ? `${name}[${i}]` : name);
      const slider = add(row, "input", { type: "range", min: whole ? 0 : -far, max: far, step, value: x });
      const field = add(row, "input", { type: "number", step: "any", value: x, "aria-label": `${name}[${i}]` });
      slider.setAttribute("aria-label", `${name}[${i}]`);
      slider.addEventListener("input", () => { field.value = shown(Number(slider.value)); });
      field.addEventListener("input", () => { slider.value = field.value; });
      return field;
    }));
  });
  const numbers = (field) => Array.isArray(field) ? field.map((one) => Number(one.value))
    : field.value.split(/[\s,;\[\]]+/).filter(Boolean).map(Number);
  const show = () => {
    results.replaceChildren();
    add(results, "h2", {}, texts.outputs);
    try {
      const feeds = Object.fromEntries([...fields].map(([name, field]) => [name, numbers(field)]));
      net.run(feeds).forEach((values, k) => table(net.outputs[k], values));
    } catch (error) {
      add(results, "p", { role: "alert" }, texts.wrong);
      add(results, "code", {}, error.message);
    }
  };
  const table = ({ name, shape }, values) => {
    const made = add(results, "table"), columns = shape.at(-1) ?? 1;
    add(made, "caption", {}, `${name} [${shape.join(" × ")}]`);
    for (let i = 0; i < values.length; i += columns) {
      const row = add(made, "tr");
      for (const x of values.slice(i, i + columns)) add(row, "td", {}, shown(x));
    }
  };
  inputs.addEventListener("input", show);
  inputs.addEventListener("submit", (event) => event.preventDefault());
  show();
}

export default { render };
