"""Large drawings: references beside readers, the bound on layout time, repetitions that fold."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import branch_and_loop
from test_drawing import elements
from test_layout import only

import minigrad as mg
import viz
from viz.page import scenes
from viz.page.payload import home
from viz.page.scenes import focus
from viz.picture import drawing, layout
from viz.picture.boxes import Picture, PictureEdge, PictureNode
from viz.picture.cards import one_language
from viz.picture.drawing import Drawing, render
from viz.picture.formula import heading
from viz.picture.picture import picture
from viz.picture.place import Box
from viz.picture.references import FAR, JOINED, MANY, references
from viz.words import progress as progress_module
from viz.words.progress import progress, with_progress

pytestmark = pytest.mark.usefixtures("drawn_anew")

SECONDS = 3.0  # of the processor, that a layout of up to 300 operators may take
LARGE = 300


def leaf(name: str) -> mg.Tensor:
    return mg.tensor(0.5, requires_grad=True, name=name)


# ---- Shapes ---------------------------------------------------------------------------------


def shared(count: int) -> Any:
    x, y = leaf("x"), leaf("y")
    for _ in range(count // 2):
        y = mg.tanh(y) * x
    return y


def recurrent(count: int) -> Any:
    w, x, h = leaf("w"), leaf("x"), mg.tensor(0.1)
    for _ in range(count // 3):
        h = mg.tanh(h * w + x)
    return h


def residual(count: int) -> Any:
    y = leaf("x")
    for _ in range(count // 2):
        y = mg.tanh(y) + y
    return y


def dense(count: int) -> Any:
    read = [leaf("x")]
    for _ in range(count // 2):
        read.append(mg.sum(mg.stack(read)))
    return read[-1]


def star(count: int) -> Any:
    x = leaf("x")
    return [mg.tanh(x) for _ in range(count)]


def fan(count: int) -> Any:
    total, *rest = star(count // 2)
    for y in rest:
        total = total + y
    return total


def diamonds(count: int) -> Any:
    y = leaf("x")
    for _ in range(count // 3):
        y = mg.tanh(y) * mg.sin(y)
    return y


def tree(count: int) -> Any:
    level = [leaf(f"x{i}") for i in range(count // 2)]
    while len(level) > 1:
        level = [a + b for a, b in zip(level[::2], level[1::2], strict=False)]
    return level[0]


def nested(count: int) -> Any:
    x, y = leaf("x"), leaf("y")
    for i in range(count // 3):
        with mg.name_scope(f"block{i // 20}"), mg.name_scope(f"layer{i // 4}"):
            y = mg.tanh(y) * x + y
    return y


def gates(count: int) -> Any:
    weights, x = [leaf(name) for name in "abcd"], leaf("x")
    h = c = mg.tensor(0.1)
    for _ in range(count // 17):
        i, f, o = (mg.sigmoid(w * x + h) for w in weights[:3])
        c = f * c + i * mg.tanh(weights[3] * x + h)
        h = o * mg.tanh(c)
    return h


def dag(count: int, most: int, window: int, groups: str) -> Picture:
    """Nodes that read up to `most` of those before, no further back than `window`."""
    choose = random.Random(most * window)
    nodes, edges = [], []
    for i in range(count):
        near = range(max(0, i - window), i)
        read = [choose.choice(near) for _ in range(choose.randint(1, most))] if i else []
        group = {"": "", "nested": f"a{i // 100}/b{i // 20}/c{i // 5}"}.get(groups)
        group = f"g{choose.randrange(12)}" if group is None else group
        inputs = tuple(f"n{j}" for j in read)
        nodes.append(PictureNode(f"n{i}", "operator", "Mul", "", "(3,)", group, inputs))
        edges += [PictureEdge(f"e{i}-{k}", s, f"n{i}", k) for k, s in enumerate(inputs)]
    return Picture(tuple(nodes), tuple(edges), "static", {})


TAPES = [shared, recurrent, residual, dense, star, fan, diamonds, tree, nested, gates]
SHAPES: dict[str, Callable[[int], Picture]] = {
    **{make.__name__: lambda count, make=make: picture(make(count)) for make in TAPES},
    **{
        f"dag {most} {window} {groups}": lambda n, a=most, b=window, c=groups: dag(n, a, b, c)
        for most in (2, 4)
        for window in (20, LARGE)
        for groups in ("", "nested", "random")
    },
}


def bare(drawn: Drawing) -> None:
    """All of it is there, and nothing lies on anything else."""
    there = drawn.there
    assert {n.id for n in drawn.picture.nodes} <= there.nodes.keys()
    assert drawn._courses.keys() <= {e.id for e in drawn.picture.edges}
    boxes = sorted((b.x, b.y, b.x + b.width, b.y + b.height) for b in there.nodes.values())
    for i, (_, top, right, low) in enumerate(boxes):
        for x, y, _, bottom in boxes[i + 1 :]:
            if x >= right - 0.5:
                break
            assert min(low, bottom) - max(top, y) < 0.5, "two cards overlap"
    for n in drawn.picture.nodes:
        box = there.nodes[n.id]
        assert 0 <= box.x <= box.x + box.width <= there.width
        assert 0 <= box.y <= box.y + box.height <= there.height


# ---- The bound on time ----------------------------------------------------------------------


@pytest.mark.usefixtures("any_engine")
@pytest.mark.cases(6)
@pytest.mark.skipif(sys.platform == "win32", reason="the time of children is not told there")
@pytest.mark.parametrize("engine", ["dot", "graphviz-pure"])
@pytest.mark.parametrize("shape", SHAPES)
def test_no_shape_of_300_operators_takes_long(
    shape: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrows across the whole drawing took the engine minutes (y = tanh(y) * x, 298 operators)."""
    only(monkeypatch, engine)
    drawn = SHAPES[shape](LARGE)
    before = sum(os.times()[:4])
    whole = Drawing(drawn, "p", {})
    took = sum(os.times()[:4]) - before
    assert took < SECONDS
    bare(whole)


