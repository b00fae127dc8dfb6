"""Operators of another system that have no counterpart here: boxes that call the original."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from minigrad.core import Array, Attrs, Op, Spec, into

Call = Callable[..., Sequence[Array]]  # arrays of the operands -> arrays of all results
Pull = Callable[..., Array]  # (position of a result, of an operand, gradient, operands) -> gradient


def box(
    name: str,
    system: str,
    call: Call,
    pull: Pull,
    operands: Sequence[Any],
    specs: Sequence[Spec],
    passing: Collection[tuple[int, int]] | None = None,
) -> list[Any]:
    """A node for each result of an operator of another system, which is called when it runs.

    Its gradient is the one that the other system computes. passing: from which result to which
    operand a gradient flows, by their positions; None: from each to each.
    """
    made = []
    for i, spec in enumerate(specs):
        to = range(len(operands)) if passing is None else [k for y, k in passing if y == i]
        made.append(_part(name, system, call, pull, i, spec, to)(*operands))
    return made


def _part(
    name: str, system: str, call: Call, pull: Pull, index: int, spec: Spec, to: Collection[int]
) -> Op:
    def infer(specs: Sequence[Spec], attrs: Attrs) -> Spec:
        return spec

    def kernel(out: Array | None, *arrays: Array, **attrs: Any) -> Array:
        return into(out, np.asarray(call(*arrays)[index])[()])

    def back(g: Any, y: Any, *xs: Any, wanted: Sequence[int], **attrs: Any) -> list[Any]:
        found: list[Any] = [None] * len(xs)
        for i in wanted:
            if xs[i].dtype.kind == "f" and i in to:
                found[i] = _gradient(name, system, pull, index, i)(g, *xs)
        return found

    return Op(
        f"{system}_{name}".replace(".", "_"),
        shape=_by_infer,
        run=kernel,
        vjp=back,
        infer=infer,
        inputs=None,
        title=(f"no counterpart here: calls {system}", f"这里没有对应的算子：调用 {system}"),
        formula=f"{system}.{name}({{0}})",
    )


def _gradient(name: str, system: str, pull: Pull, index: int, position: int) -> Op:
    def infer(specs: Sequence[Spec], attrs: Attrs) -> Spec:
        return specs[1 + position]

    def kernel(out: Array | None, g: Array, *arrays: Array, **attrs: Any) -> Array:
        return into(out, np.asarray(pull(index, position, g, arrays))[()])

    return Op(
        f"{system}_{name}_gradient".replace(".", "_"),
        shape=_by_infer,
        run=kernel,
        infer=infer,
        inputs=None,
        title=(f"gradient computed by {system}", f"由 {system} 计算的梯度"),
        formula=f"{system}.{name}′({{0}})",
    )


def _by_infer(*shapes: Any, **attrs: Any) -> None:
    """`infer` knows the shape."""
    return None
