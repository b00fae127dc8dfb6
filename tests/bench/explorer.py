"""How long a reader of a whole model waits: `python tests/bench/explorer.py [operators…]`.

Until the explorer is there, until its page has painted, from a click on a module to the frame that
shows it, and how many frames a second a flight of the camera has. Models are captured here, so no
other system is needed; seconds are processor time, what happens in the browser is time on the wall.
"""

from __future__ import annotations

import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))

from browser import FLAGS, find_browser, obstacle
from explored import torch_like

from viz.views.explore import explorer_of

SIZES = (250, 1000, 5000)
PER_BLOCK = 6  # operators of a block
PAINTED = """
const painted = () => new Promise((done) => requestAnimationFrame(() => {
  const after = new MessageChannel();
  after.port1.onmessage = () => done(performance.now());
  after.port2.postMessage(null);
}));
const { atlas, open, jump } = document.querySelector(".mg-explorer").atlas;
const middle = (xs) => xs.sort((a, b) => a - b)[xs.length >> 1];
"""
CLICKS = (
    "async () => {"
    + PAINTED
    + """
  const groups = atlas.m.nodes.filter((node) => node.children);
  const [opened, stepped] = [[], []];
  for (let i = 0; i < 15; i++) {
    await painted();
    let start = performance.now();
    open(groups[(i * 37) % groups.length]);
    opened.push((await painted()) - start);
    start = performance.now();
    jump((i * 97) % (2 * atlas.m.n));
    stepped.push((await painted()) - start);
  }
  return [middle(opened), middle(stepped)];
}"""
)
FLIGHT = (
    "async () => {"
    + PAINTED
    + """
  const frames = [];
  const groups = atlas.m.nodes.filter((node) => node.children);
  let last = performance.now();
  for (const group of [groups[1], groups[0], groups[2 % groups.length], groups[0]]) {
    open(group);
    for (let i = 0; i < 40; i++) {
      const now = await painted();
      frames.push(now - last);
      last = now;
    }
  }
  return 1000 / middle(frames);
}"""
)


def model(operators: int) -> Any:
    """A captured model of about so many operators."""
    return torch_like(max(1, operators // PER_BLOCK))


def measured(operators: int, browser: Any) -> dict[str, float]:
    """The figures of one size."""
    graph = model(operators)
    start = time.process_time()
    made = explorer_of(model, graph)
    told = {"operators": float(len(made.data["operators"])), "until it is there, s": 0.0}
    told["until it is there, s"] = time.process_time() - start
    with tempfile.TemporaryDirectory() as folder:
        path = made.save(Path(folder) / "page.html")
        told["page, MB"] = path.stat().st_size / 1e6
        for name, motion, script in (("", "reduce", CLICKS), ("", "no-preference", FLIGHT)):
            page = browser.new_page(viewport={"width": 1440, "height": 900}, reduced_motion=motion)
            start = time.perf_counter()
            page.goto(path.as_uri())
            page.evaluate(f"async () => {{ {PAINTED} await painted(); }}")
            told.setdefault("page painted, s", time.perf_counter() - start)
            found = page.evaluate(script)
            if script is CLICKS:
                told["module opened, ms"], told["step, ms"] = found
            else:
                told[f"frames a second{name}"] = found
            page.close()
    graph = model(operators)
    tracemalloc.start()
    explorer_of(model, graph)
    told["memory, MB"] = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return told


def main() -> None:
    remedy = obstacle()
    if remedy:
        raise SystemExit(remedy)
    from playwright.sync_api import sync_playwright

    sizes = [int(x) for x in sys.argv[1:]] or SIZES
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        for size in sizes:
            told = measured(size, browser)
            print(", ".join(f"{name} {value:.4g}" for name, value in told.items()), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