@pytest.mark.cases(6)
@pytest.mark.parametrize("shape", SHAPES)
def test_our_own_layout_shows_all_of_every_shape(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "places", lambda source: None)
    drawn = SHAPES[shape](LARGE // 2)
    whole = Drawing(drawn, "p", {})
    bare(whole)
    frames = [box for box, _ in whole.there.frames.values()]
    assert len(frames) == len(drawn.groups)
    for n in drawn.nodes:
        if n.group:
            group = f"c{drawn.groups.index(n.group)}"  # in rows, its frame has several parts
            parts = [whole.there.frames[group][0], *whole.there.further.get(group, ())]
            assert [part for part in parts if encloses(part, whole.there.nodes[n.id])]


def encloses(outer: Box, inner: Box) -> bool:
    """Return whether a box lies inside another one."""
    across = outer.x < inner.x < inner.x + inner.width < outer.x + outer.width
    return across and outer.y < inner.y < inner.y + inner.height < outer.y + outer.height


def test_our_own_layout_draws_arrows_from_card_to_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "places", lambda source: None)
    drawn = picture(branch_and_loop(), bodies=True)
    assert any(e.kind == "loop" for e in drawn.edges)
    whole = Drawing(drawn, "p", {})
    for e in drawn.edges:
        ends = whole.way(e)
        for i, (x, y) in ((e.source, ends[0]), (e.target, ends[-1])):
            box = whole.there.nodes[i]
            assert box.x - 9 <= x <= box.x + box.width + 9
            assert box.y - 9 <= y <= box.y + box.height + 9
    assert "<svg" in render(drawn, "p")


def test_cards_of_a_layer_of_our_own_layout_share_their_middle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drawing, "places", lambda source: None)
    with mg.Graph():
        drawn = picture(mg.placeholder("x", ()) + mg.placeholder("much longer", ()))
    one, other, _ = Drawing(drawn, "p", {}).there.nodes.values()
    assert one.width < other.width
    assert one.x + one.width / 2 == pytest.approx(other.x + other.width / 2, abs=1)


SLOW = "#!/bin/sh\necho $$ > '{told}'\nexec sleep 60\n"


