"""Results written over operands: marked by a pass, done by the plan, and never one too many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from covering import examples
from hypothesis import given
from random_graphs import Recipe, recipes
from test_compiled import same

import minigrad as mg

pytestmark = pytest.mark.usefixtures("own_graph")


def marked(f: Any, shape: Any = (6, 4), before: Any = ()) -> dict[str, str]:
    """Which node is written over which, by name."""
    with mg.Graph():
        x = mg.placeholder("x", shape)
        graph = mg.build_graph(x, f(x)).optimize([*before, "mark_in_place"])
    return {node.name: operand.name for node, operand in graph.in_place.items()}


@examples(100)
@given(recipes())
def test_marks_change_no_bit_and_need_no_more_memory(recipe: Recipe) -> None:
    graph = recipe.graph(gradients=True)
    for passes in ([], None):
        plain = graph.optimize(passes) if passes is not None else graph.optimize()
        plain.in_place.clear()
        with_marks = plain.optimize(["mark_in_place"])
        one, two = (g.compile(optimize=False) for g in (plain, with_marks))
        same(two(recipe.feeds()), one(recipe.feeds()))
        same(two(recipe.feeds()), one(recipe.feeds()))
        assert two.plan.unshared_bytes == one.plan.unshared_bytes


def test_the_pass_says_what_it_marked_and_why() -> None:
    x = mg.placeholder("x", (3,))
    graph = mg.build_graph(x, mg.tanh(mg.exp(x))).optimize(["mark_in_place"])
    (record,) = graph.history
    (change,) = record.changes
    assert (change.kind, change.what) == ("in_place", "Exp → Tanh")
    assert all("Exp" in sentence for sentence in change.reason)
    assert record.after.text() == record.before.text(), "it computes what it did"


def test_a_chain_is_one_buffer() -> None:
    def chain(x: Any) -> Any:
        for _ in range(4):
            x = mg.tanh(x)
        return x

    assert marked(chain) == {"Tanh_1": "Tanh", "Tanh_2": "Tanh_1", "Tanh_3": "Tanh_2"}
    assert marked(chain, (None, 4)) == marked(chain)
    assert marked(chain, None) == {}, "nothing is known of the forms"


def test_what_is_still_needed_is_not_overwritten() -> None:
    def read_later(x: Any) -> Any:
        a = mg.exp(x)
        return mg.tanh(a) * a

    assert marked(read_later) == {"Mul": "Tanh"}

    def returned(x: Any) -> Any:
        a = mg.exp(x)
        return [a, mg.tanh(a)]

    assert marked(returned) == {}
    assert marked(lambda x: mg.tanh(x)) == {}, "the caller's own array"
    found = marked(lambda x: mg.exp(x) * mg.exp(x[0]))
    assert found == {"Mul": "Exp", "Exp_1": "Slice"}, "the other factor is too small"

    def seen_in_another_shape(x: Any) -> Any:
        a = mg.exp(x)
        return mg.tanh(a).reshape(-1) * a.reshape(-1)

    assert marked(seen_in_another_shape) == {}

    def twice(x: Any) -> Any:
        a = mg.exp(x)
        return mg.tanh(a * a)

    assert marked(twice) == {"Tanh": "Mul"}


def test_only_functions_of_single_elements_overwrite() -> None:
    assert marked(lambda x: mg.cumsum(mg.exp(x), axis=0)) == {}
    assert marked(lambda x: mg.softmax(mg.exp(x))) == {}


def test_a_fused_region_overwrites_what_it_reads_before_it_writes() -> None:
    def chain(x: Any) -> Any:
        a = mg.cumsum(x, axis=0)
        return mg.cumsum(mg.tanh(a * 2 + 1), axis=0)

    found = marked(chain, before=["fuse"])
    assert found == {"Mul+Add+Tanh": "CumSum"}

    def read_twice(x: Any) -> Any:
        a = mg.cumsum(x, axis=0)
        b = mg.exp(a)
        return [mg.cumsum(b, axis=1), mg.cumsum(b * a, axis=1)]

    assert marked(read_twice, before=["fuse"]) == {}, "b is written before a is read again"
    x = mg.placeholder("x", (300, 200))
    values = np.random.default_rng(0).standard_normal((300, 200), np.float32)
    for f in (chain, read_twice):
        graph = mg.build_graph(x, f(x))
        program = graph.compile()
        for _ in range(2):
            same(np.atleast_1d(program({x: values})), np.atleast_1d(mg.run(graph, {x: values})))
    assert len(mg.build_graph(x, chain(x)).compile().plan.buffers) == 1


def test_a_region_that_ends_in_a_kernel_of_its_own_overwrites_nothing_it_reads_there() -> None:
    def chosen(x: Any) -> Any:
        a = mg.cumsum(x, axis=0)
        return mg.cumsum(mg.where(a > 0, a, a * 2), axis=0)

    assert marked(chosen, before=["fuse"]) == {}


def test_the_whole_pipeline_ends_with_marks() -> None:
    x = mg.placeholder("x", (8, 8))
    better = mg.build_graph(x, mg.exp(x @ x) @ x).optimize()
    assert better.history[-1].name == "mark_in_place"
    y = mg.tanh(mg.cumsum(x, axis=0)) @ x
    assert mg.build_graph(x, y).optimize().in_place
