"""Convolutions of small images, row by row, without patches and without BLAS products.

The images lie in a frame of zeros. A row of the result is a vector that stays in registers while
it is added up for several kernels at once. Strides other than 1 are left to NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from minigrad import ops
from minigrad.core import Op
from minigrad.interop.c.blocks import WRITTEN, CArray, CArrays, CFunction, CWriter
from minigrad.interop.c.loops import Body, Nest
from minigrad.interop.c.reductions import Blocks
from minigrad.ops.windows import Window
from minigrad.static import Node

MOST = 1 << 15  # elements of what is held at a time
WIDEST = 16  # elements of a row that one vector holds


@dataclass(frozen=True)
class Sizes:
    """The sizes of a convolution: channels and lengths of operand and result, window and frame.

    In `groups`: each of the kernels sees `seen` channels alone.
    """

    channels: int
    height: int
    width: int
    kernels: int
    rows: int
    columns: int
    size: tuple[int, int]
    top: int
    left: int
    groups: int = 1

    @property
    def seen(self) -> int:
        """The channels of one group."""
        return self.channels // self.groups

    @property
    def together(self) -> int:
        """The kernels of one group."""
        return self.kernels // self.groups

    def first(self, kernel: str) -> str:
        """Return the first channel that a kernel sees, as C with a trailing sign."""
        return "" if self.groups == 1 else f"{kernel} / {self.together} * {self.seen} + "

    @property
    def frame(self) -> tuple[int, int]:
        """Height and width of an image in its frame."""
        return self.rows + self.size[0] - 1, self.columns + self.size[1] - 1

    @property
    def suits(self) -> bool:
        """Whether rows are wide enough for vectors, and all temporaries fit."""
        tall, wide = self.frame
        held = (self.channels * tall * wide, self.kernels * self.seen * self.size[0] * self.size[1])
        return self.columns >= 4 and max(held) <= MOST


def sizes_of(node: Node, x: CArray, w: CArray, y: CArray) -> Sizes | None:
    """Return the sizes of a convolution of x with w; None if it isn't written in C."""
    if not set(node.attrs) <= {"stride", "padding", "groups"}:
        return None
    window = Window.of(node.op.name, w.declared[2:], **node.attrs)
    numbers = (*x.declared[1:], *w.declared, *y.declared[1:])
    if any(not isinstance(n, int) or not 0 < n <= WRITTEN for n in numbers):
        return None
    if window.stride != (1, 1) or x.dtype.kind != "f" or x.dtype != w.dtype:
        return None
    tall, wide = w.shape[2:]
    (top, _), (left, _) = window.pads
    channels, height, width = x.shape[1:]
    rows, columns = y.shape[2:]
    moved = (tall, wide), top, left, window.groups
    found = Sizes(channels, height, width, w.shape[0], rows, columns, *moved)
    return found if found.suits else None


def gradient_sizes(s: Sizes) -> Sizes:
    """Return the sizes of the gradient for the images: from the result back to the images."""
    (tall, wide) = s.size
    back = tall - 1 - s.top, wide - 1 - s.left
    lengths = s.kernels, s.rows, s.columns, s.channels, s.height, s.width
    return Sizes(*lengths, s.size, *back, s.groups)


def convolution(stem: str, body: Body, results: CArrays, operands: CArrays) -> CFunction | None:
    """Write a convolution, fused with what is done to each element of its result."""
    (node,) = [n for n in body.steps if n.op is ops.conv2d]
    place = {x: i for i, x in enumerate(body.inputs)}
    if any(x not in place for x in node.inputs):
        return None
    i, j = (place[x] for x in node.inputs)
    s = sizes_of(node, operands[i], operands[j], results[0])
    if s is None or any(f.shape != results[0].shape for f in results):
        return None
    writer = CWriter(stem, results, operands, contract=True)
    writer.line(f"const int64_t m0 = {writer.length(0, 0)};")
    names: dict[Node, str] = {node: "sum[b][i3]"}
    read_again = {x for n in body.steps if n is not node for x in n.inputs}
    nest = Nest.over(operands, results[0], apart=True)

    def ending() -> bool:
        for p, x in enumerate(body.inputs):
            if x in read_again and x not in names:
                names[x] = f"v{len(names)}"
                read = f"x{p}[{nest.index(p)}]"
                writer.line(f"const {operands[p].type} {names[x]} = {read};", p)
        found = body.write(writer, names)
        for p, y in enumerate(body.outputs):
            if found is not None:
                writer.line(f"y{p}[(({AT}) * m2 + i2) * m3 + i3] = {found[y]};")
        return found is not None

    _declare_frame(writer, s, operands[i].type)
    _loop_images(writer, s, operands[i].type, f"x{i}", node)
    done = _correlate(writer, s, operands[i].type, f"x{j}", ending)
    writer.close()
    return writer.block() if done else None


