"""Functions that arrange, join and pick elements, for arrays, tensors and graph nodes alike.

Results of the dynamic graph may be views, which share memory with their operand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from minigrad import ops
from minigrad.core import float32
from minigrad.diagnostics import arguments
from minigrad.diagnostics.errors import DtypeError, ShapeError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here
from minigrad.ops import arrange, joining
from minigrad.ops.linear import flags_up
from minigrad.ops.shape import Axis, as_axes

__all__ = [
    "broadcast_to",
    "chunk",
    "concatenate",
    "expand_dims",
    "flatten",
    "flip",
    "gather",
    "matmul",
    "one_hot",
    "outer",
    "pad",
    "reshape",
    "split",
    "squeeze",
    "stack",
    "swapaxes",
    "take",
    "tile",
    "transpose",
    "unsqueeze",
]


def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """Multiply matrices, also written a @ b.

    (…, n, m) @ (…, m, k) gives (…, n, k), with the leading axes broadcast; a vector counts as one
    row on the left and one column on the right, and that axis is dropped again. The flags take an
    operand with its last two axes exchanged. Raises ShapeError when the lengths m differ.

    >>> import minigrad as mg
    >>> mg.matmul(mg.ones(2, 3), mg.ones(3, 4)).shape
    (2, 4)
    """
    return ops.matmul(a, b, **flags_up(transpose_a, transpose_b))


def outer(a: Any, b: Any) -> Any:
    """Multiply each element of a (n,) by each of b (m,); the result is (n, m).

    >>> import minigrad as mg
    >>> mg.outer(mg.tensor([1.0, 2.0]), mg.tensor([1.0, 10.0]))
    tensor([[ 1., 10.],
            [ 2., 20.]])
    """
    for x in (a, b):
        shape = np.shape(x) if not hasattr(x, "shape") else x.shape
        if shape is not None and len(shape) != 1:
            raise ShapeError("rank", op="outer", expected="1 axis", shape=shape, defined=here())
    return ops.mul(ops.expand_dims(a, axis=1), b)


# ---- Axes -----------------------------------------------------------------------------------


def reshape(x: Any, shape: int | Sequence[int]) -> Any:
    """Reshape, with the last axis running fastest; one length may be -1.

    Raises ShapeError when the number of elements differs.

    >>> import minigrad as mg
    >>> mg.reshape(mg.arange(6), (2, -1))
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    known = arrange.known_lengths(x, shape)
    return ops.reshape(x, shape=arguments.whole_numbers("Reshape", "shape", known))


def flatten(x: Any, start_axis: int = 0, end_axis: int = -1) -> Any:
    """Merge the axes from `start_axis` to `end_axis` into one.

    >>> import minigrad as mg
    >>> mg.flatten(mg.zeros(2, 3, 4), start_axis=1).shape
    (2, 12)
    """
    return arrange.flatten(x, start_axis, end_axis)


def transpose(x: Any, axes: int | Sequence[int] | None = None, *more: int) -> Any:
    """Reorder the axes; reverse them if none is given. Two numbers exchange two axes.

    mg.transpose(x, (1, 0, 2)) is np.transpose, mg.transpose(x, 0, 1) torch.transpose. Raises
    ShapeError unless each axis is named once.

    >>> import minigrad as mg
    >>> (
    ...     mg.transpose(mg.zeros(2, 3, 4), (1, 0, 2)).shape,
    ...     mg.transpose(mg.zeros(2, 3, 4), 1, 2).shape,
    ... )
    ((3, 2, 4), (2, 4, 3))
    """
    if more:
        return arrange.transposed(x, (axes, *more))
    return ops.transpose(x, axes=None if axes is None else arguments.axes("Transpose", axes))


def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    """Exchange two axes. (torch.transpose.)

    >>> import minigrad as mg
    >>> mg.swapaxes(mg.zeros(2, 3, 4), 0, -1).shape
    (4, 3, 2)
    """
    return arrange.swapaxes(x, axis1, axis2)


def expand_dims(x: Any, axis: int) -> Any:
    """Insert an axis of length 1 at this place of the result. (torch.unsqueeze.)

    >>> import minigrad as mg
    >>> mg.expand_dims(mg.zeros(2, 3), axis=1).shape
    (2, 1, 3)
    """
    return ops.expand_dims(x, axis=axis)


