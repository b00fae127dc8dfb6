// What a saved page does by itself: its language, and the widget in it, which has no kernel.
const LANGUAGES = [["en", "English"], ["zh", "中文"], ["both", "English + 中文"]];

// The buttons of the languages, which also change the title of the page.
function languages(parent, titles) {
  const group = document.createElement("fieldset");
  group.className = "mg-language";
  group.setAttribute("aria-label", "Language / 语言");
  const buttons = LANGUAGES.map(([code, words], i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.lang = code === "zh" ? "zh-Hans" : "en";
    button.addEventListener("click", () => {
      document.body.dataset.mgLanguage = code;
      document.documentElement.lang = button.lang;
      document.title = titles[i];
      mark();
    });
    group.append(button);
    return button;
  });
  const mark = () => buttons.forEach((button, i) => {
    button.setAttribute("aria-pressed", String(LANGUAGES[i][0] === document.body.dataset.mgLanguage));
  });
  mark();
  parent.append(group);
}

// A number as Python's format writes it with so many digits ("{:.4g}"); 0: a whole one.
function formatted(value, digits) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value < 0 ? "-∞" : "∞";
  if (!digits) return String(value);
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const exact = value.toExponential(100).split("e");
  const end = exact[0].indexOf(".") + digits; // where the digits that are not written begin
  const half = /^50*$/.test(exact[0].slice(end)) && /[02468]\.?$/.test(exact[0].slice(0, end));
  const [shown, power] = half ? [exact[0].slice(0, end), exact[1]] : value.toExponential(digits - 1).split("e");
  const short = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (power < -4 || power >= digits) return `${short(shown)}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  return short(Number(`${shown}e${power}`).toFixed(digits - 1 - power));
}

// What the page shows for these inputs, by the program that computes all numbers in it.
function recomputed({ text, holes, sizes }, program, inputs) {
  const feeds = {};
  let from = 0;
  program.feeds.forEach(({ name }, i) => { feeds[name] = inputs.slice(from, from += sizes[i]); });
  const numbers = program.run(feeds);
  return JSON.parse(text.replace(/\x01(\d+)\x01/g, (_, hole) => {
    const [output, element, digits] = holes[hole];
    return formatted(numbers[output][element], digits);
  }));
}

// In place of the kernel's model: the values that the page holds, those kept for other inputs or the
// program that computes them.
function modelOf(values, make) {
  const { kept = [], fill, ...held } = values;
  const program = fill && make();
  const first = held.data;
  const listeners = {};
  const tell = (name) => (listeners[`change:${name}`] ?? []).forEach((listener) => listener());
  return {
    kept: kept.length > 0 || Boolean(fill), // the sliders can be moved
    get: (name) => held[name],
    set(name, value) {
      held[name] = value;
      if (name !== "inputs") return;
      if (fill) {
        held.data = { ...first, ...recomputed(fill, program, value) };
        tell("data");
        return;
      }
      const far = ({ inputs }) => inputs.reduce((sum, x, i) => sum + Math.abs(x - value[i]), 0);
      const near = kept.reduce((best, other) => (far(other) < far(best) ? other : best));
      held.data = { ...first, ...near.data };
      if (near.index !== undefined) held.index = near.index;
      tell("data");
    },
    save_changes() {},
    send() {},
    on(event, listener) { (listeners[event] ??= []).push(listener); },
    off(event, listener) {
      listeners[event] = (listeners[event] ?? []).filter((other) => other !== listener);
    },
  };
}

// What the page holds, each piece of it in place of its sign.
function unpacked(packed) {
  const [text, ...pieces] = packed.split("\n");
  return JSON.parse(text.replace(/[\ue000-\uf8ff]/g, (sign) => pieces[sign.charCodeAt(0) - 0xe000] ?? sign));
}

// No line ends before a sign that belongs to a number, or within a product.
function tie(root) {
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: text } = texts;
    if (!text.parentElement.closest("pre, code, script, style, svg")) text.data = text.data.replace(/ (?=[%✗!*](?:[ ,，。；]|$))|(?<= [*]) /g, "\u00a0");
  }
}

function openPage(widget, packed, make) {
  tie(document.body);
  const { titles, ...values } = unpacked(packed);
  languages(document.getElementById("languages"), titles);
  if (widget) widget.render({ model: modelOf(values, make), el: document.getElementById("page") });
}
