"""NumPy's own functions on tensors and nodes: they go to ours, or an error names ours.

NumPy asks the operands before it runs anything (NEP 13 and 18). What has no counterpart here runs
on the values, unless a gradient would be lost without a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from minigrad import functions, ops
from minigrad.core import REGISTRY, Op, apply, context
from minigrad.diagnostics import foreign
from minigrad.diagnostics.errors import ArgumentError, GradientError, TraceError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here
from minigrad.functions import effects
from minigrad.ops.methods import Value

Table = dict[Callable[..., Any], Callable[..., Any]]

UFUNCS: Table = {op.ufunc: op for op in REGISTRY.values() if op.ufunc is not None}
UFUNCS |= {
    np.bitwise_and: lambda a, b: a & b if isinstance(a, Value) else b.__rand__(a),
    np.bitwise_or: lambda a, b: a | b if isinstance(a, Value) else b.__ror__(a),
    np.bitwise_xor: lambda a, b: a ^ b if isinstance(a, Value) else b.__rxor__(a),
    np.invert: lambda x: ~x,
    np.matmul: ops.matmul,
    np.remainder: ops.mod,
    np.floor_divide: ops.floor_divide,
    np.floor: ops.floor,
    np.ceil: ops.ceil,
    np.rint: ops.round,
    np.positive: lambda x: +x,
    np.square: lambda x: x * x,
    np.reciprocal: lambda x: 1 / x,
}


def _cumsum(x: Any, axis: int | None = None) -> Any:
    return functions.cumsum(x, axis) if axis is not None else functions.cumsum(x.flatten(), 0)


def _spread(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adapt `var` or `std`, which divide by n in NumPy, by n − 1 here."""
    return lambda x, axis=None, ddof=0, keepdims=False: function(x, axis, ddof, keepdims)


# NumPy's names for the operands and options, in its order; with ours, where we call them
# otherwise: nothing behind the colon, where we have no such option.
ALONG = "a:x axis dtype: out: keepdims"
FUNCTIONS: dict[str, tuple[str, Callable[..., Any]]] = {
    "sum": (ALONG, functions.sum),
    "prod": (ALONG, functions.prod),
    "mean": (ALONG, functions.mean),
    "std": ("a:x axis dtype: out: ddof keepdims", _spread(functions.std)),
    "var": ("a:x axis dtype: out: ddof keepdims", _spread(functions.var)),
    "max": ("a:x axis out: keepdims", functions.max),
    "min": ("a:x axis out: keepdims", functions.min),
    "amax": ("a:x axis out: keepdims", functions.max),
    "amin": ("a:x axis out: keepdims", functions.min),
    "all": ("a:x axis out: keepdims", functions.all),
    "any": ("a:x axis out: keepdims", functions.any),
    "argmax": ("a:x axis out: keepdims", functions.argmax),
    "argmin": ("a:x axis out: keepdims", functions.argmin),
    "cumsum": ("a:x axis dtype: out:", _cumsum),
    "clip": ("a:x a_min:low a_max:high out: min:low max:high", functions.clip),
    "round": ("a:x decimals: out:", functions.round),
    "reshape": ("a:x shape order:", functions.reshape),
    "ravel": ("a:x order:", functions.flatten),
    "transpose": ("a:x axes", functions.transpose),
    "swapaxes": ("a:x axis1 axis2", functions.swapaxes),
    "squeeze": ("a:x axis", functions.squeeze),
    "expand_dims": ("a:x axis", functions.expand_dims),
    "flip": ("m:x axis", functions.flip),
    "tile": ("A:x reps:repeats", functions.tile),
    "broadcast_to": ("array:x shape", functions.broadcast_to),
    "concatenate": ("arrays:xs axis out:", functions.concatenate),
    "stack": ("arrays:xs axis out:", functions.stack),
    "take": ("a:x indices axis out:", functions.take),
    "where": ("condition x:a y:b", functions.where),
    "zeros_like": ("a:x dtype", functions.zeros_like),
    "ones_like": ("a:x dtype", functions.ones_like),
    "shape": ("a:x", lambda x: x.shape),
    "ndim": ("a:x", lambda x: x.ndim),
    "size": ("a:x", lambda x: x.size),
}
TAKEN = {getattr(np, name): row for name, row in FUNCTIONS.items()}
# They are asked for the values and nothing else.
CONVERSIONS = {np.atleast_1d, np.atleast_2d, np.atleast_3d, np.copy}


