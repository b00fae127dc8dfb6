"""Arguments that are no operands: axes, lengths, data types, seeds, functions, options.

What NumPy or Python would stumble over later, in words of their own, is refused here with the name
of the argument and the remedy.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from typing import Any

import numpy as np
import numpy.typing as npt

from minigrad.diagnostics.errors import ArgumentError, ShapeError
from minigrad.diagnostics.messages import Pair, fill
from minigrad.diagnostics.source import here


def refuse(op: str, name: str, value: object, expected: Pair) -> ArgumentError:
    """Return the error for an argument; `expected` says what to write instead."""
    text = " ".join(repr(value).split())
    about: Any = {"value": text if len(text) <= 60 else text[:57] + "...", "expected": expected}
    return ArgumentError("argument", op=op, name=name, **about, defined=here())


def two_readings(form: str, one: str, as_one: str, other: str, as_other: str) -> ArgumentError:
    """Return the error for what two frameworks read differently, with a line for either."""
    fields: dict[str, Any] = {
        "form": form,
        "one": one,
        "as_one": as_one,
        "other": other,
        "as_other": as_other,
    }
    return ArgumentError("two_readings", defined=here(), **fields)


def is_whole(x: object) -> bool:
    """Return whether this is an integer; True and False are not."""
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


MOST = (1 << 42) - 1  # as a length or a count: no machine holds more, and to try could take all


def whole(op: str, name: str, value: Any, least: int = 0, most: int | None = MOST) -> int:
    """Return an integer from `least` to `most` (None: any); ArgumentError otherwise."""
    low = not is_whole(value) or value < least
    if low or (most is not None and value > most):
        row = "expect_whole" if low and most in (MOST, None) else "expect_whole_between"
        raise refuse(op, name, value, fill(row, least=least, most=most))
    return int(value)


def number(op: str, name: str, value: Any, least: float | None = 0.0) -> Any:
    """Return a number not below `least`, or a node or tensor; ArgumentError otherwise."""
    if hasattr(type(value), "reader"):
        return value
    if not isinstance(value, (int, float, np.number)):
        raise refuse(op, name, value, fill("expect_any_number"))
    if least is not None and not value >= least:
        raise refuse(op, name, value, fill("expect_number", least=f"{least:g}"))
    return value


def node_name(op: str, name: Any) -> str | None:
    """Return a node's name or None; ArgumentError for a dtype, which TensorFlow 1 has there."""
    if name is not None and not isinstance(name, str):
        raise refuse(op, "name", name, fill("expect_node_name"))
    return name


def bound(op: str, name: str, value: Any) -> float | None:
    """Return a number or None; ArgumentError otherwise."""
    if value is not None and not isinstance(value, (int, float, np.number)):
        raise refuse(op, name, value, fill("expect_bound"))
    return value.item() if isinstance(value, np.number) else value


def lengths(op: str, name: str, value: Any, least: int = 0) -> tuple[int, ...]:
    """Return lengths of axes: integers not below `least`, or one alone."""
    result = whole_numbers(op, name, value, least)
    if min(result, default=least) < least:
        raise refuse(op, name, value, fill("expect_shape", least=least))
    if max(result, default=0) > MOST:
        raise refuse(op, name, value, fill("expect_less", most=MOST))
    return result


def whole_numbers(op: str, name: str, value: Any, least: int = -1) -> tuple[int, ...]:
    """Return integers not below `least`; whether they are possible is checked elsewhere."""
    items = (value,) if is_whole(value) else value
    if not isinstance(items, (tuple, list)) or not all(map(is_whole, items)):
        raise refuse(op, name, value, fill("expect_shape", least=least))
    # a length that a trace has read stays what it is
    return tuple([n if isinstance(n, int) else int(n) for n in items])


def allocated(op: str, shape: tuple[int, ...], make: Callable[[tuple[int, ...]], Any]) -> Any:
    """Make an array of this shape; ShapeError if no memory can hold it."""
    try:
        if max(math.prod(shape), *shape, 0) > min(MOST, sys.maxsize):
            raise MemoryError
        return make(shape)
    except MemoryError:
        raise ShapeError("too_large", op=op, shape=shape, defined=here()) from None


def open_shape(op: str, value: Any) -> tuple[int | None, ...] | None:
    """Return a shape with None for an unknown length, or None for an unknown shape."""
    if value is None:
        return None
    items = (value,) if is_whole(value) else value
    if not isinstance(items, (tuple, list)) or not all(n is None or is_whole(n) for n in items):
        raise refuse(op, "shape", value, fill("expect_open_shape"))
    if any(n is not None and n < 0 for n in items):
        raise ShapeError("lengths", op=op, shape=tuple(items), defined=here())
    return tuple(None if n is None else int(n) for n in items)


def axes(op: str, axis: Any) -> tuple[int, ...]:
    """Return one or several axes as a tuple."""
    items = axis if isinstance(axis, (tuple, list)) else (axis,)
    if not all(map(is_whole, items)):
        raise refuse(op, "axis", axis, fill("expect_axes"))
    # a length that a trace has read stays what it is
    return tuple([n if isinstance(n, int) else int(n) for n in items])


def as_dtype(op: str, dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return the numeric data type of this name; DtypeError for any other."""
    try:  # "a" is text, of which NumPy warns
        found = None if isinstance(dtype, str) and dtype.startswith("a") else np.dtype(dtype)
    except TypeError:
        found = None
    if found is None or found.kind not in "fiub":
        raise refuse(op, "dtype", dtype, fill("expect_dtype"))
    return found


def seeded(op: str, seed: Any) -> np.random.Generator:
    """Return the random generator of a seed; without one, the next of `manual_seed`."""
    if seed is not None:
        seed = whole(op, "seed", seed, most=None)
    elif _seeds:
        seed = _seeds[0].integers(1 << 62)
    return np.random.default_rng(seed)


_seeds: list[np.random.Generator] = []  # where seeds come from, once there was a first one


def begin_anew(op: str, seed: Any) -> None:
    """Restart the seeds of calls that name none from this one."""
    _seeds[:] = [seeded(op, whole(op, "seed", seed, most=None))]


def function(op: str, name: str, value: Any) -> Callable[..., Any]:
    """Return something callable; ArgumentError otherwise."""
    if not callable(value):
        raise refuse(op, name, value, fill("expect_function"))
    result: Callable[..., Any] = value
    return result


def listed(op: str, name: str, value: Any) -> Sequence[Any]:
    """Return the items of a list; ArgumentError for a single tensor."""
    if isinstance(value, (str, bytes)) or hasattr(value, "shape"):
        raise refuse(op, name, value, fill("expect_list"))
    if not isinstance(value, Iterable):
        raise refuse(op, name, value, fill("expect_list"))
    return list(value)


def expect(fits: bool, function: Callable[..., Any], ours: str | tuple[str, str]) -> None:
    """Raise ArgumentError, with what to write instead, unless the arguments fit the function."""
    if not fits:
        raise unfit(function, ours)


def unfit(function: Callable[..., Any], ours: str | tuple[str, str]) -> ArgumentError:
    """Return the error for arguments that are another framework's."""
    names, op = ", ".join(signature(function).parameters), getattr(function, "__name__", "")
    return ArgumentError("call_form", op=op, names=names, ours=ours, defined=here())
