"""Values of any size in few words: what boxes, captions and the inspector say of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from minigrad.core import show_shape
from minigrad.ops.parts import Parts
from viz.picture.picture import number
from viz.picture.swatch import Raster, joined, raster
from viz.words.text import ROWS, Pair, row

WRITTEN = 6  # numbers that a caption writes out, row by row
SHORT = 18  # characters of several numbers in a card
BESIDE = 20  # and beneath its swatch, which is alone where there are more


@dataclass(frozen=True)
class Summary:
    """A value of any size, in a few characters, in a sentence, and as cells to look at.

    `text` is what a caption says: the numbers themselves where there are few, else `short`; `few`,
    these as short as a card needs them; `bad`, whether it holds NaN or infinity; `origin`, whether
    no operand held any.
    """

    short: str
    long: Pair
    raster: Raster | None = None
    text: str = ""
    bad: bool = False
    origin: bool = False
    few: str = ""

    @property
    def beside(self) -> str:
        """What a card writes: all of it, or beside a swatch the numbers, if they are few."""
        if self.raster is None:
            return self.short
        few = self.few or self.text
        return few if few[:1] == "[" and len(few) <= BESIDE else ""

    @property
    def said(self) -> Pair:
        """What a sentence says: few numbers as they are, many in words."""
        return self.long if self.text == self.short else (self.text, self.text)


def summarize(value: Any, seen: bool = True) -> Summary:
    """Summarise a value of any size, or several; huge arrays cost only one pass over them.

    None is a value that was not recorded. seen: whether to include its cells.
    """
    if value is None:
        return Summary("?", row("summary_unrecorded"), None, "?")
    if isinstance(value, Parts):
        value = tuple(value.parts.values())
    if isinstance(value, tuple):
        parts = [summarize(x) for x in value]
        english, chinese = (", ".join(part.long[i] for part in parts) for i in (0, 1))
        short, text = (", ".join(getattr(p, a) for p in parts) for a in ("short", "text"))
        short = short if len(short) < SHORT else ", ".join("…" * len(parts))
        bad = any(part.bad for part in parts)
        return Summary(f"({short})", (f"({english})", f"({chinese})"), None, f"({text})", bad)
    array = np.asarray(getattr(value, "data", value))
    summary = _summary(array)
    bad = array.dtype.kind in "fc" and not np.isfinite(array).all()
    text, bad = written(array) or summary.short, bool(bad)
    few = next((t for n in (4, 3, 2) if len(t := written(array, n)) <= BESIDE), "")
    return replace(summary, text=text, bad=bad, raster=raster(array) if seen else None, few=few)


def change(one: Summary, other: Summary) -> Summary:
    """Return the summary of a change: both summaries, with an arrow between them."""
    english, chinese = (f"{a} → {b}" for a, b in zip(one.long, other.long, strict=True))
    rasters = [s.raster for s in (one, other) if s.raster]
    return Summary(
        f"{one.short} → {other.short}",
        (english, chinese),
        joined(*rasters) if len(rasters) == 2 else None,
        f"{one.text} → {other.text}",
        one.bad or other.bad,
    )


def written(value: Any, digits: int = 4) -> str:
    """Write a few numbers row by row: "[[1, -2], [3, 4]]"; "" for many, or several values."""
    if isinstance(value, tuple):
        return ""
    array = np.asarray(getattr(value, "data", value))
    if not 0 < array.size <= WRITTEN or array.ndim > 2:
        return ""
    if array.ndim < 2:
        said = ", ".join(number(x, digits) for x in array.reshape(-1))
        return said if array.size == 1 else f"[{said}]"
    lines = [", ".join(number(x, digits) for x in line) for line in array]
    return f"[[{'], ['.join(lines)}]]"


def _summary(array: np.ndarray[Any, Any]) -> Summary:
    short = number(array)
    if array.size == 1 or (short != "…" and len(short) <= SHORT):
        return Summary(short, (short, short))
    shape = show_shape(array.shape)
    if array.size == 0:
        return Summary("∅", row("summary_empty", shape=shape))
    array = np.abs(array) if array.dtype.kind == "c" else array  # how large they are
    with np.errstate(all="ignore"):
        # NaN where there is one; of several zeros it is left open which is found
        low, high = (x or abs(x) for x in (array.min(), array.max()))
    if not np.isfinite([low, high]).all():
        bad = int(array.size - np.isfinite(array).sum())
        return Summary("NaN/∞", row("summary_bad", shape=shape, bad=bad))
    if low == high:
        same = number(low)
        return Summary(
            f"[{same}, {same}, …]", row("summary_same", shape=shape, value=same), raster(array)
        )
    with np.errstate(over="ignore"):
        mean = array.mean(dtype=float)
    fields = {"mean": f"{mean:.3g}", "low": f"{low:.3g}", "high": f"{high:.3g}"}
    return Summary(f"{low:.2g} … {high:.2g}", row("summary_array", shape=shape, **fields))


def difference_text(pairs: list[tuple[Any, Any]], differ: str = "passes_differ") -> Pair:
    """Say how far pairs of arrays are apart at most; differ: the row if they are at all."""
    if all((a.shape, a.dtype, a.tobytes()) == (b.shape, b.dtype, b.tobytes()) for a, b in pairs):
        return ROWS["passes_equal"]
    return row(differ, difference=f"{max(_difference(a, b) for a, b in pairs):.3g}")


def _difference(a: Any, b: Any) -> float:
    if a.shape != b.shape:
        return np.inf
    with np.errstate(all="ignore"):
        gaps = np.abs(np.subtract(a, b, dtype=float))
    gaps = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0, gaps)
    return float(np.max(np.where(np.isnan(gaps), np.inf, gaps), initial=0))
