"""The pictures of docs/design.md: made by its script, told in words, with the tokens that count."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from minigrad.diagnostics.messages import set_language
from viz.picture import layout

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "design.md").read_text("utf-8")
SHOWN = re.findall(r"!\[(.*?)\]\(pictures/(design_\w+)_(en|zh)\.svg\)", PAGE)

pytestmark = pytest.mark.usefixtures("drawn_anew")


def test_each_half_has_each_picture_told_in_words() -> None:
    assert [name for _, name, lang in SHOWN if lang == "en"] == [
        name for _, name, lang in SHOWN if lang == "zh"
    ]
    for told, _, lang in SHOWN:
        assert len(told) > 15
        assert any("\u4e00" <= c <= "\u9fff" for c in told) is (lang == "zh")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_pictures_are_those_that_the_script_makes(
    language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not layout.bundled_dot():
        pytest.skip("to compare the pictures, install graphviz-pure")
    monkeypatch.setattr(layout.shutil, "which", lambda name: None)
    set_language(language)
    made = runpy.run_path(str(ROOT / "docs" / "design.py"))["drawings"]()
    assert {f"design_{name}" for name in made} == {name for _, name, _ in SHOWN}
    for name, svg in made.items():
        stored = (ROOT / "docs" / "pictures" / f"design_{name}_{language}.svg").read_text("utf-8")
        assert drawn(stored) == drawn(svg), f"python docs/design.py makes {name} anew"


def drawn(svg: str) -> str:
    """A picture without its number, and its fonts, which other font tools may pack another way."""
    return re.sub(r"url\(data:[^)]*\)", "url()", re.sub(r"mgd\d+a", "d", svg))
