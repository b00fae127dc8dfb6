"""Signatures of operators: how many operands, which attributes, of which types.

It isn't declared: the kernel's parameters say it, and their annotations (or those of the shape
rule). A graph that comes from a file is held against this.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minigrad.core import Attrs, Op

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True)
class Signature:
    """Operands from `least` to `most` (None: any number), attributes by name with their types.

    With `others` the kernel hands further attributes on, and the operator's rule judges them.
    """

    least: int
    most: int | None
    attrs: Mapping[str, Any] = field(default_factory=dict)
    required: Collection[str] = ()
    others: bool = False

    def problem(self, operands: int, attrs: Attrs) -> str | None:
        """Describe briefly, the same in every language, what is wrong with a call."""
        if operands < self.least or (self.most is not None and operands > self.most):
            most = "..." if self.most is None else self.most
            return f"{operands} operands ({self.least} ... {most})"
        for name, value in attrs.items():
            if name not in self.attrs and not self.others:
                return f"{name}={_brief(value)} ({', '.join(self.attrs) or '-'})"
            hint = self.attrs.get(name, Any)
            if not matches(value, hint):
                return f"{name}={_brief(value)} ({getattr(hint, '__name__', hint)})"
        for name in self.required:
            if name not in attrs:
                return f"{name}=?"
        return None


def _brief(value: Any) -> str:
    return ascii(value)[:40]


@functools.cache
def signature(op: Op) -> Signature:
    """Return the signature of an operator that has a kernel.

    >>> from minigrad import ops
    >>> signature(ops.softmax)
    Signature(least=1, most=1, attrs={'axis': <class 'int'>}, required=(), others=False)
    """
    parameters = list(inspect.signature(op.run).parameters.values())[1:]  # without `out`
    named = [p for p in parameters if p.kind in _POSITIONAL]
    kinds = {p.kind for p in parameters}
    variadic, others = (
        inspect.Parameter.VAR_POSITIONAL in kinds,
        inspect.Parameter.VAR_KEYWORD in kinds,
    )
    if isinstance(op.vjp, tuple) and op.vjp:
        least = most = len(op.vjp)
    elif variadic:
        least, most = len(named), None
    elif op.samples:
        counts = [len(s.shapes) for s in op.samples]
        least, most = min(counts), max(counts)
    else:
        least = most = sum(p.default is inspect.Parameter.empty for p in named)
    attrs = [p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
    if not variadic:
        attrs += named[least if most is None else most :]
    hints = {**_hints(op.shape), **_hints(op.run)}
    required = tuple(p.name for p in attrs if p.default is inspect.Parameter.empty)
    types_of = {p.name: hints.get(p.name, Any) for p in attrs}
    return Signature(least, most, types_of, required, others)


def _hints(function: Any) -> dict[str, Any]:
    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError):  # imported for the type checker alone, or no function
        return {}
    return {name: hint for name, hint in hints.items() if hint is not Any}


def matches(value: Any, hint: Any) -> bool:
    """Return whether a value matches a type; types we can't check match, a list matches a tuple.

    >>> matches((0, 1), int | tuple[int, ...] | None), matches("0", int), matches(True, int)
    (True, False, False)
    """
    if hint is Any:
        return True
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(matches(value, one) for one in arguments)
    if origin is typing.Literal:
        return value in arguments
    if origin is not None and isinstance(origin, type) and issubclass(origin, Collection):
        if not isinstance(value, (tuple, list)):
            return isinstance(value, origin)
        if len(arguments) == 1 or arguments[-1] is Ellipsis:
            return all(matches(item, arguments[0]) for item in value)
        same = len(value) == len(arguments)
        return same and all(map(matches, value, arguments))
    if hint is None or hint is types.NoneType:
        return value is None
    if hint is bool:
        return isinstance(value, (bool, np.bool_))
    if hint is int or hint is float:
        kinds = (int, np.integer) if hint is int else (int, float, np.integer, np.floating)
        return isinstance(value, kinds) and not isinstance(value, bool)
    kind = origin or hint
    return not isinstance(kind, type) or isinstance(value, kind)
