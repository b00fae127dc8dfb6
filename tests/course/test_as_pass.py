"""`lessons.as_pass`: a pass of the learner's engine does the same inside of minigrad."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
import minigrad_lessons as lessons
import viz
from minigrad.passes import PASSES, PIPELINE
from minigrad_lessons.lesson import my_engine as ours

MINE = lessons.as_pass(ours.merge_common)
ARRAY = np.array([[1.0, -2.0], [0.5, 3.0]], np.float32)


def built(formula: Any) -> mg.Graph:
    with mg.Graph():
        x = mg.placeholder("x", shape=(2, 2))
        return mg.build_graph(x, formula(x))


def looped(x: Any) -> Any:
    def turn(i: Any, h: Any) -> Any:
        return i + 1, mg.tanh(h + 1) / mg.tanh(h + 1)

    return mg.while_loop(lambda i, h: i < 4, turn, (0, x))[1]


FORMULAS = {
    "softmax": lambda x: mg.exp(x * 2.0) / mg.sum(mg.exp(x * 2.0)),
    "axes": lambda x: mg.sum(x, axis=0) + mg.sum(x, axis=1) + mg.sum(x, axis=0),
    "constants": lambda x: (x + 0.0) * (x - 0.0) + (x + 0.0),
    "arrays": lambda x: x @ ARRAY + x @ ARRAY.T + x @ ARRAY,
    "filled": lambda x: mg.pad(x, ((1, 0), (0, 0)), value=7.0) - mg.pad(x, ((1, 0), (0, 0))),
    "nothing": lambda x: x,
    "loop": looped,
}


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
def test_it_takes_the_place_of_our_pass_in_the_pipeline(formula: Any) -> None:
    graph = built(formula)
    steps = [MINE if step is PASSES["merge_common"] else step for step in PIPELINE]
    mine, theirs = graph.optimize(steps), graph.optimize()
    assert mine.text() == theirs.text()
    results = [mg.run(g, {"x": ARRAY}) for g in (mine, theirs)]
    assert np.array_equal(*results)
    assert [r.name for r in mine.history].count("my_merge_common") == 1


def test_what_it_drops_is_told_and_lines_are_kept() -> None:
    graph = built(lambda x: mg.exp(x) / mg.sum(mg.exp(x)))
    small = graph.optimize([MINE])
    (record,) = small.history
    assert str(record).startswith("my_merge_common: 5 → 4\n  Exp_1 → ∅: ")
    assert {node.where for node in small.nodes} <= {node.where for node in graph.nodes}
    assert len(graph.nodes) == 5
    assert "my_merge_common: 5 → 4 nodes" in str(viz.passes(small, {"x": ARRAY}))


def test_what_happens_each_time_is_neither_merged_nor_moved(capsys: Any) -> None:
    graph = built(lambda x: mg.Print(mg.exp(x), "seen") + mg.Print(mg.exp(x), "seen"))
    small = graph.optimize([MINE])
    assert small.text().count("= Exp(") == 1
    assert small.text().count("= Print(") == 2
    with mg.Graph():
        w = mg.Variable(3.0, name="w")
        with mg.control_dependencies([mg.assign(w, w * 2.0)]):
            y = mg.exp(w * 2.0) - mg.exp(w * 2.0)
        graph = mg.build_graph([], y)
    small = graph.optimize([MINE])
    assert small.text() == graph.text(), "all of them wait for the assignment"


def test_prints_keep_their_order(capsys: Any) -> None:
    def formula(x: Any) -> Any:
        first = mg.Print(x, "first")
        return mg.Print(x, "second") - first

    mg.run(built(formula).optimize([MINE]), {"x": ARRAY})
    assert capsys.readouterr().out.find("first") < 3


def test_a_node_without_a_line_of_the_graph_is_refused() -> None:
    def lost(outputs: Any) -> Any:
        return [ours.Node(y.op, y.inputs, y.name, y.value, **y.attrs) for y in outputs]

    lost.__globals__.update(Node=ours.Node, topological_order=ours.topological_order)
    with pytest.raises(ValueError, match="its line belongs to none of the nodes"):
        built(mg.exp).optimize([lessons.as_pass(lost)])


def test_a_pass_that_loses_an_output_is_refused() -> None:
    def less(outputs: Any) -> Any:
        return outputs[:1]

    less.__globals__.update(Node=ours.Node, topological_order=ours.topological_order)
    graph = built(lambda x: [mg.exp(x), mg.sin(x)])
    with pytest.raises(mg.VerifyError):
        graph.optimize([lessons.as_pass(less)])


def test_ours_merges_to_the_bits_of_minigrad() -> None:
    """On nodes of the learner's engine: results, lines and the old graph stay."""
    x, other = ours.placeholder("x"), ours.placeholder("x")
    outputs = [(x * 2.0).exp() / (x * 2.0).exp().sum(axis=0), x - other, x - other]
    feed = {x: ARRAY, other: ARRAY.T}
    before = ours.Session().run(outputs, feed)
    new = ours.merge_common(outputs)
    for a, b in zip(before, ours.Session().run(new, feed), strict=True):
        assert np.array_equal(a, b)
    assert new[1] is new[2] is not outputs[2]
    assert new[0].line == outputs[0].line
    assert len(ours.topological_order(outputs)) == 12
    assert len(ours.topological_order(new)) == 8
