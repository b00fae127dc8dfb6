"""Tensors you can see: many numbers as a small picture, the same in pages and in files.

A matrix is a grid of cells, a stack of matrices one tile for each, a vector a row of bars. A value
is green above zero and violet below, a gradient orange above; the stronger, the further from zero.
All tensors of a graph share one scale, so that their colours can be compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby
from math import floor, isfinite, isinf, isnan, sqrt
from typing import Any, Literal, NamedTuple
from zlib import crc32

import numpy as np

from viz.words.text import Pair, row

WIDE, HIGH = 84, 28  # of a swatch on a card, px
COLUMNS, ROWS = 28, 14  # cells of a matrix at most
CELL, TILE = 2, 8  # a cell of a tile and a tile are at least as high, px
SAID = 30, 14  # of cells on which a word is written, at least: it lies on no others, px
BETWEEN = 6  # two tensors that are compared, px
LEVELS = 15  # steps of strength, above zero and below
ROBUST = 0.985  # the share of all numbers that is not stronger than the scale
DIGITS = "0123456789abcdefghijklmnopqrstu"  # from -LEVELS to LEVELS
NAN, INFINITE, GAP, ZERO = "N", "I", ".", DIGITS[LEVELS]
ABOUT = {"bars": "b", "cells": "c", "tiles": "t"}

PLACED = re.compile(
    r'<g class="(mg-swatch mg-of-\w+)" transform="translate\(([^,]+),([^)]+)\)">'
    r"((?:(?!</?g).)+)</g>"
)

Kind = Literal["bars", "cells", "tiles"]
Cells = tuple[tuple[float | None, ...], ...]


class Raster(NamedTuple):
    """Numbers as cells, of large tensors the means of equal parts; None is a gap between tiles.

    whole: they are integers or truth values, which have their own scale; part: how many
    numbers a cell represents, down and across; tiles: how many of how many matrices are there.
    """

    kind: Kind
    cells: Cells
    whole: bool = False
    part: tuple[int, int] = (1, 1)
    tiles: tuple[int, int] = (1, 1)

    @property
    def reduction(self) -> Pair | None:
        """How the picture is less than the tensor; None where it is all of it."""
        down, across = self.part
        shown, all_ = self.tiles
        said = [row("swatch_tiles", shown=shown, all=all_)] if shown < all_ else []
        if self.part != (1, 1):
            part = str(across) if self.kind == "bars" else f"{down} × {across}"
            said.append(row("swatch_means", part=part))
        return (" ".join(x[0] for x in said), "".join(x[1] for x in said)) if said else None


def raster(array: np.ndarray[Any, Any]) -> Raster | None:
    """Return the cells of a tensor of more than one element; None for any other."""
    if array.size < 2:
        return None
    whole, sides = array.dtype.kind in "biu", [n for n in array.shape if n > 1]
    array = np.abs(array) if array.dtype.kind == "c" else array
    if len(sides) < 2:
        cells, part = _means(array.reshape(1, -1), 1, COLUMNS)
        return Raster("bars", _numbers(cells), whole, part)
    if array.ndim < 3 or 1 in array.shape[-2:]:
        cells, part = _means(array.reshape(-1, sides[-1]), ROWS, COLUMNS)
        return Raster("cells", _numbers(cells), whole, part)
    return _tiled(array.reshape(-1, *array.shape[-2:]), whole)


def joined(one: Raster, other: Raster) -> Raster:
    """Join a tensor's old and new cells side by side; only the new ones if the form differs.

    >>> one, other = raster(np.array([1.0, 2.0])), raster(np.array([3.0, 4.0]))
    >>> joined(one, other).cells
    ((1.0, 2.0, None, 3.0, 4.0),)
    """
    if (one.kind, len(one.cells)) != (other.kind, len(other.cells)):
        return other
    gap = (None,) * max(1, round((len(one.cells[0]) + len(other.cells[0])) / WIDE * BETWEEN))
    cells = tuple(a + gap + b for a, b in zip(one.cells, other.cells, strict=True))
    return other._replace(cells=cells, whole=one.whole and other.whole)


def _tiled(stack: np.ndarray[Any, Any], whole: bool) -> Raster:
    """Tile matrices side by side, as large as they all fit; of too many, only the first."""
    count, high, wide = stack.shape

    def side(rows: int, columns: int) -> float:
        """Return how many pixels an element has."""
        room = (HIGH - CELL * (rows - 1)) / rows, (WIDE - CELL * (columns - 1)) / columns
        return float(min(room[0] / high, room[1] / wide))

    rows = max((1, 2, 3), key=lambda rows: side(rows, -(-count // rows)))
    columns = -(-count // rows)
    if side(rows, columns) * high < TILE:
        rows, columns = 3, max(1, int((WIDE + CELL) // (min(TILE / high * wide, WIDE) + CELL)))
    part = max(1.0, CELL / side(rows, columns))
    down, across = max(1, round(high / part)), max(1, round(wide / part))
    shown = stack[: rows * columns]
    height, width = rows * (down + 1) - 1, columns * (across + 1) - 1
    found: list[list[float | None]] = [[None] * width for _ in range(height)]
    for i, matrix in enumerate(shown):
        top, left = i // columns * (down + 1), i % columns * (across + 1)
        cells, each = _means(matrix, down, across)
        for k, line in enumerate(_numbers(cells)):
            found[top + k][left : left + across] = line
    return Raster("tiles", tuple(map(tuple, found)), whole, each, (len(shown), count))


def _means(
    matrix: np.ndarray[Any, Any], rows: int, columns: int
) -> tuple[np.ndarray[Any, Any], tuple[int, int]]:
    """Average a matrix to at most so many cells; also return about how many numbers each has."""
    high, wide = matrix.shape
    with np.errstate(all="ignore"):
        means = _along(_along(matrix, 0, rows), 1, columns)
        if not np.isfinite(means).all() and np.isfinite(matrix).all():  # a sum was too large
            means = np.clip(means, matrix.min(), matrix.max())
    return means, (round(high / means.shape[0]), round(wide / means.shape[1]))


def _along(matrix: np.ndarray[Any, Any], axis: int, most: int) -> np.ndarray[Any, Any]:
    """Return the means of at most `most` equal parts; parts with NaN or infinity keep it."""
    size = matrix.shape[axis]
    if size <= most:
        found: np.ndarray[Any, Any] = matrix.astype(float)
        return found
    starts = np.arange(most) * size // most
    counts = np.diff(starts, append=size)
    shape = (-1, 1) if axis == 0 else (1, -1)
    sums = np.add.reduceat(matrix, starts, axis=axis, dtype=float)
    means: np.ndarray[Any, Any] = sums / counts.reshape(shape)
    return means


def _numbers(cells: np.ndarray[Any, Any]) -> tuple[tuple[float, ...], ...]:
    """Convert cells to plain numbers; NaN is one object, so that equal cells are equal."""
    lines = cells.tolist()
    if np.isnan(cells).any():
        lines = [[np.nan if isnan(v) else v for v in line] for line in lines]
    return tuple(map(tuple, lines))


# ---- One scale --------------------------------------------------------------------------------


def scale(rasters: Iterable[Raster]) -> float:
    """Return where colours saturate: nearly all numbers are below it, tensors weighted equally."""
    sizes, weights = [], []
    for each in rasters:
        found = [abs(v) for line in each.cells for v in line if v is not None and isfinite(v)]
        if found and not each.whole:
            sizes += found
            weights += [1 / len(found)] * len(found)
    if not sizes:
        return 1.0
    order = np.argsort(sizes)
    reached = np.cumsum(np.asarray(weights)[order])
    place = int(np.searchsorted(reached, ROBUST * reached[-1]))
    return float(sizes[order[min(place, len(sizes) - 1)]]) or 1.0


def top_of(each: Raster, shared: float) -> float:
    """Return where a tensor's colours saturate: integers (labels, counts) have their own scale."""
    sizes = (abs(v) for line in each.cells for v in line if v is not None and isfinite(v))
    return max(sizes, default=0) or 1.0 if each.whole else shared