AT = "i0 * m1 + i1"


def input_gradient(stem: str, node: Node, results: CArrays, operands: CArrays) -> CFunction | None:
    """Write the convolution of the gradient with the kernels rotated by 180°."""
    g, w, x = operands
    forward = sizes_of(node, x, w, g)
    if forward is None or not gradient_sizes(forward).suits or g.dtype != w.dtype:
        return None
    s, t = gradient_sizes(forward), g.type
    writer = CWriter(stem, results, operands, (2,), contract=True)
    tall, wide = s.size
    writer.line(f"const int64_t m0 = {writer.length(0, 0)};")
    writer.line(f"{t} turned[{s.kernels}][{s.seen}][{tall}][{wide}];")
    writer.line("int odd = 0;")
    for index, length in (("c", s.kernels), ("k", s.seen), ("i", tall), ("j", wide)):
        writer.loop(index, str(length))
    kernel, channel = (f"({s.first('c')}k)", "c" if s.groups == 1 else f"c % {s.together}")
    from_ = f"(({kernel} * {s.together} + {channel}) * {tall} + {tall - 1} - i) * {wide}"
    from_ += f" + {wide - 1} - j"
    writer.line(f"turned[c][k][i][j] = x1[{from_}];")
    writer.line(f"odd |= x1[{from_}] - x1[{from_}] != 0;")
    writer.close(4)

    def ending() -> bool:
        writer.line(f"y0[(({AT}) * m2 + i2) * m3 + i3] = sum[b][i3];")
        return True

    _declare_frame(writer, s, t)
    writer.open("if (odd)")
    _unpadded_sum(writer, s, t)
    writer.close()
    writer.open("else")
    _loop_images(writer, s, t, "x0", node)
    _correlate(writer, s, t, "(&turned[0][0][0][0])", ending)
    writer.close(2)
    return writer.block()


def _unpadded_sum(writer: CWriter, s: Sizes, t: str) -> None:
    """Write the sum element by element: a non-finite weight must not meet the zeros around g."""
    tall, wide = s.size
    for axis in range(4):
        writer.loop(f"i{axis}", f"m{axis}")
    writer.line(f"{t} all = 0;")
    for index, size in (("c", s.seen), ("k", tall), ("l", wide)):
        writer.loop(index, str(size))
    writer.line(f"const int64_t i = i2 + k - {s.top}, j = i3 + l - {s.left};")
    at = f"((i0 * {s.channels} + {s.first('i1')}c) * {s.height} + i) * {s.width} + j"
    inside = f"i >= 0 && i < {s.height} && j >= 0 && j < {s.width}"
    writer.line(f"if ({inside}) all += turned[i1][c][k][l] * x0[{at}];")
    writer.close(3)
    writer.line(f"y0[(({AT}) * m2 + i2) * m3 + i3] = all;")
    writer.close(4)


