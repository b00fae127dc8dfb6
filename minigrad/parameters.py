"""The parameters of a function: arguments in one canonical form, and what is declared of them."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.core import as_array, fits, public_shape, show_shape
from minigrad.eager import Tensor
from minigrad.errors import FeedError
from minigrad.graph import Node
from minigrad.keys import Operands, TensorSpec, brief, is_array
from minigrad.source import here

_PLAIN = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_ANYTHING = inspect.Signature(
    [
        inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
        inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
    ]
)


class Parameters:
    """The parameters of a function, by name, in order."""

    def __init__(self, function: Callable[..., Any]) -> None:
        try:
            self.signature = inspect.signature(function)
        except (TypeError, ValueError):  # written in C, and it does not say
            self.signature = _ANYTHING
        self._parameters = list(self.signature.parameters.values())
        self.names = [p.name for p in self._parameters]
        plain = all(p.kind in _PLAIN for p in self._parameters)
        self._plain = len(self._parameters) if plain else -1

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """One value for each parameter, however the arguments were written; TypeError as Python."""
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


def conform(spec: Any, x: Any, place: str, operands: Operands) -> None:
    """Check an argument against its declaration, and append the tensors and arrays in it.

    spec: a TensorSpec, or nested tuples, lists and dicts of them. FeedError when it does not fit.
    """
    if isinstance(spec, TensorSpec):
        operands.append(_conforming(spec, x, place))
        operands.symbolic = operands.symbolic or isinstance(x, Node)
        return
    keys = spec.keys() if isinstance(spec, dict) else range(len(spec))
    same = isinstance(x, dict) == isinstance(spec, dict) and isinstance(x, (tuple, list, dict))
    if not same or len(x) != len(spec) or any(isinstance(x, dict) and k not in x for k in keys):
        raise FeedError("spec_arrangement", name=place, spec=spec, value=brief(x), ran=here())
    for k in keys:
        conform(spec[k], x[k], f"{place}[{k!r}]", operands)


def _conforming(spec: TensorSpec, x: Any, place: str) -> Any:
    """The argument as a tensor, array or node of the declared type and shape."""
    about: dict[str, Any] = {"name": place, "expected": spec, "ran": here()}
    if not is_array(x):
        x = as_array(x, None, place)
    if x.dtype != spec.dtype:
        lossless = np.can_cast(x.dtype, spec.dtype, "same_kind") and not isinstance(
            x, (Tensor, Node)
        )
        if not lossless:
            raise FeedError("spec_type", dtype=x.dtype, **about)
        x = x.astype(spec.dtype)
    shape = x.spec.shape if isinstance(x, Node) else x.shape
    if not fits(shape, spec.spec.shape):
        raise FeedError("spec_shape", shape=show_shape(public_shape(shape)), **about)
    return x
