"""The pictures of the README: all there, small, told in words, and to be made anew."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
SHOWN = re.findall(r"!\[(.*?)\]\((.+?\.png)\)", README)
SCRIPT = ast.parse((ROOT / "docs" / "pictures.py").read_text("utf-8"))
CALLS = next(n.value for n in SCRIPT.body if isinstance(n, ast.Assign) and "VIEWS" in ast.dump(n))
VIEWS = {
    name.value: ast.literal_eval(view.args[0])
    for name, view in zip(CALLS.keys, CALLS.values, strict=True)
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_half_shows_each_view_in_its_language(language: str) -> None:
    english, chinese = README.split("## 中文说明\n")
    half = chinese if language == "zh" else english
    shown = re.findall(r"docs/pictures/(\w+)_(\w+)\.png", half)
    assert shown == [(name, language) for name in VIEWS]


def test_all_are_there_and_none_besides() -> None:
    found = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.png")}
    assert {path for _, path in SHOWN} == found - {"docs/pictures/social.png"}


@pytest.mark.parametrize(("told", "path"), SHOWN, ids=[path for _, path in SHOWN])
def test_a_picture_is_small_and_told_in_words(told: str, path: str) -> None:
    assert (ROOT / path).stat().st_size < 60_000
    assert len(told) > 30
    chinese = any("\u4e00" <= c <= "\u9fff" for c in told)
    assert chinese is path.endswith("_zh.png")


@pytest.mark.parametrize("call", VIEWS.values(), ids=list(VIEWS))
def test_the_gallery_has_the_cell_to_photograph(call: str) -> None:
    notebook = nbformat.read(ROOT / "notebooks" / "gallery.ipynb", as_version=4)
    ends = [cell.source.splitlines()[-1] for cell in notebook.cells if cell.cell_type == "code"]
    assert len([line for line in ends if line.startswith(call)]) == 1