@lru_cache(maxsize=4096)
def encoded(each: Raster, shared: float) -> str:
    """Encode the cells as text, a letter for each, after the kind and the number of columns."""
    top = top_of(each, shared)
    cells = "".join(_letter(v, top) for line in each.cells for v in line)
    return f"{ABOUT[each.kind]}{len(each.cells[0])}:{cells}"


def _letter(v: float | None, top: float) -> str:
    if v is None:
        return GAP
    if isnan(v) or isinf(v):
        return NAN if isnan(v) else INFINITE
    strength = max(v != 0, round(LEVELS * sqrt(min(abs(v) / top, 1))))  # little is not nothing
    return DIGITS[LEVELS + (strength if v > 0 else -strength)]


# ---- As SVG; in pages `swatch.js` draws the same ----------------------------------------------


def drawn(code: str, wide: float = WIDE, high: float = HIGH) -> str:
    """Draw the inside of a swatch: a sheet, lines for cells, a rim; and a word on bad values."""
    kind, columns = code[0], int(code[1 : code.index(":")])
    cells = code[code.index(":") + 1 :]
    lines = [cells[i : i + columns] for i in range(0, len(cells), columns)]
    fit = wide / columns, high / len(lines)
    across, down = (min(fit), min(fit)) if kind == "t" else fit
    width, height = across * columns, down * len(lines)
    x, y = wide - width, (high - height) / 2
    found = _bars(cells, across, high) if kind == "b" else _cells(lines, x, y, across, down)
    size = f'x="{_px(x)}" y="{_px(y)}" width="{_px(width)}" height="{_px(height)}"'
    words, letter = "", NAN if NAN in cells else INFINITE
    if not cells.strip(letter):
        lines, down = lines[:1], height  # one word for all
    rows = ((re.finditer(f"{letter}+", line), -k) for k, line in enumerate(lines))
    runs = ((len(run[0]), run.start(), k) for row, k in rows for run in row)
    long, start, k = max(runs, default=(0, 0, 0))
    if long * across >= SAID[0] and min(down, high) >= SAID[1]:
        at = f'x="{_px(x + (start + long / 2) * across)}" y="{_px(y + (0.5 - k) * down + 4)}"'
        said = "NaN" if letter == NAN else "∞"
        words = f'<text class="mg-said" {at} text-anchor="middle">{said}</text>'
    return f'<rect class="mg-sheet" {size}/>{found}<rect class="mg-rim" {size}/>{words}'


