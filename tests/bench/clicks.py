"""How long a reader waits: from a click to the frame that shows it, in the installed browser.

Unlike the other rows this is time on the wall, on which the rest of the machine counts, too.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from measure import Side
from viewer import network

import viz

sys.path.append(str(Path(__file__).parents[1]))

from browser import Started, obstacle

CLICKS = 20  # of which a figure is the mean; the first click follows a frame that is painted

# What is clicked on: the button that goes on by a step, or one node after the other.
TARGETS = {
    "the next step": ".mg-controls button[aria-label^='step forward']",
    "a node": "g.node",
}

WAIT = """async ([selector, clicks]) => {
    const painted = () => new Promise(done => requestAnimationFrame(() => {
        const afterwards = new MessageChannel();  // its message comes when the frame is painted
        afterwards.port1.onmessage = done;
        afterwards.port2.postMessage(null);
    }));
    const targets = [...document.querySelectorAll(selector)];
    let waited = 0;
    for (let i = 0; i < clicks; i++) {
        await painted();
        const start = performance.now();
        const target = targets[(i * 37) % targets.length];  // nodes far from each other
        target.dispatchEvent(new MouseEvent('click', { bubbles: true }));
        await painted();
        waited += performance.now() - start;
    }
    return waited / clicks / 1000;
}"""


def click(what: str, size: int) -> Side:
    """Seconds from a click to the painted frame, in a saved page with all its nodes in sight."""
    remedy = obstacle()
    if remedy:
        raise RuntimeError(remedy)
    browser = Started()
    page = browser.resume().new_page(viewport={"width": 1400, "height": 1000})
    with tempfile.TemporaryDirectory() as folder:
        saved = viz.step(network(size)).save(Path(folder) / "page.html")
        page.goto(saved.as_uri())
    page.locator(".mg-tools button[aria-pressed]").click()  # opens all layers
    if page.locator("g.node").count() < size - 10:
        raise AssertionError("the page does not show all nodes")

    def work() -> float:
        page.locator(".mg-player").focus()
        page.keyboard.press("Home")
        return float(page.evaluate(WAIT, [TARGETS[what], CLICKS]))

    def close() -> None:
        page.close()
        browser.end()

    return Side(work, close=close)
