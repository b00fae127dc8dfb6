"""`viz.animate`: what moves is right at every moment, plays anywhere, and rests where asked to."""

from __future__ import annotations

import base64
import io
import math
import re
import runpy
import stat
import sys
from dataclasses import astuple
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from fontTools.ttLib import TTFont
from PIL import Image, ImageSequence

import minigrad as mg
import viz
from minigrad.diagnostics.messages import set_language
from viz.page.scene import Chip, Moment, Scene, fold_text
from viz.picture import motion
from viz.picture.motion import RATE, along
from viz.picture.paint import Layers, paint
from viz.picture.swatch import Raster, encoded
from viz.picture.theme import TOKENS

pytestmark = pytest.mark.usefixtures("english", "undrawn")


@cache
def both() -> viz.Animation:
    return viz.animate(lambda x: x * x + 3, 5.0, language="en", seconds=0.8)


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Films are painted with a pixel for one of a page, where they have up to four."""
    monkeypatch.setattr(motion, "PIXELS", 1)


@cache
def small() -> viz.Animation:
    x = mg.tensor(5.0, requires_grad=True)
    return viz.animate(x * x, language="en", seconds=0.8)


def cards(scene: Scene, step: int, arrived: bool = True) -> dict[str, str]:
    """The cards of both sides at a moment, by side and sign; "" of what is not there."""
    parts = scene.parts(Moment(step, arrived), "en")
    return {
        f"{stage.film.picture.kind} {stage.drawing.cards[n.id].sign}": parts[stage.prefix + n.id]
        for stage in scene.stages
        for n in stage.drawn.nodes
    }


def test_a_dynamic_graph_grows_as_it_runs_and_a_static_one_stands_before() -> None:
    scene = both().scene
    first_run = next(
        i
        for i, frame in enumerate(scene.films[1].frames)
        if "read" in str(frame.caption[0]) or "receives" in frame.caption[0]
    )
    for step in range(scene.steps):
        for name, card in cards(scene, step).items():
            if name == "dynamic ×":
                assert bool(card) is (step >= 1)
            if name == "dynamic +":
                assert bool(card) is (step >= 2)
            if name.startswith("dynamic") and card:
                assert "mg-born" not in card, "it is born filled"
            if name.startswith("static") and card and step < first_run and name != "static 3":
                assert "mg-born" in card, "an outline, as long as nothing has run"
    assert all("mg-born" not in card for card in cards(scene, scene.steps - 1).values())
    assert first_run > 4


def test_a_file_brings_along_the_letters_that_it_shows() -> None:
    """An image takes no font from its page, and each system has another of its own."""
    for svg in (small().svg, small().still):
        (font,) = re.findall(r"font/woff;base64,([^)]*)", svg)
        shown = "".join(
            ElementTree.fromstring(re.sub("<style>.*?</style>", "", svg, flags=re.S)).itertext()
        )
        with TTFont(io.BytesIO(base64.b64decode(font))) as cut:
            assert {*map(chr, cut.getBestCmap())} >= {c for c in shown if c > " "} >= {*"x5"}


def test_arrows_of_gradients_go_with_the_gradients() -> None:
    scene = Scene(viz.compare(lambda x: x * x + 3, 5.0).films)
    for step, count in {6: 3, 8: 1, 11: 0, 14: 3}.items():
        arrows = scene.stages[0].parts(Moment(step), 0, "en").values()
        assert sum("mg-back" in part and 'class="edge' in part for part in arrows) == count


def test_what_is_on_its_way_is_not_there_yet() -> None:
    scene = both().scene
    before, after = (cards(scene, 1, arrived)["dynamic ×"] for arrived in (False, True))
    assert ">25<" not in before
    assert ">25<" in after
    on_the_way, ran = (cards(scene, 7, arrived)["static ×"] for arrived in (False, True))
    assert "mg-born" in on_the_way
    assert ">no value<" in on_the_way
    assert "mg-ran" in ran


@pytest.mark.parametrize("side", ["dynamic", "static"])
def test_the_gradient_is_whole_only_after_both_contributions(side: str) -> None:
    scene = both().scene
    seen = [
        found[1]
        if (found := re.search(r'class="mg-grad"[^>]*>([^<]*)<', card[f"{side} x"]))
        else ""
        for step in range(scene.steps)
        for arrived in (False, True)
        for card in [cards(scene, step, arrived)]
    ]
    order = [text for i, text in enumerate(seen) if text and text not in seen[:i]]
    assert order == ["∂ 5", "∂ 5 + 5 = 10", "∂ 10"]
    assert seen[-1] == "∂ 10", "and stays"


def test_values_travel_from_the_card_that_has_them_to_the_one_that_reads_them() -> None:
    scene = both().scene
    texts = {step: [chip.text for chip in scene.chips(step)] for step in range(scene.steps)}
    assert texts[1] == ["5", "5"]
    assert sorted(texts[2]) == ["25", "3"]
    assert texts[5] == ["1 × 5 = 5"]
    assert texts[7] == ["5", "5"]
    assert texts[13] == 2 * ["1 × 5 = 5"], (
        "of the second call of one, and of the first of the other"
    )
    for step in range(scene.steps):
        for stage, *_ in scene.placed():
            for (e, flow), chip in zip(stage.flows(step), stage.chips(step), strict=True):
                ends = [e.target, e.source] if flow.back else [e.source, e.target]
                for i, point in zip(ends, (chip.way[0], chip.way[-1]), strict=True):
                    box = stage.drawing.there.nodes[i]
                    near = 14
                    assert box.x - near < point[0] < box.x + box.width + near
                    assert box.y - near < point[1] - 30 < box.y + box.height + near


def test_what_travels_side_by_side_does_not_cover_each_other() -> None:
    for chips in (both().scene.chips(step) for step in range(both().scene.steps)):
        for one, other in pairwise(chips):
            across = abs(one.way[0][0] - other.way[0][0]) >= (one.size[0] + other.size[0]) / 2
            assert across or abs(one.way[0][1] - other.way[0][1]) >= 22


def test_tensors_travel_as_miniatures_of_their_swatches() -> None:
    w = mg.tensor(np.linspace(-1, 1, 24).reshape(4, 6), requires_grad=True)
    scene = viz.animate((w * w).sum(), language="en").scene
    ways = [chip for step in range(scene.steps) for chip in scene.chips(step)]
    assert len([chip for chip in ways if chip.swatch]) == 6, "two operands, and all on the way back"
    svg = next(chip for chip in ways if chip.swatch).svg()
    assert "…" not in svg
    assert "<text" not in svg
    animation = viz.animate((w * w).sum(), language="en").svg
    drawn = ElementTree.fromstring(animation)
    ids = {x.attrib["id"] for x in drawn.iter() if x.attrib.get("id", "").startswith("w")}
    used = [x.attrib["href"][1:] for x in drawn.iter() if x.tag.endswith("use")]
    assert set(used) == ids
    assert (len(ids), len(used)) == (9, 16), "each is written once; a card once, whatever its halo"
    held = scene.parts(Moment(scene.steps - 1), "en")
    assert sum("mg-swatch" in part for part in held.values()) == 2, "w and its square"


def test_a_painted_miniature_has_the_colours_of_the_page_s() -> None:
    chip = Chip("", True, (), encoded(Raster("cells", ((0.0, 2.0), (-2.0, math.nan))), 2.0))
    svg = f'<svg viewBox="0 0 60 40"><g transform="translate(30,20)">{chip.svg()}</g></svg>'
    image = Image.open(io.BytesIO(paint(svg, "png", dpi=96))).convert("RGB")
    for token in ("paper", "grad", "below", "bad"):
        color = TOKENS[token][0]
        wanted = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
        assert (np.asarray(image) == wanted).all(axis=2).sum() > 60, token


def test_along_a_curve_from_its_start_to_its_end() -> None:
    way = ((0.0, 0.0), (0.0, 4.0), (4.0, 8.0), (8.0, 8.0), (9.0, 8.0), (10.0, 8.0), (12.0, 8.0))
    assert along(way, 0) == way[0]
    long, short = 128**0.5, 4.0
    assert along(way, long / (long + short)) == pytest.approx((8.0, 8.0)), "as fast on each piece"
    assert along(way, 1) == way[-1]
    assert along(way[:4], 0.5) == (2.5, 5.5)


def scored(made: viz.Animation, step: int, side: int) -> dict[str, str]:
    """What the score of a side shows at a step, by the names of its parts."""
    parts = made.scene.parts(Moment(step), "en")
    names = re.compile(rf"(rows|head|row\d+|step\d+|phase\d+)-{side}")
    return {name[:-2]: svg for name, svg in parts.items() if names.fullmatch(name) and svg}


def test_the_score_says_when_each_line_was_built_and_when_it_ran() -> None:
    last = both().scene.steps - 1
    dynamic, static = (scored(both(), last, side) for side in (0, 1))
    for side, built in ((dynamic, 4), (static, 2)):
        texts = [re.sub("<[^>]*>", "", side[f"row{i}"]) for i in range(3)]
        assert texts == ["x", "x * x", "x * x + 3"]
        marks = "".join(svg for name, svg in side.items() if name.startswith("step"))
        assert marks.count('"mg-ran"') == 4, "two calls"
        assert marks.count('"mg-passed"') == 6, "of each three contributions"
        assert marks.count('"mg-dot-seed"') == 2, "and what each begins with, as in a player"
        assert marks.count('"mg-dot-declared"') == (built == 2), "an input without a value"
        head = re.sub("<[^>]*>", "", side["head"])
        assert f"{built} built · 4 run · 6 passed back" in head
    phases = [
        [re.sub("<[^>]*>", "", svg) for name, svg in side.items() if name.startswith("phase")]
        for side in (dynamic, static)
    ]
    assert phases == [
        2 * ["build+ run", "backward"],  # the first in two lines
        ["build", "∂", *2 * ["run", "backward"]],
    ]
    assert "mg-ring" in dynamic["step1"], "built and run at once"
    sent = re.search(r'mg-stair-backward" d="M[\d.]+,([\d.]+)Q[\d.]+,\1 ', dynamic["step6"])
    assert sent, "the second contribution comes from x * x, too, around the first"
    assert ["steps, not time" in side["head"] for side in (dynamic, static)] == [True, False]
    assert "mg-born" in static["step2"], "only built"
    rings = [float(x) for x in re.findall(r'width="([\d.]+)"', dynamic["step1"])]
    assert rings[1] - rings[2] == pytest.approx(6), "its number has the inner one to itself"
    narrow = viz.animate(lambda x: x * x + 3, 2.0, seconds=2)
    narrow.width = 350
    for step, looks in {1: ["mg-small-ring", "mg-dot-run"], 2: ["mg-dot-declared"]}.items():
        marks = narrow.scene.score.staffs[step - 1].notes[1]
        drawn = narrow.scene.score.staffs[step - 1]._mark(marks[0])
        assert re.findall("mg-(?:small|dot)[a-z-]*", drawn) == looks, "as in a player on a phone"


def test_all_marks_of_a_score_show_their_numbers_or_none_does() -> None:
    x = mg.tensor(5.0, requires_grad=True, name="x")
    films = viz.animate(x * x + 3), viz.animate(lambda x: x * x + 3, 5.0)
    numbers = []
    for film in films:
        film.width = 340
        svg = "".join(film.scene.score.parts(film.scene.steps - 1).values())
        numbers.append(re.findall('<text class="mg-number[^>]*>([^<]+)', svg))
    assert numbers == [["5", "25", "28", "1", "1", "5", "10"], []], "two films have lower rows"


def test_the_key_explains_each_mark_that_is_seen() -> None:
    last = Moment(both().scene.steps - 1)
    words = ["built", "build + run", "ran", "input", "∂ starts", "gradient", "value", "this step"]
    key = both().scene.parts(last, "en")["key"]
    assert re.findall(r">([^<]+)</text>", key) == [*words, "earlier call"]
    alone = small().scene.parts(Moment(small().scene.steps - 1), "en")["key"]
    assert re.findall(r">([^<]+)</text>", alone) == words[1:2] + words[3:]
    assert key.count("mg-dot-declared") == 1, "a sign of its own, and the word of an input"


def test_a_narrow_score_shortens_words_before_it_takes_signs() -> None:
    slim = viz.Animation(both().player, "en")
    slim.width = 350
    shown = scored(slim, slim.scene.steps - 1, 1)
    phases = [re.sub("<[^>]*>", "", svg) for name, svg in shown.items() if name[:5] == "phase"]
    assert phases == ["build", "∂", *2 * ["run", "back"]]
    boxes = [re.search(r' x="([^"]+)".* width="([^"]+)"', shown[f"phase{i}"]) for i in range(3)]
    sides = [(float(box[1]), float(box[1]) + float(box[2])) for box in boxes if box]
    assert sides[1][1] - sides[1][0] == pytest.approx(16), "its sign has room"
    assert sides[0][1] < sides[1][0] < sides[1][1] < sides[2][0], "and no neighbour lies on it"


def test_a_node_has_the_same_place_and_size_in_both_graphs() -> None:
    ours, theirs = ([*stage.drawing.there.nodes.values()] for stage in both().scene.stages)
    assert sorted(map(astuple, ours)) == sorted(map(astuple, theirs))


def test_the_graph_of_an_earlier_call_lies_behind() -> None:
    """Of a dynamic graph from its second call on; a static one is kept."""
    scene = both().scene
    for step in (3, scene.steps - 1):
        behind = [name for name, card in cards(scene, step).items() if "mg-ref-card" in card]
        assert behind == ["dynamic x", "dynamic ×", "dynamic +"] * (step > 3)


def test_the_score_grows_step_by_step() -> None:
    for step in range(both().scene.steps):
        parts = both().scene.score.parts(step)
        assert next(iter(parts)) == "playhead", "marks lie on the bar"
        at_step = f"M{both().scene.score.x(step):g},"
        assert parts["playhead"].count(at_step) == 2, "of each staff, through its marks"
        for side in (0, 1):
            there = scored(both(), step, side)
            numbers = [int(name[4:]) for name in there if name.startswith("step")]
            assert max(numbers, default=0) <= step, "nothing that is to come is shown"
            lit = [name for name, svg in there.items() if "mg-lit" in svg]
            wanted = {n.row for n in both().scene.score.staffs[side].notes.get(step, ())}
            assert lit == [f"row{row}" for row in sorted(wanted)], "the line of now"
            lives = re.findall('"mg-life[^>]*"', "".join(there.values()))
            ends = [float(x) for x in re.findall(r"L([\d.]+),", "".join(lives))]
            assert max(ends, default=0) <= both().scene.score.x(step) + 0.01, "no value to come"
    assert "0</tspan> built" in scored(both(), 0, 1)["head"]


def test_the_score_of_a_long_program_makes_diagonals(tmp_path: Path) -> None:
    lines = [f"    x = mg.tanh(x * 0.{i + 10})\n" for i in range(24)]
    source = tmp_path / "long.py"
    source.write_text(f"import minigrad as mg\ndef model(x):\n{''.join(lines)}    return x\n")
    made = viz.animate(runpy.run_path(str(source))["model"], 0.5, language="en")
    (staff, other) = made.scene.score.staffs
    assert len(staff.score.rows) == len(other.score.rows) == 49
    assert made.scene.score.height < 2 * 200 + 40, "two staffs, and their key"
    there = scored(made, 3, 0)
    assert "row0" not in there, "no code that nobody can read"
    assert "mg.tanh(x * 0.10)" in there["head"] or "x * 0.11" in there["head"], "but that of now"


def test_pytorch_s_own_example_ends_with_the_sum() -> None:
    """Its README draws the loss as tanh itself (pytorch/pytorch#98600): a sum is missing there."""
    rng = np.random.default_rng(0)
    w_h, w_x = (mg.tensor(rng.normal(size=(4, 4)), requires_grad=True) for _ in range(2))
    x, h = mg.tensor(rng.normal(size=(1, 4))), mg.tensor(rng.normal(size=(1, 4)))
    i2h, h2h = w_x @ x.T, w_h @ h.T
    next_h = (h2h + i2h).tanh()
    loss = next_h.sum()
    scene = viz.animate(loss, language="en").scene
    (stage,) = scene.stages
    ops = {n.id: n.op for n in stage.drawn.nodes}
    arrows = {(ops[e.source], ops[e.target]) for e in stage.drawn.edges}
    assert ("Tanh", "Sum") in arrows
    assert ("MatMul", "Add") in arrows
    back = [
        [(ops[e.target], ops[e.source]) for e, flow in stage.flows(step) if flow.back]
        for step in range(scene.steps)
    ]
    passed = [pair for step in back for pair in step]
    assert passed[0] == ("Sum", "Tanh")
    assert set(passed) <= {(target, source) for source, target in arrows}


# ---- Files -----------------------------------------------------------------------------------


def still_of(svg: str) -> str:
    """What stands at the end: without whatever is seen for a while only."""
    root = ElementTree.fromstring(svg)
    for parent in root.iter():
        for child in [c for c in parent if c.get("class") == "mg-for"]:
            parent.remove(child)
    return "".join(root.itertext())


def test_an_svg_plays_once_without_a_script_and_rests_for_who_asks() -> None:
    svg = both().svg
    assert "<script" not in svg
    assert not re.search(r"https?://(?!www\.w3\.org)", svg)
    rest, plays = svg.split("@media (prefers-reduced-motion: no-preference)")
    assert ".mg-for { visibility: hidden; }" in rest
    assert "animation: mg-for" in plays
    assert "infinite" not in svg
    end = still_of(svg)
    assert "∂ 10" in end
    assert "equal, bit for bit" in end
    assert "∂ 5 + 5" not in end
    assert "prefers-color-scheme: dark" in svg
    times = [float(s) for s in re.findall(r"--(?:at|for):([\d.]+)s", svg)]
    assert max(times) <= both().scene.steps * 0.8


def test_what_stands_still_has_the_end_and_nothing_of_the_way() -> None:
    end = both().still
    assert "animation" not in end
    assert "".join(ElementTree.fromstring(end).itertext()).endswith("equal, bit for bit")
    assert re.findall(r'mg-grad"[^>]*>(∂ [^<]*)<', end) == 2 * ["∂ 10", "∂ 1", "∂ 1"]


def test_a_row_holds_a_value_once_its_own_operator_ran() -> None:
    """Not when a constant that it reads is there."""
    assert both().scene.score
    for staff in both().scene.score.staffs:
        notes = [n for n in staff.score.notes if n.sort == "operator" and n.kind in ("run", "both")]
        ran = {n.row: n.step for n in reversed(notes)}
        assert len(ran) == 2
        assert {row: staff.held[row] for row in ran} == ran


def test_the_end_says_what_both_graphs_are_for_and_the_key_is_even() -> None:
    scene = both().scene
    shown = scene.parts(Moment(scene.steps - 1), "en")
    said = [re.findall(r">([^<]+)</text>", shown[f"s{k}said"]) for k in range(2)]
    assert said == [
        ["2 calls, 4 operators built, 4 run.", "Each call builds its graph again."],
        ["2 calls, 2 operators built, 4 run.", "One graph, built once and kept."],
    ]
    lines = re.findall(r"translate\(\d+,(\d+)\)", shown["key"])
    assert all(lines.count(y) > 1 for y in lines), "no entry is alone"


def test_on_a_phone_both_films_are_seen_at_once() -> None:
    slim = viz.Animation(both().player, "en")
    slim.width = 350
    (one, x, y), (_, u, v) = slim.scene.placed()
    assert (y, u > x + one.width) == (v, True)
    assert slim.scene.width <= 366
    assert slim.scene.height < 690, "with a title and the languages no higher than the screen"
    shown = slim.scene.parts(Moment(slim.scene.steps - 1), "en")
    *ends, one_line, other = re.findall(r">([^<]+)</text>", shown["verdict"])
    assert ends == [
        "dynamic graph: Each call builds its graph again.",
        "static graph: One graph, built once and kept.",
    ]
    assert (one_line[:7], other[-11:]) == ("checked", "bit for bit"), "it takes two lines"
    words = [re.findall(r">([^<]+)</text>", svg) for name, svg in shown.items() if "s0n" in name]
    cards = [["3"], ["x", "5", "∂ 10"], ["×", "25", "∂ 1"], ["+", "28", "∂ 1"]]
    assert sorted(x for x in words if x) == sorted(cards)


def test_on_a_phone_films_that_are_too_wide_are_one_under_the_other() -> None:
    slim = viz.animate(lambda x: x * 0.123456 + 3.14159, 2.0, language="en")
    slim.width = 350
    (one, x, y), (_, u, v) = slim.scene.placed()
    assert x == u
    assert v > y + one.height
    assert slim.scene.width <= 366


def test_an_svg_is_dark_where_it_is_asked_for() -> None:
    player = small().player
    for dark, paper in ((True, "#14171D"), (False, "#FFFFFF")):
        svg = viz.Animation(player, "en", dark=dark).svg
        assert "prefers-color-scheme" not in svg
        assert f".mg-paper {{ fill: {paper}; }}" in svg


def test_languages() -> None:
    player = small().player
    english, chinese = (viz.Animation(player, code).svg for code in ("en", "zh"))
    assert "operator" in english
    assert not re.search("[\u4e00-\u9fff]", english)
    assert "算子" in chinese
    assert "operator" not in chinese
    set_language("zh")
    assert "算子" in viz.Animation(player).svg


def opened(path: Path) -> Image.Image:
    return Image.open(io.BytesIO(path.read_bytes()))


def test_a_gif_shows_every_step_and_what_is_between(tmp_path: Path) -> None:
    path = small().save(tmp_path / "x.gif")
    assert path.stat().st_size < 110_000
    image = opened(path)
    frames = [frame.copy() for frame in ImageSequence.Iterator(image)]
    travels = sum(bool(small().scene.chips(step)) for step in range(small().scene.steps))
    assert travels == 3
    assert len(frames) >= small().scene.steps + 3 * travels
    durations = [frame.info["duration"] for frame in frames]
    assert sum(durations[:-1]) / 1000 == pytest.approx((small().scene.steps - 1) * 0.8, rel=0.1)
    assert durations[-1] >= 3000
    assert image.info["loop"] == 0
    last = np.asarray(frames[-1].convert("RGB"), float)
    parts = small().scene.parts(Moment(small().scene.steps - 1), "en")
    wanted = (
        small()._scenes().around("".join(small()._one(Moment(small().scene.steps - 1)).values()))
    )
    png = np.asarray(Image.open(io.BytesIO(paint(wanted, "png", dpi=144))).convert("RGB"), float)
    assert parts
    assert last.shape == png.shape
    assert np.abs(last - png).mean() < 1, "the last picture is the end, in nearly its colours"


@pytest.mark.usefixtures("coarse")
def test_a_part_that_stays_is_painted_once_for_the_whole_film(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of each picture was painted anew: 27 operators took minutes."""
    painted = []
    real = Layers.layer

    def layer(self: Layers, svg: str) -> Any:
        if svg not in self._known:
            painted.append(svg)
        return real(self, svg)

    monkeypatch.setattr(Layers, "layer", layer)
    y = mg.tensor(0.5, requires_grad=True, name="x")
    for _ in range(4):
        y = mg.tanh(y)
    made = viz.animate(y, language="en")
    frames = opened(made.save(tmp_path / "x.gif")).n_frames
    shown = sum(len([*filter(None, parts.values())]) for _, parts in made._scenes().parts)
    assert frames > 60
    assert len(painted) == len(set(painted)) < shown / 4


def test_a_dark_gif_is_dark_and_a_wide_one_has_fewer_pixels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(motion, "PIXELS", 200_000)  # half as many again are usual for this one
    image = opened(viz.Animation(small().player, "zh", dark=True).save(tmp_path / "x.gif"))
    assert np.asarray(image.convert("RGB")).mean() < 60
    assert image.width * image.height < 230_000


@pytest.mark.exhaustive
def test_the_gif_of_both_ways_is_small(tmp_path: Path) -> None:
    assert both().save(tmp_path / "x.gif").stat().st_size < 600_000


FFMPEG = """#!/bin/sh
for path; do :; done
echo "$*" $(wc -c) > "$path"
"""


@pytest.mark.usefixtures("coarse")
@pytest.mark.skipif(sys.platform == "win32", reason="a script that is a program")
def test_an_mp4_is_made_by_ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ffmpeg"
    program.write_text(FFMPEG)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    texts = small().save(tmp_path / "x.mp4").read_text()
    wide, high = map(int, re.search(r"-s (\d+)x(\d+)", texts).groups())  # type: ignore[union-attr]
    assert wide % 2 == high % 2 == 0
    pictures, rest = divmod(int(texts.split()[-1]), 3 * wide * high)
    assert rest == 0
    assert pictures / RATE == pytest.approx(small().scene.steps * 0.8, rel=0.15)


def test_without_ffmpeg_the_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = small()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RuntimeError, match=r"no ffmpeg.*\.gif or \.svg"):
        made.save(tmp_path / "x.mp4")
    assert not (tmp_path / "x.mp4").exists()


def test_in_a_notebook_it_is_an_image_told_in_both_languages() -> None:
    bundle = small()._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert bundle["text/plain"] == small().text()[0]
    assert re.search(
        r'<img alt="Animation in 6 steps[^"]* 动画[^"]*[\u4e00-\u9fff]', bundle["text/html"]
    )
    assert 'src="data:image/svg+xml;base64,' in bundle["text/html"]


@pytest.mark.parametrize(("asked", "halves"), [(None, ["en", "zh"]), ("zh", [])])
def test_a_page_shows_it_in_its_language_unless_one_was_asked_for(
    asked: Any, halves: list[str]
) -> None:
    page = viz.animate(small_y(), language=asked)._repr_mimebundle_()["text/html"]
    files = [base64.b64decode(x).decode() for x in re.findall(r"base64,([^\"]+)", page)]
    assert re.findall(r'<div lang="(\w+)">', page) == halves
    each = len(files) // (len(halves) or 1)  # its forms for a phone, for less motion, for both
    assert each == 4
    assert ["输入" in file for file in files[::each]] == ([False, True] if halves else [True])


def small_y() -> mg.Tensor:
    x = mg.tensor(5.0, requires_grad=True)
    y: mg.Tensor = x * x
    return y


# ---- What it takes ---------------------------------------------------------------------------


def test_it_takes_what_step_and_compare_take() -> None:
    with mg.Graph():
        x = mg.placeholder("x")
        y = x * x
    feed = {x: 5.0}
    wanted = viz.step(y, feed).text()
    assert viz.animate(y, feed).text() == wanted
    assert viz.animate(y, feed_dict=feed).text() == wanted
    assert viz.animate(mg.build_graph(x, y), feed).text() == wanted
    assert viz.animate(viz.step(y, feed)).text() == wanted
    assert viz.animate(lambda: mg.tensor(2.0, requires_grad=True) * 3).scene.steps > 2
    t = mg.tensor(2.0, requires_grad=True)
    named = t * 3
    assert "named = t × 3" in viz.animate(named).text()[0], "names of variables, where it is called"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"language": "both"}, "one language, en or zh, got 'both'"),
        ({"seconds": 0}, "0.6 seconds at least, got seconds=0"),
        ({"seconds": float("nan")}, "got seconds=nan"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        viz.animate(small_y(), **options)


def test_other_endings_and_other_things(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.webm.*\.svg, \.gif, \.mp4"):
        small().save(tmp_path / "x.webm")
    with pytest.raises(TypeError, match="a text"):
        viz.animate("a text")


def test_a_film_of_many_steps_is_refused() -> None:
    x = mg.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(160):
        y = y * 1.01
    with pytest.raises(ValueError, match="steps are too long to watch"):
        viz.animate(y)


def test_lines_are_broken_where_a_reader_would() -> None:
    assert fold_text("run: a = b × c = 25", 1000) == ["run: a = b × c = 25"]
    assert fold_text("run and recorded at once: Mul = x × x = 25", 200) == [
        "run and recorded at once:",
        "Mul = x × x = 25",
    ]
    assert fold_text("边运行边记录，一步完成：乘积等于二十五。", 170)[1][0] not in "，。：；"
    assert fold_text("静态图 / 动态图（对数刻度）；空心", 160)[1].startswith("（对数刻度）；"), (
        "held together"
    )
    assert fold_text("运行 4 个算子，回传 6 份梯度。", 140)[1].startswith("6"), "with its unit"
    assert fold_text("∂ linear2 0.00205", 88) == ["∂ linear2", "0.00205"]
    assert fold_text("word " * 60, 200)[-1].endswith("…")
    assert len(fold_text("word " * 60, 200)) == 3
