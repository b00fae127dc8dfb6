"""What README, tour, L00 and gallery begin with: it plays before anything runs, and is as made."""

from __future__ import annotations

import io
import json
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page
from test_design import drawn

from viz.page import payload
from viz.picture import fonts, layout
from viz.picture.theme import TOKENS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
OPENINGS = {"00_one_formula_two_graphs": "both_ways", "02_gradients_on_a_graph": "fan_out"}
OPENINGS |= {"04_static_graph": "two_runs", "gallery": "gpt2", "tour": "digits"}
SHOWN = r"!\[([^\]]+)\]\((?:notebooks/)?(pictures/\w+_(?:en|zh)\.svg)\)"
PICTURES = ROOT / "notebooks" / "pictures"
LONG = 12  # seconds, in which each film is over
Hasten = Callable[[float], float]


@pytest.mark.parametrize(("name", "film"), OPENINGS.items())
def test_a_notebook_begins_with_its_film_in_each_language(name: str, film: str) -> None:
    notebook = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text("utf-8"))
    english, chinese = "".join(notebook["cells"][0]["source"]).split('<div lang="zh">')
    for half, language in ((english, "en"), (chinese, "zh")):
        ((told, path),) = re.findall(SHOWN, half)
        assert path == f"pictures/{film}_{language}.svg"
        assert len(told) > 25
        assert re.search(rf"\[▶ [^\]]+\]\({path}\)", half), "an image cannot be clicked, a link can"
        assert bool(re.search("[\u4e00-\u9fff]", told)) is (language == "zh")


def test_each_lesson_begins_with_a_picture_of_its_own_above_its_text() -> None:
    seen: dict[str, str] = {}
    paths = sorted(ROOT.glob("notebooks/[0-9][0-9]_*.ipynb"))
    for path in paths:
        source = "".join(json.loads(path.read_text("utf-8"))["cells"][0]["source"])
        english, chinese = source.split('<div lang="zh">')
        for half, language in ((english, "en"), (chinese, "zh")):
            title, *rest = [line for line in half.splitlines() if line and line[0] != "<"]
            told = re.match(SHOWN, rest[0])
            assert title.startswith("# "), path.name
            assert told, f"{path.name}: text stands above the picture"
            assert len(told[1]) > (12 if language == "zh" else 25)
            assert told[2].endswith(f"_{language}.svg")
            assert seen.setdefault(told[2], path.name) == path.name
    assert len(seen) == 2 * len(paths)


def test_each_half_of_the_readme_begins_with_it() -> None:
    english, chinese = README.split("## 中文说明\n")
    for half, language in ((english, "en"), (chinese, "zh")):
        first = re.search(
            r'<picture>.*?srcset="(.+?)".*?alt="(.+?)" src="(.+?)".*?</picture>', half, re.DOTALL
        )
        assert first
        assert first[3] == f"notebooks/pictures/both_ways_{language}.svg"
        assert first[1] == f"notebooks/pictures/both_ways_phone_{language}.svg"
        assert first.start() < re.search("^##", half, re.MULTILINE).start()
        assert len(half[: first.start()].splitlines()) < 18


def test_each_half_of_the_readme_shows_a_whole_model_before_its_lessons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    made = runpy.run_path(str(ROOT / "docs" / "model_picture.py"))
    told = made["WORDS"]["alt"]
    fields = made["Recording"].stored().fields
    english, chinese = README.split("## 中文说明\n")
    for half, text, language in ((english, told[0], "en"), (chinese, told[1], "zh")):
        _, shown = re.findall(r"(?s)<picture>.*?</picture>", half)
        assert f'alt="{text.format(**fields)}"' in shown
        assert re.findall(r"(?:src|srcset)=\"(.+?)\"", shown) == [
            f"notebooks/pictures/gpt2_phone_{language}.svg",
            f"notebooks/pictures/gpt2_{language}.svg",
        ]
        lessons = re.search(r"^#+ (What you learn|学什么)$", half, re.MULTILINE)
        assert lessons
        assert half.index(shown) < lessons.start()
    for path in PICTURES.glob("gpt2_*.svg"):
        sizes = re.findall(r"font-size: *([\d.]+)px", path.read_text("utf-8"))
        assert min(map(float, sizes)) >= 11


def no_letters(font: BinaryIO, *_: object) -> bytes:
    """In the place of what cuts fonts, which takes half of the time and is not compared."""
    font.close()
    return b""


