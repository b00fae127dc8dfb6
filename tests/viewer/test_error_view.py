"""`viz.error`: the partial graph, the node that failed, and the two lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import minigrad as mg
import viz
from viz.page.board import Board

if TYPE_CHECKING:
    pass


pytestmark = pytest.mark.usefixtures("english")


def board_of(do: Callable[[], Any]) -> Board:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - of any kind
        do()
    return viz.error(caught.value)


def marks(board: Board) -> list[str]:
    """The marked boxes of the partial graph, as the text tells them."""
    lines = board.scenes[0].panels[0].text(0)[1:]
    return [line.strip() for line in lines]


def in_eager_mode() -> Any:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    return y @ mg.tensor([1.0, 2.0, 3.0])


def while_building() -> Any:
    x = mg.placeholder("x", shape=(2,))
    return (x * 2) @ mg.constant([1.0, 2.0, 3.0])


def open_graph() -> mg.Graph:
    a, b = mg.placeholder("a"), mg.placeholder("b")
    y = (a * 2) @ b
    return mg.build_graph([a, b], y + 1)


WRONG = {"a": [1.0, 2.0], "b": [1.0, 2.0, 3.0]}


def test_an_operator_that_was_refused_stands_on_its_operands() -> None:
    board = board_of(in_eager_mode)
    assert marks(board) == ["✓ n4 y = Mul", "✗ failed MatMul"]
    picture = board.scenes[0].panels[0].picture
    assert [e.source for e in picture.edges if e.target == "failed"] == ["n4", "n1"]
    assert "return y @ mg.tensor" in board.text()[0]


def test_a_failed_build_has_run_nothing() -> None:
    assert marks(board_of(while_building)) == ["✗ failed MatMul"]


def test_a_failed_run_shows_what_ran_what_failed_and_what_waits() -> None:
    graph = open_graph()
    board = board_of(lambda: mg.run(graph, WRONG))
    assert marks(board) == [
        "✓ n4 Mul",
        "✗ n5 MatMul",
        "… n6 1",
        "… n7 Add",
    ]
    titles = [panel.title[0] for panel in board.scenes[0].panels]
    assert titles == ["the graph as far as it got", "defined here", "run here"]
    defined, ran = board.scenes[0].panels[1:]
    assert [line.strip() for kind, line in defined.code if kind == "failed"] == ["y = (a * 2) @ b"]
    assert ["mg.run(graph, WRONG)" in line for kind, line in ran.code if kind == "now"] == [True]


def test_compiled_programs_sessions_and_functions() -> None:
    graph = open_graph()
    compiled = board_of(lambda: graph.compile()(WRONG))
    assert "✗ n5 MatMul" in marks(compiled)
    v = mg.Variable([1.0, 2.0], name="v")
    with mg.Session() as sess:
        unset = board_of(lambda: sess.run(v * 2))
    assert "✗ n1 v" in marks(unset)
    f = mg.function(lambda x: x @ mg.tensor([1.0, 2.0, 3.0]))
    assert "✗ failed MatMul" in marks(board_of(lambda: f(mg.tensor([1.0, 2.0]))))


def test_the_marks_are_said_in_the_order_of_the_graph() -> None:
    still = board_of(lambda: mg.run(open_graph(), WRONG))._still()
    (alt,) = re.findall(r'<img alt="([^"]*)"', still)
    assert "ran: Mul; has not run yet: 1, Add; failed here: MatMul." in alt
    assert "运行过：Mul；还没有运行：1、Add；在此出错：MatMul。" in alt


def test_a_placeholder_that_was_not_fed() -> None:
    graph = open_graph()
    shown = marks(board_of(lambda: mg.run(graph, {"a": [1.0, 2.0]})))
    assert shown[:2] == ["✗ n2 b", "… n3 2"]


def test_backward_and_errors_of_python() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    assert "✗ n2 Mul" in marks(board_of(lambda: (x * x).backward()))

    def plain() -> None:
        z = x * x
        raise KeyError(z.shape)

    board = board_of(plain)
    assert [n.op for n in board.scenes[0].panels[0].picture.nodes] == ["tensor", "Mul"]
    assert marks(board) == [], "z itself is as it should be"
    assert board.scenes[0].caption[0].startswith("KeyError — ")


def test_an_error_without_any_graph_is_told_in_words() -> None:
    board = board_of(lambda: [][0])
    assert board.scenes[0].panels == ()
    assert board.text()[0] == "0. IndexError — list index out of range"


def test_both_languages_and_no_exception() -> None:
    board = board_of(in_eager_mode)
    assert "解决办法" in board.text()[1]
    assert "在这里定义" in board.text()[1]
    with pytest.raises(TypeError, match="takes an exception"):
        viz.error(3)


def test_outside_of_notebooks_there_is_nothing_to_switch() -> None:
    viz.show_errors(True)
    viz.show_errors(False)
