// While JupyterLab and Python are on their way: what is being loaded, the opening picture, which
// plays meanwhile, and the lesson as a page to read. As soon as the notebook is there, a corner.

const CHINESE = /^zh/i.test(localStorage.getItem("minigrad-language") ?? navigator.language);
const say = (english, chinese) => (CHINESE ? chinese : english);
const code = say("en", "zh");
const lesson = new URLSearchParams(location.search).get("path")?.replace(/\.ipynb$/, "");
const page = `../read/${code}/${lesson ?? "index"}.html`;

const style = document.createElement("style");
style.textContent = `
.mg-start { position: fixed; right: 16px; bottom: 32px; z-index: 10000; max-width: calc(100vw - 64px); padding: 8px 14px; border-radius: 10px; font: 13px/1.5 system-ui, sans-serif; background: #1f2430; color: #fff; }
.mg-start a { color: inherit; }
.mg-start img { display: none; }
.mg-start[data-whole] { inset: 0; max-width: none; padding: 24px; border-radius: 0; display: grid; gap: 12px; place-content: center; justify-items: center; text-align: center; font-size: 17px; background: #fff; color: #1d2330; color-scheme: light; }
.mg-start[data-whole] img { display: block; width: min(760px, 100%); max-height: 68vh; }
.mg-start[hidden] { display: none; }
@media (prefers-color-scheme: dark) { .mg-start[data-whole] { background: #14171d; color: #eef1f6; color-scheme: dark; } }`;
document.head.append(style);

const place = document.createElement("div");
place.className = "mg-start";
place.dataset.whole = "";
const line = document.createElement("span");
line.setAttribute("role", "status");
line.textContent = say("JupyterLab is loading.", "正在载入 JupyterLab。");
const picture = document.createElement("img");
picture.alt = "";
picture.src = `../files/pictures/both_ways${innerWidth < 600 ? "_phone" : ""}_${code}.svg`;
place.append(line, picture);
document.body.append(place);

// The pages to read are not part of every site.
fetch(page, { method: "HEAD" }).then(({ ok }) => {
  if (!ok) return;
  const link = document.createElement("a");
  Object.assign(link, { href: page, target: "_blank", textContent: say("Read this lesson meanwhile", "先读这一课") });
  place.append(" ", link);
});

const came = new MutationObserver(() => {
  if (!document.querySelector(".jp-Notebook .jp-Cell, .jp-Launcher, .jp-Dialog")) return;
  came.disconnect();
  delete place.dataset.whole;
  place.hidden = !place.dataset.python;
});
came.observe(document.body, { childList: true, subtree: true });

new BroadcastChannel("minigrad-start").onmessage = ({ data: { asked, came, name, ready } }) => {
  place.dataset.python = ready ? "" : "loading";
  place.hidden = !("whole" in place.dataset) && ready;
  line.textContent = say(`Python is loading: ${came} of ${asked} files, ${name}.`, `正在载入 Python：${asked} 个文件已到 ${came} 个，${name}。`);
};
