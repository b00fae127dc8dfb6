"""Summaries of tensors that are gone: statistics, a histogram, and a small picture."""

from __future__ import annotations

from typing import Any

import numpy as np

Portrait = dict[str, Any]
ALPHABET = np.frombuffer(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8
)
ZERO, SPOILT, EMPTY = 31, 0, 63  # codes of a cell: 1 … 61 are values around zero
SAMPLE = 4096  # elements that a histogram is made of
BINS = 28
SMALL = 128  # elements of an array whose numbers are kept as well
LARGE = 1e15  # numbers whose squares do not fit in float32
AVERAGED = 16  # rows or columns that a cell is the mean of, at most about twice as many
BRIGHT = 0.985  # the share of cells whose magnitude is below the end of the colour scale


def portrait(x: Any, width: int = 32, height: int = 16) -> Portrait:
    """Summarise an array as plain JSON: exact statistics, and a picture of width × height cells.

    Statistics are of the finite elements; `at` has the first element, and the places of the largest
    and the smallest, where there are too many for `values`; `below` counts −∞, which a mask is made
    of, `bad` NaN and ∞. A 4-D array is pictured as tiles, one a channel; what has more rows or
    columns than there are cells is averaged.
    """
    x = np.asarray(x)
    if x.dtype.kind == "c":
        x = np.abs(x)
    elif x.dtype.kind not in "fiub":
        return {}
    flat = x.reshape(-1)
    real = flat if x.dtype == np.float32 else flat.astype(np.float32)
    finite = np.isfinite(real)
    lost = real.size - int(np.count_nonzero(finite))
    below = int(np.count_nonzero(np.isneginf(real))) if lost else 0
    kept = real[finite] if lost else real
    found: Portrait = {"bad": lost - below, "below": below, **_statistics(kept)}
    found = {key: value for key, value in found.items() if value or key not in ("bad", "below")}
    if x.size == 1 and lost:
        found["mean"] = short(real[0])
    if x.size > SMALL and lost < x.size:
        ends = (np.where(finite, real, end) if lost else real for end in (-np.inf, np.inf))
        found["at"] = short(real[0]), int(next(ends).argmax()), int(next(ends).argmin())
    if x.size > 1:
        found |= _picture(real.reshape(x.shape), width, height)
        if width >= 32 and kept.size:
            found["hist"] = _histogram(kept, found["min"], found["max"])
    return found


def _statistics(x: Any) -> Portrait:
    if not x.size:
        return {}
    if max(-float(x.min()), float(x.max())) > LARGE or x.size < SAMPLE:
        x = x.astype(np.float64)
    mean = x.mean()
    spread = x - mean
    square, norm = float(np.vdot(spread, spread)) / x.size, float(np.vdot(x, x))
    return {
        "min": short(x.min()),
        "max": short(x.max()),
        "mean": short(mean),
        "std": short(square**0.5),
        "norm": short(norm**0.5),
        "zeros": short(1 - np.count_nonzero(x) / x.size),
    }


def short(value: Any) -> float | str:
    """Round a number to the digits that are shown, in a form that JSON allows."""
    value = float(f"{float(value):.4g}")
    return value if np.isfinite(value) else str(value)