def weight_gradient(stem: str, node: Node, results: CArrays, operands: CArrays) -> CFunction | None:
    """Write for each kernel element its products of g with the pixels it covered, by rows."""
    g, x, w = operands
    s = sizes_of(node, x, w, g)
    lanes = WIDEST
    while s is not None and s.columns % lanes:
        lanes //= 2
    if s is None or lanes < 4 or g.dtype != x.dtype:
        return None
    writer, t = CWriter(stem, results, operands, (2,), contract=True), g.type
    wide, taps = s.size[1], s.size[0] * s.size[1]
    writer.line(f"const int64_t m0 = {writer.length(1, 0)};")
    _declare_frame(writer, s, t, lanes)
    writer.line("static const row zero;")
    writer.line(f"row total[{s.kernels}][{s.seen}][{taps}];")
    count = s.kernels * s.seen * taps
    writer.line(f"for (int64_t i = 0; i < {count}; i++) (&total[0][0][0])[i] = zero;")
    _loop_images(writer, s, t, "x1", node)
    writer.loop("o", str(s.kernels))
    writer.loop("c", str(s.seen))
    for k in range(taps):
        writer.line(f"row s{k} = total[o][c][{k}];")
    writer.loop("i", str(s.rows))
    writer.open(f"for (int64_t j = 0; j < {s.columns}; j += {lanes})")
    at = f"((i0 * {s.kernels} + o) * {s.rows} + i) * {s.columns} + j"
    writer.line(f"const row f = *(const row *)&x0[{at}];")
    for k in range(taps):
        a, b = divmod(k, wide)
        writer.line(f"s{k} += f * *(const row *)&frame[{s.first('o')}c][i + {a}][j + {b}];")
    writer.close(2)
    for k in range(taps):
        writer.line(f"total[o][c][{k}] = s{k};")
    writer.close(3)
    writer.loop("i", str(count))
    writer.line(f"{t} all = 0;")
    writer.line(f"for (int64_t j = 0; j < {lanes}; j++) all += (&total[0][0][0])[i][j];")
    writer.line("y0[i] = all;")
    writer.close()
    return writer.block()


def _declare_frame(writer: CWriter, s: Sizes, t: str, lanes: int = 0) -> None:
    """Write the C declarations of the row type and of the padded image."""
    if not lanes:
        lanes = WIDEST
        while lanes > s.columns:
            lanes //= 2
    size = {"float": 4, "double": 8}[t]
    about = f"vector_size({lanes * size}), aligned({size}), may_alias"
    writer.line(f"typedef {t} row __attribute__(({about}));")
    writer.line(f"const int64_t m1 = {s.kernels}, m2 = {s.rows}, m3 = {s.columns};")
    writer.line(f"{t} frame[{s.channels}][{s.frame[0]}][{s.frame[1]}];")
    writer.line("memset(frame, 0, sizeof frame);")


def _loop_images(writer: CWriter, s: Sizes, t: str, source: str, node: Node) -> None:
    """Open the loop over images, and copy each into the frame, or the part that fits there."""
    tall, wide = s.frame
    rows = max(0, -s.top), min(s.height, tall - s.top)
    columns = max(0, -s.left), min(s.width, wide - s.left)
    writer.loop("i0", "m0", node)
    writer.loop("c", str(s.channels))
    writer.open(f"for (int64_t i = {rows[0]}; i < {rows[1]}; i++)")
    writer.open(f"for (int64_t j = {columns[0]}; j < {columns[1]}; j++)")
    at = f"((i0 * {s.channels} + c) * {s.height} + i) * {s.width} + j"
    writer.line(f"frame[c][i + {s.top}][j + {s.left}] = {source}[{at}];")
    writer.close(3)


def _correlate(writer: CWriter, s: Sizes, t: str, weights: str, ending: Callable[[], bool]) -> bool:
    """Write all kernels at all places of the frame; `ending` writes the end of an element."""
    together = next(n for n in (8, 4, 2, 1) if s.together % n == 0)
    lanes = WIDEST
    while lanes > s.columns:
        lanes //= 2
    tall, wide = s.size
    step = s.seen * tall * wide
    starts = [*range(0, s.columns - lanes + 1, lanes)]
    if starts[-1] + lanes < s.columns:
        starts.append(s.columns - lanes)  # some are computed twice
    writer.open(f"for (int64_t o = 0; o < {s.kernels}; o += {together})")
    writer.loop("i2", "m2")
    writer.line(f"{t} sum[{together}][{s.columns}];")
    for start in starts:
        writer.open("")
        writer.line(f"row {', '.join(f's{b} = {{0}}' for b in range(together))};")
        for index, length in (("c", s.seen), ("k", tall), ("l", wide)):
            writer.loop(index, str(length))
        writer.line(f"const {t} *w = {weights} + ((o * {s.seen} + c) * {tall} + k) * {wide} + l;")
        writer.line(f"const row r = *(const row *)&frame[{s.first('o')}c][i2 + k][l + {start}];")
        for b in range(together):
            writer.line(f"s{b} += w[{b * step}] * r;")
        writer.close(3)
        for b in range(together):
            writer.line(f"*(row *)&sum[{b}][{start}] = s{b};")
        writer.close()
    writer.loop("b", str(together))
    writer.line("const int64_t i1 = o + b;")
    writer.loop("i3", "m3", independent=True)
    done = ending()
    writer.close(4)
    return done