def slow_engine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An engine that never comes to an end, as the only one; returns where it writes its number."""
    engine, told = folder / "dot", folder / "number"
    engine.write_text(SLOW.format(told=told))
    engine.chmod(0o755)
    which = layout.shutil.which
    found = lambda name: str(engine) if name == "dot" else which(name)  # noqa: E731
    monkeypatch.setattr(layout.shutil, "which", found)
    return told


def runs(number: int) -> bool:
    state = Path(f"/proc/{number}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.usefixtures("any_engine")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are told by /proc")
def test_an_engine_that_takes_too_long_is_stopped_and_the_drawing_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = slow_engine(tmp_path, monkeypatch)
    monkeypatch.setattr(layout, "LIMIT", 0.3)
    y = shared(40)
    start = time.monotonic()
    shown = viz.draw(y)
    assert shown.svg.count('class="node') == len(shown.picture.nodes)
    assert not runs(int(told.read_text()))
    assert time.monotonic() - start < 30
    again = time.monotonic()
    render(picture(y), "q")
    assert time.monotonic() - again < 10, "the same drawing is not tried again"


KERNEL = """
import signal, sys, shutil
from viz.picture import layout
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
real = shutil.which
layout.shutil.which = lambda name: sys.argv[1] if name == "dot" else real(name)
layout.LIMIT = 60.0
layout.layout("digraph {}")
"""


@pytest.mark.usefixtures("any_engine")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are told by /proc")
@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_an_engine_ends_with_the_kernel_that_started_it(
    by: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by == signal.SIGKILL and not layout._can_tie():
        pytest.skip("to run it, install util-linux, which has setpriv")
    told = slow_engine(tmp_path, monkeypatch)
    command = [sys.executable, "-c", KERNEL, str(tmp_path / "dot")]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as kernel:
        until(lambda: told.exists() and told.read_text().strip() != "")
        number = int(told.read_text())
        assert runs(number)
        kernel.send_signal(by)
        kernel.wait(30)
    until(lambda: not runs(number))


def until(done: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_an_engine_has_a_few_seconds_of_the_processor() -> None:
    """So that the system ends it where nothing else does."""
    command = layout.tied_to_parent([layout.SHELL, "-c", "ulimit -t"])
    if len(command) == 3:
        pytest.skip("no shell")
    told = subprocess.run(command, capture_output=True, check=True, text=True, timeout=60).stdout
    assert told == f"{layout.PROCESSOR}\n"


# ---- References -----------------------------------------------------------------------------


def test_a_value_with_many_readers_is_referred_to_beside_all_but_the_first() -> None:
    drawn = picture(recurrent(3 * (MANY + 1)))
    found = references(drawn)
    named = Counter(ref.sources[0].label for ref in found)
    assert named == {"w": MANY, "x": MANY}
    nodes = {n.id: n for n in drawn.nodes}
    for ref in found:
        assert ref.edges == ref.drawn
        assert all(e.source == ref.sources[0].id and e.target == ref.target.id for e in ref.edges)
        assert nodes[ref.target.id].op in ("Mul", "Add")
    svg = render(drawn, "p")
    refs = [g for g in elements(svg, "g") if g.get("class") == "mg-ref"]
    assert Counter(g.get("data-of") for g in refs) == {
        f"p-{n.id}": MANY for n in drawn.nodes if n.label in ("w", "x")
    }
    assert svg.count('class="node') == len(drawn.nodes), "each card is drawn once"
    assert svg.count('class="edge') == len(drawn.edges), "and each arrow"


def test_few_readers_have_arrows() -> None:
    assert references(picture(star(MANY))) == ()
    assert len(references(picture(star(MANY + 1)))) == MANY
    assert "mg-ref" not in render(picture(star(MANY)), "p")


def test_a_reader_far_away_has_a_reference() -> None:
    x = leaf("x")
    y = mg.tanh(x)
    for _ in range(FAR + 1):
        y = mg.sin(y)
    (ref,) = references(picture(y + x))
    assert (ref.sources[0].label, ref.target.op) == ("x", "Add")


def test_many_references_of_one_reader_are_one_that_names_them() -> None:
    drawn = picture(dense(2 * (MANY + JOINED + 4)))
    joined = [ref for ref in references(drawn) if len(ref.sources) > 1]
    assert joined
    assert all(len(ref.sources) > JOINED and len(ref.drawn) == 1 for ref in joined)
    assert f"+{len(joined[-1].sources) - 1}" in joined[-1].label
    here = home(drawn, drawn, "p")
    for e in joined[-1].edges[1:]:
        assert here[f"p-{e.id}"] == f"p-{joined[-1].drawn[0].id}", "what flows goes along the one"
    svg = render(drawn, "p")
    assert svg.count('class="edge') == len(drawn.edges) - sum(len(r.edges) - 1 for r in joined)


def test_text_and_table_know_all_arrows() -> None:
    drawn = viz.draw(shared(20))
    assert str(drawn).count(", x)") == 10
    assert drawn.html.count(", x</td>") == 10


@pytest.mark.parametrize(("language", "told"), [("en", "Reference to x"), ("zh", "引用：x")])
def test_a_reference_says_what_it_is_in_both_languages(language: str, told: str) -> None:
    svg = one_language(render(picture(shared(20)), "p"), language)
    titles = [t.text or "" for t in elements(svg, "title")]
    assert sum(told in title for title in titles) == 9


def test_a_film_sends_values_along_the_arrow_from_the_reference() -> None:
    player = viz.step(shared(20))
    graph = player.data["graphs"][0]
    view = graph["views"][graph["shown"]]
    ids = set(re.findall(r'id="([^"]*)" class="edge', view["svg"]))
    for frame in player.data["frames"]:
        for edge in frame.get("flows", {}):
            assert view["home"].get(edge, edge) in ids
    assert len(player.data["edges"]) == len(player.films[0].picture.edges)


# ---- Repetitions ----------------------------------------------------------------------------


def chain(count: int) -> Any:
    y = leaf("x")
    for _ in range(count):
        y = mg.tanh(y)
    return y


@pytest.mark.parametrize("steps", [150, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_a_long_chain_is_a_picture(steps: int) -> None:
    graph = viz.step(chain(steps)).data["graphs"][0]
    svg = graph["views"][graph["shown"]]["svg"]
    assert svg.startswith("<svg")
    assert svg.count('class="node') == 4, "the input, the first round, a strip, the last"
    assert f"Tanh × {steps - 2}" in svg


def test_what_repeats_is_a_group_of_groups() -> None:
    drawn = picture(recurrent(1500))
    top = [path for path in drawn.groups if "/" not in path]
    assert top == ["for (1)", "for × 498", "for (500)"]
    sizes = Counter(n.group for n in drawn.nodes if n.group)
    assert max(sizes.values()) <= 100
    assert sum(sizes.values()) >= 1500
    for opened in ((), drawn.overview(), frozenset(top)):
        assert len(drawn.fold(opened).nodes) <= 30
    inner = max(drawn.groups, key=len)
    whole = [path for path in drawn.groups if inner.startswith(path)]
    assert len(drawn.fold(whole).nodes) < 150


def cell(h: Any, w: Any, x: Any) -> Any:
    return mg.tanh(h @ w + x @ w)


def test_a_function_that_is_called_in_turn_is_a_strip_of_its_calls() -> None:
    """What a call reads alone goes with it, unless it is where the strip begins."""
    w = mg.tensor(np.eye(2), requires_grad=True, name="w")
    h = mg.tensor(np.ones((1, 2)), name="h")
    for _ in range(10):
        h = cell(h, w, mg.tensor(np.ones((1, 2))))
    drawn = picture((h * h).sum())
    first = drawn.fold(drawn.overview())
    assert [n.label for n in first.nodes] == [
        "h",
        "w",
        "cell (1)",
        "cell × 8",
        "cell (10)",
        "Mul",
        "Sum",
    ]
    assert [len(n.cells) for n in first.nodes if n.cells] == [8]
    assert len(drawn.fold({*drawn.groups}).nodes) == len(drawn.nodes)
    assert heading(drawn, ("graph", "图")) == (
        "graph: cell, called 10 times",
        "图：cell，调用 10 次",
    )
    rows = [row.label for row in viz.step((h * h).sum()).data["lanes"][0]["rows"]]
    lines = ["h @ w", "x @ w", "h @ w + x @ w", "return mg.tanh(h @ w + x @ w)"]
    assert [row for row in rows if " w" in row] == lines, "one row for all calls"


def test_rounds_that_begin_within_a_line_are_cut_where_the_line_begins() -> None:
    h = mg.tanh(leaf("x") * 1.0)
    for _ in range(20):
        h = mg.tanh(h * 0.5 + 1.0)
    drawn = picture(h)
    names = [n.label for n in drawn.fold(drawn.overview()).nodes if n.kind != "constant"]
    assert names == ["x", "Mul", "Tanh", "for (1)", "for × 18", "for (20)"]
    said = "graph: Mul → Add → Tanh, repeated 20 times"
    assert heading(drawn, ("graph", "图"))[0] == said.replace(" → ", "\xa0→\xa0"), (
        "no line ends there"
    )
    for _ in range(30):
        h = mg.exp(mg.tanh(h * 0.5 + 1.0) * 0.1)
    assert heading(picture(h), ("graph", "图"))[0] == "graph: 5 operators, repeated 30 times"


def test_few_boxes_stay_as_they_are() -> None:
    y = leaf("x")
    for _ in range(12):
        y = mg.tanh(y * 2.0)
    assert len(picture(y).nodes) < 40
    assert picture(y).groups == ()


def test_weights_and_numbers_of_one_round_are_in_its_group() -> None:
    y = leaf("x")
    for i in range(400):
        y = mg.tanh(y * leaf(f"w{i}") + 1.5)
    drawn = picture(y)
    outside = [n.label for n in drawn.nodes if not n.group]
    assert outside == ["x"], "where the rounds begin"
    assert len(drawn.nodes) == 5 * 400 + 1


def test_layers_that_repeat_are_one_strip() -> None:
    y = leaf("x")
    for i in range(1000):
        with mg.name_scope(f"block{i}"):
            y = mg.tanh(y)
    drawn = picture(y)
    assert [n.name for n in drawn.fold().nodes] == ["block0", "block × 998", "block999"]
    assert len(drawn.fold({"block × 998"}).nodes) <= 18, "parts of many layers each"


def test_where_nothing_repeats_nothing_is_grouped() -> None:
    choose, y = random.Random(0), leaf("x")
    for _ in range(900):
        y = choose.choice([mg.tanh, mg.sin, mg.cos, mg.sigmoid, mg.exp])(y)
    assert picture(y).groups == ()


# ---- Above every limit ----------------------------------------------------------------------


def noise(count: int) -> tuple[Any, mg.Graph]:
    """A graph in which nothing repeats, and passes change much."""
    choose = random.Random(0)
    with mg.Graph():
        x = mg.placeholder("x", shape=(2,))
        y: Any = x
        for _ in range(count // 3):
            y = choose.choice([mg.tanh, mg.sin, mg.cos])(y * 1 + x)
        return x, mg.build_graph(x, y)


def limited(monkeypatch: pytest.MonkeyPatch, layout: int, rest: int = 30) -> None:
    """As with the usual limits, for graphs that are several times as small."""
    monkeypatch.setattr("viz.views.draw.VALUES_LIMIT", rest)
    for module in ("viz.views.draw", "viz.page.payload"):
        monkeypatch.setattr(f"{module}.UNFOLD_LIMIT", rest)
    for module in (drawing, scenes):
        monkeypatch.setattr(module, "LAYOUT_LIMIT", layout)


def something(count: int) -> None:
    """Each view of so many operators shows a picture or a table."""
    x, graph = noise(count)
    feed = {x: np.ones(2, np.float32)}
    for shown in (viz.draw(graph), viz.step(graph, feed)):
        told = shown._repr_mimebundle_()
        html = (told[0] if isinstance(told, tuple) else told)["text/html"]
        assert "<img" in html or "<table" in html


@pytest.mark.parametrize("layout", [1500, 30], ids=["laid out", "not laid out"])
def test_every_view_shows_something_above_its_limits(
    layout: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, layout)
    something(46)


@pytest.mark.exhaustive
@pytest.mark.parametrize("count", [301, 401, 801, 1501])
def test_so_does_each_above_the_usual_limits(count: int) -> None:
    something(count)


def test_passes_of_more_than_can_be_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """KeyError: 'n6', for what was left out was looked up as an operand."""
    limited(monkeypatch, layout=100)
    choose = random.Random(0)
    with mg.Graph():
        x = mg.placeholder("x", shape=(2,))
        y: Any = x
        for _ in range(30):
            y = y * 1
            for _ in range(5):
                y = choose.choice([mg.tanh, mg.sin, mg.cos])(y)
        graph = mg.build_graph(x, y)
    board = viz.passes(graph, {x: np.ones(2, np.float32)})
    assert all(drawn["svg"] and drawn["table"] for drawn in board.data["drawings"])
    assert any("too many to lay out" in drawn["svg"] for drawn in board.data["drawings"])


def test_a_part_of_a_picture_reads_nothing_outside_of_it() -> None:
    drawn = dag(400, 3, 10, "")
    chosen = {f"n{i}": "new" for i in range(200, 210)}
    part = focus(drawn, chosen)
    ids = {n.id for n in part.nodes}
    assert chosen.keys() <= ids < {n.id for n in drawn.nodes}
    assert all(i in ids for n in part.nodes for i in n.inputs)
    assert part.text()


# ---- Progress -------------------------------------------------------------------------------


def counting(monkeypatch: pytest.MonkeyPatch, wait: float) -> None:
    monkeypatch.setattr(progress_module, "WAIT", wait)
    monkeypatch.setattr(progress_module, "PACE", 0)
    monkeypatch.setattr(progress_module, "SHORT", 0)
    with progress():
        assert [*with_progress("abc", "progress_steps")] == ["a", "b", "c"]


def test_quick_work_says_nothing(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    counting(monkeypatch, 60)
    assert [*with_progress("abc", "progress_steps")] == ["a", "b", "c"], "and none without a block"
    assert capfd.readouterr() == ("", "")


def test_a_loop_that_is_nearly_over_is_not_told_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a busy machine everything takes more than a second."""
    monkeypatch.setattr(progress_module, "WAIT", 0)
    with progress():
        assert [*with_progress("abc", "progress_steps")] == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


