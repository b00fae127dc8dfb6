"""Sums and means along axes, repetition along axes, and the functions of a row of scores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from minigrad import ops
from minigrad.core import Op
from minigrad.interop.c.blocks import CArray, CArrays, CFunction, CWriter
from minigrad.interop.c.loops import advances
from minigrad.ops.shape import positive_axes
from minigrad.static import Node

Blocks = Callable[[str, Node, CArrays, CArrays], "CFunction | None"]


def reduced_axes(node: Node, operands: CArrays) -> set[int]:
    """Return the axes that a sum or mean reduces."""
    if node.op is ops.sum_like:
        kept = advances(operands[1], operands[0])
        return {i for i, moving in enumerate(kept) if not moving}
    return set(positive_axes(node.op.name, node.attrs.get("axis"), operands[0].shape))


def total(stem: str, node: Node, results: CArrays, operands: CArrays) -> CFunction | None:
    """Write a sum or mean; neighbouring axes of one kind are merged."""
    y, x = results[0], operands[0]
    if y.dtype != x.dtype or y.dtype.kind not in "fi":
        return None
    gone = reduced_axes(node, operands)
    groups: list[list[int]] = []
    for i in range(len(x.shape)):
        if groups and (groups[-1][0] in gone) == (i in gone):
            groups[-1].append(i)
        else:
            groups.append([i])
    summed = [g[0] in gone for g in groups]
    kept = [k for k, s in enumerate(summed) if not s]
    writer = CWriter(stem, results, operands, (1,) if node.op is ops.sum_like else ())
    for k, group in enumerate(groups):
        writer.line(f"const int64_t m{k} = {writer.size(1, group)};")
    size = " * ".join(f"m{k}" for k in kept) or "1"
    zero = "-0.0" if y.dtype.kind == "f" else "0"  # −0 changes nothing that is added to it
    inside = " && ".join(f"m{k}" for k, s in enumerate(summed) if s)
    start = f"{inside} ? {zero} : 0" if inside else zero
    writer.line(f"for (int64_t i = 0; i < {size}; i++) y0[i] = {start};")
    _add_all(writer, x, node, summed)
    if node.op is ops.mean:
        count = " * ".join(f"m{k}" for k, s in enumerate(summed) if s) or "1"
        nonzero = f"{size} ? {count} : 1"
        writer.line(f"const {y.type} count = {nonzero};")
        writer.line(f"for (int64_t i = 0; i < {size}; i++) y0[i] /= count;")
    return writer.block()


def _add_all(writer: CWriter, x: CArray, node: Node, summed: list[bool]) -> None:
    """Write y[kept] += x[kept, summed]; a run that is summed as a whole goes through doubles."""
    run = bool(summed) and summed[-1] and x.dtype.kind == "f"
    outer = len(summed) - run
    for k in range(outer):
        writer.loop(f"i{k}", f"m{k}", independent=k == len(summed) - 1 and not summed[k])
    at_y, at_x = "0", "0"
    for k in range(outer):
        at_x = f"({at_x}) * m{k} + i{k}" if k else f"i{k}"
        if not summed[k]:
            at_y = f"({at_y}) * m{k} + i{k}" if at_y != "0" else f"i{k}"
    if run:
        last = len(summed) - 1
        value = f"({x.type})sum_{x.type}(x0 + ({at_x}) * m{last}, m{last})"
    else:
        value = f"x0[{at_x}]"
    writer.line(f"y0[{at_y}] += {value};", node)
    writer.close(outer)


def given_sum(node: Node, results: CArrays, operands: CArrays) -> CFunction:
    """Write a sum or mean whose total is already there, in double, as the first operand."""
    y, x = results[0], operands[0]
    number = CArray(np.dtype(np.float64), (), ())
    writer = CWriter("given_sum", results, [number, x], (1,))
    count = ""
    if node.op is ops.mean:
        count = f" / ({y.type})({writer.size(2, range(len(x.shape)))})"
    writer.line(f"y0[0] = ({y.type})x0[0]{count};", node)
    return writer.block()


def repeat(stem: str, node: Node, results: CArrays, operands: CArrays) -> CFunction | None:
    """Write an operand repeated to a shape; axes that a reduction dropped are restored first."""
    y, g = results[0], operands[0]
    if y.dtype != g.dtype:
        return None
    shape, declared = list(g.shape), list(g.declared)
    if not node.attrs.get("keepdims", True) and g.shape:
        for axis in sorted(positive_axes(node.op.name, node.attrs.get("axis", ()), y.shape)):
            shape.insert(axis, 1)
            declared.insert(axis, 1)
    moving = advances(CArray(g.dtype, tuple(declared), tuple(shape)), y)
    writer = CWriter(stem, results, operands, (1,))
    at_y = at_x = ""
    for k, moves_on in enumerate(moving):
        writer.line(f"const int64_t m{k} = {writer.length(0, k)};")
        at_y = f"({at_y}) * m{k} + i{k}" if at_y else f"i{k}"
        if moves_on:
            at_x = f"({at_x}) * m{k} + i{k}" if at_x else f"i{k}"
    for k in range(len(moving)):
        writer.loop(f"i{k}", f"m{k}", independent=k == len(moving) - 1)
    writer.line(f"y0[{at_y or 0}] = x0[{at_x or 0}];", node)
    writer.close(len(moving))
    return writer.block()


def count(stem: str, node: Node, results: CArrays, operands: CArrays) -> CFunction | None:
    """Write the number of the first operand's elements for each of the second."""
    writer = CWriter(stem, results, operands, (0, 1))
    sizes = [writer.size(i, range(len(operands[i - 1].shape))) for i in (1, 2)]
    writer.line(f"const int64_t all = {sizes[0]}, some = {sizes[1]};", node)
    writer.line("y0[0] = (double)all / (some > 1 ? some : 1);")
    return writer.block()