def test_the_pictures_are_those_that_the_script_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    if not layout.bundled_dot():
        pytest.skip("to compare the pictures, install graphviz-pure")
    monkeypatch.setattr(layout.shutil, "which", lambda name: None)
    monkeypatch.setattr(fonts, "_cut", no_letters)
    monkeypatch.setattr(payload, "graph", lambda *_: {})  # nothing is sent to a page
    made = runpy.run_path(str(ROOT / "docs" / "opening.py"))["films"]()
    assert set(made) == {path.name for path in PICTURES.glob("*.svg")}
    for name, svg in made.items():
        stored = (PICTURES / name).read_text("utf-8")
        assert drawn(stored) == drawn(svg), f"python docs/opening.py makes {name} anew"
        assert len(stored) < 100_000


def test_on_a_phone_the_code_lies_left_of_all_marks() -> None:
    for language in ("en", "zh"):
        svg = (PICTURES / f"both_ways_phone_{language}.svg").read_text("utf-8")
        lines = re.findall(r'<text class="code slim" x="(.+?)".*?>(.+?)<', svg)
        assert [line for _, line in lines] == 2 * ["x", "y =", "x * x", "z =", "y + 3"]
        marks = re.findall(r'<circle class="mark [^>]*cx="(.+?)" cy=".*?" r="(.+?)"', svg)
        first = min(float(x) - float(r) for x, r in marks)
        assert max(float(x) + 6.6 * len(line) for x, line in lines) <= first
        assert min(map(float, re.findall(r"font-size: *([\d.]+)px", svg))) >= 11


@pytest.mark.parametrize("name", ["fan_out", "tape", "control_flow", "passes", "choosing"])
def test_a_picture_for_a_phone_fits_one_and_has_letters_of_its_own(name: str) -> None:
    for language in ("en", "zh"):
        svg = (PICTURES / f"{name}_phone_{language}.svg").read_text("utf-8")
        (width,) = re.findall(r'^<svg[^>]* width="(\d+)"', svg)
        assert int(width) <= 372
        assert svg.count("@font-face") == 3, "Latin in two weights, and the other signs"
        assert min(map(float, re.findall(r"font-size: *([\d.]+)px", svg))) >= 11
        assert not re.search(r">\w+: (then|else)<", svg)


def test_of_two_branches_the_one_that_ran_is_green() -> None:
    for name in ("control_flow", "control_flow_phone"):
        for language, arm in (("en", "then"), ("zh", "成立时")):
            svg = (PICTURES / f"{name}_{language}.svg").read_text("utf-8")
            green = re.findall('<(?:rect|text) class="mg-taken [^>]*>([^<]*)', svg)
            assert green == ["", arm]
            assert f".mg-taken {{ stroke: {TOKENS['run'][0]}; }}" in svg
            pale = re.findall('class="edge [^"]*mg-ghost', svg)
            assert len(pale) == 4, "what no value went along"


def test_on_a_phone_an_opening_is_whole_on_the_first_screen() -> None:
    for name in ("control_flow", "gpt2"):
        for language in ("en", "zh"):
            svg = (PICTURES / f"{name}_phone_{language}.svg").read_text("utf-8")
            wide, high = (int(n) for n in re.findall(r'(?:width|height)="(\d+)"', svg)[:2])
            assert high * 390 / wide <= 690, "below the bar and a heading of two lines"
            if name == "gpt2":
                assert ">h.1–h.10</text>" in svg
                assert ">h.5</text>" not in svg


@pytest.mark.browser
@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_it_stands_at_its_end_for_who_asks_for_less_motion(page: Page, motion: Any) -> None:
    """As a page of its own, since an image in one doesn't hear what the browser is told."""
    page.set_viewport_size({"width": 700, "height": 700})
    page.emulate_media(reduced_motion=motion)
    page.goto((PICTURES / "both_ways_en.svg").as_uri())
    ran = filled(page.screenshot())
    assert ran > 0.02 if motion == "reduce" else ran < 0.002, "nothing has run at first"


@pytest.mark.browser
def test_a_press_on_the_opened_picture_plays_it_again(page: Page) -> None:
    page.set_viewport_size({"width": 700, "height": 700})
    page.emulate_media(reduced_motion="no-preference")
    page.goto((PICTURES / "both_ways_en.svg").as_uri())
    for _ in range(2):
        page.evaluate("document.getAnimations().forEach(a => a.finish())")
        assert filled(page.screenshot()) > 0.02, "its end"
        page.mouse.move(300, 300)
        page.mouse.down()
        page.mouse.up()
        assert filled(page.screenshot()) < 0.002, "its beginning"


def filled(png: bytes) -> float:
    """Which part of a picture has the colour of what has run."""
    image = np.asarray(Image.open(io.BytesIO(png)).convert("RGB"), int)
    color = [int(TOKENS["ran"][0][i : i + 2], 16) for i in (1, 3, 5)]
    return float((np.abs(image - color).max(axis=2) < 4).mean())
