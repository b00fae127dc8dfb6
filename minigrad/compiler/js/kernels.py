"""The calls of all operators that don't work by element: one table, which nothing else knows.

Each writes its call by a `Call`: the names of the arrays, and what is written of their shapes. What
depends on shapes alone is in tables of positions, which are made once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.compiler.js.scalars import EXACT, TYPES, number, quoted
from minigrad.core import Attrs, Dtype
from minigrad.ops.lengths import evaluate
from minigrad.ops.pool import lowest
from minigrad.ops.shape import positive_axes
from minigrad.ops.windows import Window, as_pair

Shape = tuple[int, ...]
# Axes of operators that don't have `axis=None` for all.
AXIS = dict.fromkeys(("Prod", "CumSum", "ProdOfOthers"), 0)
AXIS |= dict.fromkeys(("Softmax", "LogSoftmax", "Normalize", "ArgSort"), -1)


def strides(shape: Sequence[int]) -> list[int]:
    return [math.prod(shape[k + 1 :]) for k in range(len(shape))]


def stretched(shape: Shape, to: Sequence[int], size: int = 1) -> list[int]:
    """Return strides that read an operand, whose elements have a size, as if it had a shape."""
    own = [0 if n == 1 else s * size for n, s in zip(shape, strides(shape), strict=True)]
    return [0] * (len(to) - len(shape)) + own


def sliced(shape: Shape, key: Sequence[Any]) -> tuple[list[int], list[int], int]:
    """Return the lengths, strides and beginning of a slice of an array of this shape."""
    items, axes, base = list(key), iter(zip(shape, strides(shape), strict=True)), 0
    at = items.index("...") if "..." in items else len(items)
    missing = len(shape) - sum(item is not None and item != "..." for item in items)
    items[at : at + 1] = [(None, None, None)] * missing
    found: list[tuple[int, int]] = []
    for item in items:
        n, own = (1, 0) if item is None else next(axes)
        r = range(*slice(*item).indices(n)) if isinstance(item, tuple) else range(item or 0, n)
        base += (r.start % n if len(r) else 0) * own
        found += [] if isinstance(item, int) else [(len(r), r.step * own)]
    return [n for n, _ in found], [s for _, s in found], base


@dataclass(frozen=True)
class Call:
    """One operator: names, shapes and data types of its result and its operands."""

    name: str
    attrs: Attrs
    y: str
    x: Sequence[str]
    shape: Shape
    dtype: Dtype
    shapes: Sequence[Shape]
    dtypes: Sequence[Dtype]
    table: Callable[[str], str]  # gives the name of what a text makes once

    def view(self, lengths: Iterable[int], steps: Iterable[int], base: int = 0) -> str:
        """Return a table of the positions of these axes, in row-major order."""
        return self.table(f"view({[*map(int, lengths)]}, {[*map(int, steps)]}, {int(base)})")

    def number(self, name: str, default: float) -> str:
        """Write an attribute as a number of the result's data type."""
        return number(self.dtype.type(self.attrs.get(name, default)))

    def exact(self) -> str:
        return EXACT[self.dtype.kind]

    def message(self) -> str:
        return quoted(self.attrs.get("message", ""))

    def axis(self) -> int:
        return int(self.attrs.get("axis", 0)) % len(self.shape)

    def gone(self) -> list[int]:
        """Return the axes of the first operand along which an operator goes on."""
        shape, lead = self.shapes[0], len(self.shapes[0]) - len(self.shape)
        if self.name != "SumLike":
            axis = self.attrs.get("axis", AXIS.get(self.name))
            return [*positive_axes(self.name, axis, shape)]
        pairs = enumerate(zip(shape, (1,) * lead + self.shape, strict=True))
        return [k for k, (n, m) in pairs if k < lead or (m == 1 and n != 1)]

    def rows(self) -> str:
        """Return two tables: where the elements of each result begin, and how they go on."""
        shape, own, gone, base = self.shapes[0], strides(self.shapes[0]), self.gone(), 0
        if self.attrs.get("reverse", False) and 0 not in shape:
            base = sum(own[k] * (shape[k] - 1) for k in gone)
            own = [-s if k in gone else s for k, s in enumerate(own)]
        kept = [k for k in range(len(shape)) if k not in gone]
        starts = self.view([shape[k] for k in kept], [own[k] for k in kept], base)
        return f"{starts}, {self.view([shape[k] for k in gone], [own[k] for k in gone])}"

    def classes(self) -> str:
        """Return the same along the last axis, which holds the scores of classes."""
        *lead, n = self.shapes[-2]
        return f"{self.view([math.prod(lead)], [n])}, {self.view([n], [1])}"

    def moved(self) -> str:
        """Return the position in the first operand of each element of the result."""
        shape, to, own = self.shapes[0], self.shape, strides(self.shapes[0])
        if self.name == "Transpose":
            axes = self.attrs.get("axes") or range(len(shape))[::-1]
            return self.view(to, [own[k] for k in axes])
        if self.name == "Slice":
            return self.view(*sliced(shape, self.attrs["key"]))
        if self.name == "Piece":
            start = sum(s[self.axis()] for s in self.shapes[1 : 1 + self.attrs["index"]])
            return self.view(to, own, start * own[self.axis()])
        if not self.attrs.get("keepdims", True) and shape:
            axes, lengths = positive_axes(self.name, self.attrs.get("axis", ()), to), iter(shape)
            shape = tuple(1 if k in axes else next(lengths) for k in range(len(to)))
        return self.view(to, stretched(shape, to))

    def into(self) -> str:
        """Return the position in the result of each element that is put there."""
        pairs = zip(self.attrs.get("widths", ()), self.shapes[0], strict=False)
        inner = [(before, before + n, None) for (before, _), n in pairs]
        return self.view(*sliced(self.shape, self.attrs.get("key", inner)))

    def joined(self) -> str:
        own, axis, start, found = strides(self.shape), self.axis(), 0, []
        for x, shape in zip(self.x, self.shapes, strict=True):
            lengths = [*shape[:axis], *[1] * (self.name == "Stack"), *shape[axis:]]
            found.append(f"put({self.y}, {x}, {self.view(lengths, own, start * own[axis])})")
            start += lengths[axis]
        return "; ".join(found)

    def matmul(self) -> str:
        """Write a product: both factors' matrices, m, k, n, strides of rows and columns."""
        (a, b), flags = self.shapes, self.attrs
        left, right = ((1, *a) if len(a) == 1 else a)[-2:], (b if len(b) > 1 else (*b, 1))[-2:]
        (m, k), (ar, ac), n, (br, bc) = left, (left[1], 1), right[1], (right[1], 1)
        if flags.get("transpose_a") and len(a) > 1:
            m, k, ar, ac = k, m, ac, ar
        if flags.get("transpose_b") and len(b) > 1:
            n, br, bc = right[0], bc, br
        batch = np.broadcast_shapes(a[:-2], b[:-2])
        starts = [self.view(batch, stretched(s[:-2], batch, math.prod(s[-2:]))) for s in (a, b)]
        given = ", ".join([self.y, *self.x, *starts, *map(str, (m, k, n, ar, ac, br, bc))])
        whole = self.dtype.kind != "f"
        return f"exactMatmul({given}, {self.exact()})" if whole else f"matmul({given})"

    def window(self, window: Window, images: Shape, o: int, places: Shape) -> str:
        """Return the table of a window's sizes; o: the channels of the result."""
        (top, _), (left, _), groups = *window.pads, window.groups
        sizes = images[0], groups, images[1] // groups, *images[2:], o // groups
        sizes = *sizes, *window.size, *places, *window.stride, top, left
        return self.table(f"sized({', '.join(map(str, sizes))})")

    def patches(self) -> str:
        """Return the sizes of a convolution, and memory for the columns of one image."""
        shapes = {"Conv2d": (*self.shapes, self.shape)}
        shapes["Conv2dInput"] = (self.shape, *self.shapes[1::-1])
        shapes["Conv2dWeight"] = (self.shapes[1], self.shape, self.shapes[0])
        images, kernels, result = shapes[self.name]
        window = Window.of(self.name, kernels[2:], **self.attrs)
        sizes = self.window(window, images, kernels[0], result[2:])
        count = math.prod(kernels[1:]) * math.prod(result[2:])
        return f"{sizes}, {self.table(f'new {TYPES[self.dtype.name][0]}({count})')}"

    def pooled(self) -> str:
        """Return the sizes of a pooling, and the lowest number."""
        size = as_pair(self.name, "kernel_size", self.attrs["kernel_size"], 1)
        stride, pad = self.attrs.get("stride"), self.attrs.get("padding", 0)
        window = Window.of(self.name, size, size if stride is None else stride, pad)
        back = self.name.endswith("Input")
        (n, c, *extent), to = (self.shape, self.shapes[0])[:: 1 if back else -1]
        sizes = self.window(window, (n * c, 1, *extent), 1, to[2:])
        return f"{sizes}, {number(lowest(self.dtypes[-1]))}"

    def indexed(self) -> str:
        """Return positions for each indexed axis, and the numbers of elements around them."""
        full, first = (self.shapes[0], 1) if self.name == "Take" else (self.shape, 2)
        axis, shapes = self.attrs.get("axis", 0) % len(full), self.shapes[first:]
        to, end = np.broadcast_shapes(*shapes), axis + len(shapes)
        parts = zip(self.x[first:], shapes, full[axis:end], strict=True)
        tables = [f"[{x}, {self.view(to, stretched(s, to))}, {n}]" for x, s, n in parts]
        sizes = map(math.prod, (full[:axis], to, full[axis:end], full[end:]))
        return f"[{', '.join(tables)}], {', '.join(map(str, sizes))}"

    def gathered(self) -> str:
        """Return positions along one axis, where each of them counts from, length and stride."""
        full, i = (self.shapes[0], 1) if self.name == "Gather" else (self.shape, 2)
        axis, own = self.attrs["axis"] % len(full), strides(full)
        starts = self.view(self.shapes[i], [0 if k == axis else s for k, s in enumerate(own)])
        return f"{self.x[i]}, {starts}, {full[axis]}, {own[axis]}"

    def sum(self) -> str:
        """Write a sum or mean, of integers and truth values exactly."""
        if self.dtype.kind != "f":
            return f"fold({self.y}, {self.x[0]}, {self.rows()}, 0, (s, x) => {self.exact()}(s + x))"
        mean = self.name == "Mean" and 0 not in self.shape
        count = math.prod(self.shapes[0][k] for k in self.gone()) if mean else 1
        return f"sum({self.y}, {self.x[0]}, {self.rows()}, {count})"


