"""Convolution and pooling with the batch as the last axis in memory.

Images have the shape (batch, channels, height, width). Here they are stored as (channels,
height, width, batch): a patch then moves in long runs, all places of all images are in one matrix
product, and pooling compares neighbouring rows. Views hide the layout from all other code.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.compiler.numpy.expand import Expansion, keep_where, maximum, shaped, transposed
from minigrad.compiler.slots import OUTWARD, CallList, Slot, base_of, batch_first
from minigrad.core import Op
from minigrad.ops.logic import BITS
from minigrad.ops.parts import output
from minigrad.ops.windows import Window, along
from minigrad.passes.layout import Layout, Specs
from minigrad.static import Node
from minigrad.static.fused import FUSED

INWARD = (1, 2, 3, 0)


def _batch_last(shape: tuple[int, ...]) -> tuple[int, ...]:
    n, c, height, width = shape
    return c, height, width, n


def _read_images(calls: CallList, x: Slot) -> Slot:
    """Return the images with the batch last: as stored, or copied."""
    base = base_of(x)
    if base is None:
        base = calls.scratch(_batch_last(x.shape), x.spec.dtype)
        calls.call(np.copyto, base, x.view(base.shape, "transpose", INWARD))
    return base


def _result_slot(calls: CallList, out: Slot) -> Slot:
    """Return the slot of a result with the batch last; `_move_result` moves it to its place."""
    return base_of(out) or calls.scratch(_batch_last(out.shape), out.spec.dtype)


def _move_result(calls: CallList, base: Slot, out: Slot) -> None:
    if base is not base_of(out):
        calls.call(np.copyto, out, batch_first(base))


def _part(base: Slot, rows: slice, columns: slice) -> Slot:
    """Return some rows and columns of all images."""
    c, height, width, n = base.shape
    lengths = (len(range(*rows.indices(height))), len(range(*columns.indices(width))))
    return base.view((c, *lengths, n), "__getitem__", (slice(None), rows, columns))


def _matrix(x: Slot, rows: int) -> Slot:
    return shaped(x, rows, math.prod(x.shape) // rows)


def _split_rows(x: Slot, groups: int) -> Slot:
    """Split a matrix's rows among the groups; a single group leaves it as it is."""
    if groups == 1:
        return x
    rows, columns = x.shape
    return shaped(x, groups, rows // groups, columns)


def _product(calls: CallList, a: Slot, b: Slot, out: Slot) -> None:
    calls.call(np.dot if len(out.shape) == 2 else np.matmul, a, b, out)


def _suits(*slots: Slot) -> bool:
    dtype = slots[0].spec.dtype
    plain = dtype.kind == "f" and all(x.spec.dtype == dtype for x in slots)
    return plain and all(math.prod(x.shape) for x in slots)


# ---- Convolution --------------------------------------------------------------------------------


def _pad_images(calls: CallList, x: Slot, window: Window) -> Slot:
    """Put the images into a frame of zeros, which stay zero from run to run."""
    base = _read_images(calls, x)
    if window.pads == ((0, 0), (0, 0)):
        return base
    c, height, width, n = base.shape
    (top, bottom), (left, right) = window.pads
    shape = (c, height + top + bottom, width + left + right, n)
    frame = calls.zeros(shape, x.spec.dtype)
    calls.call(np.copyto, _part(frame, slice(top, top + height), slice(left, left + width)), base)
    return frame


def _columns(calls: CallList, x: Slot, window: Window, places: tuple[int, ...]) -> Slot:
    """Emit the patches as columns: (channels · size, places · batch)."""

    def make() -> Slot:
        frame = _pad_images(calls, x, window)
        c, n = x.shape[1], x.shape[0]
        tall, wide = window.size
        columns = calls.scratch((c, tall, wide, *places, n), x.spec.dtype)
        for i, (rows, across) in enumerate(window.offsets(places)):
            at = (slice(None), i // wide, i % wide)
            part = columns.view((c, *places, n), "__getitem__", at)
            calls.call(np.copyto, part, _part(frame, rows, across))
        return _matrix(columns, c * tall * wide)

    if not calls.needs_columns(x):
        return make()
    found: Slot = calls.kept((x, window.size, window.stride, window.pads), make)
    return found


def _conv(calls: CallList, node: Node, out: Slot, operands: Sequence[Slot]) -> bool:
    x, w = operands
    if not _suits(x, w, out):
        return False
    window = Window.of("Conv2d", w.shape[2:], **node.attrs)
    columns = _columns(calls, x, window, out.shape[2:])
    base = _result_slot(calls, out)
    parts = (_matrix(w, w.shape[0]), columns, _matrix(base, w.shape[0]))
    _product(calls, *(_split_rows(m, window.groups) for m in parts))
    _move_result(calls, base, out)
    return True


def _conv_weight(calls: CallList, node: Node, out: Slot, operands: Sequence[Slot]) -> bool:
    """Emit the gradient of the kernels: g times the patches, in one matrix product."""
    g, x, like = operands
    if not _suits(g, x, out):
        return False
    window = Window.of("Conv2dWeight", like.shape[2:], **node.attrs)
    columns = _columns(calls, x, window, g.shape[2:])
    parts = (_matrix(_read_images(calls, g), g.shape[1]), columns, _matrix(out, g.shape[1]))
    slopes, columns, result = (_split_rows(m, window.groups) for m in parts)
    _product(calls, slopes, transposed(columns), result)
    return True


def _conv_input(calls: CallList, node: Node, out: Slot, operands: Sequence[Slot]) -> bool:
    """Emit the gradient of the images: each pixel sums the shares of its patches."""
    g, w, _ = operands
    if not _suits(g, w, out):
        return False
    window = Window.of("Conv2dInput", w.shape[2:], **node.attrs)
    n, c, height, width = out.shape
    (top, bottom), (left, right) = window.pads
    places, (tall, wide) = g.shape[2:], window.size
    slopes = _matrix(_read_images(calls, g), g.shape[1])
    spread = calls.scratch((c, tall, wide, *places, n), out.spec.dtype)
    parts = (_matrix(w, w.shape[0]), slopes, _matrix(spread, c * tall * wide))
    kernels, slopes, product = (_split_rows(m, window.groups) for m in parts)
    _product(calls, transposed(kernels), slopes, product)
    frame = calls.scratch((c, height + top + bottom, width + left + right, n), out.spec.dtype)
    calls.call(np.copyto, frame, calls.constant(0, out.spec.dtype))
    for i, (rows, across) in enumerate(window.offsets(places)):
        at = (slice(None), i // wide, i % wide)
        here = _part(frame, rows, across)
        calls.call(np.add, here, spread.view((c, *places, n), "__getitem__", at), here)
    inside = _part(frame, slice(top, top + height), slice(left, left + width))
    target = base_of(out)
    if target is not None:
        calls.call(np.copyto, target, inside)
    else:
        calls.call(np.copyto, out, inside.view(out.shape, "transpose", OUTWARD))
    return True


# ---- Pooling ------------------------------------------------------------------------------------


def _pool_window(node: Node) -> Window | None:
    """Return the window of a pooling without a frame."""
    given: dict[str, Any] = dict(node.attrs)
    size = given.pop("kernel_size")
    size = tuple(size) if isinstance(size, (tuple, list)) else (size, size)
    stride = given.pop("stride", None)
    window = Window.of("MaxPool2d", size, size if stride is None else stride, **given)
    return window if window.pads == ((0, 0), (0, 0)) else None


def _max_pool(calls: CallList, node: Node, out: Slot, operands: Sequence[Slot]) -> bool:
    """Emit max pooling: the larger of neighbouring rows, then of columns."""
    (x,) = operands
    window = _pool_window(node)
    if window is None or not _suits(x, out):
        return False
    base, result = _read_images(calls, x), _result_slot(calls, out)
    c, _, width, n = base.shape
    (tall, wide), (rows, columns) = window.size, out.shape[2:]
    whole = slice(0, width)
    row = calls.scratch((c, rows, width, n), x.spec.dtype) if wide > 1 else result
    parts = [_part(base, along(i, window.stride[0], rows), whole) for i in range(tall)]
    if wide == 1:
        parts = [_part(p, slice(0, rows), along(0, window.stride[1], columns)) for p in parts]
    _emit_maximum(calls, parts, row)
    if wide > 1:
        every = slice(0, rows)
        steps = [along(j, window.stride[1], columns) for j in range(wide)]
        _emit_maximum(calls, [_part(row, every, step) for step in steps], result)
    _move_result(calls, result, out)
    return True


def _emit_maximum(calls: CallList, parts: Sequence[Slot], out: Slot) -> None:
    first, *others = parts
    if not others:
        calls.call(np.copyto, out, first)
    for part in others:
        calls.call(maximum, first, part, out)
        first = out


def _max_pool_input(calls: CallList, node: Node, out: Slot, operands: Sequence[Slot]) -> bool:
    """Emit the gradient of max pooling without overlap: g goes to the first maximum."""
    g, y, x = operands
    window = _pool_window(node)
    if window is None or window.stride != window.size or not _suits(g, y, x, out):
        return False
    places = g.shape[2:]
    if any(m * k != n for m, k, n in zip(places, window.size, x.shape[2:], strict=True)):
        return False  # what lies outside all windows would have to be 0
    slopes, tops, base = (_read_images(calls, v) for v in (g, y, x))
    result = _result_slot(calls, out)
    free, hit = (calls.scratch(tops.shape, np.dtype(np.bool_)) for _ in range(2))
    mask = calls.scratch(tops.shape, np.dtype(BITS[out.spec.dtype]))
    for i, (rows, columns) in enumerate(window.offsets(places)):
        chosen = hit if i else free
        calls.call(np.equal, _part(base, rows, columns), tops, chosen)
        if i:
            calls.call(np.greater, hit, free, hit)  # not if an earlier one was chosen
            calls.call(np.logical_or, free, hit, free)
        to = _part(result, rows, columns)
        keep_where(calls, chosen, slopes, mask, to)
        calls.call(np.add, to, calls.constant(0, out.spec.dtype), to)  # as what adds up has no −0
    _move_result(calls, result, out)
    return True


EXPANSIONS: dict[Op, Expansion] = {
    ops.conv2d: _conv,
    ops.conv2d_weight: _conv_weight,
    ops.conv2d_input: _conv_input,
    ops.max_pool2d: _max_pool,
    ops.max_pool2d_input: _max_pool_input,
}

# ---- Which values lie with the batch last -------------------------------------------------------

MAKERS = {ops.conv2d, ops.conv2d_input, ops.max_pool2d, ops.max_pool2d_input}
READERS = {*EXPANSIONS, ops.sum, ops.sum_like}


def batch_last(layout: Layout, specs: Specs) -> set[Node]:
    """Return the values to store with the batch last: all that make and read them allow it.

    Not those that are shown in another shape: their elements must be in index order.
    """
    nodes = layout.order
    if not any(node.op is ops.conv2d or node.op is FUSED for node in nodes):
        return set()
    made = {n for n in nodes if layout.kind[n] == "planned" and _made_by_images(n, specs)}
    for node in nodes:
        if layout.kind[node] == "whole" or node.op in READERS or _by_element(node):
            continue
        made.difference_update(node.inputs)
    return made


def _made_by_images(node: Node, specs: Specs) -> bool:
    shape = specs[node].shape
    if shape is None or len(shape) != 4 or node.dtype.kind != "f":
        return False
    source = node.inputs[0] if node.op is output else node
    return source.op in MAKERS or _by_element(source)


def _by_element(node: Node) -> bool:
    if node.op is FUSED:
        return bool(node.attrs["kind"] in ("elementwise", "conv"))
    return node.op.elementwise
