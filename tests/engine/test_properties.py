"""What holds for every graph, tried on random ones: all ways to compute give the same bits."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from bits import same_bits
from covering import examples
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from random_graphs import Recipe, Step, recipes

import minigrad as mg

fixed = examples(100)


def eager(recipe: Recipe) -> list[Any]:
    """The outputs, and the gradients of the inputs they depend on, computed at once."""
    return differentiated(recipe, lambda *xs: recipe.compute(xs))


def differentiated(recipe: Recipe, compute: Callable[..., Any]) -> list[Any]:
    xs = [mg.tensor(a, requires_grad=True) for a in recipe.arrays()]
    ys = compute(*xs)
    recipe.loss(ys).backward()
    return [y.data for y in ys] + [x.grad.data for x in xs if x.grad is not None]


def shuffled(graph: mg.Graph, seed: int) -> mg.Graph:
    """The same graph with its nodes in another order in which they can be computed."""
    waiting = {node: len({*node.inputs}) for node in graph.nodes}
    readers: dict[mg.Node, list[mg.Node]] = {node: [] for node in graph.nodes}
    for node in graph.nodes:
        for x in {*node.inputs}:
            readers[x].append(node)
    ready = [node for node in graph.nodes if not waiting[node]]
    choose, new, other = random.Random(seed), {}, mg.Graph()
    while ready:
        node = ready.pop(choose.randrange(len(ready)))
        new[node] = other.add_copy(node, tuple(new[x] for x in node.inputs))
        for reader in readers[node]:
            waiting[reader] -= 1
            if not waiting[reader]:
                ready.append(reader)
    other.inputs = tuple(new[x] for x in graph.inputs)
    other.outputs = tuple(new[x] for x in graph.outputs)
    return other.freeze().verify()


@fixed
@given(recipes())
def test_eager_equals_static(recipe: Recipe) -> None:
    """Outputs and gradients, with fixed and with open lengths."""
    same_bits(mg.run(recipe.graph(gradients=True), recipe.feeds()), eager(recipe))


@fixed
@given(recipes())
def test_traced_equals_eager(recipe: Recipe) -> None:
    """A traced function is one node of the tape, and its gradients are those of its operators."""

    def compute(*xs: Any) -> list[Any]:
        return recipe.compute(xs)

    expected = eager(recipe)
    for traced in (mg.function(compute), mg.trace(compute, *map(mg.tensor, recipe.arrays()))):
        same_bits(differentiated(recipe, traced), expected)


@pytest.mark.once
@fixed
@given(recipes())
def test_a_graph_is_what_its_copies_are(recipe: Recipe) -> None:
    """Its shapes are true; in each order of its nodes, and copied, it gives the same."""
    graph, feeds = recipe.graph(gradients=True), recipe.feeds()
    expected = mg.run(graph, feeds)
    for node, value in zip(graph.outputs, expected, strict=True):
        assert node.dtype == value.dtype
        assert node.shape is not None
        assert len(node.shape) == value.ndim
        known = zip(node.shape, value.shape, strict=True)
        assert all(n is None or n == length for n, length in known)
    for seed in range(2):
        same_bits(mg.run(shuffled(graph, seed), feeds), expected)
    copy = graph.replace({}).verify()
    same_bits(mg.run(copy, {x: feeds[x.name] for x in copy.inputs}), expected)


# ---- Passes and executors -----------------------------------------------------------------------

EXECUTORS = ["reference", "numpy"]
# Relative to the largest number: a product of planned arrays may add in another order.
NEAR = {"float32": 2e-6, "float64": 1e-14}
NEAR_INEXACT = {"float32": 2e-4, "float64": 1e-12}


def near(found: Sequence[Any], expected: Sequence[Any], tolerance: float, what: str) -> None:
    """Floating-point numbers up to a tolerance; integers and truth values exactly."""
    assert len(found) == len(expected), what
    for a, b in zip(found, expected, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.dtype, a.shape) == (b.dtype, b.shape), what
        if a.dtype.kind == "f":
            size = np.max(np.abs(b), initial=1)
            np.testing.assert_allclose(a, b, tolerance, tolerance * size, err_msg=what)
        else:
            np.testing.assert_array_equal(a, b, what)


def less_memory(graph: mg.Graph) -> Any:
    """Recomputation, where it is possible and helps."""
    try:
        budget = graph.compile(optimize=False).plan.bytes * 3 // 4
        return mg.passes.recompute(budget)(graph)
    except mg.GraphError:  # open lengths, or nothing to compute again
        return graph


EXACT = sorted({p.__name__ for p in mg.passes.PIPELINE})
INEXACT = sorted({p.__name__ for p in mg.passes.INEXACT})
few = settings(examples(20), phases=[Phase.explicit, Phase.generate])


def check_passes(
    recipe: Recipe, passes: list[Any], tolerance: Any, executors: Sequence[str] = EXECUTORS
) -> None:
    """Both with open and with fixed lengths, outputs and gradients."""
    for open_ in (False, True):
        graph = replace(recipe, open=open_).graph(gradients=True)
        better = graph.optimize(passes)
        programs = {name: better.compile(optimize=False, executor=name) for name in executors}
        for feeds in (recipe.feeds(), {n: v * -1 for n, v in recipe.feeds().items()}):
            expected = mg.run(graph, feeds)
            for name, program in programs.items():
                near(program(feeds), expected, tolerance[recipe.dtype], name)


@pytest.mark.once
@few
@given(recipes(everything=True), st.lists(st.sampled_from([*EXACT, less_memory]), max_size=9))
def test_any_passes_in_any_order(recipe: Recipe, passes: list[Any]) -> None:
    check_passes(recipe, passes, NEAR)


@pytest.mark.compiler
@settings(examples(8), phases=few.phases)
@given(recipes(everything=True), st.lists(st.sampled_from([*EXACT, less_memory]), max_size=9))
def test_any_passes_in_any_order_in_c(recipe: Recipe, passes: list[Any]) -> None:
    check_passes(recipe, passes, NEAR, ["c"])


@pytest.mark.once
@few
@given(
    recipes(everything=True), st.lists(st.sampled_from([*EXACT, *INEXACT]), min_size=2, max_size=9)
)
def test_inexact_passes_among_them(recipe: Recipe, passes: list[Any]) -> None:
    check_passes(recipe, passes, NEAR_INEXACT)


@pytest.mark.once
def test_the_first_state_of_a_loop_is_kept_for_its_gradient() -> None:
    """It lay in memory that was written to again before backward read it."""
    steps = Step("Neg", (2,)), Step("Maximum", (0, 1)), Step("looped", (0, 4, 0))
    recipe = Recipe(((1,), (), (1, 3, 3)), True, "float32", steps, (5, 0), 0)
    for passes in ([], [*mg.passes.PIPELINE]):
        check_passes(recipe, passes, NEAR)


@pytest.mark.once
@few
@given(recipes(everything=True))
def test_the_pipeline_twice(recipe: Recipe) -> None:
    check_passes(recipe, [*mg.passes.PIPELINE] * 2, NEAR)


# ---- The generator, and that the properties can fail ------------------------------------------


def drawn(count: int) -> list[Recipe]:
    """The first recipes that the strategy gives."""
    found: list[Recipe] = []

    @settings(fixed, max_examples=count)
    @given(recipes())
    def collect(recipe: Recipe) -> None:
        found.append(recipe)

    collect()
    return found


@pytest.mark.once
def test_the_recipes_are_of_all_kinds() -> None:
    found = drawn(50)
    names = {step.op for recipe in found for step in recipe.steps}
    assert {"Add", "Mul", "Tanh", "MatMul", "Sum", "Mean", "Reshape", "Transpose"} <= names
    assert {recipe.open for recipe in found} == {True, False}
    assert {recipe.dtype for recipe in found} == {"float32", "float64"}
    assert max(len(recipe.steps) for recipe in found) >= 8
    operands = [[x for s in r.steps for x in s.operands if type(x) is int] for r in found]
    assert any(len({*xs}) < len(xs) for xs in operands), "sub-expressions are shared"


RECIPE = Recipe(
    ((2, 3), (3,)), True, "float32", (Step("Tanh", (0,)), Step("Mul", (2, 1))), (3, 2), 0
)


def test_one_recipe_by_hand() -> None:
    x, w = RECIPE.arrays()
    y, z, dx, dw = mg.run(RECIPE.graph(gradients=True), RECIPE.feeds())
    np.testing.assert_allclose(z, np.tanh(x), rtol=1e-6)
    np.testing.assert_allclose(y, np.tanh(x) * w, rtol=1e-6)
    np.testing.assert_allclose(dx, (w + 1) * (1 - np.tanh(x) ** 2), rtol=1e-5)
    np.testing.assert_allclose(dw, np.tanh(x).sum(0), rtol=1e-5)


def test_one_bit_is_seen() -> None:
    tanh = mg.REGISTRY["Tanh"]
    run, calls = tanh.run, iter(range(100))

    def restless(out: Any, x: Any) -> Any:
        return np.nextafter(run(out, x), x.dtype.type(next(calls) % 2))

    try:
        object.__setattr__(tanh, "run", restless)
        with pytest.raises(AssertionError):
            same_bits(mg.run(RECIPE.graph(gradients=True), RECIPE.feeds()), eager(RECIPE))
    finally:
        object.__setattr__(tanh, "run", run)