def along(call: str, *more: str) -> Callable[[Call], str]:
    """Make the writer of a call with all operands and the tables of their rows."""
    return lambda c: f"{call}({', '.join([c.y, *c.x, c.rows(), *more])})"


SAME = ("Reshape", "ReshapeLike", "ReshapeBy", "ExpandDims", "Squeeze", "Identity", "StopGradient")
MOVED = ("Transpose", "Slice", "Piece", "BroadcastTo", "BroadcastBy", "BroadcastLike")
KERNELS: dict[str, Callable[[Call], str]] = {
    **dict.fromkeys(SAME, lambda c: f"{c.y}.set({c.x[0]})"),
    **dict.fromkeys(MOVED, lambda c: f"move({c.y}, {c.x[0]}, {c.moved()})"),
    **dict.fromkeys(("Sum", "Mean", "SumLike"), Call.sum),
    **dict.fromkeys(("Concatenate", "Stack"), Call.joined),
    "Unslice": lambda c: f"{c.y}.fill(0); put({c.y}, {c.x[0]}, {c.into()})",
    "Pad": lambda c: f"{c.y}.fill({c.number('value', 0)}); put({c.y}, {c.x[0]}, {c.into()})",
    "FullLike": lambda c: f"{c.y}.fill({c.number('value', 0)})",
    "LengthsOf": lambda c: f"{c.y}.set({[evaluate(n, c.shapes) for n in c.attrs['shape']]})",
    "Count": lambda c: f"{c.y}.fill({math.prod(c.shapes[0]) / max(math.prod(c.shapes[1]), 1)})",
    "Max": along("fold", "-Infinity", "Math.max"),
    "Min": along("fold", "Infinity", "Math.min"),
    "All": along("fold", "1", "(s, x) => +(s && x != 0)"),
    "Any": along("fold", "0", "(s, x) => +(s || x != 0)"),
    "Prod": lambda c: f"fold({c.y}, {c.x[0]}, {c.rows()}, 1, (s, x) => {c.exact()}(s * x))",
    "Softmax": along("softmax", "Math.exp"),
    "LogSoftmax": along("softmax", "Number"),
    "LogSumExp": along("logSumExp"),
    "ProdOfOthers": along("productOfOthers"),
    "ShareOfExtreme": along("shareOfExtreme"),
    "ArgMax": along("extremeAt", "1"),
    "ArgMin": along("extremeAt", "-1"),
    "ArgSort": lambda c: along("argSort", str(int(c.attrs.get("descending", 0))))(c),
    "CumSum": lambda c: along("cumSum", c.exact())(c),
    "Normalize": lambda c: along("normalize", c.number("eps", 1e-5))(c),
    "SoftmaxCrossEntropy": lambda c: f"crossEntropy({c.y}, {', '.join(c.x)}, {c.classes()})",
    "SoftmaxCrossEntropyGradient": lambda c: f"crossSlope({c.y}, {', '.join(c.x)}, {c.classes()})",
    "OneHot": lambda c: f"oneHot({c.y}, {c.x[0]})",
    "MatMul": Call.matmul,
    "Conv2d": lambda c: f"conv({c.y}, {c.x[0]}, {c.x[1]}, {c.patches()})",
    "Conv2dInput": lambda c: f"convInput({c.y}, {c.x[0]}, {c.x[1]}, {c.patches()})",
    "Conv2dWeight": lambda c: f"convWeight({c.y}, {c.x[0]}, {c.x[1]}, {c.patches()})",
    "MaxPool2d": lambda c: f"maxPool({c.y}, {c.x[0]}, {c.pooled()})",
    "MaxPool2dInput": lambda c: f"maxPoolPick({c.y}, {', '.join(c.x)}, {c.pooled()}, true)",
    "MaxPool2dPick": lambda c: f"maxPoolPick({c.y}, {', '.join(c.x)}, {c.pooled()})",
    "AvgPool2d": lambda c: f"avgPool({c.y}, {c.x[0]}, {c.pooled()})",
    "AvgPool2dInput": lambda c: f"avgPool({c.y}, {c.x[0]}, {c.pooled()}, true)",
    "Take": lambda c: f"take({c.y}, {c.x[0]}, {c.indexed()})",
    "AddAt": lambda c: f"addAt({c.y}, {c.x[0]}, {c.indexed()}, {c.exact()})",
    "Gather": lambda c: f"gather({c.y}, {c.x[0]}, {c.gathered()})",
    "ScatterAdd": lambda c: f"scatterAdd({c.y}, {c.x[0]}, {c.gathered()}, {c.exact()})",
    "Print": lambda c: f"{c.y}.set({c.x[0]}); console.log({c.message()}, ...{c.y})",
    "Assert": lambda c: f"asserted({c.x[0]}, {c.message()}); {c.y}.set({c.x[0]})",
}
# What has no JavaScript: products whose number of axes is known in a run only, the rows of batches
# that `lazy_batch` makes, `x[key] = value` on a node, and random numbers, which NumPy draws.
REFUSED = {"MatMulLeft", "MatMulRight", "PickRows", "PutRows", "Put", "PutSlice"}
REFUSED |= {"Dropout", "RunCounter"}