# ---- Rows of scores ---------------------------------------------------------------------------


def _open_rows(writer: CWriter, node: Node, scores: int, name: str = "x0") -> None:
    """Open a loop over rows and find the maximum of each, so that exp stays finite."""
    forms = [*writer.results, *writer.operands]
    last = len(forms[scores].shape) - 1
    t = forms[scores].type
    writer.line(f"const int64_t rows = {writer.size(scores, range(last))};")
    writer.line(f"const int64_t m = {writer.length(scores, last)};")
    writer.loop("i", "rows", node)
    writer.line(f"const {t} *x = {name} + i * m;")
    writer.line(f"{t} top = -INFINITY;")
    writer.loop("j", "m")
    writer.line("top = (x[j] > top) | (x[j] != x[j]) ? x[j] : top;")
    writer.close()


def _is_by_rows(node: Node, results: CArrays, operands: CArrays) -> bool:
    x = operands[0]
    last = node.attrs.get("axis", -1) in (-1, len(x.shape) - 1)
    return x.dtype.kind == "f" and x.dtype == results[0].dtype and len(x.shape) > 0 and last


def softmax(stem: str, node: Node, results: CArrays, operands: CArrays) -> CFunction | None:
    """Write exp(x − top) / Σ exp(x − top), or its logarithm, along the last axis."""
    if not _is_by_rows(node, results, operands):
        return None
    writer, t = CWriter(stem, results, operands), results[0].type
    _open_rows(writer, node, 1)
    writer.line(f"{t} *y = y0 + i * m;")
    writer.line("double all = 0;")
    if node.op is ops.softmax:
        writer.line(f"for (int64_t j = 0; j < m; j++) y[j] = exp_{t}(x[j] - top);")
        writer.line("for (int64_t j = 0; j < m; j++) all += y[j];")
        writer.line(f"for (int64_t j = 0; j < m; j++) y[j] /= ({t})all;")
    else:
        writer.line(f"for (int64_t j = 0; j < m; j++) all += exp_{t}(x[j] - top);")
        writer.line(f"const {t} logarithm = log_{t}(({t})all);")
        writer.line("for (int64_t j = 0; j < m; j++) y[j] = x[j] - top - logarithm;")
    writer.close()
    return writer.block()


def cross_entropy(stem: str, node: Node, results: CArrays, operands: CArrays) -> CFunction | None:
    """Write log Σ exp(x − top) − (x[label] − top); a label that is no class fails."""
    if not _is_by_rows(node, results, operands) or operands[1].dtype.kind not in "iu":
        return None
    writer, t = CWriter(stem, results, operands, fails=True), results[0].type
    _open_rows(writer, node, 1)
    writer.line("const int64_t label = x1[i];")
    writer.line("if (label < 0 || label >= m) return 1;")
    writer.line("double all = 0;")
    writer.line(f"for (int64_t j = 0; j < m; j++) all += exp_{t}(x[j] - top);")
    writer.line(f"y0[i] = log_{t}(({t})all) - (x[label] - top);")
    writer.close()
    return writer.block()


def cross_entropy_gradient(
    stem: str, node: Node, results: CArrays, operands: CArrays
) -> CFunction | None:
    """Write (softmax(x) − 1 at the label) · g for each row; a label that is no class fails."""
    g, x, labels = operands
    if not _is_by_rows(node, results, [x]) or g.dtype != x.dtype or labels.dtype.kind not in "iu":
        return None
    writer, t = CWriter(stem, results, operands, fails=True), x.type
    _open_rows(writer, node, 2, "x1")
    writer.line("const int64_t label = x2[i];")
    writer.line("if (label < 0 || label >= m) return 1;")
    writer.line(f"{t} *y = y0 + i * m;")
    writer.line("double all = 0;")
    writer.line(f"for (int64_t j = 0; j < m; j++) y[j] = exp_{t}(x[j] - top);")
    writer.line("for (int64_t j = 0; j < m; j++) all += y[j];")
    writer.line(f"for (int64_t j = 0; j < m; j++) y[j] = (y[j] / ({t})all - (j == label)) * x0[i];")
    writer.close()
    return writer.block()


def one_hot(stem: str, node: Node, results: CArrays, operands: CArrays) -> CFunction | None:
    """Write 1 at the position of the class, else 0."""
    writer, last = CWriter(stem, results, operands, (1,)), len(results[0].shape) - 1
    writer.line(
        f"const int64_t rows = {writer.size(0, range(last))}, m = {writer.length(0, last)};"
    )
    writer.loop("i", "rows", node)
    writer.line("for (int64_t j = 0; j < m; j++) y0[i * m + j] = x0[i] == j;")
    writer.close()
    return writer.block()


WRITERS: dict[Op, Blocks] = {
    ops.sum: total,
    ops.mean: total,
    ops.sum_like: total,
    ops.broadcast_like: repeat,
    ops.count: count,
    ops.softmax: softmax,
    ops.log_softmax: softmax,
    ops.softmax_cross_entropy: cross_entropy,
    ops.softmax_cross_entropy_gradient: cross_entropy_gradient,
    ops.one_hot: one_hot,
}
