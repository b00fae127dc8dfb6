"""How often a function is traced: ours as tf.function counts, and JAX beside it.

The rules of the tools differ, so a table tells them apart. JAX's column is counted here. TensorFlow
is not installed for this: the first three rows of its column were counted in TensorFlow 2.21, the
others follow from the rules that tf.function documents.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import minigrad as mg

pytestmark = pytest.mark.oracle

Calls = list[tuple[Any, ...]]
NUMBERS, SCALARS = [(1.0,), (2.0,), (3.0,)], [np.float32(v) for v in (1, 2, 3)]
# The calls, and the traces after each of them: TensorFlow and us, then JAX.
COUNTED: dict[str, tuple[Callable[[Any], Calls], list[int], list[int]]] = {
    "three Python numbers": (lambda array: NUMBERS, [1, 2, 3], [1, 1, 1]),
    "three scalar tensors": (lambda array: [(array(v),) for v in SCALARS], [1, 1, 1], [1, 1, 1]),
    "three shapes": (
        lambda array: [(array(np.ones(n, np.float32)),) for n in (2, 3, 4)],
        [1, 2, 3],
        [1, 2, 3],
    ),
    "a shape again": (
        lambda array: [(array(np.ones(n, np.float32)),) for n in (3, 3, 4)],
        [1, 1, 2],
        [1, 1, 2],
    ),
    "two data types": (
        lambda array: [(array(np.ones(2, t)),) for t in (np.float32, np.int32, np.float32)],
        [1, 2, 2],
        [1, 2, 2],
    ),
    "two ranks": (
        lambda array: [(array(np.ones(s, np.float32)),) for s in ((2, 2), (4,), (2, 2))],
        [1, 2, 2],
        [1, 2, 2],
    ),
    "a number among tensors": (
        lambda array: [(array(np.float32(1)), n) for n in (1, 1, 2)],
        [1, 1, 2],
        [1, 1, 1],
    ),
}


def counts(make: Callable[[Any], Any], calls: Calls) -> list[int]:
    """How often the body of a function ran, after each of the calls."""
    ran: list[int] = []

    def body(*xs: Any) -> Any:
        ran.append(1)  # a side effect: it happens while tracing only
        return sum(xs[1:], xs[0] * 2)

    function, after = make(body), []
    for call in calls:
        function(*call)
        after.append(len(ran))
    return after


@pytest.mark.parametrize("name", COUNTED)
def test_functions_are_traced_as_often_as_by_tensorflow(name: str) -> None:
    calls, expected, _ = COUNTED[name]
    assert counts(mg.function, calls(mg.tensor)) == expected


@pytest.mark.parametrize("name", COUNTED)
def test_the_column_of_jax_is_right(name: str) -> None:
    calls, _, expected = COUNTED[name]
    assert counts(jax.jit, calls(jnp.asarray)) == expected


def test_a_branch_on_a_traced_value_is_refused_by_both() -> None:
    def positive(x: Any) -> Any:
        return x if x > 0 else -x

    with pytest.raises(mg.TraceError, match=r"mg\.cond"):
        mg.function(positive)(mg.tensor(1.0))
    with pytest.raises(jax.errors.TracerBoolConversionError):
        jax.jit(positive)(jnp.asarray(1.0))
    assert mg.script(positive)(mg.tensor(-2.0)).item() == 2.0


def test_gradients_through_traced_functions_are_those_of_jax() -> None:
    def f(namespace: Any, x: Any) -> Any:
        return (namespace.tanh(x) * x * x).sum()

    data = np.array([0.5, -1.5, 2.0])
    x = mg.tensor(data, requires_grad=True)
    traced = mg.function(lambda x: f(mg, x))
    (first,) = mg.grad(traced(x), [x], create_graph=True)
    (second,) = mg.grad(first.sum(), [x])
    g = jax.grad(jax.jit(lambda x: f(jnp, x)))
    np.testing.assert_allclose(first.data, g(data), 1e-12)
    np.testing.assert_allclose(second.data, jax.grad(lambda x: g(x).sum())(data), 1e-12)
