"""`lessons.topological_orders`: which node is done, runs and is ready at each step."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

import minigrad as mg
import minigrad_lessons as lessons
import viz


@pytest.fixture(autouse=True)
def own_graph(english: None) -> Iterator[None]:
    with mg.Graph():
        yield


def diamond() -> tuple[mg.Node, mg.Graph]:
    a = mg.placeholder("a")
    b = mg.sin(a)
    c = mg.cos(a)
    d = b + c
    return a, mg.build_graph(a, d)


def marks(board: viz.Board) -> list[dict[str, str]]:
    labels = [{n.id: n.op for n in s.panels[0].picture.nodes} for s in board.scenes]
    pairs = zip(labels, board.scenes, strict=True)
    return [{names[i]: kind for i, kind in s.panels[0].marks.items()} for names, s in pairs]


def test_a_diamond_is_run_in_both_orders() -> None:
    a, graph = diamond()
    board = lessons.topological_orders(graph, {a: 0.0})
    assert [scene.caption[0] for scene in board.scenes] == [
        "order 1 of 2: nothing has run yet. Ready: Sin, Cos",
        "order 1 of 2, step 1: Sin = 0. Ready next: Cos",
        "order 1 of 2, step 2: Cos = 1. Ready next: Add",
        "order 1 of 2, step 3: Add = 1. All nodes are computed",
        "order 2 of 2: nothing has run yet. Ready: Cos, Sin",
        "order 2 of 2, step 1: Cos = 1. Ready next: Sin",
        "order 2 of 2, step 2: Sin = 0. Ready next: Add",
        "order 2 of 2, step 3: Add = 1. All nodes are computed",
    ]
    assert marks(board)[:3] == [
        {"Sin": "ready", "Cos": "ready", "Add": "waits"},
        {"Sin": "now", "Cos": "ready", "Add": "waits"},
        {"Sin": "ran", "Cos": "now", "Add": "ready"},
    ]
    assert board.scenes[2].panels[0].notes == {"n1": "0", "n2": "0", "n3": "1"}
    assert board.sheet is not None
    assert [cell[0] for cell in board.sheet.rows[1]] == ["2", "Cos → Sin → Add", "1"]
    assert board.verdict is not None
    assert board.verdict[0] == "checked: the same result in all 2 orders, bit for bit"


def test_both_languages_tell_the_same() -> None:
    a, graph = diamond()
    english, chinese = lessons.topological_orders(graph, {a: 0.0}).text()
    assert "1. 顺序 1（共 2 种），第 1 步：Sin = 0。接下来就绪：Cos" in chinese
    assert len(english.splitlines()) == len(chinese.splitlines())


def test_a_chain_says_that_it_has_one_order() -> None:
    x = mg.placeholder("x")
    board = lessons.topological_orders(mg.build_graph(x, x * x + 3), {x: 2})
    assert [scene.row for scene in board.scenes] == [0, 0, 0]
    assert board.verdict is not None
    assert board.verdict[0].startswith("this graph has one order only")


def test_of_many_orders_some_are_shown_and_that_is_said() -> None:
    x = mg.placeholder("x")
    graph = mg.build_graph(x, [mg.sin(x), mg.cos(x), mg.tanh(x), mg.exp(x)])
    assert len(list(graph.orders())) == 24
    board = lessons.topological_orders(graph, {x: [1.0, 2.0]}, most=5)
    assert [key for key, _ in itertools.groupby(s.row for s in board.scenes)] == [0, 1, 2, 3, 4]
    assert board.verdict is not None
    assert board.verdict[0].endswith("there are more, and the first 5 are shown")


def test_a_difference_between_orders_is_told() -> None:
    """No dependency joins a change of a variable and the node that reads it anew."""
    v = mg.Variable(np.float32(1.0), name="v")
    graph = mg.build_graph([], [mg.assign(v, v * 2), mg.read_value(v)])
    verdict = lessons.topological_orders(graph).verdict
    assert verdict is not None
    assert verdict[0] == "the results differ between the orders"


@pytest.mark.parametrize("wrong", [3, None, mg.tensor(1.0)])
def test_what_is_no_graph_is_refused(wrong: object) -> None:
    with pytest.raises(TypeError, match=r"takes a graph from mg\.build_graph"):
        lessons.topological_orders(wrong)
