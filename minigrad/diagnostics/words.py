"""Names of other frameworks: what to write for them here and, if unambiguous, a call.

The tables are in `foreign`. A call is written as it is there and as it is here, one text
each; here it becomes a function with this signature, for `help` and completion to show.
"""

from __future__ import annotations

import linecache
import math
import sys
from collections.abc import Mapping
from types import FunctionType
from typing import Any, NamedTuple

from minigrad.diagnostics.arguments import refuse
from minigrad.diagnostics.messages import fill


class Word(NamedTuple):
    """The lines to write for a name, one or several to choose from; with `call` the name works."""

    ours: tuple[str, ...]
    call: FunctionType | None = None

    @property
    def shown(self) -> tuple[str, str]:
        """The lines in a sentence, in English and in Chinese."""
        return " or ".join(self.ours), " 或 ".join(self.ours)


def refused(table: Mapping[str | tuple[str, ...], str]) -> dict[str, Word]:
    """Return refused names by name, from a table of ours to theirs."""
    found: dict[str, Word] = {}
    for ours, names in table.items():
        word = Word((ours,) if isinstance(ours, str) else ours)
        found |= dict.fromkeys(names.split(), word)
    return found


def supported(table: Mapping[str, str], whose: str = "PyTorch", **helpers: Any) -> dict[str, Word]:
    """Return names that work, from a table such as "t(x)": "mg.transpose(x)".

    helpers: what else the texts use, besides `mg`.
    """
    place: dict[str, Any] = {**_MEANT, **helpers}
    source = "".join(f"def {theirs}: return {ours}\n" for theirs, ours in table.items())
    file = f"{__file__}: {whose}'s words, from {next(iter(table))}"
    exec(compile(source, file, "exec"), place)  # texts of our own, in one go
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    found = {}
    for theirs, ours in table.items():
        name = theirs.partition("(")[0]
        place[name].__doc__ = f"In {whose}'s words what here is {ours}."
        found[name] = Word((ours,), place[name])
    return found


def _as_lengths(lengths: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return lengths, whether called as f(2, 3) or as f((2, 3))."""
    nested = len(lengths) == 1 and isinstance(lengths[0], (tuple, list))
    return tuple(lengths[0]) if nested else lengths


def _split_arguments(size: Any) -> dict[str, Any]:
    """Return the length of each part, or a list of lengths."""
    return {"lengths" if isinstance(size, (tuple, list)) else "split_size": size}


def _on_cpu(x: Any, device: Any) -> Any:
    """Return x; ArgumentError for a device other than the CPU."""
    if not str(device).startswith("cpu"):
        raise refuse("to", "device", device, fill("expect_cpu"))
    return x


def _cast_to(x: Any, targets: tuple[Any, ...]) -> Any:
    """Cast x to a data type, or to that of another value; the only device is the CPU."""
    for item in targets:
        if str(item).startswith(("cpu", "cuda", "mps", "xpu")):
            x = _on_cpu(x, item)
        else:
            x = x.astype(item.dtype if hasattr(type(item), "reader") else item)
    return x


def _contiguous(x: Any) -> Any:
    """Return x if it is contiguous in memory, else a copy."""
    array = getattr(x, "_array", None)
    if array is None or array.flags.c_contiguous:  # a node has no memory
        return x
    copy = x.clone()  # which keeps the order of the axes
    return copy if copy._array.flags.c_contiguous else copy.reshape(-1).reshape(x.shape)


def _count(x: Any) -> Any:
    """Count the elements of x; ShapeError for a node of unknown shape."""
    shape = x.shape or (x.size,)
    return int(x.size) if None in shape else math.prod(shape)


_MEANT = {
    "__name__": __name__,
    "count": _count,
    "flat": _as_lengths,
    "in_order": _contiguous,
    "mg": sys.modules["minigrad"],
    "moved": _cast_to,
    "on_cpu": _on_cpu,
    "parts": _split_arguments,
}
