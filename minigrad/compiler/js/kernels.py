"""The calls of all operators that don't work by element: one table, which nothing else knows.

In a template {c} is a `Call`: the names of the arrays, and what is written of their shapes.
Everything that depends on shapes alone is in tables of positions, which are made once.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.compiler.js.scalars import EXACT, TYPES, number, quoted
from minigrad.core import Attrs, Dtype
from minigrad.ops.lengths import evaluate
from minigrad.ops.pool import lowest
from minigrad.ops.random import LEVELS
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
    count = sum(item is not None and item != "..." for item in items)
    at = items.index("...") if "..." in items else len(items)
    items[at : at + 1] = [(None, None, None)] * (len(shape) - count)
    found: list[tuple[int, int]] = []
    for item in items:
        n, own = (1, 0) if item is None else next(axes)
        r = range(*slice(*item).indices(n)) if isinstance(item, tuple) else range(item or 0, n)
        base += (r.start % n if len(r) else 0) * own
        if not isinstance(item, int):
            found.append((len(r), r.step * own))
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
        sizes = json.dumps([*map(int, lengths)]), json.dumps([*map(int, steps)])
        return self.table(f"view({sizes[0]}, {sizes[1]}, {int(base)})")

    @property
    def all(self) -> str:
        return ", ".join(self.x)

    @property
    def exact(self) -> str:
        return EXACT[self.dtype.kind]

    @property
    def fill(self) -> str:
        return number(self.dtype.type(self.attrs.get("value", 0)))

    @property
    def eps(self) -> str:
        return number(self.dtype.type(self.attrs.get("eps", 1e-5)))

    @property
    def sign(self) -> int:
        return -1 if self.attrs.get("descending", False) else 1

    @property
    def count(self) -> str:
        return number(math.prod(self.shapes[0]) / max(math.prod(self.shapes[1]), 1))

    @property
    def message(self) -> str:
        return quoted(self.attrs.get("message", ""))

    @property
    def axis(self) -> int:
        """The one axis, counted from the left in the result."""
        return int(self.attrs.get("axis", 0)) % len(self.shape)

    @property
    def gone(self) -> list[int]:
        """The axes of the first operand along which an operator goes on."""
        shape, to = self.shapes[0], self.shape
        if self.name == "SumLike":
            lead = len(shape) - len(to)
            pairs = enumerate(zip(shape, (1,) * lead + to, strict=True))
            return [k for k, (n, m) in pairs if k < lead or (m == 1 and n != 1)]
        axis = self.attrs.get("axis", AXIS.get(self.name))
        return [*positive_axes(self.name, axis, shape)]

    @property
    def rows(self) -> str:
        """Two tables: where the elements of each result begin, and how they go on."""
        shape, own, gone = self.shapes[0], strides(self.shapes[0]), self.gone
        kept, base = [k for k in range(len(shape)) if k not in gone], 0
        if self.attrs.get("reverse", False) and 0 not in shape:
            base = sum(own[k] * (shape[k] - 1) for k in gone)
            own = [-s if k in gone else s for k, s in enumerate(own)]
        pairs = [([shape[k] for k in ks], [own[k] for k in ks]) for ks in (kept, gone)]
        return f"{self.view(*pairs[0], base)}, {self.view(*pairs[1])}"

    @property
    def classes(self) -> str:
        """The same along the last axis, which holds the scores of classes."""
        *lead, n = self.shapes[-2]
        return f"{self.view([math.prod(lead)], [n])}, {self.view([n], [1])}"

    @property
    def read(self) -> str:
        """The position in the first operand of each element of the result."""
        shape, to, own = self.shapes[0], self.shape, strides(self.shapes[0])
        if self.name == "Transpose":
            axes = self.attrs.get("axes") or range(len(shape))[::-1]
            return self.view(to, [own[k] for k in axes])
        if self.name == "Slice":
            return self.view(*sliced(shape, self.attrs["key"]))
        if self.name == "Piece":
            start = sum(s[self.axis] for s in self.shapes[1 : 1 + self.attrs["index"]])
            return self.view(to, own, start * own[self.axis])
        if not self.attrs.get("keepdims", True) and shape:
            axes, lengths = positive_axes(self.name, self.attrs.get("axis", ()), to), iter(shape)
            shape = tuple(1 if k in axes else next(lengths) for k in range(len(to)))
        return self.view(to, stretched(shape, to))

    @property
    def into(self) -> str:
        """The position in the result of each element that is put there."""
        key = self.attrs.get("key")
        if key is None:
            pairs = zip(self.attrs["widths"], self.shapes[0], strict=True)
            key = [(before, before + n, None) for (before, _), n in pairs]
        return self.view(*sliced(self.shape, key))

    @property
    def spread(self) -> str:
        """The position in the second operand of each element that is put into the result."""
        to = sliced(self.shape, self.attrs["key"])[0] if "key" in self.attrs else self.shapes[2]
        return self.view(to, stretched(self.shapes[1], to))

    @property
    def joined(self) -> str:
        """The operands with the positions in the result of their elements."""
        own, start, found = strides(self.shape), 0, []
        for x, shape in zip(self.x, self.shapes, strict=True):
            new = [1] if self.name == "Stack" else []
            lengths = [*shape[: self.axis], *new, *shape[self.axis :]]
            found.append(f"put({self.y}, {x}, {self.view(lengths, own, start * own[self.axis])})")
            start += lengths[self.axis]
        return "; ".join(found)

    @property
    def lengths(self) -> str:
        return json.dumps([evaluate(n, self.shapes) for n in self.attrs["shape"]])

    @property
    def matmul(self) -> str:
        """A product: where both factors' matrices begin, m, k, n, strides of rows and columns."""
        (a, b), flags = self.shapes, self.attrs
        left, right = ((1, *a) if len(a) == 1 else a)[-2:], (b if len(b) > 1 else (*b, 1))[-2:]
        m, k, ar, ac = *left, left[1], 1
        if flags.get("transpose_a") and len(a) > 1:
            m, k, ar, ac = k, m, ac, ar
        n, br, bc = right[1], right[1], 1
        if flags.get("transpose_b") and len(b) > 1:
            n, br, bc = right[0], bc, br
        batch = np.broadcast_shapes(a[:-2], b[:-2])
        starts = [self.view(batch, stretched(s[:-2], batch, math.prod(s[-2:]))) for s in (a, b)]
        given = ", ".join([self.y, *self.x, *starts, *map(str, (m, k, n, ar, ac, br, bc))])
        return (
            f"matmul({given})" if self.dtype.kind == "f" else f"exactMatmul({given}, {self.exact})"
        )

    def window(self, window: Window, images: Shape, o: int, places: Shape) -> str:
        """Return the table of a window's sizes; o: the channels of the result."""
        (top, _), (left, _) = window.pads
        c, o = images[1] // window.groups, o // window.groups
        sizes = {"n": images[0], "groups": window.groups, "c": c, "h": images[2], "w": images[3]}
        sizes |= {"o": o, "kh": window.size[0], "kw": window.size[1], "oh": places[0]}
        sizes |= {"ow": places[1], "down": window.stride[0], "right": window.stride[1]}
        return self.table(json.dumps(sizes | {"top": top, "left": left}).replace('"', ""))

    @property
    def patches(self) -> str:
        """The sizes of a convolution, and memory for the columns of one image."""
        shapes = {"Conv2d": (*self.shapes, self.shape)}
        shapes["Conv2dInput"] = (self.shape, *self.shapes[1::-1])
        shapes["Conv2dWeight"] = (self.shapes[1], self.shape, self.shapes[0])
        images, kernels, result = shapes[self.name]
        window = Window.of(self.name, kernels[2:], **self.attrs)
        sizes = self.window(window, images, kernels[0], result[2:])
        count = math.prod(kernels[1:]) * math.prod(result[2:])
        return f"{sizes}, {self.table(f'new {TYPES[self.dtype.name][0]}({count})')}"

    @property
    def pooled(self) -> str:
        """The sizes of a pooling, and the lowest number."""
        size = as_pair(self.name, "kernel_size", self.attrs["kernel_size"], 1)
        stride, pad = self.attrs.get("stride"), self.attrs.get("padding", 0)
        window = Window.of(self.name, size, size if stride is None else stride, pad)
        back = self.name.endswith("Input")
        (n, c, *extent), to = (self.shape, self.shapes[0])[:: 1 if back else -1]
        sizes = self.window(window, (n * c, 1, *extent), 1, to[2:])
        return f"{sizes}, {number(lowest(self.dtypes[-1]))}"

    @property
    def indexed(self) -> str:
        """The positions for each indexed axis, and how many elements are before, among, behind."""
        full, first = (self.shapes[0], 1) if self.name == "Take" else (self.shape, 2)
        axis, shapes = self.attrs.get("axis", 0) % len(full), self.shapes[first:]
        to, end = np.broadcast_shapes(*shapes), axis + len(shapes)
        parts = zip(self.x[first:], shapes, full[axis:end], strict=True)
        tables = [f"[{x}, {self.view(to, stretched(s, to))}, {n}]" for x, s, n in parts]
        sizes = map(math.prod, (full[:axis], to, full[axis:end], full[end:]))
        return f"[{', '.join(tables)}], {', '.join(map(str, sizes))}"

    @property
    def gathered(self) -> str:
        """The positions along one axis, where each of them counts from, its length and stride."""
        full, i = (self.shapes[0], 1) if self.name == "Gather" else (self.shape, 2)
        axis, own = self.attrs["axis"] % len(full), strides(full)
        starts = self.view(self.shapes[i], [0 if k == axis else s for k, s in enumerate(own)])
        return f"{self.x[i]}, {starts}, {full[axis]}, {own[axis]}"

    @property
    def dropped(self) -> str:
        """The key of the numbers, the level below which they drop an element, and the scale."""
        p, scale = self.attrs["p"], 0 if self.attrs["p"] == 1 else 1 / (1 - self.attrs["p"])
        level = min(round(p * LEVELS), LEVELS - 1)
        return f"{self.attrs['seed'] % (1 << 64)}n, {level}, {number(self.dtype.type(scale))}"

    @property
    def sum(self) -> str:
        """A sum or mean, of integers and truth values exactly."""
        if self.dtype.kind != "f":
            return f"fold({self.y}, {self.x[0]}, {self.rows}, 0, (s, x) => {self.exact}(s + x))"
        mean = self.name == "Mean" and 0 not in self.shape
        count = math.prod(self.shapes[0][k] for k in self.gone) if mean else 1
        return f"sum({self.y}, {self.x[0]}, {self.rows}, {count})"


