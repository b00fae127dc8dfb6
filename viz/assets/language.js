// The language switch: three buttons that set data-mg-language on their notebook.
const CHOICES = { en: ["English"], zh: [, "中文"], both: ["English + ", "中文"] };

// An element with words in both languages, each marked with its own, whatever the page shows.
function add(parent, tag, halves = []) {
  const made = document.createElement(tag);
  parent.append(made);
  halves.forEach((text, i) => {
    Object.assign(add(made, "span"), { lang: ["en", "zh"][i], textContent: text });
  });
  return made;
}

// The kernel sends the Chinese font once a page; only then do the style rules name it.
function loadFont(model) {
  const { dataset } = document.documentElement;
  if (dataset.mgFont) return;
  model.on("msg:custom", async (message, buffers) => {
    if (message.kind !== "font" || dataset.mgFont) return;
    // Chinese goes first: bold text that names it last was seen to keep the boxes of other fonts.
    for (const [name, ranges] of [
      ["Noto Sans SC", {}],
      ["Noto Han", { unicodeRange: "U+2E80-9FFF, U+FF00-FFEF" }],
    ])
      document.fonts.add(await new FontFace(name, buffers[0], ranges).load());
    dataset.mgFont = "loaded";
  });
  model.send({ kind: "font" });
}

function render({ model, el }) {
  const group = add(el, "fieldset");
  group.className = "mg-language";
  add(group, "legend", model.get("label"));
  const choose = (code) => {
    model.set("language", code);
    model.save_changes();
  };
  const buttons = Object.entries(CHOICES).map(([code, words]) => {
    const button = add(group, "button", words);
    button.type = "button";
    button.dataset.code = code;
    button.onclick = () => {
      model.set("guessed", false);
      choose(code);
    };
    return button;
  });
  const show = () => {
    const language = model.get("language");
    const page = el.closest(".jp-Notebook, body");
    if (page) page.dataset.mgLanguage = language;
    for (const b of buttons) b.setAttribute("aria-pressed", b.dataset.code === language);
  };
  model.on("change:language", show);
  if (model.get("guessed")) {
    // The reader's first language: JupyterLab's, if it speaks Chinese, or else the browser's.
    const { lang } = document.documentElement;
    choose(/\bzh/i.test(`${lang} ${navigator.language}`) ? "zh" : "en");
  }
  requestAnimationFrame(show); // the view is in the page only then
  setTimeout(show, 50);
  loadFont(model);
  return () => model.off("change:language", show);
}

export default { render };
