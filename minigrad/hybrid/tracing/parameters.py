"""The parameters of a function: arguments in one canonical form, and what is declared of them."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.core import as_array, fits, public_shape, show_shape
from minigrad.diagnostics.errors import FeedError
from minigrad.diagnostics.source import here
from minigrad.dynamic.tensor import Tensor
from minigrad.hybrid.tracing.guards import is_layer
from minigrad.hybrid.tracing.keys import Operands, TensorSpec, brief_repr, is_array, key_of
from minigrad.static import Node

_PLAIN = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_ANYTHING = inspect.Signature(
    [
        inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
        inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
    ]
)


class Parameters:
    """The parameters of a function, by name, in order."""

    def __init__(self, function: Any) -> None:
        if is_layer(function):  # it is called with what `forward` takes
            function = function.forward
        try:
            self.signature = inspect.signature(function)
        except (TypeError, ValueError):  # written in C, and it does not say
            self.signature = _ANYTHING
        self._parameters = list(self.signature.parameters.values())
        self.names = [p.name for p in self._parameters]
        plain = all(p.kind in _PLAIN for p in self._parameters)
        self._plain = len(self._parameters) if plain else -1

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Bind one value to each parameter, as Python does; TypeError as in Python."""
        if not kwargs and len(args) == self._plain:
            return args
        bound = self.signature.bind(*args, **dict(sorted(kwargs.items())))
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def call(self, function: Callable[..., Any], values: Sequence[Any]) -> Any:
        """Call a function of these parameters with one value for each of them."""
        named = OrderedDict(zip(self.names, values, strict=True))
        bound = inspect.BoundArguments(self.signature, named)
        return function(*bound.args, **bound.kwargs)


@dataclass(frozen=True)
class Refusals:
    """The rows of messages about arguments that do not fit what was declared."""

    arrangement: str
    shape: str
    dtype: str
    constant: str


DECLARED = Refusals("spec_arrangement", "spec_shape", "spec_type", "spec_constant")
TRACED = Refusals("traced_arrangement", "traced_shape", "traced_type", "traced_constant")


def check_argument(
    spec: Any, x: Any, place: str, operands: Operands, refusals: Refusals = DECLARED
) -> None:
    """Check an argument against its declaration, and append the tensors and arrays in it.

    spec: a TensorSpec or a constant, or nested tuples, lists and dicts of them. FeedError when the
    argument does not fit.
    """
    if isinstance(spec, TensorSpec):
        if isinstance(x, dict):
            raise _refusal_error(refusals.arrangement, spec, x, place)
        operands.append(_convert_argument(spec, x, place, refusals))
        operands.symbolic |= isinstance(x, Node)
    elif isinstance(spec, (tuple, list, dict)):
        inside: Any = spec if isinstance(spec, dict) else dict(enumerate(spec))
        given = dict(enumerate(x)) if isinstance(x, (tuple, list)) else x
        if not isinstance(given, dict) or given.keys() != inside.keys():
            raise _refusal_error(refusals.arrangement, spec, x, place)
        for key, inner in inside.items():
            check_argument(inner, given[key], f"{place}[{key!r}]", operands, refusals)
    elif is_array(x) or key_of(x, operands) != key_of(spec, operands):
        raise _refusal_error(refusals.constant, spec, x, place)


def _refusal_error(row: str, spec: Any, x: Any, place: str) -> FeedError:
    return FeedError(row, name=place, expected=brief_repr(spec), value=brief_repr(x), ran=here())


def _convert_argument(spec: TensorSpec, x: Any, place: str, refusals: Refusals) -> Any:
    """Convert the argument to a tensor, array or node of the declared type and shape."""
    about: dict[str, Any] = {"name": place, "expected": spec, "ran": here()}
    if not is_array(x):
        x = np.asarray(as_array(x, None, place))
    if x.dtype != spec.dtype:
        free = not isinstance(x, (Tensor, Node))
        if not (free and np.can_cast(x.dtype, spec.dtype, "same_kind")):
            raise FeedError(refusals.dtype, dtype=x.dtype, **about)
        x = x.astype(spec.dtype)
    shape = x.spec.shape if isinstance(x, Node) else x.shape
    known, declared = shape or (), spec.shape or ()
    if refusals is TRACED and None not in (shape, spec.shape) and len(known) != len(declared):
        about |= {"count": len(known), "rank": len(declared)}
        raise FeedError("traced_rank", shape=show_shape(public_shape(shape)), **about)
    if not fits(shape, spec.spec.shape):
        raise FeedError(refusals.shape, shape=show_shape(public_shape(shape)), **about)
    return x
