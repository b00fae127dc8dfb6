// What the kernel loads in the place of Pyodide: Pyodide, and beside it Graphviz, which lays out
// the drawings (viz/picture/layout.py). Both are there before the first cell runs, since a cell
// cannot wait for either. The page hears how far it is (progress.js).

import { Graphviz } from "./graphviz.js";

const told = new BroadcastChannel("minigrad-start");
let asked = 0;
let came = 0;

/** Count what is fetched while Python starts. */
function counting(fetch) {
  return async (...request) => {
    told.postMessage({ asked: ++asked, came });
    const response = await fetch(...request);
    told.postMessage({ asked, came: ++came });
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

export async function loadPyodide(options) {
  const fetch = self.fetch;
  self.fetch = counting(fetch.bind(self));
  const { loadPyodide } = await import(`${options.indexURL}pyodide.mjs`);
  const [pyodide, graphviz] = await Promise.all([loadPyodide(options), Graphviz.load()]);
  pyodide.registerJsModule("graphviz_wasm", { layout: (source) => layout(graphviz, source) });
  self.fetch = fetch;
  told.postMessage({ asked, came, ready: true });
  return pyodide;
}
