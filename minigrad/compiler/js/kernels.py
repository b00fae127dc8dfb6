"""The calls of all operators that don't work by element: one table, which nothing else knows.

Each writes its call by a `KernelCall`: the names of the arrays, and what is written of their
shapes. What depends on shapes alone is in tables of positions, which are made once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.compiler.js.scalars import CHECKED_CASTS, TYPED_ARRAYS, literal, quote
from minigrad.core import Attrs, Dtype, Op
from minigrad.ops.indexing import numpy_key
from minigrad.ops.lengths import evaluate
from minigrad.ops.pool import lowest
from minigrad.ops.shape import positive_axes
from minigrad.ops.windows import Window, as_pair

Shape = tuple[int, ...]
# Axes of operators that don't have `axis=None` for all.
DEFAULT_AXES = dict.fromkeys(("Prod", "CumSum", "ProdOfOthers"), 0)
DEFAULT_AXES |= dict.fromkeys(("Softmax", "LogSoftmax", "Normalize", "ArgSort"), -1)


def strides(shape: Sequence[int]) -> list[int]:
    return [math.prod(shape[k + 1 :]) for k in range(len(shape))]


def broadcast_strides(shape: Shape, to: Sequence[int], size: int = 1) -> list[int]:
    """Return strides that read an operand, whose elements have a size, as if it had a shape."""
    own = [0 if n == 1 else s * size for n, s in zip(shape, strides(shape), strict=True)]
    return [0] * (len(to) - len(shape)) + own


def numbered(shape: Shape) -> np.ndarray[Any, Any]:
    """Return an array of this shape that holds the position of each of its elements."""
    return np.arange(math.prod(shape)).reshape(shape)


@dataclass(frozen=True)
class KernelCall:
    """One operator: names, shapes and data types of its result and its operands."""

    op: Op
    attrs: Attrs
    y: str
    x: Sequence[str]
    shape: Shape
    dtype: Dtype
    shapes: Sequence[Shape]
    dtypes: Sequence[Dtype]
    share: Callable[[str], str]  # gives the name of what a text makes once

    def call(self, function: str, *more: str) -> str:
        return f"{function}({', '.join([self.y, *self.x, *more])})"

    def positions(self, lengths: Iterable[int], steps: Iterable[int], base: int = 0) -> str:
        """Return a table of the positions of these axes, in row-major order."""
        return self.share(f"view({[*map(int, lengths)]}, {[*map(int, steps)]}, {int(base)})")

    def table(self, at: np.ndarray[Any, Any]) -> str:
        """Return a table of these positions, which are evenly spaced along each axis."""
        steps = [next(np.diff(at, axis=k).flat, 0) for k in range(at.ndim)]
        return self.positions(at.shape, steps, next(at.flat, 0))

    def literal(self, name: str, default: float) -> str:
        """Write an attribute as a number of the result's data type."""
        return literal(self.dtype.type(self.attrs.get(name, default)))

    def cast(self) -> str:
        return CHECKED_CASTS[self.dtype.kind]

    def message_literal(self) -> str:
        return quote(self.attrs.get("message", ""))

    def axis(self) -> int:
        return int(self.attrs.get("axis", 0)) % len(self.shape)

    def reduced_axes(self) -> list[int]:
        """Return the axes of the first operand along which an operator goes on."""
        shape, lead = self.shapes[0], len(self.shapes[0]) - len(self.shape)
        if self.op.name != "SumLike":
            axis = self.attrs.get("axis", DEFAULT_AXES.get(self.op.name))
            return [*positive_axes(self.op.name, axis, shape)]
        pairs = enumerate(zip(shape, (1,) * lead + self.shape, strict=True))
        return [k for k, (n, m) in pairs if k < lead or (m == 1 and n != 1)]

    def reduction_tables(self) -> str:
        """Return two tables: where the elements of each result begin, and how they go on."""
        shape, own, gone, base = self.shapes[0], strides(self.shapes[0]), self.reduced_axes(), 0
        if self.attrs.get("reverse", False) and 0 not in shape:
            base = sum(own[k] * (shape[k] - 1) for k in gone)
            own = [-s if k in gone else s for k, s in enumerate(own)]
        kept = [k for k in range(len(shape)) if k not in gone]
        starts = self.positions([shape[k] for k in kept], [own[k] for k in kept], base)
        return f"{starts}, {self.positions([shape[k] for k in gone], [own[k] for k in gone])}"

    def class_tables(self) -> str:
        """Return the same along the last axis, which holds the scores of classes."""
        *lead, n = self.shapes[-2]
        return f"{self.positions([math.prod(lead)], [n])}, {self.positions([n], [1])}"

    def write_part(self) -> str:
        """Write an operand into a part of the result, and one value into the rest."""
        value, target = self.literal("value", 0), self.target_positions()
        return f"{self.y}.fill({value}); put({self.y}, {self.x[0]}, {target})"

    def source_positions(self) -> str:
        """Return the position in the first operand of each element of the result."""
        first, *others = self.shapes
        return self.table(self.op.run(None, numbered(first), *map(np.empty, others), **self.attrs))

    def target_positions(self) -> str:
        """Return the position in the result of each element that is put there."""
        pairs = zip(self.attrs.get("widths", ()), self.shapes[0], strict=False)
        inner = tuple((before, before + n, None) for (before, _), n in pairs)
        return self.table(numbered(self.shape)[numpy_key(self.attrs.get("key", inner))])

    def write_concatenate(self) -> str:
        lengths = [1 if self.op.name == "Stack" else s[self.axis()] for s in self.shapes]
        parts = np.split(numbered(self.shape), np.cumsum(lengths)[:-1], self.axis())
        pairs = zip(self.x, parts, strict=True)
        return "; ".join(f"put({self.y}, {x}, {self.table(part)})" for x, part in pairs)

    def write_matmul(self) -> str:
        """Write a product: both factors' matrices, m, k, n, strides of rows and columns."""
        (a, b), flags = self.shapes, self.attrs
        left, right = ((1, *a) if len(a) == 1 else a)[-2:], (b if len(b) > 1 else (*b, 1))[-2:]
        (m, k), (ar, ac), n, (br, bc) = left, (left[1], 1), right[1], (right[1], 1)
        if flags.get("transpose_a") and len(a) > 1:
            m, k, ar, ac = k, m, ac, ar
        if flags.get("transpose_b") and len(b) > 1:
            n, br, bc = right[0], bc, br
        batch = np.broadcast_shapes(a[:-2], b[:-2])
        steps = [broadcast_strides(s[:-2], batch, math.prod(s[-2:])) for s in (a, b)]
        starts = [self.positions(batch, step) for step in steps]
        given = ", ".join([self.y, *self.x, *starts, *map(str, (m, k, n, ar, ac, br, bc))])
        whole = self.dtype.kind != "f"
        return f"exactMatmul({given}, {self.cast()})" if whole else f"matmul({given})"

    def window_table(self, window: Window, images: Shape, o: int, places: Shape) -> str:
        """Return the table of a window's sizes; o: the channels of the result."""
        (top, _), (left, _), groups = *window.pads, window.groups
        sizes = images[0], groups, images[1] // groups, *images[2:], o // groups
        sizes = *sizes, *window.size, *places, *window.stride, top, left
        return self.share(f"sized({', '.join(map(str, sizes))})")

    def convolution_arguments(self) -> str:
        """Return the sizes of a convolution, and memory for the columns of one image."""
        shapes = {"Conv2d": (*self.shapes, self.shape)}
        shapes["Conv2dInput"] = (self.shape, *self.shapes[1::-1])
        shapes["Conv2dWeight"] = (self.shapes[1], self.shape, self.shapes[0])
        images, kernels, result = shapes[self.op.name]
        window = Window.of(self.op.name, kernels[2:], **self.attrs)
        sizes = self.window_table(window, images, kernels[0], result[2:])
        count = math.prod(kernels[1:]) * math.prod(result[2:])
        return f"{sizes}, {self.share(f'new {TYPED_ARRAYS[self.dtype.name][0]}({count})')}"

    def pooling_arguments(self) -> str:
        """Return the sizes of a pooling, and the lowest number."""
        size = as_pair(self.op.name, "kernel_size", self.attrs["kernel_size"], 1)
        stride, pad = self.attrs.get("stride"), self.attrs.get("padding", 0)
        window = Window.of(self.op.name, size, size if stride is None else stride, pad)
        back = self.op.name.endswith("Input")
        (n, c, *extent), to = (self.shape, self.shapes[0])[:: 1 if back else -1]
        sizes = self.window_table(window, (n * c, 1, *extent), 1, to[2:])
        return f"{sizes}, {literal(lowest(self.dtypes[-1]))}"

    def index_arguments(self) -> str:
        """Return positions for each indexed axis, and the numbers of elements around them."""
        full, first = (self.shapes[0], 1) if self.op.name == "Take" else (self.shape, 2)
        axis, shapes = self.attrs.get("axis", 0) % len(full), self.shapes[first:]
        to, end = np.broadcast_shapes(*shapes), axis + len(shapes)
        tables = [self.positions(to, broadcast_strides(s, to)) for s in shapes]
        parts = zip(self.x[first:], tables, full[axis:end], strict=True)
        indices = ", ".join(f"[{x}, {table}, {n}]" for x, table, n in parts)
        sizes = map(math.prod, (full[:axis], to, full[axis:end], full[end:]))
        return f"[{indices}], {', '.join(map(str, sizes))}"

    def gather_arguments(self) -> str:
        """Return positions along one axis, where each of them counts from, length and stride."""
        full, i = (self.shapes[0], 1) if self.op.name == "Gather" else (self.shape, 2)
        axis, own = self.attrs["axis"] % len(full), strides(full)
        starts = self.positions(self.shapes[i], [0 if k == axis else s for k, s in enumerate(own)])
        return f"{self.x[i]}, {starts}, {full[axis]}, {own[axis]}"

    def write_sum(self) -> str:
        """Write a sum or mean, of integers and truth values exactly."""
        mean = self.op.name == "Mean" and 0 not in self.shape
        count = math.prod(self.shapes[0][k] for k in self.reduced_axes()) if mean else 1
        add = f"(s, x) => {self.cast()}(s + x)"
        return f"fold({self.y}, {self.x[0]}, {self.reduction_tables()}, 0, {add}, {count})"