MOVE, SAME = "move({c.y}, {c.x[0]}, {c.read})", "{c.y}.set({c.x[0]})"
FOLDS = {"Max": "-Infinity, Math.max", "Min": "Infinity, Math.min"}
FOLDS |= {"All": "1, (s, x) => +(s && x != 0)", "Any": "0, (s, x) => +(s || x != 0)"}
FOLDS |= {"Prod": "1, (s, x) => {c.exact}(s * x)"}
KERNELS: dict[str, str] = {
    **dict.fromkeys(("Reshape", "ReshapeLike", "ReshapeBy", "ExpandDims", "Squeeze"), SAME),
    **dict.fromkeys(("Identity", "StopGradient"), SAME),
    **dict.fromkeys(("Transpose", "Slice", "Piece"), MOVE),
    **dict.fromkeys(("BroadcastTo", "BroadcastBy", "BroadcastLike"), MOVE),
    **dict.fromkeys(("Sum", "Mean", "SumLike"), "{c.sum}"),
    **dict.fromkeys(("Concatenate", "Stack"), "{c.joined}"),
    **{name: f"fold({{c.y}}, {{c.x[0]}}, {{c.rows}}, {end})" for name, end in FOLDS.items()},
    "Unslice": "{c.y}.fill(0); put({c.y}, {c.x[0]}, {c.into})",
    "Pad": "{c.y}.fill({c.fill}); put({c.y}, {c.x[0]}, {c.into})",
    "PutSlice": "{c.y}.set({c.x[0]}); carry({c.y}, {c.x[1]}, {c.into}, {c.spread})",
    "Put": "{c.y}.set({c.x[0]}); carry({c.y}, {c.x[1]}, {c.x[2]}, {c.spread})",
    "FullLike": "{c.y}.fill({c.fill})",
    "LengthsOf": "{c.y}.set({c.lengths})",
    "Count": "{c.y}.fill({c.count})",
    "Softmax": "softmax({c.y}, {c.x[0]}, {c.rows})",
    "LogSoftmax": "logSoftmax({c.y}, {c.x[0]}, {c.rows})",
    "LogSumExp": "logSumExp({c.y}, {c.x[0]}, {c.rows})",
    "ProdOfOthers": "productOfOthers({c.y}, {c.x[0]}, {c.rows})",
    "ArgMax": "extremeAt({c.y}, {c.x[0]}, {c.rows}, 1)",
    "ArgMin": "extremeAt({c.y}, {c.x[0]}, {c.rows}, -1)",
    "ArgSort": "argSort({c.y}, {c.x[0]}, {c.rows}, {c.sign})",
    "CumSum": "cumSum({c.y}, {c.x[0]}, {c.rows}, {c.exact})",
    "Normalize": "normalize({c.y}, {c.x[0]}, {c.rows}, {c.eps})",
    "ShareOfExtreme": "shareOfExtreme({c.y}, {c.x[0]}, {c.x[1]}, {c.rows})",
    "SoftmaxCrossEntropy": "crossEntropy({c.y}, {c.x[0]}, {c.x[1]}, {c.classes})",
    "SoftmaxCrossEntropyGradient": "crossEntropySlope({c.y}, {c.all}, {c.classes})",
    "OneHot": "oneHot({c.y}, {c.x[0]})",
    "MatMul": "{c.matmul}",
    "Conv2d": "conv({c.y}, {c.x[0]}, {c.x[1]}, {c.patches})",
    "Conv2dInput": "convInput({c.y}, {c.x[0]}, {c.x[1]}, {c.patches})",
    "Conv2dWeight": "convWeight({c.y}, {c.x[0]}, {c.x[1]}, {c.patches})",
    "MaxPool2d": "maxPool({c.y}, {c.x[0]}, {c.pooled})",
    "MaxPool2dInput": "maxPoolInput({c.y}, {c.all}, {c.pooled})",
    "MaxPool2dPick": "maxPoolPick({c.y}, {c.all}, {c.pooled})",
    "AvgPool2d": "avgPool({c.y}, {c.x[0]}, {c.pooled})",
    "AvgPool2dInput": "avgPoolInput({c.y}, {c.x[0]}, {c.pooled})",
    "Take": "take({c.y}, {c.x[0]}, {c.indexed})",
    "AddAt": "addAt({c.y}, {c.x[0]}, {c.indexed}, {c.exact})",
    "Gather": "gather({c.y}, {c.x[0]}, {c.gathered})",
    "ScatterAdd": "scatterAdd({c.y}, {c.x[0]}, {c.gathered}, {c.exact})",
    "Dropout": "dropout({c.y}, {c.x[0]}, {c.x[1]}[0], {c.dropped})",
    "Print": "{c.y}.set({c.x[0]}); console.log({c.message}, ...{c.y})",
    "Assert": "asserted({c.x[0]}, {c.message}); {c.y}.set({c.x[0]})",
}
# What has no JavaScript: products whose number of axes is known in a run only, and the rows of
# batches, which `lazy_batch` makes.
REFUSED = ("MatMulLeft", "MatMulRight", "PickRows", "PutRows")
