"""What `mg.gradients` returns is a list, as TensorFlow's is; used as a node it says so."""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.static.node import Node

pytestmark = pytest.mark.usefixtures("own_graph")

Use = Callable[..., Any]


def model() -> tuple[mg.Node, mg.Node, mg.Node]:
    """A placeholder, a variable, and a loss: w goes from [1, 2] to the x that is fed."""
    x, w = mg.placeholder("x", shape=(2,)), mg.Variable([1.0, 2.0], name="w")
    return x, w, mg.sum((w - x) * (w - x))


@pytest.mark.parametrize("take", ["[0]", "unpacked", "listed"])
def test_the_lines_of_tensorflow_train(take: str) -> None:
    x, w, loss = model()
    if take == "[0]":
        dw = mg.gradients(loss, w)[0]
    elif take == "unpacked":
        [dw] = mg.gradients(loss, w)
    else:
        dw = mg.gradients([loss], [w])[0]
    assert dw.shape == w.shape
    step = mg.assign(w, w - 0.5 * dw)
    with mg.Session() as session:
        session.run(mg.global_variables_initializer())
        assert session.run(dw, {x: [3, 3]}).tolist() == [-4, -2]
        session.run(step, {x: [3, 3]})
        assert session.run(w).tolist() == [3, 3]


def test_a_list_is_fetched_as_a_list() -> None:
    x, w, loss = model()
    grads = mg.gradients(loss, w)
    with mg.Session() as session:
        session.run(mg.global_variables_initializer())
        alone = session.run(grads, {x: [0, 0]})
        beside, (nested,) = session.run([loss, grads], {x: [0, 0]})
        joined = session.run([loss] + grads, {x: [0, 0]})  # noqa: RUF005
    assert type(alone) is list
    assert [g.tolist() for g in (*alone, nested, joined[1])] == [[2, 4]] * 3
    assert beside == joined[0] == 5
    (y,) = mg.run(mg.build_graph(x, mg.gradients(mg.sum(x * x), x)), {x: [1, 2]})
    assert y.tolist() == [2, 4]


def test_it_is_a_list_in_every_other_way() -> None:
    x, w, loss = model()
    grads = mg.gradients(loss, [w, mg.placeholder("z"), x])
    assert isinstance(grads, list)
    assert [type(g) for g in grads] == [Node, type(None), Node]
    assert (len(grads), grads[1], grads[-1] is grads[2]) == (3, None, True)
    assert grads == [*grads]
    assert [g for g, _ in zip(grads, [w, None, x], strict=True)] == grads
    assert operator.add(grads, [*grads]) == [*grads, *grads]
    clipped, _ = mg.clip_by_global_norm(mg.gradients(loss, [w, x]), 1.0)
    assert len(clipped) == 2
    assert copy.copy(grads) == grads
    assert pickle.loads(pickle.dumps(grads[1:2])) == [None]
    assert not hasattr(grads, "no_such_name")


USES: dict[str, Use] = {
    "its shape": lambda g, w: g.shape,
    "a method": lambda g, w: g.sum(),
    "a method of tensors": lambda g, w: g.numel(),
    "a factor": lambda g, w: 0.1 * g,
    "a whole factor": lambda g, w: g * 2,
    "a factor of NumPy": lambda g, w: np.int64(2) * g,
    "an array": lambda g, w: np.ones(2) * g,
    "a tensor": lambda g, w: mg.tensor([1.0, 2.0]) * g,
    "a node": lambda g, w: w - g,
    "a step": lambda g, w: mg.assign(w, w - 0.1 * g),
    "assigned": lambda g, w: mg.assign(w, g),
    "added": lambda g, w: g + g,
    "added up": lambda g, w: sum([g, g]),
    "added in place": lambda g, w: operator.iadd(g, g),
    "repeated in place": lambda g, w: operator.imul(g, 2),
    "subtracted in place": lambda g, w: operator.isub(w, g),
    "a part of it": lambda g, w: g[:1] * 2,
    "negative": lambda g, w: -g,
    "its size": lambda g, w: abs(g),
    "compared": lambda g, w: g == 0,
    "not equal": lambda g, w: g != 0,
    "greater": lambda g, w: g > 0,
    "beside a node": lambda g, w: w > g,
    "two indices": lambda g, w: g[:, 0],
    "a mask": lambda g, w: g[w > 0],
    "an operator": lambda g, w: mg.exp(g),
    "a reduction": lambda g, w: mg.mean(g),
    "a constant": lambda g, w: mg.constant(g),
    "an array of it": lambda g, w: np.asarray(g),
    "one of several outputs": lambda g, w: mg.build_graph(None, [w, g]),
    "a loss": lambda g, w: mg.optim.SGD(lr=0.1).minimize(g),
    "fed": lambda g, w: mg.run(mg.build_graph(None, mg.placeholder("v") * 1), {"v": g}),
}


@pytest.mark.parametrize("use", USES)
def test_as_a_node_it_is_refused_with_the_line_to_write(use: str) -> None:
    _, w, loss = model()
    with pytest.raises(mg.GraphError, match="returns a list") as caught:
        USES[use](mg.gradients(loss, w), w)
    english, chinese = caught.value.pair
    for text in (english, chinese):
        assert "mg.gradients(loss, w)[0]" in text
        assert "test_gradients.py" in text
    assert isinstance(caught.value, AttributeError) == english.startswith(".")


def test_no_gradient_is_not_connected() -> None:
    x, _, loss = model()
    assert mg.gradients(loss, mg.placeholder("z")) == [None]
    assert mg.gradients(mg.argmax(x), x)[0] is None


def test_a_list_is_no_condition() -> None:
    x = mg.placeholder("x", shape=())
    for condition in ([x > 0], mg.gradients(x * x, x)):
        with pytest.raises(mg.ShapeError, match=r"condition has shape \(1,\)"):
            mg.cond(condition, lambda: x, lambda: -x)