def _histogram(x: Any, low: Any, high: Any) -> str:
    sample = x[:: max(1, x.size // SAMPLE)]
    if not (isinstance(low, float) and isinstance(high, float) and high > low):
        return ""
    counts, _ = np.histogram(sample.astype(np.float64), BINS, (low, high))
    return _text(np.round(counts / max(counts.max(), 1) * 62).astype(int))


def _text(codes: Any) -> str:
    return str(ALPHABET[np.asarray(codes, np.intp).reshape(-1)].tobytes(), "ascii")


def _picture(x: Any, width: int, height: int) -> Portrait:
    with np.errstate(all="ignore"):
        cells, tile = _cells(x, width, height)
        finite = np.isfinite(cells)
        sizes = np.abs(cells[finite])
        scale = float(np.quantile(sizes, BRIGHT)) if sizes.size else 0.0
        scale = scale or float(sizes.max(initial=0.0))
        scaled = np.clip(np.nan_to_num(cells / (scale or 1.0), nan=0.0), -1, 1)
    codes = ZERO + np.round(scaled * 30).astype(int)
    codes = np.where(finite, codes, np.where(np.isneginf(cells), EMPTY, SPOILT))
    each = tuple(map(short, cells.reshape(-1))) if tile in (0, "row") and x.size <= SMALL else ()
    if tile == "row":  # a long vector, wrapped like text
        codes, tile = _wrap(codes.reshape(-1), width), 0
    found = {"w": codes.shape[1], "h": codes.shape[0], "tile": int(tile), "cells": _text(codes)}
    return found | {"scale": short(scale)} | ({"values": each} if len(each) == x.size else {})


def _wrap(codes: Any, width: int) -> Any:
    rows = -(-codes.size // width)
    columns = -(-codes.size // rows)
    return np.append(codes, np.full(rows * columns - codes.size, EMPTY)).reshape(rows, columns)


def _cells(x: Any, width: int, height: int) -> tuple[Any, Any]:
    """Return the values of the cells, and the size of a channel's tile, or "row" for a vector."""
    while x.ndim > 4 or (x.ndim > 2 and x.shape[0] == 1 and x.ndim != 4):
        x = x[0]
    if x.ndim == 4:
        x = x[0]
        if x.shape[0] == x.shape[1] != x.shape[2]:  # channels last
            x = np.moveaxis(x, -1, 0)
        return _tiles(x, width, height)
    if x.ndim == 3:
        x = x[0] if x.shape[1] > 1 and x.shape[2] > 1 else x.reshape(x.shape[0], -1)
    if x.ndim < 2 or 1 in x.shape:
        flat = x.reshape(-1)
        return _block_means(flat[None], 1, min(flat.size, width * height)), "row"
    return _block_means(x, min(x.shape[0], height), min(x.shape[1], width)), 0


def _tiles(x: Any, width: int, height: int) -> tuple[Any, Any]:
    """Tile the channels of an array side by side, as many as there is room for."""
    channels, rows, columns = x.shape
    if rows == columns == 1 or (channels == 1 and min(rows, columns) == 1):
        flat = x.reshape(-1)
        return _block_means(flat[None], 1, min(flat.size, width * height)), "row"
    longest = max(rows, columns)
    if channels <= 3:
        size = min(height, longest)
    else:
        size = next((s for s in (8, 4, 2) if longest >= s and s <= height // 2), 1)
    across = min(channels, max(1, width // size))
    down = max(1, min(height // size, -(-channels // across)))
    chosen = np.linspace(0, channels - 1, min(channels, across * down)).round().astype(int)
    small = np.full((across * down, size, size), -np.inf, np.float32)  # drawn as nothing
    tall, wide = max(1, round(size * rows / longest)), max(1, round(size * columns / longest))
    for place, channel in enumerate(chosen):
        top, left = (size - tall) // 2, (size - wide) // 2
        made = _block_means(x[channel], min(rows, tall), min(columns, wide))
        small[place, top : top + made.shape[0], left : left + made.shape[1]] = made
    grid = small.reshape(down, across, size, size).swapaxes(1, 2)
    return grid.reshape(down * size, across * size), size


def _block_means(x: Any, rows: int, columns: int) -> Any:
    """Average an array to so many rows and columns: each cell is the mean of its elements.

    Of more than 16 rows or columns in a cell only every so many are looked at.
    """
    for axis, count in ((0, rows), (1, columns)):
        if (step := x.shape[axis] // (count * AVERAGED)) > 1:
            x = x[::step] if axis == 0 else x[:, ::step]
        if x.shape[axis] > count:
            starts = (np.arange(count) * x.shape[axis] // count).astype(np.intp)
            sizes = np.diff(np.append(starts, x.shape[axis]))
            total = np.add.reduceat(x, starts, axis)
            x = total / (sizes[:, None] if axis == 0 else sizes[None])
    return x
