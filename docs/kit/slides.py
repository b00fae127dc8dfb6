"""A lesson as slides: one page that needs nothing else, one slide below each heading."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

import nbformat
from nbconvert import HTMLExporter

from viz.page.sheets import sheets

ROOT = Path(__file__).parents[2]
EXPORTER = HTMLExporter(template_name="basic")
WIDGET = "application/vnd.jupyter.widget-view+json"
STYLE = """
html { scroll-snap-type: y mandatory; font: 1.5rem/1.5 system-ui, sans-serif }
body { margin: 0; color: #1b1d22; background: #fff }
main > section { box-sizing: border-box; min-height: 100vh; padding: 4vh 6vw;
  scroll-snap-align: start; border-bottom: 1px solid #d5d8de; overflow-x: auto }
pre, code { font: 1.2rem/1.4 ui-monospace, monospace }
pre { background: #f4f5f7; padding: .6em .8em; border-radius: 8px; white-space: pre-wrap }
img, svg { max-width: 100%; height: auto } h1, h2, h3 { line-height: 1.2; margin: 0 0 .5em }
.anchor-link, .jp-InputPrompt, .jp-OutputPrompt, .prompt { display: none }
table { border-collapse: collapse } th, td { padding: .2em .6em; border: 1px solid #d5d8de }
@media print { main > section { min-height: 0; break-after: page; border: 0 } }
"""
# ← and → as most remote controls send them; the page scrolls, which needs no script.
SCRIPT = """
const slides = [...document.querySelectorAll("main > section")];
addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key];
  if (!step || event.target.closest("input, button, summary")) return;
  const now = slides.findLastIndex((slide) => slide.getBoundingClientRect().top < 10);
  slides[Math.min(slides.length - 1, Math.max(0, now + step))].scrollIntoView();
  event.preventDefault();
});
"""


def write(path: Path, notebook: dict[str, object], language: str) -> None:
    """Write the slides of a lesson with its stored outputs, without its exercises' answers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    book = nbformat.reads(json.dumps(notebook), as_version=4)
    book.cells = [cell for cell in book.cells if shown(cell)]
    for cell in book.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET, None)
    parts = []
    for cells in slides(book.cells):
        page = nbformat.v4.new_notebook(cells=cells, metadata=book.metadata)
        parts.append(f"<section>{EXPORTER.from_notebook_node(page)[0]}</section>")
    title = re.search(r"(?m)^# (.*)$", book.cells[0].source)
    path.write_text(
        f'<!DOCTYPE html><html lang="{language}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title[1] if title else path.stem)}</title>"
        f"<style>{sheets('theme', 'shown')}{STYLE}{hidden(language)}</style></head>"
        f'<body class="jp-Notebook"><main>{embedded("".join(parts))}</main>'
        f"<script>{SCRIPT}</script></body></html>\n",
        encoding="utf-8",
    )


def shown(cell: nbformat.NotebookNode) -> bool:
    """Neither an answer and its tests, nor the cell that chooses a language for a notebook."""
    return "nbgrader" not in cell.metadata and "viz.language(" not in cell.source


def slides(cells: list[nbformat.NotebookNode]) -> Iterator[list[nbformat.NotebookNode]]:
    """The cells of one slide after another: a heading begins one."""
    slide: list[nbformat.NotebookNode] = []
    for cell in cells:
        heads = cell.cell_type == "markdown" and re.search(r"(?m)^#{1,3} ", cell.source)
        if heads and slide:
            yield slide
            slide = []
        slide.append(cell)
    yield slide


def hidden(language: str) -> str:
    other = {"en": "zh", "zh": "en"}[language]
    return f'[lang|="{other}"] {{ display: none !important }}'


def embedded(html: str) -> str:
    """The page with the pictures that it shows in it."""

    def data(found: re.Match[str]) -> str:
        picture = ROOT / "notebooks" / found[1]
        kind = {".svg": "svg+xml", ".png": "png"}[picture.suffix]
        text = base64.b64encode(picture.read_bytes()).decode()
        return f'src="data:image/{kind};base64,{text}"'

    return re.sub(r'src="(pictures/[\w./-]+\.(?:svg|png))"', data, html)