def test_a_terminal_has_one_line_that_is_cleared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    counting(monkeypatch, 0)
    out, told = capsys.readouterr()
    assert out == ""
    assert "Preparing the steps: 2 of 3" in told
    assert "\n" not in told
    assert told.endswith(progress_module.CLEAR)


def test_a_log_has_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    counting(monkeypatch, 0)
    assert capsys.readouterr() == ("", "Preparing the steps: 1 of 3 …\n")


def test_a_notebook_stores_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, str]] = []

    class Handle(progress_module.DisplayHandle):
        def update(self, data: dict[str, str], **kwargs: Any) -> None:
            shown.append(data)

    def display(data: dict[str, str], **kwargs: Any) -> Handle:
        shown.append(data)
        return Handle()

    kernel = type("Shell", (), {"kernel": object()})()
    monkeypatch.setattr(progress_module, "get_ipython", lambda: kernel)
    monkeypatch.setattr(progress_module, "display", display)
    counting(monkeypatch, 0)
    assert [*shown[0].values()] == ["Preparing the steps: 1 of 3 …"]
    assert len(shown) == 3
    assert shown[-1] == {}


def test_views_that_take_long_say_how_far_they_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(progress_module, "WAIT", 0)
    monkeypatch.setattr(progress_module, "SHORT", 0)
    viz.step(shared(6))
    assert "events …" in capsys.readouterr().err
    viz.compare(lambda x: mg.tanh(x), 0.5)
    assert "events …" in capsys.readouterr().err
    viz.animate(shared(1)).save(tmp_path / "x.gif")
    assert "pictures …" in capsys.readouterr().err
    x, graph = noise(9)
    viz.passes(graph, {x: np.ones(2, np.float32)})
    assert "passes …" in capsys.readouterr().err


@pytest.fixture(autouse=True)
def english(english: None) -> None:
    """What is told here is told in English."""
