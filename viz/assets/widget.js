// What all widgets of frames use: elements, keys, buttons.
function make(tag, className, parent) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (parent) parent.append(element);
  if (["button", "input", "section"].includes(tag)) mine(element);
  return element;
}

// JupyterLab leaves the keys to the focused element only if that very element says so.
function mine(element) {
  element.setAttribute("data-lm-suppress-shortcuts", "true");
}

function button(sign, label, parent, action) {
  const b = make("button", "", parent);
  b.type = "button";
  b.textContent = sign;
  b.setAttribute("aria-label", label);
  b.title = label;
  b.addEventListener("click", action);
  return b;
}

// Words in both languages, each marked with its own; halves that are the same are written once.
function say(parent, pair, tag = "span") {
  if (!pair) return parent;
  const halves = pair[0] === pair[1] ? [[null, pair[0]]] : [["en", pair[0]], ["zh", pair[1]]];
  halves.forEach(([lang, text], i) => {
    if (i) parent.append(" ");
    const part = make(tag, "", parent);
    if (lang) part.lang = lang;
    part.textContent = text;
  });
  return parent;
}

// Buttons, a slider, a counter and the keys that go from step to step, or play them all. The widget
// says where it is (`at`, `last`) and goes there (`show`).
function stepper(controls, labels, title, pace, { at, last, show }) {
  let timer = null;
  const go = (to) => show(Math.max(0, Math.min(last(), to)));
  const stop = () => {
    clearInterval(timer);
    timer = null;
    playing.textContent = "▶";
  };
  const play = () => {
    if (timer) return stop();
    if (at() === last()) go(0);
    playing.textContent = "‖";
    timer = setInterval(() => (at() < last() ? go(at() + 1) : stop()), pace);
  };
  button("|←", labels.first, controls, () => go(0));
  button("←", labels.back, controls, () => go(at() - 1));
  const playing = button("▶", labels.play, controls, play);
  button("→", labels.forward, controls, () => go(at() + 1));
  button("→|", labels.last, controls, () => go(last()));
  const slider = make("input", "", controls);
  slider.type = "range";
  slider.min = 0;
  slider.setAttribute("aria-label", title);
  slider.addEventListener("input", () => go(Number(slider.value)));
  const counter = make("output", "", controls);
  return {
    go,
    keys: {
      ArrowRight: () => go(at() + 1),
      ArrowLeft: () => go(at() - 1),
      Home: () => go(0),
      End: () => go(last()),
      " ": play,
    },
    tell(said, place) {
      slider.max = last();
      slider.value = at();
      slider.setAttribute("aria-valuetext", `${at()}: ${said}`);
      counter.textContent = place || `${at()} / ${last()}`;
    },
    leave: () => clearInterval(timer),
  };
}

function region(element, label) {
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", label);
}

// Inputs that the reader moves; in a saved page there is no kernel that could follow. The widget says
// what it knows without the kernel. Returns what moves them to where the inputs are that are shown.
function movable(model, { sliders, labels, words }, parent, known = () => false) {
  region(parent, labels.inputs);
  const fields = sliders.map((about) => {
    const field = make("label", "", parent);
    say(make("span", "", field), Array.isArray(about.label) ? about.label : [about.label, about.label]);
    const input = make("input", "", field);
    input.type = "range";
    for (const name of ["min", "max", "step"]) {
      input[name] = about[{ min: "low", max: "high", step: "step" }[name]];
    }
    input.value = about.value;
    const shown = make("output", "", field);
    const show = (value) => { shown.textContent = Number(Number(value).toPrecision(4)); };
    show(about.value);
    input.disabled = !(model.widget_manager || model.kept);
    input.addEventListener("input", () => {
      show(input.value);
      const values = fields.map((f) => Number(f.input.value));
      if (known(values)) return;
      model.set("inputs", values);
      model.save_changes();
    });
    return { input, show };
  });
  if (fields.length && fields[0].input.disabled) say(make("span", "mg-note", parent), words.need_kernel);
  return (values) => {
    if (parent.contains(document.activeElement)) return; // the reader moves them now
    fields.forEach(({ input, show }, i) => {
      input.value = values[i];
      show(values[i]);
    });
  };
}

// What the keys do in a widget, but for those that a button or a field in it wants for itself.
function listen(root, keys) {
  root.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { tagName, type } = event.target;
    const move = keys()[event.key];
    const pressed = ["BUTTON", "SUMMARY"].includes(tagName) || type === "checkbox";
    if (!move || (event.key === " " ? pressed : tagName === "INPUT")) return;
    event.preventDefault();
    event.stopPropagation();
    move();
  });
}
