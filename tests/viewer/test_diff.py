"""`viz.diff`: any two graphs aligned, what differs between them, and the values of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import viz


def model(x: Any, w: Any, activation: Any = mg.tanh, more: Any = None) -> Any:
    y = activation(x @ w)
    return (y if more is None else more(y)) * 2


def graph(**change: Any) -> mg.Graph:
    with mg.Graph():
        x = mg.placeholder("x", shape=(2, 3))
        w = mg.Variable(np.full((3, 1), change.pop("weight", 0.5), np.float32), name="w")
        return mg.build_graph(x, model(x, w, **change))


def marked(board: viz.Board) -> dict[str, list[str]]:
    (panel,) = board.scenes[-1].panels
    labels = {n.id: n.op for n in panel.picture.nodes}
    found: dict[str, list[str]] = {}
    for i, kind in panel.marks.items():
        if i in labels:
            found.setdefault(kind, []).append(labels[i])
    return {kind: sorted(ops) for kind, ops in found.items()}


def test_a_graph_and_itself_are_the_same() -> None:
    board = viz.diff(graph(), graph())
    assert marked(board) == {}
    assert board.scenes[-1].caption[0] == "Both graphs are the same."
    assert board.scenes[-1].facts[-1][0].endswith("outputs (1) equal, bit for bit")


def test_an_operator_replaced_is_removed_and_added() -> None:
    board = viz.diff(graph(), graph(activation=mg.sigmoid))
    assert marked(board) == {"gone": ["Tanh"], "new": ["Sigmoid"], "moved": ["Mul"]}
    assert board.scenes[-1].caption == (
        "Difference: 1 removed, 1 new, 1 rewired, 4 the same",
        "差异：删除 1 个，新增 1 个，改接 1 个，相同 4 个",
    )


def test_an_operator_put_in_between_is_added_alone() -> None:
    board = viz.diff(graph(), graph(more=mg.relu))
    assert marked(board) == {"new": ["ReLU"], "moved": ["Mul"]}


def test_an_attribute_and_a_value_that_changed_are_told() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=(2, 3))
        one, other = mg.sum(x, axis=0), mg.sum(x, axis=1)
    board = viz.diff(one, other)
    assert marked(board) == {"changed": ["Sum"]}
    assert "Sum: axis 0 → 1" in board.text()[0]
    board = viz.diff(graph(), graph(weight=0.25))
    assert marked(board) == {"changed": ["Variable"]}
    assert "w: " in board.text()[0]


def test_values_of_both_stand_over_the_nodes() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        one, other = x * 2.0, x * 3.0
    board = viz.diff(one, other, {"x": 5})
    (panel,) = board.scenes[-1].panels
    assert [scene.facts[0][0] for scene in board.scenes[:2]] == ["output Mul: 10", "output Mul: 15"]
    assert board.scenes[-1].facts[1][0] == "same operator, other value: Mul 10 → 15"
    notes = {n.label: panel.notes.get(n.id) for n in panel.picture.nodes}
    assert notes["x"] == "5"
    assert "10 → 15" in notes.values()
    with mg.Graph():
        y = mg.while_loop(lambda a: a < 40, lambda a: a * 2, mg.placeholder("x", shape=()))
        one, other = y + 1.0, y + 2.0
    first, *_ = viz.diff(one, other, {"x": 5}).scenes
    assert first.facts[0][0] == "output Add: 41", "values within the loop have no place"


def test_a_tape_and_a_static_graph_are_aligned() -> None:
    w = mg.tensor(np.full((3, 1), 0.5, np.float32), requires_grad=True, name="w")
    x = mg.tensor(np.ones((2, 3), np.float32), name="x")
    board = viz.diff(model(x, w), model(x, w, mg.sigmoid))
    assert marked(board)["new"] == ["Sigmoid"]
    assert "Tanh" in {
        n.op for n in viz.diff(model(x, w), graph()).scenes[-1].panels[0].picture.nodes
    }


def test_files_are_compared(tmp_path: Path) -> None:
    for name, activation in (("a", mg.tanh), ("b", mg.sigmoid)):
        graph(activation=activation).save(tmp_path / f"{name}.graph")
    board = viz.diff(tmp_path / "a.graph", str(tmp_path / "b.graph"))
    assert marked(board) == {"gone": ["Tanh"], "new": ["Sigmoid"], "moved": ["Mul"]}


def test_a_graph_before_and_after_optimising_has_the_same_outputs() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=(2,))
        before = mg.build_graph(x, x * 1 + 3)
    board = viz.diff(before, before.optimize())
    assert marked(board)["gone"] == ["Constant", "Mul"]
    assert board.scenes[-1].facts[-1][0].endswith("outputs (1) equal, bit for bit")


def test_outputs_of_different_shapes_are_not_subtracted() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    told = viz.diff(mg.exp(x), mg.exp(x).sum()).scenes[-1].facts[-1]
    assert told[0] == "run on the same inputs: the outputs have different shapes"


def test_what_is_no_graph_is_refused() -> None:
    with pytest.raises(TypeError, match="viz cannot draw"):
        viz.diff(3, 4)
