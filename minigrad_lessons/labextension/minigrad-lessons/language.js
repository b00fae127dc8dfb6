// An extension of JupyterLab, in the form that its build would give: a notebook that has not run yet
// has no language switch, so its prose is shown in the language that the switch had last, or else in
// that of JupyterLab or the browser.
const KEY = "minigrad-language";

function activate() {
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