def on_function(
    value: Any, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Answer NumPy's call of a function, such as `np.sum(value)`."""
    row, name = TAKEN.get(function), function.__name__
    if row is None:
        place = function.__module__.replace("numpy", "np", 1)
        return on_values(function, f"{place}.{name}", args, kwargs)
    return row[1](**_renamed(f"np.{name}", row[0].split(), args, kwargs))


def _renamed(
    name: str, parameters: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Rename arguments to ours; ArgumentError for an option that we don't have."""
    ours = {p.partition(":")[0]: p.rpartition(":")[2] for p in parameters}
    named = dict(zip([*ours, *range(len(args))], args, strict=False)) | kwargs
    found = {}
    for option, given in named.items():
        known = ours.get(option)
        if not known and not _says_nothing(given):
            raise ArgumentError("numpy_option", op=name, option=option, defined=here())
        if known and given is not None:
            found[known] = given
    return found


def _says_nothing(given: Any) -> bool:
    """Return whether an option is only NumPy's default."""
    return given is None or (isinstance(given, (int, str)) and given in (0, "C"))


def on_ufunc(value: Any, ufunc: np.ufunc, method: str, *xs: Any, **options: Any) -> Any:
    """Answer NumPy's call of a ufunc, such as `np.exp(value)` or `array * value`."""
    ours = UFUNCS.get(ufunc)
    if method == "__call__" and ours is not None and not options:
        return apply(ours, xs, {}) if isinstance(ours, Op) else ours(*xs)
    name = f"np.{ufunc.__name__}" + f".{method}" * (method != "__call__")
    return on_values(getattr(ufunc, method), name, xs, options)


def on_values(function: Any, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call NumPy on the values; GradientError if that would lose a gradient."""
    lost = context.now.recording and any(getattr(x, "requires_grad", False) for x in _values(args))
    refused = GradientError("numpy_gradient", op=name, ours=_advice(name), defined=here())
    if lost and "out" in kwargs:
        raise refused
    try:
        result = function(*_plain(args), **{key: _plain(x) for key, x in kwargs.items()})
    except TraceError:
        raise TraceError("numpy_node", op=name, ours=_advice(name), defined=here()) from None
    if lost and function not in CONVERSIONS and _is_real(result):
        raise refused
    return result


def _plain(x: Any) -> Any:
    """Replace tensors by their arrays."""
    if isinstance(x, Value):
        return np.asarray(x)  # a node says here that it has no value
    return type(x)(map(_plain, x)) if type(x) in (list, tuple) else x


def _values(x: Any) -> Iterator[Value]:
    if isinstance(x, Value):
        yield x
    elif type(x) in (list, tuple):
        for one in x:
            yield from _values(one)


def _is_real(result: Any) -> bool:
    """Return whether a result holds real numbers, which could have had a gradient."""
    if isinstance(result, (list, tuple)):
        return any(map(_is_real, result))
    return getattr(getattr(result, "dtype", None), "kind", None) in ("f", "c")


def _advice(name: str) -> Any:
    """Return what to write instead of a NumPy function, if that is known."""
    short = name.rpartition(".")[2]
    if hasattr(functions, short):
        return f"mg.{short}"
    return foreign.FUNCTIONS.get(short, fill("numpy_by_parts"))


def install() -> dict[str, Any]:
    """Make values and functions answer to NumPy and to other frameworks' names; return the latter.

    The functions themselves know nothing of it.
    """
    Value.__array_function__ = on_function
    Value.__array_ufunc__ = on_ufunc
    foreign.answer_names(foreign.VALUES)(Value)
    foreign.answer_keywords(Value)
    for name, ours in {"Print": effects.PRINT, "Assert": effects.ASSERT}.items():
        setattr(functions, name, foreign.suggest_ours(ours)(getattr(functions, name)))
    foreign.answer_keywords(functions)
    return {name: getattr(functions, name) for name in vars(functions)["__all__"]}