def max_pool(stem: str, node: Node, results: CArrays, operands: CArrays) -> CFunction | None:
    """Write the largest element of each window; windows don't overlap."""
    x, y = operands[0], results[0]
    size = _tile_size(node, x, y)
    if size is None:
        return None
    writer, t = CWriter(stem, results, operands), x.type
    tall, wide = size
    height, width = x.shape[2:]
    writer.line(f"const int64_t count = {writer.size(1, (0, 1))};")
    writer.loop("i", f"count * {height // tall}", node)
    writer.line(f"const {t} *w = x0 + i * {tall * width};")
    writer.line(f"{t} largest[{width}];")
    writer.loop("j", str(width), independent=True)
    writer.line(f"{t} top = w[j];")
    for k in range(1, tall):
        _write_maximum(writer, f"w[{k * width} + j]")
    writer.line("largest[j] = top;")
    writer.close()
    writer.loop("j", str(width // wide), independent=True)
    writer.line(f"{t} top = largest[j * {wide}];")
    for k in range(1, wide):
        _write_maximum(writer, f"largest[j * {wide} + {k}]")
    writer.line(f"y0[i * {width // wide} + j] = top;")
    writer.close(2)
    return writer.block()


def _write_maximum(writer: CWriter, element: str) -> None:
    writer.line(f"top = (top >= {element}) | (top != top) ? top : {element};")


def max_pool_gradient(
    stem: str, node: Node, results: CArrays, operands: CArrays
) -> CFunction | None:
    """Write the gradient of max pooling: to the first largest element of each window."""
    g, y, x = operands
    size = _tile_size(node, x, y)
    if size is None or g.dtype != x.dtype:
        return None
    writer, t = CWriter(stem, results, operands), x.type
    tall, wide = size
    width, columns = x.shape[3], y.shape[3]
    writer.line(f"const int64_t count = {writer.size(3, (0, 1))};")
    writer.loop("i", f"count * {y.shape[2]}", node)
    writer.loop("j", str(columns), independent=True)
    writer.line(f"const {t} *w = x2 + i * {tall * width} + j * {wide};")
    writer.line(f"const {t} top = x1[i * {columns} + j], slope = x0[i * {columns} + j];")
    writer.line(f"{t} *to = y0 + (w - x2);")
    writer.line("int free = 1, hit;")
    for k in range(tall * wide):
        at = f"[{k // wide * width + k % wide}]"
        writer.line(f"hit = free & (w{at} == top);")
        writer.line("free ^= hit;")
        writer.line(f"to{at} = hit ? 0 + slope : 0;")
    writer.close(2)
    return writer.block()


def _tile_size(node: Node, x: CArray, y: CArray) -> tuple[int, int] | None:
    """Return the size of small windows that cover the images exactly, without overlap."""
    options = dict(node.attrs)
    size = options.pop("kernel_size")
    if not set(options) <= {"stride", "padding"}:
        return None
    window = Window.of(node.op.name, size if isinstance(size, tuple) else (size, size))
    step = options.get("stride")
    same = step is None or Window.of(node.op.name, (1, 1), step).stride == window.size
    framed = options.get("padding", 0) not in (0, "valid", (0, 0))
    tall, wide = window.size
    covered = (x.shape[2], x.shape[3]) == (tall * y.shape[2], wide * y.shape[3])
    known = all(isinstance(n, int) and n <= WRITTEN for n in x.declared[2:])
    if not same or framed or not covered or not known or tall * wide > 16 or x.dtype.kind != "f":
        return None
    return tall, wide


WRITERS: dict[Op, Blocks] = {
    ops.conv2d_input: input_gradient,
    ops.conv2d_weight: weight_gradient,
    ops.max_pool2d: max_pool,
    ops.max_pool2d_input: max_pool_gradient,
}
