// While JupyterLab and Python are on their way: what is being loaded, the opening picture, which
// moves on with each file, and the lesson as a page to read. As soon as the notebook is there, a
// corner. Until Python has started nothing else moves, since that would take a quarter of the time.

const CHINESE = /^zh/i.test(localStorage.getItem("minigrad-language") ?? navigator.language);
const say = (english, chinese) => (CHINESE ? chinese : english);
const code = say("en", "zh");
const lesson = new URLSearchParams(location.search).get("path")?.replace(/\.ipynb$/, "");
const STEP = 60; // milliseconds of the picture for each file
const page = `../read/${code}/${lesson ?? "index"}.html`;

// Python starts while JupyterLab loads, in the worker that JupyterLab will ask for. On a first visit
// it does not, since a worker from before the service worker reaches no files of the lessons.
const { Worker } = globalThis;
const address = new URL(new URL(import.meta.url).searchParams.get("worker"), import.meta.url).href;
if (lesson && navigator.serviceWorker?.controller && !globalThis.crossOriginIsolated) {
  const early = new Worker(address, { type: "module" });
  const construct = (_, [asked, options]) => {
    if (String(asked) !== address) return new Worker(asked, options);
    globalThis.Worker = Worker;
    return early;
  };
  globalThis.Worker = new Proxy(Worker, { construct });
}

const style = document.createElement("style");
style.textContent = `
.mg-start { position: fixed; right: 16px; bottom: 32px; z-index: 10000; max-width: calc(100vw - 64px); padding: 8px 14px; border-radius: 10px; font: 13px/1.5 system-ui, sans-serif; background: #1f2430; color: #fff; }
.mg-start a { color: inherit; }
.mg-start object { display: none; }
.mg-start[data-whole] { inset: 0; max-width: none; padding: 24px; border-radius: 0; display: grid; gap: 12px; place-content: center; justify-items: center; text-align: center; font-size: 17px; background: #fff; color: #1d2330; color-scheme: light; }
.mg-start[data-whole] object { display: block; width: min(760px, 100%); max-height: 68vh; }
.mg-start[hidden] { display: none; }
[data-mg-starting] :is(.moon, .jupyterlite-moon, .jp-KernelStatus-spinner) { animation: none !important; }
@media (prefers-color-scheme: dark) { .mg-start[data-whole] { background: #14171d; color: #eef1f6; color-scheme: dark; } }`;
document.head.append(style);

const place = document.createElement("div");
place.className = "mg-start";
place.dataset.whole = "";
const line = document.createElement("span");
line.setAttribute("role", "status");
line.textContent = say("JupyterLab is loading.", "正在载入 JupyterLab。");
const picture = document.createElement("object");
picture.ariaHidden = "true";
picture.type = "image/svg+xml";
picture.data = `../files/pictures/both_ways${innerWidth < 600 ? "_phone" : ""}_${code}.svg`;
place.append(line, picture);
document.body.append(place);
document.documentElement.dataset.mgStarting = "";

let moves = [];
picture.addEventListener("load", () => {
  moves = picture.contentDocument.getAnimations();
  for (const move of moves) move.pause();
});
const files = new PerformanceObserver((list) => {
  for (const move of moves) move.currentTime += STEP * list.getEntries().length;
});
files.observe({ type: "resource" });

// A picture of the notebook shows its end, as for readers who want less motion, and plays later.
const playing = new Map();
function rest() {
  for (const image of document.querySelectorAll('.jp-Notebook img[src^="data:image/svg"]')) {
    const [head, data] = image.src.split("base64,");
    if (playing.has(image) || !data) continue;
    playing.set(image, image.src);
    const still = atob(data).replace("</style>", "* { animation: none !important; }</style>");
    image.src = `${head}base64,${btoa(still)}`;
  }
}

let python = ""; // "loading", then "busy"; "" before and after
const show = () => { place.hidden = !("whole" in place.dataset) && !python; };

// As soon as Python has started and waits for the reader, all may move.
const watch = new MutationObserver(() => {
  if (python !== "busy" || document.querySelector(".jp-KernelStatus-spinner")) return rest();
  watch.disconnect();
  python = "";
  show();
  delete document.documentElement.dataset.mgStarting;
  for (const [image, moving] of playing) image.src = moving;
  playing.clear();
});
const wait = () => watch.observe(document.body, { childList: true, subtree: true, attributeFilter: ["src"] });
wait();

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
  files.disconnect();
  delete place.dataset.whole;
  show();
});
came.observe(document.body, { childList: true, subtree: true });

new BroadcastChannel("minigrad-start").onmessage = ({ data: { asked, came, name, ready } }) => {
  python = ready ? "busy" : "loading";
  show();
  wait();
  line.textContent = ready
    ? say("Python is busy.", "Python 正忙。")
    : say(`Python is loading: ${came} of ${asked} files, ${name}.`, `正在载入 Python：${asked} 个文件已到 ${came} 个，${name}。`);
};
