// The language switch: three buttons that set data-mg-language on their notebook.
const CHOICES = [["en", "English"], ["zh", "中文"], ["both", "English + 中文"]];

function loadFont(model) {
  if ([...document.fonts].some((f) => f.family.includes("Noto Sans SC"))) return;
  model.on("msg:custom", (message, buffers) => {
    if (message.kind !== "font") return;
    const face = new FontFace("Noto Sans SC", buffers[0]);
    document.fonts.add(face);
    face.load();
  });
  model.send({ kind: "font" });
}

function render({ model, el }) {
  const group = document.createElement("fieldset");
  group.className = "mg-language";
  const legend = document.createElement("legend");
  legend.textContent = model.get("label");
  group.append(legend);
  const buttons = CHOICES.map(([code, word]) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = word;
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
