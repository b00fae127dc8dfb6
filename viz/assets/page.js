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

// In place of the kernel's model: the values that the page holds, those kept for other inputs or the
// program that computes them.
function modelOf(values, make) {
  const { kept = [], fill, ...held } = values;
  let last = { data: { trouble: "", ...held.data }, index: held.index, program: 0 };
  const positions = kept.map(({ inputs, change }) => ({ ...(last = patched(last, change)), inputs }));
  const compute = fill && recomputing(positions, fill, make());
  const listeners = {};
  const tell = (name) => (listeners[`change:${name}`] ?? []).forEach((listener) => listener());
  return {
    kept: kept.length > 0, // the sliders can be moved
    get: (name) => held[name],
    set(name, value) {
      held[name] = value;
      if (name !== "inputs") return;
      const far = ({ inputs }) => inputs.reduce((sum, x, i) => sum + Math.abs(x - value[i]), 0);
      const nearest = () => positions.reduce((best, other) => (far(other) < far(best) ? other : best));
      const found = compute?.(value) ?? nearest();
      Object.assign(held, { data: found.data, index: found.index });
      if (held.data.scenes) held.data.scenes.at(-1).inputs = found.inputs ?? value;
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
    if (text.parentElement.closest("h1")) text.data = text.data.replace(/ (?== )|(?<=[ \u00a0]=) |(?<=\d) (?=项)/g, "\u00a0");
    if (!text.parentElement.closest("pre, code, script, style, svg")) text.data = text.data.replace(/ (?=[%✗!*](?:[ ,，。；]|$))|(?<= [*]) /g, "\u00a0");
  }
}

function openPage(widget, packed, make) {
  tie(document.body);
  const { titles, ...values } = unpacked(packed);
  languages(document.getElementById("languages"), titles);
  document.body.classList.toggle("mg-plays", Boolean(values.data?.frames && !values.data.still)); // before it looks for room
  if (widget) widget.render({ model: modelOf(values, make), el: document.getElementById("page") });
}
