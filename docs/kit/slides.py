"""A lesson as slides: a page to read, of which each slide holds one screen; its players play."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

import pages


def write(path: Path, name: str, language: str) -> None:
    """Run the notebook of this name in this language, and write its slides, without answers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    source = pages.NOTEBOOKS / name
    made = pages.ran(source, language)
    made.cells = [cell for cell in made.cells if "viz.language(" not in cell.source]
    path.write_text(pages.page(made, source, language, pages.RUN, slides=True), "utf-8")
    print(f"{path}  {path.stat().st_size / 1e6:.2f} MB", flush=True)
