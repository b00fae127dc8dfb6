"""Kernels far from 0, where samples do not lie, against Python's own mathematics."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.core import REGISTRY

SIZES = (0.0, 1e-3, 0.5, 1.0, 1.5, 2.5, 3.0, 3.5, 5.0, 7.9, 10.0, 20.0, 50.0, 86.5, 100.0, 1e3, 1e6)
VALUES = sorted({sign * size for size in SIZES for sign in (-1, 1)})
LARGEST = float(np.finfo(np.float32).max)
TINY = 1e-30
# Where a sum is rounded before it is multiplied, as in PyTorch.
ROUNDED = {"GELU": 1e-6}


def binary_cross_entropy(p: float, t: float) -> float:
    if not (0 <= p <= 1 and 0 <= t <= 1):
        raise ValueError("no probability")
    yes, no = (max(math.log(q), -100.0) if q else -100.0 for q in (p, 1 - p))
    return -t * yes - (1 - t) * no


# What each operator on elements computes, on Python's floats. Raising means: no number comes out.
EXACT: dict[str, Callable[..., Any]] = {
    "Equal": operator.eq,
    "NotEqual": operator.ne,
    "Less": operator.lt,
    "LessEqual": operator.le,
    "Greater": operator.gt,
    "GreaterEqual": operator.ge,
    "And": lambda a, b: bool(a) and bool(b),
    "Or": lambda a, b: bool(a) or bool(b),
    "Xor": lambda a, b: bool(a) != bool(b),
    "Not": operator.not_,
    "IsNaN": math.isnan,
    "Where": lambda c, a, b: a if c else b,
    "Add": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "Div": operator.truediv,
    "Neg": operator.neg,
    "Pow": math.pow,
    "FloorDivide": lambda a, b: math.floor(a / b),
    "Mod": lambda a, b: a - b * math.floor(a / b),
    "Exp": math.exp,
    "Log": math.log,
    "Log1p": math.log1p,
    "Sqrt": math.sqrt,
    "Sin": math.sin,
    "Cos": math.cos,
    "Atan": math.atan,
    "Sign": lambda x: (x > 0) - (x < 0),
    "Abs": abs,
    "Floor": math.floor,
    "Ceil": math.ceil,
    "Round": round,
    "ShareOfMaximum": lambda a, b: 0.5 if a == b else float(a > b),
    "Maximum": max,
    "Minimum": min,
    "Cast": float,
    "Tanh": math.tanh,
    "Sigmoid": lambda x: math.exp(min(x, 0)) / (math.exp(-x) + 1 if x > 0 else math.exp(x) + 1),
    "ReLU": lambda x: max(x, 0.0),
    "Step": lambda x: x > 0,
    "Softplus": lambda x: max(x, 0.0) + math.log1p(math.exp(-abs(x))),
    "Erf": math.erf,
    "BinaryCrossEntropy": binary_cross_entropy,
    "GELU": lambda x: x * math.erfc(-x / math.sqrt(2)) / 2,
}


def bounded(x: float, low: float = -math.inf, high: float = math.inf) -> tuple[float, bool]:
    return min(max(x, low), high), low <= x <= high


EXACT["Clip"] = lambda x, **bounds: bounded(x, **bounds)[0]
EXACT["Within"] = lambda x, **bounds: bounded(x, **bounds)[1]


def exact(name: str, operands: tuple[float, ...], attrs: Any) -> float:
    """Return the result in float64; NaN where Python has none, infinite where it is too large."""
    try:
        result = float(EXACT[name](*operands, **attrs))
    except OverflowError:
        result = math.inf
    except (ValueError, ZeroDivisionError):
        return math.nan
    return math.copysign(math.inf, result) if abs(result) > LARGEST else result


def test_every_operator_on_elements_has_its_mathematics_here() -> None:
    assert {name for name, op in REGISTRY.items() if op.elementwise} - EXACT.keys() == set(), (
        "add to EXACT in test_far_values.py what each of them computes, in Python's `math`"
    )


def test_who_adds_an_operator_is_told_what_to_write_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REGISTRY, "Other", REGISTRY["Exp"])
    with pytest.raises(AssertionError, match=r"(?s)add to EXACT in test_far_values.*Other"):
        test_every_operator_on_elements_has_its_mathematics_here()


@pytest.mark.parametrize("name", sorted(EXACT))
def test_far_from_zero_a_kernel_computes_its_formula(name: str) -> None:
    op = REGISTRY[name]
    for sample in op.samples[:2]:
        attrs = {k: v for k, v in sample.attrs.items() if k != "dtype"}
        count = len(sample.shapes)
        values = VALUES if count < 3 else VALUES[::4]
        rows = list(itertools.product(values, repeat=count))
        truth = [i in sample.bools for i in range(count)]
        rows = [tuple(v > 0 if t else v for v, t in zip(r, truth, strict=True)) for r in rows]
        arrays = [
            np.array(column, bool if t else np.float32)
            for column, t in zip(zip(*rows, strict=True), truth, strict=True)
        ]
        with np.errstate(all="ignore"):
            expected = np.array(
                [exact(name, tuple(a.item(i) for a in arrays), attrs) for i in range(len(rows))]
            )
        known = ~np.isnan(expected)
        with mg.Graph():
            xs = [mg.placeholder(None, a.shape, a.dtype) for a in arrays]
            graph = mg.build_graph(xs, op(*xs, **sample.attrs))
        feed = dict(zip(xs, arrays, strict=True))
        for found in (op(*arrays, **sample.attrs), mg.run(graph, feed), graph.compile()(feed)):
            np.testing.assert_allclose(
                np.asarray(found)[known],
                expected[known],
                3e-6,
                ROUNDED.get(name, TINY),
                err_msg=name,
            )
