// The language switch: three buttons that set data-mg-language on their notebook.
const CHOICES = [
  ["en", ["English"]],
  ["zh", [null, "中文"]],
  ["both", ["English + ", "中文"]],
];

// Words in both languages, each marked with its own, whatever the page shows.
function write(parent, [english, chinese]) {
  for (const [lang, text] of [["en", english], ["zh", chinese]]) {
    if (!text) continue;
    const part = document.createElement("span");
    part.lang = lang;
    part.textContent = text;
    parent.append(part);
  }
}

// The kernel sends the Chinese font once a page; only then do the style rules name it.
function loadFont(model) {
  const page = document.documentElement;
  if (page.dataset.mgFont) return;
  model.on("msg:custom", async (message, buffers) => {
    if (message.kind !== "font" || page.dataset.mgFont) return;
    // Chinese goes first: bold text that names it last was seen to keep the boxes of other fonts.
    for (const [name, ranges] of [
      ["Noto Sans SC", {}],
      ["Noto Han", { unicodeRange: "U+2E80-9FFF, U+FF00-FFEF" }],
    ])
      document.fonts.add(await new FontFace(name, buffers[0], ranges).load());
    page.dataset.mgFont = "loaded";
  });
  model.send({ kind: "font" });
}

function render({ model, el }) {
  const group = document.createElement("fieldset");
  group.className = "mg-language";
  const legend = document.createElement("legend");
  write(legend, model.get("label"));
  group.append(legend);
  const buttons = CHOICES.map(([code, words]) => {
    const button = document.createElement("button");
    button.type = "button";
    write(button, words);
    button.dataset.code = code;
    button.addEventListener("click", () => {
      model.set("language", code);
      model.save_changes();
    });
    group.append(button);
    return button;
  });
  const show = () => {
    const language = model.get("language");
    const page = el.closest(".jp-Notebook, .jp-NotebookPanel") ?? document.body;
    page.dataset.mgLanguage = language;
    for (const b of buttons) b.setAttribute("aria-pressed", String(b.dataset.code === language));
  };
  model.on("change:language", show);
  el.append(group);
  requestAnimationFrame(show); // the view is in the page only then
  setTimeout(show, 50);
  loadFont(model);
  return () => model.off("change:language", show);
}

export default { render };
