// An extension of JupyterLab, in the form that its build would give: a notebook that has not run yet
// has no language switch, so its prose is shown in the language that the switch had last, or else in
// that of JupyterLab or the browser. On a phone the lists beside it are put away.
const KEY = "minigrad-language";

/** A phone is as wide as the list of files and its bar: there the notebook gets their room. */
function makeRoom({ commands, restored, shell }) {
  const narrow = matchMedia("(max-width: 700px)");
  const make = () => {
    if (!narrow.matches || !shell.isSideTabBarVisible) return; // Notebook 7 has no such bars
    if (!shell.leftCollapsed) shell.collapseLeft(); // either says that the layout changed, even if it didn't
    if (!shell.rightCollapsed) shell.collapseRight();
    for (const side of ["left", "right"])
      if (shell.isSideTabBarVisible(side)) commands.execute("application:toggle-side-tabbar", { side });
  };
  narrow.addEventListener("change", make);
  // JupyterLab opens the list of files when it starts, early or late: until the reader does something.
  restored.then(make);
  shell.layoutModified?.connect(make);
  const leave = () => shell.layoutModified?.disconnect(make);
  for (const act of ["pointerdown", "keydown"]) addEventListener(act, leave, { capture: true, once: true });
}

/** Start Python while the notebook that the address names is still on its way; it finds it running. */
async function startPython({ started, serviceManager: { sessions } }) {
  const path = new URLSearchParams(location.search).get("path"); // as the browser version has it
  if (!path?.endsWith(".ipynb")) return;
  await started;
  const name = path.split("/").pop();
  const session = await sessions.startNew({ name, path, type: "notebook", kernel: { name: "python" } });
  session.dispose(); // the notebook has a connection of its own, which widgets talk to
}

function activate(app) {
  makeRoom(app);
  startPython(app);
  const root = document.documentElement;
  const style = document.createElement("style");
  style.textContent = [["en", "zh"], ["zh", "en"]].map(([shown, hidden]) =>
    `[data-mg-reader="${shown}"] .jp-Notebook:not([data-mg-language]) [lang|="${hidden}"] { display: none; }`
  ).join("\n");
  document.head.append(style);
  const show = () => {
    const chinese = [root.lang, navigator.language].some((code) => /^zh/i.test(code));
    root.dataset.mgReader = localStorage.getItem(KEY) ?? (chinese ? "zh" : "en");
  };
  show();
  new MutationObserver((changes) => {
    for (const { target } of changes)
      if (target.dataset.mgLanguage) localStorage.setItem(KEY, target.dataset.mgLanguage);
    show(); // JupyterLab writes its own language late
  }).observe(root, { subtree: true, attributeFilter: ["data-mg-language", "lang"] });
}

const plugin = { id: "minigrad-lessons:language", autoStart: true, activate };
(window._JUPYTERLAB ??= {})["minigrad-lessons"] = {
  init() {},
  get: async () => () => ({ __esModule: true, default: plugin }),
};