def reduction_writer(call: str, *more: str) -> Callable[[KernelCall], str]:
    """Make the writer of a call with all operands and the tables of their rows."""
    return lambda c: c.call(call, c.reduction_tables(), *more)


COPY = ("Reshape", "ReshapeLike", "ReshapeBy", "ExpandDims", "Squeeze", "Identity", "StopGradient")
MOVE = ("Transpose", "Slice", "Piece", "BroadcastTo", "BroadcastBy", "BroadcastLike")
KERNELS: dict[str, Callable[[KernelCall], str]] = {
    **dict.fromkeys(COPY, lambda c: f"{c.y}.set({c.x[0]})"),
    **dict.fromkeys(MOVE, lambda c: f"move({c.y}, {c.x[0]}, {c.source_positions()})"),
    **dict.fromkeys(("Sum", "Mean", "SumLike"), KernelCall.write_sum),
    **dict.fromkeys(("Concatenate", "Stack"), KernelCall.write_concatenate),
    **dict.fromkeys(("Pad", "Unslice"), KernelCall.write_part),
    "FullLike": lambda c: f"{c.y}.fill({c.literal('value', 0)})",
    "LengthsOf": lambda c: f"{c.y}.set({[evaluate(n, c.shapes) for n in c.attrs['shape']]})",
    "Count": lambda c: f"{c.y}.fill({math.prod(c.shapes[0]) / max(math.prod(c.shapes[1]), 1)})",
    "Max": reduction_writer("fold", "-Infinity", "Math.max"),
    "Min": reduction_writer("fold", "Infinity", "Math.min"),
    "All": reduction_writer("fold", "1", "(s, x) => +(s && x != 0)"),
    "Any": reduction_writer("fold", "0", "(s, x) => +(s || x != 0)"),
    "Prod": lambda c: reduction_writer("fold", "1", f"(s, x) => {c.cast()}(s * x)")(c),
    "Softmax": reduction_writer("softmax", "Math.exp"),
    "LogSoftmax": reduction_writer("softmax", "Number"),
    "LogSumExp": reduction_writer("logSumExp"),
    "ProdOfOthers": reduction_writer("productOfOthers"),
    "ShareOfExtreme": reduction_writer("shareOfExtreme"),
    "ArgMax": reduction_writer("extremeAt", "1"),
    "ArgMin": reduction_writer("extremeAt", "-1"),
    "ArgSort": lambda c: reduction_writer("argSort", str(int(c.attrs.get("descending", 0))))(c),
    "CumSum": lambda c: reduction_writer("cumSum", c.cast())(c),
    "Normalize": lambda c: reduction_writer("normalize", c.literal("eps", 1e-5))(c),
    "SoftmaxCrossEntropy": lambda c: c.call("crossEntropy", c.class_tables()),
    "SoftmaxCrossEntropyGradient": lambda c: c.call("crossSlope", c.class_tables()),
    "OneHot": lambda c: f"oneHot({c.y}, {c.x[0]})",
    "MatMul": KernelCall.write_matmul,
    "Conv2d": lambda c: f"conv({c.y}, {c.x[0]}, {c.x[1]}, {c.convolution_arguments()})",
    "Conv2dInput": lambda c: f"convInput({c.y}, {c.x[0]}, {c.x[1]}, {c.convolution_arguments()})",
    "Conv2dWeight": lambda c: f"convWeight({c.y}, {c.x[0]}, {c.x[1]}, {c.convolution_arguments()})",
    "MaxPool2d": lambda c: f"maxPool({c.y}, {c.x[0]}, {c.pooling_arguments()})",
    "MaxPool2dInput": lambda c: c.call("maxPoolPick", c.pooling_arguments(), "true"),
    "MaxPool2dPick": lambda c: c.call("maxPoolPick", c.pooling_arguments()),
    "AvgPool2d": lambda c: f"avgPool({c.y}, {c.x[0]}, {c.pooling_arguments()})",
    "AvgPool2dInput": lambda c: f"avgPool({c.y}, {c.x[0]}, {c.pooling_arguments()}, true)",
    "Take": lambda c: f"move({c.y}, {c.x[0]}, rows({c.index_arguments()}))",
    "AddAt": lambda c: f"addAt({c.y}, {c.x[0]}, rows({c.index_arguments()}), {c.cast()})",
    "Gather": lambda c: f"move({c.y}, {c.x[0]}, along({c.gather_arguments()}))",
    "ScatterAdd": lambda c: f"addAt({c.y}, {c.x[0]}, along({c.gather_arguments()}), {c.cast()})",
    "Print": lambda c: f"{c.y}.set({c.x[0]}); console.log({c.message_literal()}, ...{c.y})",
    "Assert": lambda c: f"asserted({c.x[0]}, {c.message_literal()}); {c.y}.set({c.x[0]})",
}
# What has no JavaScript: products whose number of axes is known in a run only, the rows of batches
# that `lazy_batch` makes, `x[key] = value` on a node, and random numbers, which NumPy draws.
UNSUPPORTED = {"MatMulLeft", "MatMulRight", "PickRows", "PutRows", "Put", "PutSlice"}
UNSUPPORTED |= {"Dropout", "RunCounter"}
