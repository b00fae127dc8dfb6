"""Random programs give in the graph what they give in plain Python."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from covering import examples
from hypothesis import given
from hypothesis import strategies as st
from random_programs import Programs, load

import minigrad as mg
from minigrad.hybrid.scripting.convert import convert

programs = st.randoms(use_true_random=False)
INPUTS: list[tuple[Any, ...]] = [
    (1.0, -2.0, 2, [1.0, -1.0, 3.0]),
    (-3.0, 4.0, 0, [0.0, 2.0, -2.0]),
    (0.0, 1.0, 3, [5.0, -5.0, 1.0]),
]
DTYPES = (mg.float32, mg.float32, mg.int64, mg.float32)


def build(f: Any, symbolic: tuple[bool, ...], inputs: tuple[Any, ...]) -> tuple[mg.Graph, Any]:
    """The graph of f for nodes where `symbolic` says so, and for these values elsewhere."""
    given = [
        mg.placeholder(f"p{i}", np.shape(x), dtype) if is_node else x
        for i, (x, dtype, is_node) in enumerate(zip(inputs, DTYPES, symbolic, strict=True))
    ]
    nodes = [x for x in given if isinstance(x, mg.Node)]
    built = mg.build_graph(nodes, mg.get_default_graph().lift(f(*given)))
    built.verify()
    return built, nodes


def run(built: mg.Graph, nodes: Any, inputs: tuple[Any, ...]) -> float:
    return float(mg.run(built, {n: inputs[int(n.name[1])] for n in nodes}))


def same_in_the_graph(draw: random.Random) -> None:
    f = load(Programs(draw).program())
    g, expected = convert(f), [f(*inputs) for inputs in INPUTS]
    assert [g(*inputs) for inputs in INPUTS] == expected
    with mg.Graph():
        one_for_all = build(g, (True, True, True, True), INPUTS[0])
    assert [run(*one_for_all, inputs) for inputs in INPUTS] == expected
    for symbolic in ((True, False, False, False), (False, True, False, True)):
        with mg.Graph():
            assert run(*build(g, symbolic, INPUTS[0]), INPUTS[0]) == expected[0]


@pytest.mark.once
@examples(20)
@given(programs)
def test_the_graph_gives_what_plain_python_gives(draw: random.Random) -> None:
    same_in_the_graph(draw)


@pytest.mark.cases(5)
@pytest.mark.once
@pytest.mark.parametrize("seed", range(40))
def test_larger_programs_do_so_too(seed: int) -> None:
    same_in_the_graph(random.Random(seed))


@examples(20)
@given(programs)
def test_a_variable_without_a_value_is_never_read(draw: random.Random) -> None:
    """Where plain Python finds no value, the graph is refused or stops; it never makes one up."""
    f = load(Programs(draw, risky=True).program())
    scripted = mg.script(f)
    for inputs in INPUTS:
        try:
            found = scripted(*(mg.tensor(x) for x in inputs))
        except (mg.ScriptError, mg.AssertionFailed, NameError):
            continue
        assert float(found) == f(*inputs)


@examples(15)
@given(programs)
def test_gradients_are_those_of_the_tape(draw: random.Random) -> None:
    f = load(Programs(draw, augmented=False).program())
    scripted = mg.script(f)
    for inputs in INPUTS:
        found = []
        for g in (f, scripted):
            x, y, xs = (mg.tensor(inputs[i], requires_grad=True) for i in (0, 1, 3))
            result = mg.tensor(0.0) + g(x, y, inputs[2], xs)
            grads: Any = [None] * 3
            if result.requires_grad:
                grads = mg.grad(result, [x, y, xs], allow_unused=True)
            zeros = [0.0, 0.0, [0.0] * 3]
            values = [z if g is None else g.tolist() for g, z in zip(grads, zeros, strict=True)]
            found.append([result.item(), *values])
        assert found[0] == found[1]