def placed(of: str, x: float, y: float, inside: str) -> str:
    """Return a swatch, of a value or a gradient ("grad"), at a place."""
    return f'<g class="mg-swatch mg-of-{of}" transform="translate({x:g},{y:g})">{inside}</g>'


def shared(svg: str) -> str:
    """Return the drawing with each swatch defined once, however often it is shown."""
    known: dict[str, str] = {}

    def seen(found: re.Match[str]) -> str:
        of, x, y, inside = found.groups()
        name = f"w{crc32(f'{of}{inside}'.encode()):x}"
        known[name] = f'<g id="{name}" class="{of}">{inside}</g>'
        return f'<use href="#{name}" x="{x}" y="{y}"/>'

    drawn = PLACED.sub(seen, svg)
    defs = f"<defs>{''.join(known.values())}</defs>" if known else ""
    return re.sub(r"<svg\b[^>]*>", lambda head: head[0] + defs, drawn, count=1)


def _cells(lines: Sequence[str], x: float, y: float, across: float, down: float) -> str:
    """Draw a line for each run of equal cells; those of one strength share a path."""
    paths: dict[str, str] = {}
    for k, line in enumerate(lines):
        at, middle = 0, _px(y + (k + 0.5) * down)
        for letter, run in groupby(line):
            end = at + len([*run])
            if letter not in (GAP, ZERO):
                drawn = f"M{_px(x + at * across)},{middle}H{_px(x + end * across)}"
                paths[letter] = paths.get(letter, "") + drawn
            at = end
    return "".join(_path(letter, d, down, abs(_level(letter))) for letter, d in paths.items())


def _bars(cells: str, across: float, high: float) -> str:
    """Draw bars from zero, which is at the edge of the swatch if all have the same sign."""
    levels = [_level(letter) for letter in cells]
    low, top = min(levels), max(levels)
    zero = high / 2 if low < 0 < top else 1 if low < 0 else high - 1
    room = zero - 1 if top > 0 else high - 1 - zero
    paths: dict[str, str] = {}
    for i, (letter, level) in enumerate(zip(cells, levels, strict=True)):
        look = "above" if level > 0 else "below" if level < 0 else letter
        length = max(2, room * (level / LEVELS) ** 2)
        ends = (zero, zero - length if level > 0 else zero + length) if level else (1, high - 1)
        if level or letter in (NAN, INFINITE):
            drawn = f"M{_px((i + 0.5) * across)},{_px(ends[0])}V{_px(ends[1])}"
            paths[look] = paths.get(look, "") + drawn
    thick = across - 1 if across > 4 else across
    base = _path("zero", f"M0,{_px(zero)}H{_px(across * len(cells))}", 1)
    return "".join(_path(look, d, thick) for look, d in paths.items()) + base


def _level(letter: str) -> int:
    return DIGITS.index(letter) - LEVELS if letter in DIGITS else 0


def _path(look: str, d: str, thick: float, strength: int = LEVELS) -> str:
    """Return lines in one style, given by a letter or a name."""
    if look in DIGITS:
        look = "above" if _level(look) > 0 else "below"
    name = {NAN: "nan", INFINITE: "infinite"}.get(look, look)
    faint = f' stroke-opacity="{_px(strength / LEVELS)}"' if 0 < strength < LEVELS else ""
    return f'<path class="mg-{name}" stroke-width="{_px(thick)}"{faint} d="{d}"/>'


def _px(x: float) -> str:
    """Format a length in pixels as the JavaScript half does."""
    return f"{floor(x * 100 + 0.5) / 100:g}"
