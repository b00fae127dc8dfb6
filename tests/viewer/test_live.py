"""`viz.live`: the drawing grows line by line, waits a little, and never stands in the way."""

from __future__ import annotations

import importlib
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import minigrad as mg
import viz
from minigrad.core.events import listeners

if TYPE_CHECKING:
    pass

module: Any = importlib.import_module("viz.views.live")


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    """As in a notebook: what was displayed, and how long was waited."""
    seen: dict[str, list[Any]] = {"shown": [], "stored": [], "waited": []}

    def display(player: viz.Player, display_id: bool) -> SimpleNamespace:
        seen["shown"].append(player)
        return SimpleNamespace(update=lambda p: seen["stored"].append(p.text()[0]))

    monkeypatch.setattr(module, "get_ipython", lambda: "a shell")
    monkeypatch.setattr(module, "display", display)
    monkeypatch.setattr(module, "time", clock(seen["waited"].append))
    return seen


def clock(sleep: Callable[[float], None]) -> SimpleNamespace:
    """A clock of this module alone: others wait, too, such as for a layout."""
    return SimpleNamespace(sleep=sleep)


def captions(drawing: viz.live) -> list[str]:
    return [frame.caption[0] for frame in drawing.player.frames]


def test_a_script_gets_the_whole_film_without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "time", clock(lambda _: pytest.fail("waited")))
    x = mg.tensor(2.0, requires_grad=True)
    with viz.live() as drawing:
        y = x * x + 3
        y.backward()
    said = captions(drawing)
    assert said[1] == "run and recorded at once: Mul = x × x = 2 × 2 = 4"
    assert "Mul passes back to x, which adds it: 2 + 2 = 4" in said
    assert drawing.player.index == len(said) - 1
    assert x.grad.item() == 4


def test_in_a_notebook_it_grows_with_each_line(
    notebook: dict[str, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, str]] = []
    x = mg.tensor(2.0, requires_grad=True)
    with viz.live(pause=0.5) as drawing:

        def sleep(seconds: float) -> None:
            notebook["waited"].append(seconds)
            seen.append((len(drawing.player.films[0].picture.nodes), captions(drawing)[-2]))

        monkeypatch.setattr(module.time, "sleep", sleep)
        a = x * x
        b = a * 2 + 3  # one line, two operators, one pause
        c = b + 1
    assert seen == [  # each line is over when it is looked at: run, and what it made has its name
        (2, "run and recorded at once: a = x × x = 2 × 2 = 4"),
        (6, "run and recorded at once: b = Mul + 3 = 8 + 3 = 11"),
    ]
    assert notebook["shown"] == [drawing.player]
    (stored,) = notebook["stored"]
    assert "c = b + 1 = 11 + 1 = 12" in stored, "a page without a kernel has the whole film"
    assert notebook["waited"] == [0.5] * 2
    assert len(drawing.player.films[0].picture.nodes) == 8
    assert c.item() == 12


def test_static_nodes_are_born_in_it(notebook: dict[str, list[Any]]) -> None:
    with mg.Graph(), viz.live() as drawing:
        x = mg.placeholder("x", shape=())
        y = x * x
        mg.run(mg.build_graph(x, y), {x: 3})
    (film,) = drawing.player.films
    assert film.picture.kind == "static"
    assert "run: y = x × x = 3 × 3 = 9" in captions(drawing)
    assert notebook["shown"] == [drawing.player]


def test_all_pauses_together_stay_short(notebook: dict[str, list[Any]]) -> None:
    x = mg.tensor(2.0, requires_grad=True)
    lines = "\n".join("x = x + 1" for _ in range(6))
    with viz.live(pause=1.0):
        exec(compile(lines, "<lines>", "exec"), {"x": x})
    assert module.LONGEST <= sum(notebook["waited"]) < module.LONGEST + 0.5


def test_a_long_block_is_drawn_at_the_end(
    notebook: dict[str, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []
    draw = module.live._draw
    monkeypatch.setattr(module.live, "_draw", lambda self: (drawn.append(1), draw(self)))
    monkeypatch.setattr(module, "DENSE", 3)
    x = mg.tensor(2.0, requires_grad=True)
    with viz.live() as drawing:
        exec(compile("x = x + 1\n" * 20, "<lines>", "exec"), {"x": x})
    lines = "\n".join(["x = x + 1"] * 20)
    with viz.live() as drawing:
        exec(compile(lines, "<lines>", "exec"), {"x": x})
    assert len(drawn) <= 2 * (3 + 1)
    assert len(drawing.player.films[0].picture.nodes) == 41
    assert notebook["waited"]


def test_drawing_is_not_heard(notebook: dict[str, list[Any]]) -> None:
    x = mg.tensor(2.0, requires_grad=True)
    with mg.record() as log, viz.live() as drawing:
        y = x * x
        z = y + 1
    assert log.counts.built == 2
    assert len(drawing.player.films[0].picture.nodes) == 4
    assert z.item() == 5


def test_an_error_comes_through_and_what_was_built_is_shown() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    before = len(listeners)
    drawing = viz.live()
    with pytest.raises(mg.ShapeError), drawing:
        (x * 2) + mg.tensor([1.0, 2.0, 3.0])
    assert len(listeners) == before
    assert len(drawing.player.films[0].picture.nodes) == 3


def test_old_graphs_fade_when_they_are_freed() -> None:
    x = mg.tensor(2.0, requires_grad=True, name="x")
    with viz.live() as drawing:
        y = x * x + 3
        y = x * 5
    said = captions(drawing)
    assert said[-2] == "freed: Add, Mul. Nothing refers to this part of the graph any more."
    (film,) = drawing.player.films
    freed = {n.op for n in film.picture.nodes if film.tracks[n.id].freed is not None}
    assert freed == {"Add", "Mul"}
    alive = [n for n in film.picture.nodes if n.inputs and film.tracks[n.id].freed is None]
    assert [n.name for n in alive] == ["y"]
    assert y.item() == 10


def test_a_loop_frees_a_graph_at_each_turn_and_the_drawing_holds_none() -> None:
    w = mg.tensor(1.0, requires_grad=True)
    with viz.live() as drawing:
        for _ in range(3):
            loss = mg.exp(w * 2)
            loss.backward()
            watched = weakref.ref(loss.creator)
        del loss
        assert watched() is None, "a film of copies keeps nothing alive"
    assert sum(text.startswith("freed") for text in captions(drawing)) == 3
    assert w.grad is not None


def test_after_the_block_nothing_is_watched() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    with viz.live() as drawing:
        y = x * x
    before = captions(drawing)
    del y
    assert captions(drawing) == before
    assert not any(text.startswith("freed") for text in before)


def test_an_empty_block_draws_nothing() -> None:
    with viz.live() as drawing:
        pass
    assert [film.picture.nodes for film in drawing.player.films] == [()]


def test_it_holds_no_frame_afterwards() -> None:
    with viz.live() as drawing:
        mg.tensor(1.0, requires_grad=True) * 2
    assert drawing._frame is None