unsqueeze = expand_dims


def squeeze(x: Any, axis: Axis = None) -> Any:
    """Remove axes of length 1: all of them, or those named.

    Raises ShapeError for a named axis of another length (as NumPy and TensorFlow; PyTorch leaves
    it as it is).

    >>> import minigrad as mg
    >>> mg.squeeze(mg.zeros(1, 3, 1)).shape, mg.squeeze(mg.zeros(1, 3, 1), axis=0).shape
    ((3,), (3, 1))
    """
    return ops.squeeze(x, axis=as_axes(axis))


def flip(x: Any, axis: Axis = None) -> Any:
    """Reverse the elements along all axes, or along those named.

    >>> import minigrad as mg
    >>> mg.flip(mg.tensor([1, 2, 3]))
    tensor([3, 2, 1])
    """
    return arrange.flip(x, as_axes(axis))


# ---- Joining and repeating ------------------------------------------------------------------


def concatenate(xs: Sequence[Any], axis: int = 0) -> Any:
    """Concatenate along an existing axis; all other lengths must be equal.

    Raises ShapeError when they are not, and for an empty list.

    >>> import minigrad as mg
    >>> mg.concatenate([mg.zeros(2, 3), mg.ones(1, 3)]).shape
    (3, 3)
    """
    return ops.concatenate(*_expect_some("Concatenate", xs), axis=axis)


def stack(xs: Sequence[Any], axis: int = 0) -> Any:
    """Stack along a new axis; all shapes must be equal.

    Raises ShapeError when they are not, and for an empty list.

    >>> import minigrad as mg
    >>> mg.stack([mg.zeros(2), mg.ones(2)], axis=1)
    tensor([[0., 1.],
            [0., 1.]])
    """
    return ops.stack(*_expect_some("Stack", xs), axis=axis)


def _expect_some(name: str, xs: Sequence[Any]) -> Sequence[Any]:
    found = arguments.listed(name, "xs", xs)
    if not found:
        raise ShapeError("nothing_to_join", op=name, defined=here())
    return found


def split(
    x: Any,
    lengths: Sequence[int] | None = None,
    axis: int = 0,
    *,
    sections: int | None = None,
    split_size: int | None = None,
) -> list[Any]:
    """Split along an axis: by these lengths, into equal `sections`, or by one `split_size`.

    A bare number is refused: it is the size of a part to torch.split, the number of parts to
    np.split and tf.split. The last part may be shorter than `split_size`. Raises ShapeError when
    the parts do not make up the axis; an open axis of a graph needs the lengths.

    >>> import minigrad as mg
    >>> a, b = mg.split(mg.arange(6), sections=2)
    >>> b
    tensor([3, 4, 5])
    >>> mg.split(mg.arange(6), split_size=4)
    [tensor([0, 1, 2, 3]), tensor([4, 5])]
    >>> [part.shape for part in mg.split(mg.zeros(5, 2), [2, 3])]
    [(2, 2), (3, 2)]
    """
    named = {"lengths": lengths, "sections": sections, "split_size": split_size}
    given = [(way, size) for way, size in named.items() if size is not None]
    if arguments.is_whole(lengths):
        ours = f"mg.split(x, split_size={lengths})", f"mg.split(x, sections={lengths})"
        raise arguments.two_readings(
            f"split(x, {lengths})", "PyTorch", ours[0], "NumPy / TensorFlow", ours[1]
        )
    if len(given) != 1:
        raise arguments.refuse("Split", "lengths", lengths, fill("expect_parts"))
    return joining.split(x, *given[0], axis)


def chunk(x: Any, chunks: int, axis: int = 0) -> list[Any]:
    """Split into at most `chunks` parts, equally long except the last. (torch.chunk.)

    >>> import minigrad as mg
    >>> mg.chunk(mg.arange(5), 2)
    [tensor([0, 1, 2]), tensor([3, 4])]
    """
    return joining.split(x, "chunks", chunks, axis)


