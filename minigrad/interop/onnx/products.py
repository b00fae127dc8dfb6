"""Operators of ONNX that are sums of products."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.interop.onnx.call import OnnxCall, operator

FULL = (None, None, None)


@operator("MatMul")
def _matmul(call: OnnxCall) -> Any:
    return ops.matmul(call[0], call[1])


@operator("Gemm")
def _gemm(call: OnnxCall) -> Any:
    flags = {"transpose_a": call.attr("transA", 0), "transpose_b": call.attr("transB", 0)}
    y = ops.matmul(call[0], call[1], **{name: True for name, up in flags.items() if up})
    alpha, beta = call.attr("alpha", 1.0), call.attr("beta", 1.0)
    y = y if alpha == 1 else y * y.dtype.type(alpha)
    if not call.given(2):
        return y
    return y + (call[2] if beta == 1 else call[2] * call[2].dtype.type(beta))


@operator("Einsum")
def _einsum(call: OnnxCall) -> Any:
    """Build einsum: align the operands' axes by letter, multiply, sum the letters removed."""
    equation = call.attr("equation").replace(" ", "")
    left, _, right = equation.partition("->")
    terms, xs = left.split(","), call.all()
    rest = max(
        (len(x.shape) - len(t.replace("...", "")) for t, x in zip(terms, xs, strict=True)
         if "..." in t),
        default=0,
    )  # fmt: skip
    dots = "".join(chr(0x100 + i) for i in range(rest))
    terms = [_expand_ellipsis(t, x, dots) for t, x in zip(terms, xs, strict=True)]
    if "->" not in equation:
        letters = "".join(terms)
        right = dots + "".join(sorted(c for c in {*letters} - {*dots} if letters.count(c) == 1))
    right = right.replace("...", dots)
    order = right + "".join(dict.fromkeys(c for t in terms for c in t if c not in right))
    y = reduce(ops.mul, [_align_axes(x, t, order) for x, t in zip(xs, terms, strict=True)])
    gone = tuple(range(len(right), len(order)))
    return ops.sum(y, axis=gone) if gone else y


def _expand_ellipsis(term: str, x: Any, dots: str) -> str:
    if "..." not in term:
        return term
    count = len(x.shape) - len(term.replace("...", ""))
    return term.replace("...", dots[len(dots) - count :])


def _align_axes(x: Any, term: str, order: str) -> Any:
    """Order the axes of x, with one of length 1 for each letter that it lacks."""
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:  # a diagonal
            i = term.index(letter)
            j = term.index(letter, i + 1)
            n = x.shape[i]
            same = np.eye(n).reshape([n if k in (i, j) else 1 for k in range(len(term))])
            x = ops.sum(ops.where(same == 1, x, 0), axis=j)
            term = term[:j] + term[j + 1 :]
    own = sorted(range(len(term)), key=lambda i: order.index(term[i]))
    x = ops.transpose(x, axes=tuple(own)) if len(term) > 1 else x
    for i, letter in enumerate(order):
        if letter not in term:
            x = ops.expand_dims(x, axis=i)
    return x


@operator("Det")
def _det(call: OnnxCall) -> Any:
    """Build determinants of matrices up to 4 × 4 by expansion along the first row."""
    n = call.known_shape()[-1]
    call.expect(n <= 4, f"{n} × {n}")

    def minor(rows: tuple[int, ...], columns: tuple[int, ...]) -> Any:
        if not rows:
            return 1
        total: Any = 0
        for k, j in enumerate(columns):
            rest = (*columns[:k], *columns[k + 1 :])
            part = ops.slice_(call[0], key=("...", rows[0], j)) * minor(rows[1:], rest)
            total = total + part if k % 2 == 0 else total - part
        return total

    return minor(tuple(range(n)), tuple(range(n)))
