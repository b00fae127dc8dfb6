// What the kernel loads in the place of Pyodide: Pyodide, and beside it Graphviz, which lays out
// the drawings (viz/picture/layout.py). Both are there before the first cell runs, since a cell
// cannot wait for either. It begins as soon as there is a worker, before JupyterLab asks for it.
// The page hears how far it is (progress.mjs). What no first drawing needs is fetched afterwards,
// and unpacked when it is imported (later.py).

import { Graphviz } from "./graphviz.js";

const told = new BroadcastChannel("minigrad-start");
let asked = 0;
let came = 0;
const SOON = 20_000; // milliseconds from the start, by when there is a first drawing

/** Count what is fetched while Python starts, and name it: the package of a wheel. */
function counting(fetch) {
  return async (...request) => {
    const file = String(request[0].url ?? request[0]).split("/").pop();
    const name = file.split(file.endsWith(".whl") ? "-" : "?")[0];
    told.postMessage({ asked: ++asked, came, name });
    const response = await fetch(...request);
    told.postMessage({ asked, came: ++came, name });
    return response;
  };
}

/** An answer with the drawing or with what is wrong: an exception would end Python's call. */
function layout(graphviz, source) {
  try {
    return { svg: graphviz.dot(source), error: "" };
  } catch (error) {
    return { svg: "", error: String(error.message ?? error) };
  }
}

const beside = (name) => new URL(name, import.meta.url);

/** The bytes of a wheel, now: an import cannot wait, so this request blocks. */
function bytes(file) {
  const request = new XMLHttpRequest();
  request.open("GET", beside(file), false);
  request.responseType = "arraybuffer";
  request.send();
  if (request.status !== 200) throw new Error(`${file}: ${request.status}`);
  return new Uint8Array(request.response);
}

/** Let Python find what comes later. The browser fetches it soon, so no import waits for a network. */
function later(pyodide, { files, hashes }, code) {
  const names = pyodide.toPy({ __name__: "later" });
  pyodide.runPython(code, { globals: names });
  names.get("begin")(pyodide.toPy(files), pyodide.toPy(hashes), bytes);
  names.get("import_kernel")();
  setTimeout(() => Object.keys(hashes).map((file) => fetch(beside(file)).then((answer) => answer.blob(), () => {})), SOON);
}

async function start() {
  const fetch = self.fetch;
  self.fetch = counting(fetch.bind(self));
  const { options, ...charts } = await self.fetch(beside("later.json")).then((answer) => answer.json());
  const packages = options.packages.filter((name) => !(name in charts.files));
  const addresses = Object.entries(options).filter(([name]) => name.endsWith("URL"));
  const whole = addresses.map(([name, place]) => [name, new URL(place, beside("../../")).href]);
  const { indexURL } = Object.fromEntries(whole);
  const { loadPyodide } = await import(`${indexURL}pyodide.mjs`);
  const [pyodide, graphviz, code] = await Promise.all([
    loadPyodide({ ...Object.fromEntries(whole), packages }),
    Graphviz.load(),
    self.fetch(beside("later.py")).then((answer) => answer.text()),
  ]);
  pyodide.registerJsModule("graphviz_wasm", { layout: (source) => layout(graphviz, source) });
  self.fetch = fetch;
  later(pyodide, charts, code);
  told.postMessage({ asked, came, ready: true });
  return pyodide;
}

const started = start();
started.catch(() => {}); // whoever asks hears of it

/** The Python that has started; what it prints goes to who asks for it. */
export async function loadPyodide({ stdout, stderr }) {
  const pyodide = await started;
  pyodide.setStdout({ batched: stdout });
  pyodide.setStderr({ batched: stderr });
  return pyodide;
}
