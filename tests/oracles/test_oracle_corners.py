"""Where operators are asked odd questions: mixed data types, ties, infinity, NaN, empty arrays.

Every answer is PyTorch's, or stands in a list with the reason.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import peers
import pytest
import torch
from test_oracle_operators import (
    array,
    as_ours,
    as_torch,
    close,
    our_grad,
    same_gradient,
    torch_grad,
    two_orders,
)

import minigrad as mg
from minigrad.core import REGISTRY

pytestmark = pytest.mark.oracle
REFUSED = "refused"


def name_of(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def asked(f: Callable[..., Any], *operands: Any) -> str:
    """The data type of the result, or that there is none."""
    try:
        return name_of(f(*operands).dtype)
    except mg.GraphError:
        return REFUSED
    except (RuntimeError, TypeError, ValueError, NotImplementedError):
        assert not any(isinstance(x, mg.Tensor) for x in operands), "not of our family of errors"
        return REFUSED


# ---- Data types -----------------------------------------------------------------------------

DTYPES = ("bool", "int32", "int64", "float32", "float64")
ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Pow", "FloorDivide", "Mod", "Maximum", "Minimum")
BINARY = (*ARITHMETIC, "Equal", "Less", "And", "Concatenate", "Stack")
NUMBERS = (True, 2, 2.5)
SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": lambda a, b: a / b,
    "Pow": lambda a, b: a**b,
    "FloorDivide": lambda a, b: a // b,
    "Mod": lambda a, b: a % b,
    "Less": lambda a, b: a < b,
}
# Where PyTorch refuses and we answer, and why.
MORE_THAN_TORCH = {
    "Sub": "a bool beside a number is 0 or 1, as in NumPy; two bools are refused by both",
    **dict.fromkeys(("Pow", "FloorDivide", "Mod"), "bools are counted: int64, as in `sum`"),
    **dict.fromkeys(("ArgMax", "ArgMin"), "the first True, as in NumPy"),
    **dict.fromkeys(("Abs", "ReLU"), "of a bool it is the bool itself"),
    **dict.fromkeys(
        ("GELU", "LogSoftmax", "Mean", "Normalize", "Softmax", "Softplus"),
        "integers become float32 first, as PyTorch itself has it for exp, tanh and sigmoid",
    ),
}
# (operator, data types): our answer, and why it is another one.
OTHER_TYPES: dict[tuple[str, ...], tuple[str, str]] = {
    ("Sign", "bool"): (REFUSED, "NumPy has no sign of a bool, and it would say nothing"),
    **{
        ("ProdOfOthers", t): ("float32", "it is part of a gradient, and those are floats")
        for t in ("bool", "int32", "int64")
    },
}


def ones(dtype: str) -> tuple[mg.Tensor, torch.Tensor]:
    data = np.ones(2, dtype)
    return mg.tensor(data), torch.tensor(data)


def answered(key: tuple[str, ...], ours: str, theirs: str) -> None:
    if key in OTHER_TYPES:
        assert ours == OTHER_TYPES[key][0]
        assert ours != theirs, "it deviates no longer: take it off the list"
    elif not (theirs == REFUSED and key[0] in MORE_THAN_TORCH):
        assert ours == theirs, key


def test_what_we_answer_beyond_torch_is_still_beyond() -> None:
    for name in MORE_THAN_TORCH:
        peer, count = peers.PEERS[name][0], len(REGISTRY[name].samples[0].shapes)
        refused = [asked(peer, ones(t)[1], *[ones("bool")[1]] * (count - 1)) for t in DTYPES]
        assert REFUSED in refused, f"{name}: PyTorch takes them all now"


@pytest.mark.parametrize("name", BINARY)
def test_two_data_types_meet_as_in_torch(name: str) -> None:
    op, peer = REGISTRY[name], peers.PEERS[name][0]
    for a, b in itertools.product(DTYPES, DTYPES):
        (x, z), (y, w) = ones(a), ones(b)
        answered((name, a, b), asked(op, x, y), asked(peer, z, w))


@pytest.mark.parametrize("name", SIGNS)
def test_python_numbers_take_the_other_type_as_in_torch(name: str) -> None:
    sign = SIGNS[name]
    for dtype, number in itertools.product(DTYPES, NUMBERS):
        x, z = ones(dtype)
        kind = type(number).__name__
        if (name, dtype, number) == ("Pow", "bool", True):
            continue  # PyTorch says bool here, and refuses it for two tensors
        answered((name, dtype, kind), asked(sign, x, number), asked(sign, z, number))
        answered((name, kind, dtype), asked(sign, number, x), asked(sign, number, z))


UNARY = sorted(
    name
    for name, op in REGISTRY.items()
    if name in peers.PEERS and any(len(s.shapes) == 1 and not s.attrs for s in op.samples)
)


@pytest.mark.parametrize("name", UNARY)
def test_each_data_type_becomes_what_it_becomes_in_torch(name: str) -> None:
    op, peer = REGISTRY[name], peers.PEERS[name][0]
    for dtype in DTYPES:
        x, z = ones(dtype)
        answered((name, dtype), asked(op, x), asked(peer, z))


# ---- Special values -------------------------------------------------------------------------

SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-30, 1e30, -1e30])
ELEMENTWISE = sorted(n for n, op in REGISTRY.items() if n in peers.PEERS and op.elementwise)
ONE = [n for n in ELEMENTWISE if len(REGISTRY[n].samples[0].shapes) == 1]
TWO = [n for n in ELEMENTWISE if len(REGISTRY[n].samples[0].shapes) == 2]
# Where the gradient at NaN is another one than PyTorch's: ours, and why.
OTHER_AT_NAN = {
    "Abs": (np.nan, "NaN has no sign; PyTorch says 0"),
    "ReLU": (0.0, "NaN is not above 0, as JAX has it; PyTorch says 1"),
}
WEIGHTS = {"ShareOfMaximum", "Sign"}  # what is NaN there has no meaning of its own


@pytest.mark.parametrize("name", [n for n in ONE if n not in WEIGHTS])
def test_special_values_of_one_operand(name: str) -> None:
    op, peer = REGISTRY[name], peers.PEERS[name][0]
    attrs, values = op.samples[0].attrs, SPECIAL
    if name in OTHER_AT_NAN:
        x = mg.tensor(np.nan, requires_grad=True)
        op(x, **attrs).backward()
        np.testing.assert_equal(x.grad.item(), OTHER_AT_NAN[name][0])
        values = SPECIAL[~np.isnan(SPECIAL)]
    compare_first(op, peer, [values], attrs, name)


PROBABILITIES = {"BinaryCrossEntropy"}  # PyTorch refuses what is none
VALUES_ONLY = {"FloorDivide"}  # PyTorch has no derivative for it; ours is 0, as JAX has it


@pytest.mark.parametrize("name", [n for n in TWO if n not in WEIGHTS])
def test_special_values_of_two_operands(name: str) -> None:
    """Every special value beside every other: 0 ** 0, (−1) ** ½, ∞ − ∞, 1 ÷ 0, NaN beside all."""
    values = SPECIAL[(SPECIAL >= 0) & (SPECIAL <= 1)] if name in PROBABILITIES else SPECIAL
    grid = np.meshgrid(values, values)
    compare_first(REGISTRY[name], peers.PEERS[name][0], [g.ravel() for g in grid], {}, name)


@pytest.mark.parametrize("base", [-2.0, -0.5, 0.0, 3.0])
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, -2, 0.5, 2.0, 0.0])
def test_powers_with_numbers(base: float, exponent: float) -> None:
    """The second order, too: at 0 of x ** 1 and x ** 2 it is a number, not NaN."""
    same(lambda x: x**exponent, lambda z: z**exponent, [np.array([base])], f"{base} ** {exponent}")
    if base != 0:  # of 0 ** x PyTorch says NaN in the second order, we say 0, which it is
        at = np.array([float(exponent)])
        same(lambda x: base**x, lambda z: base**z, [at], f"{base} ** {exponent}, by exponent")


def compare_first(op: Any, peer: Any, operands: list[Any], attrs: Any, what: str) -> None:
    """Values, and the gradients of their sum."""
    wants = [i for i in range(len(operands)) if op.has_rule(i) and what not in VALUES_ONLY]
    ours, theirs = as_ours(operands, wants), as_torch(operands, wants)
    y, z = op(*ours, **attrs), peer(*theirs, **attrs)
    close(y.data, z.detach(), what)
    if wants:
        y.sum().backward()
        z.sum().backward()
        for i in wants:
            close(ours[i].grad.data, theirs[i].grad, f"{what}: gradient {i}")


def same(f: Any, g: Any, operands: list[Any], what: str) -> None:
    """Values and gradients of both orders of two functions, for all operands."""
    wants = range(len(operands))
    ours, theirs = as_ours(operands, wants), as_torch(operands, wants)
    found = two_orders(f, our_grad, ours, wants, mg.tensor)
    expected = two_orders(g, torch_grad, theirs, wants, torch.tensor)
    close(found[0].data, expected[0].detach(), what)
    for order in (1, 2):
        for i, a, b in zip(wants, found[order], expected[order], strict=True):
            same_gradient(array(a), array(b), f"{what}: gradient {i}, order {order}", order)


# ---- Ties, and other single points ----------------------------------------------------------

TIED = np.array([[2.0, 1.0, 2.0], [0.0, 0.0, 0.0], [-1.0, 3.0, -1.0]])
NEGATIVE = np.array([[1.0, -np.inf], [-np.inf, -np.inf]])
POINTS: dict[str, tuple[Any, Any, list[Any]]] = {
    "the largest of equals": (lambda x: x.max(), lambda z: z.amax(), [TIED]),
    "the largest of equals in rows": (lambda x: x.max(axis=1), lambda z: z.amax(1), [TIED]),
    "the smallest of equals": (
        lambda x: x.min(axis=(0, 1)),
        lambda z: z.amin((0, 1)),
        [TIED],
    ),
    "the larger of equals": (mg.maximum, torch.maximum, [TIED, TIED.T.copy()]),
    "the smaller of equals": (mg.minimum, torch.minimum, [TIED, TIED.T.copy()]),
    "the larger of a number and 0": (
        lambda x: mg.maximum(x, 0.0),
        lambda z: torch.maximum(z, torch.tensor(0.0, dtype=z.dtype)),
        [TIED],
    ),
    "at the bounds": (lambda x: mg.clip(x, 0.0, 2.0), lambda z: z.clip(0.0, 2.0), [TIED]),
    "bounds the wrong way round": (
        lambda x: mg.clip(x, 2.0, 0.0),
        lambda z: z.clip(2.0, 0.0),
        [TIED],
    ),
    "ReLU at 0": (mg.relu, torch.relu, [TIED]),
    "a size at 0": (mg.abs, torch.abs, [TIED]),
    "pools of equals": (
        lambda x: mg.max_pool2d(x.reshape(1, 1, 3, 3), 2, stride=1),
        lambda z: torch.max_pool2d(z.reshape(1, 1, 3, 3), 2, stride=1),
        [TIED],
    ),
    "softmax far out": (
        lambda x: mg.softmax(x, axis=1),
        lambda z: torch.softmax(z, 1),
        [np.array([[1e4, 0.0], [-1e4, 1e4]])],
    ),
    "log-softmax far out": (
        lambda x: mg.log_softmax(x, axis=1),
        lambda z: torch.log_softmax(z, 1),
        [np.array([[1e4, 0.0], [-1e4, 1e4]])],
    ),
    "log-sum-exp of impossible scores": (
        lambda x: mg.logsumexp(x, axis=1)[0],
        lambda z: torch.logsumexp(z, 1)[0],
        [NEGATIVE],
    ),
    "where, with infinity not chosen": (
        lambda x: mg.where(x > 0, mg.log(x), x * x),
        lambda z: torch.where(z > 0, torch.log(z), z * z),
        [np.array([2.0, -1.0])],
    ),
    "an element taken twice": (
        lambda x: x[np.array([0, 0, 2])] * 2,
        lambda z: z[torch.tensor([0, 0, 2])] * 2,
        [TIED],
    ),
    "a variance": (lambda x: mg.var(x, axis=1), lambda z: z.var(1), [TIED]),
    "a deviation": (
        lambda x: mg.std(x, axis=0, correction=0),
        lambda z: z.std(0, correction=0),
        [TIED],
    ),
    "a sum of nothing": (lambda x: x.sum(axis=0), lambda z: z.sum(0), [np.zeros((0, 3))]),
    "a mean of nothing": (lambda x: x.mean(axis=0), lambda z: z.mean(0), [np.zeros((0, 3))]),
    "a product over nothing": (mg.matmul, torch.matmul, [np.zeros((2, 0)), np.zeros((0, 3))]),
    "softmax of nothing": (
        lambda x: mg.softmax(x, axis=-1),
        lambda z: torch.softmax(z, -1),
        [np.zeros((3, 0))],
    ),
}


@pytest.mark.parametrize("name", POINTS)
def test_single_points(name: str) -> None:
    f, g, operands = POINTS[name]
    same(f, g, operands, name)


def test_the_first_of_equals_is_the_position() -> None:
    for f, g in ((mg.argmax, torch.argmax), (mg.argmin, torch.argmin)):
        for axis in (None, 0, 1):
            found, expected = f(mg.tensor(TIED), axis=axis), g(torch.tensor(TIED), dim=axis)
            if axis is None or f is mg.argmin:  # which of equals PyTorch takes it does not promise
                assert TIED.ravel()[found.data].tolist() == TIED.ravel()[expected].tolist()
            close(found.data, np.asarray(getattr(TIED, f.__name__)(axis)), f.__name__)


def test_the_largest_of_nothing_is_refused_by_both() -> None:
    for f in ("max", "min", "argmax"):
        with pytest.raises(mg.ShapeError):
            getattr(mg.zeros(0, 3), f)(axis=0)
        with pytest.raises((RuntimeError, IndexError)):
            getattr(torch.zeros(0, 3), f)(dim=0)


# ---- Images ---------------------------------------------------------------------------------

KERNELS = [(1, 1), (3, 3), (2, 3), (5, 4)]
FRAMES = [0, 1, (2, 0), "valid", "same"]


@pytest.mark.parametrize("padding", FRAMES, ids=str)
@pytest.mark.parametrize("stride", [1, 2, (1, 3)], ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_convolutions(kernel: tuple[int, int], stride: Any, padding: Any) -> None:
    if padding == "same" and stride != 1:
        with pytest.raises(mg.ShapeError):
            mg.conv2d(mg.zeros(1, 1, 5, 6), mg.zeros(1, 1, *kernel), stride=stride, padding="same")
        return
    random = np.random.default_rng(0)
    x, w = random.standard_normal((2, 3, 5, 6)), random.standard_normal((4, 3, *kernel))
    options = {"stride": stride, "padding": padding}
    what = f"kernel {kernel}, {options}"
    same(partial(mg.conv2d, **options), partial(peers.conv_torch, **options), [x, w], what)


@pytest.mark.parametrize("padding", [0, 1, (1, 0)], ids=str)
@pytest.mark.parametrize("stride", [None, 1, 2, (1, 3)], ids=str)
@pytest.mark.parametrize("size", [2, 3, (2, 4)], ids=str)
@pytest.mark.parametrize("kind", ["max", "avg"])
def test_pools(kind: str, size: Any, stride: Any, padding: Any) -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 5, 6))
    ours, peer = getattr(mg, f"{kind}_pool2d"), getattr(peers, f"{kind}_torch")
    options = {"kernel_size": size, "stride": stride, "padding": padding}
    same(partial(ours, **options), partial(peer, **options), [x], f"{kind} of {options}")
