"""Every operator against PyTorch and JAX: value, data type, gradients, special values, ties.

A new operator needs a row in `peers.PEERS`, or one in `peers.EXEMPT` with the reason.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import peers
import pytest
import torch
from test_every_op import draw, empty, fits, ruled

import minigrad as mg
from minigrad.core import REGISTRY, Op, Sample

pytestmark = pytest.mark.oracle

FLOATS = (np.float64, np.float32)
NAMES = sorted(peers.PEERS)
IN_JAX = [name for name in NAMES if peers.PEERS[name][1] is not None]


# ---- Running both -----------------------------------------------------------------------------


def close(actual: Any, expected: Any, what: str, loose: float = 1) -> None:
    """The same type, shape and numbers: NaN where NaN is, infinity where infinity is."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), what
    if actual.dtype.kind != "f":
        np.testing.assert_array_equal(actual, expected, what)
        return
    tolerance = loose * (1e-12 if actual.dtype == np.float64 else 2e-6)
    np.testing.assert_allclose(actual, expected, tolerance, tolerance, err_msg=what)


def consistent(op: Op, operands: list[Any], attrs: Any) -> list[Any]:
    """Operands that belong together, where a record reads the result of another."""
    if op.name in ("MaxPool2dInput", "MaxPool2dPick"):
        operands[1] = REGISTRY["MaxPool2d"](operands[2], **attrs)
    return operands


def cases(op: Op, never_empty: Container[str] = ()) -> Iterator[tuple[Sample, str]]:
    """The operator's own samples, and the same with nothing in them where it takes that."""
    for sample in op.samples:
        nothing = empty(sample)
        shrinks = nothing.shapes != list(sample.shapes) and fits(op, nothing)
        for one in (sample, nothing) if shrinks and op.name not in never_empty else (sample,):
            yield one, f"{op} on {one.shapes} with {one.attrs}"


def as_torch(operands: Sequence[Any], wants: Sequence[int]) -> list[torch.Tensor]:
    xs = [torch.from_numpy(np.array(a)) for a in operands]
    return [x.requires_grad_(i in wants) if i in wants else x for i, x in enumerate(xs)]


def as_ours(operands: Sequence[Any], wants: Sequence[int]) -> list[mg.Tensor]:
    return [mg.tensor(a, requires_grad=i in wants) for i, a in enumerate(operands)]


def array(x: Any) -> Any:
    """The values of a tensor; of a gradient that does not exist, None."""
    return (
        None if x is None else x.data if isinstance(x, mg.Tensor) else x.detach().numpy(force=True)
    )


def weights(shape: Any, dtype: Any, seed: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def two_orders(apply: Any, grad: Any, xs: list[Any], wants: Any, lift: Any) -> Any:
    """The value, its gradients, and the gradients of their weighed sum."""
    y = apply(*xs)
    inputs = [xs[i] for i in wants]
    first = grad([y], inputs, [lift(weights(y.shape, array(y).dtype, 1))])
    linked = [(i, g) for i, g in enumerate(first) if g is not None and g.requires_grad]
    second = [None] * len(inputs)
    if linked:
        seeds = [lift(weights(g.shape, array(g).dtype, 2 + i)) for i, g in linked]
        second = grad([g for _, g in linked], inputs, seeds)
    return y, first, second


def torch_grad(ys: Any, xs: Any, seeds: Any) -> Any:
    return torch.autograd.grad(ys, xs, seeds, create_graph=True, allow_unused=True)


def our_grad(ys: Any, xs: Any, seeds: Any) -> Any:
    return mg.grad(ys, xs, seeds, create_graph=True, allow_unused=True)


# ---- Each operator on its own samples -----------------------------------------------------------


def test_every_operator_has_a_counterpart_or_a_reason() -> None:
    known = set(peers.PEERS) | set(peers.EXEMPT)
    assert set(REGISTRY) - known == set(), (
        "add to PEERS in tests/oracles/peers.py what PyTorch computes, or to EXEMPT there why it"
        " has no such operator"
    )
    assert known - set(REGISTRY) == set(), "take them out of tests/oracles/peers.py: they are gone"
    assert set(peers.PEERS) & set(peers.EXEMPT) == set()
    assert all(peers.EXEMPT.values())


def test_who_adds_an_operator_is_told_what_to_write_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REGISTRY, "Other", REGISTRY["Exp"])
    with pytest.raises(AssertionError, match=r"(?s)to PEERS in tests/oracles/peers.py.*Other"):
        test_every_operator_has_a_counterpart_or_a_reason()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", NAMES)
def test_values_and_gradients_are_those_of_torch(name: str, dtype: Any) -> None:
    op, peer = REGISTRY[name], peers.PEERS[name][0]
    for sample, what in cases(op, peers.NEVER_EMPTY_IN_TORCH):
        operands = consistent(op, draw(sample, dtype), sample.attrs)
        compare(op, peer, operands, sample.attrs, what)


def compare(op: Any, peer: Any, operands: list[Any], attrs: Any, what: str) -> None:
    """Values, and gradients of both orders for all operands that have a rule."""
    wants = [] if op.name in UNDERIVED else ruled(op, operands)
    ours, theirs = as_ours(operands, wants), as_torch(operands, wants)
    if not wants:
        close(array(op(*ours, **attrs)), array(peer(*theirs, **attrs)), what)
        return
    found = two_orders(partial(op, **attrs), our_grad, ours, wants, mg.tensor)
    expected = two_orders(partial(peer, **attrs), torch_grad, theirs, wants, torch.tensor)
    close(array(found[0]), array(expected[0]), what)
    for order in (1,) if op.name in ROUGH_TWICE else (1, 2):
        for i, a, b in zip(wants, found[order], expected[order], strict=True):
            same_gradient(array(a), array(b), f"{what}: gradient {i}, order {order}", order)


UNDERIVED = {"FloorDivide"}  # PyTorch has no derivative for it; ours is 0, as JAX has it
ROUGH_TWICE = {"BinaryCrossEntropy"}  # PyTorch adds a small number to the second derivative


def same_gradient(a: Any, b: Any, what: str, order: int) -> None:
    """None, which no gradient reached, counts as 0 in the second order: derivations differ."""
    if order == 2 and (a is None or b is None):
        assert not np.any(0 if a is None else a), what
        assert not np.any(0 if b is None else b), what
        return
    assert (a is None) == (b is None), what
    if a is not None:
        close(a, b, what, loose=10)


@pytest.mark.parametrize("name", IN_JAX)
def test_values_and_gradients_are_those_of_jax(name: str) -> None:
    op, peer = REGISTRY[name], peers.PEERS[name][1]
    for sample, what in cases(op):
        compare_jax(op, peer, consistent(op, draw(sample), sample.attrs), sample.attrs, what)


def compare_jax(op: Any, peer: Any, operands: list[Any], attrs: Any, what: str) -> None:
    wants = ruled(op, operands)
    ours = as_ours(operands, wants)
    y = op(*ours, **attrs)

    def f(*xs: Any) -> Any:
        values = [jnp.asarray(a) for a in operands]
        for i, x in zip(wants, xs, strict=True):
            values[i] = x
        return peer(*values, **attrs)

    value, pull = jax.vjp(f, *[jnp.asarray(operands[i]) for i in wants])
    close(array(y), value, what, loose=10)
    if wants:
        seed = weights(y.shape, y.dtype, 1)
        found = our_grad([y], [ours[i] for i in wants], [seed])
        for i, a, b in zip(wants, found, pull(seed), strict=True):
            close(np.zeros_like(b) if a is None else array(a), b, f"{what}: {i}", loose=10)
