"""Windows that move over images: the common part of convolution and pooling.

Images have the shape (batch, channels, height, width); in memory their kernels store them as
(channels, height, width, batch), so that what a window reads at all places is in long runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.core import Array, Dim, Dtype, Shape, fits, public_shape, show_shape
from minigrad.diagnostics.errors import ShapeError
from minigrad.diagnostics.source import here

Pair = tuple[int, int]
IMAGES = "4 axes (batch, channels, height, width)"
INWARD, OUTWARD = (1, 2, 3, 0), (3, 0, 1, 2)


def as_pair(name: str, option: str, value: Any, least: int) -> Pair:
    """Return a pair of integers from one or two; ShapeError if one is below `least`."""
    pair = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(pair) != 2 or any(not isinstance(n, (int, np.integer)) or n < least for n in pair):
        about: dict[str, Any] = {"option": option, "value": repr(value), "least": least}
        raise ShapeError("window_option", op=name, **about, defined=here())
    return int(pair[0]), int(pair[1])


@dataclass(frozen=True, slots=True)
class Window:
    """A window of `size` (height, width) that moves by `stride` over images with a frame.

    `pads` are the rows (above, below) and columns (left, right) that the frame adds. A convolution
    parts channels and kernels into `groups`, each of which sees its own channels alone.
    """

    name: str
    size: tuple[Any, ...]
    stride: Pair
    pads: tuple[Pair, Pair]
    groups: int = 1

    @classmethod
    def of(
        cls, name: str, size: Shape, stride: Any = 1, padding: Any = 0, groups: Any = 1
    ) -> Window:
        """Make a window from what users write: one or two numbers; padding also "valid" or "same".

        "same" keeps height and width, for stride 1; an odd row or column goes below or right.
        """
        steps = as_pair(name, "stride", stride, 1)
        parts = 1 if groups == 1 else as_pair(name, "groups", (groups, groups), 1)[0]
        if padding == "same":
            if steps != (1, 1):
                raise ShapeError("same_padding", op=name, stride=steps)
            missing = [0 if isinstance(n, Dim) else n - 1 for n in size]
            height, width = ((n // 2, n - n // 2) for n in missing)
            return cls(name, tuple(size), steps, (height, width), parts)
        rows, columns = as_pair(name, "padding", 0 if padding == "valid" else padding, 0)
        return cls(name, tuple(size), steps, ((rows, rows), (columns, columns)), parts)

    def places(self, x: Shape, what: str = IMAGES) -> tuple[Any, ...]:
        """Count the places along height and width; ShapeError if there are none."""
        if len(x) != 4:
            raise ShapeError("rank", op=self.name, expected=what, shape=show_shape(public_shape(x)))
        result: list[int | Dim] = []
        for length, n, step, pad in zip(x[2:], self.size, self.stride, self.pads, strict=True):
            if isinstance(length, Dim) or isinstance(n, Dim):
                kept = step == 1 and not isinstance(n, Dim) and sum(pad) == n - 1
                result.append(length if kept else Dim())
            elif not 0 < n <= length + sum(pad):
                raise self._too_large(x)
            else:
                result.append((length + sum(pad) - n) // step + 1)
        return tuple(result)

    def _too_large(self, x: Shape) -> ShapeError:
        images, size = public_shape(x) or (), " × ".join(map(str, self.size))
        extent = f"{images[2]} × {images[3]}"
        pads = ", ".join(f"{a} + {b}" for a, b in self.pads)
        shape = show_shape(images)
        return ShapeError(
            "window_fit", op=self.name, size=size, extent=extent, shape=shape, padding=pads
        )

    def belongs(self, g: Shape, expected: Shape) -> None:
        """Raise ShapeError unless g has the shape of the result that it is the gradient of."""
        if not fits(g, expected):
            shape, result = show_shape(public_shape(g)), show_shape(public_shape(expected))
            raise ShapeError("gradient_shape", op=self.name, shape=shape, expected=result)

    def frame(self, shape: tuple[int, ...], dtype: Dtype, value: Any = 0) -> Array:
        """Make a frame of `value` around images of this shape, with the batch last."""
        (top, bottom), (left, right) = self.pads
        n, c, height, width = shape
        return np.full((c, height + top + bottom, width + left + right, n), value, dtype)

    def framed(self, x: Array, value: Any = 0) -> Array:
        """Put the images into a frame of `value`, with the batch last."""
        if self.pads == ((0, 0), (0, 0)):
            return inward(x)
        result = self.frame(x.shape, x.dtype, value)
        self.inside(result)[...] = x.transpose(INWARD)
        return result

    def inside(self, frame: Array) -> Array:
        """Return the images within a frame, sharing its memory."""
        (top, bottom), (left, right) = self.pads
        return frame[:, top : frame.shape[1] - bottom, left : frame.shape[2] - right]

    def offsets(self, places: tuple[int, ...]) -> Iterator[tuple[slice, slice]]:
        """Yield for each element of the window, row by row, its positions at all places."""
        for i in range(self.size[0]):
            for j in range(self.size[1]):
                yield along(i, self.stride[0], places[0]), along(j, self.stride[1], places[1])


def along(start: int, step: int, count: int) -> slice:
    """Return the slice of `count` elements from `start` on, `step` apart."""
    return slice(start, start + step * (count - 1) + 1, step)


def inward(x: Array) -> Array:
    """Return images with the batch last: a view if a kernel for images made them, else a copy."""
    return np.ascontiguousarray(x.transpose(INWARD))


def outward(out: Array, x: Array) -> Array:
    """Finish a kernel: return images with the batch first, or fill `out`."""
    if out is None:
        return np.ascontiguousarray(x).transpose(OUTWARD)
    np.copyto(out, x.transpose(OUTWARD))
    return out