def broadcast_to(x: Any, shape: Sequence[int]) -> Any:
    """Broadcast to a shape, without a copy in dynamic mode; -1 keeps a length. (torch.expand.)

    Raises ShapeError unless each axis, compared from the right, has that length or 1.

    >>> import minigrad as mg
    >>> mg.broadcast_to(mg.tensor([1.0, 2.0]), (3, 2)).shape
    (3, 2)
    """
    return ops.broadcast_to(x, shape=arguments.whole_numbers("BroadcastTo", "shape", shape))


def tile(x: Any, repeats: int | Sequence[int]) -> Any:
    """Repeat the whole array along each axis this number of times. (np.tile, torch.tile.)

    >>> import minigrad as mg
    >>> mg.tile(mg.tensor([1, 2]), 3)
    tensor([1, 2, 1, 2, 1, 2])
    """
    return joining.tile(x, repeats)


def pad(x: Any, widths: int | Sequence[Any], value: float = 0.0) -> Any:
    """Pad with a constant: one width, or a pair (before, after) for each axis.

    A bare pair is for a single axis: where there are more, NumPy pads all of them, and PyTorch, as
    `mg.nn.functional.pad` does, the last one. Raises ShapeError when there is not one pair for each
    axis. (np.pad, tf.pad.)

    >>> import minigrad as mg
    >>> mg.pad(mg.tensor([1, 2]), (1, 2))
    tensor([0, 1, 2, 0, 0])
    """
    x = arrange.as_operand(x)
    arguments.number("Pad", "value", value, least=None)
    return ops.pad(x, widths=arrange.as_widths(x, widths), value=value)


# ---- Picking --------------------------------------------------------------------------------


def take(x: Any, indices: Any, axis: int | None = None) -> Any:
    """Take the elements (or rows) at these positions along an axis, in the shape of `indices`.

    The axis may be left out where there is one alone: with more, NumPy and PyTorch count through
    all elements, TensorFlow through rows. Gradients of a position that was taken twice are added
    up. Raises IndexRangeError for a position outside, DtypeError for indices that are not integers.
    (np.take, tf.gather.)

    >>> import minigrad as mg
    >>> mg.take(mg.tensor([[1, 2], [3, 4], [5, 6]]), [2, 0], axis=0)
    tensor([[5, 6],
            [1, 2]])
    """
    if axis is None:
        x = arrange.as_operand(x)
        if x.ndim > 1:
            flat, rows = "mg.take(x.flatten(), indices)", "mg.take(x, indices, axis=0)"
            theirs = "PyTorch / NumPy", flat, "TensorFlow", rows
            raise arguments.two_readings("take(x, indices)", *theirs)
    return ops.take(x, indices, axis=axis or 0)


def gather(x: Any, indices: Any, axis: int) -> Any:
    """Pick for each place of `indices` the element of x there, but at that index along `axis`.

    `indices` has as many axes as x, and none longer but `axis`. Gradients of an element that was
    taken twice are added up. Raises ShapeError, IndexRangeError, DtypeError. (torch.gather, whose
    order of arguments, mg.gather(x, 1, indices), is understood, too.)

    >>> import minigrad as mg
    >>> mg.gather(mg.tensor([[1, 2], [3, 4]]), [[0], [1]], axis=1)
    tensor([[1],
            [4]])
    """
    if arguments.is_whole(indices) and not arguments.is_whole(axis):
        indices, axis = axis, indices
    return ops.gather(x, indices, axis=axis)


def one_hot(labels: Any, depth: int, dtype: npt.DTypeLike = float32) -> Any:
    """Encode classes as 1 at the class and 0 elsewhere, along a new last axis.

    A label outside 0 to depth − 1 makes zeros only. Raises DtypeError for labels that are not
    integers. (tf.one_hot.)

    >>> import minigrad as mg
    >>> mg.one_hot(mg.tensor([0, 2]), 3)
    tensor([[1., 0., 0.],
            [0., 0., 1.]])
    """
    labels = arrange.as_operand(labels)
    if labels.dtype.kind not in "iu":
        raise DtypeError("label_type", op="OneHot", dtype=labels.dtype, defined=here())
    n, kind = arguments.whole("OneHot", "depth", depth), arguments.as_dtype("OneHot", dtype)
    return ops.one_hot(labels, np.zeros(n, kind))
