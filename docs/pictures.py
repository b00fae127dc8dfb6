"""The pictures of the README, made from the gallery: .venv/bin/python docs/pictures.py [FOLDER].
`docs/pictures.py --social` makes only social.png, what a link to the project shows.

The cells of notebooks/gallery.ipynb run as they are; each view is saved as a page, opened in the
installed browser, stepped, and photographed in both languages. For maintainers, after a change to
what the views look like.
"""

from __future__ import annotations

import base64
import io
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbclient import NotebookClient
from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "docs")]

import both_ways  # noqa: E402
from browser import FLAGS, find_browser  # noqa: E402
from outputs import environment  # noqa: E402

from viz.picture.fonts import font_face  # noqa: E402

FOLDER = ROOT / "docs" / "pictures"
GALLERY = ROOT / "notebooks" / "gallery.ipynb"
FIT = re.compile("^(fit|适应)", re.IGNORECASE)  # the button that shows all of a drawing
COLORS = 96  # of the palette; fewer bend its hues


class View(NamedTuple):
    """What to photograph: the beginning of the cell's last line, at which step, how wide.

    whole: all of the drawings, smaller; else as large as they are, where the step takes place.
    """

    call: str
    step: int
    width: int
    whole: bool


VIEWS = {
    "branches": View("viz.branches(f,", 2, 1100, whole=False),
    "passes": View("viz.passes(", 3, 1100, whole=False),
}


def saved(folder: Path) -> None:
    """Run the gallery and save each of the views as a page."""
    notebook = nbformat.read(GALLERY, as_version=4)
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        last = cell.source.splitlines()[-1] if cell.cell_type == "code" else ""
        for name, view in VIEWS.items():
            if last.startswith(view.call):
                page = str(folder / f"{name}.html")
                cells.append(nbformat.v4.new_code_cell(f"_.save({page!r})"))
    notebook.cells = cells
    where = {"metadata": {"path": str(GALLERY.parent)}}
    client = NotebookClient(notebook, kernel_name="python3", resources=where)
    with tempfile.TemporaryDirectory() as learner:
        client.execute(env=environment(learner))


def photograph(page: Page, source: Path, view: View, language: str) -> bytes:
    """One view at its step, as a small PNG."""
    page.set_viewport_size({"width": view.width, "height": 900})
    page.emulate_media(reduced_motion="reduce")  # nothing is on its way
    page.goto(source.as_uri())
    page.evaluate("code => { document.body.dataset.mgLanguage = code; }", language)
    player = page.locator(".mg-player")
    player.locator(".mg-steps").evaluate(  # which is hidden where there are few steps
        "(slider, step) => { slider.value = step; slider.dispatchEvent(new Event('input')); }",
        view.step,
    )
    if view.whole:
        player.get_by_role("button", name=FIT).first.click()
    page.evaluate("document.activeElement.blur()")
    return small(player.screenshot())


def small(png: bytes) -> bytes:
    """The same picture with few colours."""
    out = io.BytesIO()
    whole = Image.open(io.BytesIO(png)).convert("RGB")
    whole.quantize(COLORS, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


SOCIAL = """<!doctype html><meta charset="utf-8"><style>{font}
body {{ margin: 0; padding: 26px 48px 0; background: #fff; color: #1D2330; }}
h1 {{ font: 600 40px/50px "Noto Sans Latin", "Noto Sans SC"; margin: 0; white-space: nowrap; }}
h1 {{ display: flex; justify-content: space-between; }}
h1 span {{ font-size: 24px; color: #5B6475; }}
img {{ display: block; width: 1184px; margin-top: 8px; }}
</style><h1>How deep-learning frameworks think <span>深度学习框架是怎样思考的</span></h1>
<img src="data:image/svg+xml;base64,{picture}">"""


def social(page: Page, folder: Path) -> None:
    """What a link to the project shows: the picture that the README begins with, at its end."""
    svg = both_ways.picture("en", 1010, dark=False)
    page.set_viewport_size({"width": 1280, "height": 640})
    data = base64.b64encode(svg.encode()).decode()
    page.set_content(SOCIAL.format(font=font_face(SOCIAL, latin=True), picture=data))
    page.wait_for_timeout(200)
    (folder / "social.png").write_bytes(small(page.screenshot()))


def main(folder: Path, *only: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        flags = [*FLAGS, "--force-prefers-reduced-motion"]  # what an image obeys, too
        browser = playwright.chromium.launch(executable_path=find_browser(), args=flags)
        social(browser.new_page(), folder)
        browser.close()
    if only:
        return
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        saved(Path(place))
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        for name, view in VIEWS.items():
            for language in ("en", "zh"):
                page = browser.new_page()
                picture = photograph(page, Path(place) / f"{name}.html", view, language)
                target = folder / f"{name}_{language}.png"
                target.write_bytes(picture)
                print(target, len(picture))
                page.close()
        browser.close()


if __name__ == "__main__":
    asked = [Path(name) for name in sys.argv[1:] if not name.startswith("-")]
    main(*(asked or [FOLDER]), *(name for name in sys.argv[1:] if name == "--social"))
