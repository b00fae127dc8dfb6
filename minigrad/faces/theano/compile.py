"""Theano's functions and the variables they share: `theano.function`, `theano.shared`."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

import minigrad as mg
from minigrad.faces.face import Compat, as_tuple
from minigrad.faces.theano import config
from minigrad.faces.theano.tensor.basic import (
    TensorSharedVariable,
    TensorVariable,
    ancestors,
    lift,
    to_nodes,
)

__all__ = ["Function", "In", "MissingInputError", "UnusedInputError", "function", "shared"]


class UnusedInputError(mg.GraphError):
    """An input that no output needs."""


class MissingInputError(mg.NotFedError):
    """A variable that is needed but isn't an input."""


class BadInput(mg.FeedError, TypeError):
    """Arguments that a function doesn't accept."""


class NoSuchVariable(mg.GraphError, TypeError):
    """A variable of another kind than expected."""


class UpdatedTwice(mg.GraphError, ValueError):
    """Two new values for one shared variable."""


ERRORS: dict[str, type[mg.GraphError]] = {
    "assign_shape": NoSuchVariable,
    "feed_range": BadInput,
    "feed_shape": BadInput,
    "feed_type": BadInput,
    "function_arguments": BadInput,
    "function_input": NoSuchVariable,
    "function_needs": MissingInputError,
    "given_shape": NoSuchVariable,
    "not_a_node": NoSuchVariable,
    "not_a_variable": NoSuchVariable,
    "updated_twice": UpdatedTwice,
}


@contextlib.contextmanager
def errors_as_theano() -> Iterator[None]:
    """Convert errors inside the block to Theano's classes."""
    try:
        yield
    except mg.GraphError as error:
        if error.key not in ERRORS:
            raise
        about: Any = error.fields
        kind = ERRORS[error.key]
        raise kind(error.key, defined=error.defined, ran=error.ran, **about) from None


class In(NamedTuple):
    """An input with a default value."""

    variable: Any
    name: str | None = None
    value: Any = None
    allow_downcast: bool | None = None


def shared(value: Any, name: str | None = None, borrow: bool = False) -> TensorSharedVariable:
    """Make a variable that all functions share, with this initial value."""
    return TensorSharedVariable(value, name)


class Function:
    """The result of `theano.function`; call it with one value for each input."""

    def __init__(self, inputs: list[In], outputs: Any, program: Any) -> None:
        self.inputs, self.outputs, self.program = inputs, outputs, program

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run once; return one array, or a list or dict of arrays."""
        names = [x.name or to_nodes(x.variable).name for x in self.inputs]
        values = [x.value for x in self.inputs]
        for i in range(len(names)):
            if i < len(args) or names[i] in kwargs:
                values[i] = args[i] if i < len(args) else kwargs[names[i]]
        known = {*names[len(args) :]}
        if len(args) > len(names) or not known.issuperset(kwargs) or any(x is None for x in values):
            shown = ", ".join([*(f"#{i + 1}" for i in range(len(args))), *kwargs]) or "-"
            raise BadInput("function_arguments", expected=", ".join(names) or "-", given=shown)
        with errors_as_theano():
            taken = [check_input(x, value) for x, value in zip(self.inputs, values, strict=True)]
            found = self.program(*taken)
        arrays = [np.asarray(x) for x in found or ()]
        if isinstance(self.outputs, dict):
            return dict(zip(self.outputs, arrays, strict=True))
        return arrays[0] if isinstance(self.outputs, TensorVariable) else arrays

    def __repr__(self) -> str:
        return repr(self.program)


def check_input(x: In, value: Any) -> Any:
    """Return a value in an input's data type; raise BadInput if that can't hold it."""
    dtype, given = x.variable.node.dtype, np.asarray(value)
    narrow = x.allow_downcast or (type(value) is float and dtype == config.floatX == "float32")
    typed = isinstance(value, (np.ndarray, np.generic))
    if given.dtype.kind not in "biuf":
        return value
    converted = given.astype(dtype)
    fits = np.can_cast(given.dtype, dtype) if typed else np.array_equal(converted, given)
    if not (narrow or fits):
        about: dict[str, Any] = {"expected": dtype, "dtype": given.dtype}
        raise BadInput("feed_type", name=x.variable.node.name, **about)
    return converted


def function(
    inputs: Sequence[Any],
    outputs: Any = None,
    mode: Any = None,
    updates: Any = None,
    givens: Any = None,
    name: str | None = None,
    allow_input_downcast: bool | None = None,
    on_unused_input: Literal["raise", "warn", "ignore"] = "raise",
) -> Function:
    """Compile a function of the inputs that returns the outputs, then applies all updates at once.

    outputs: one variable, or a list or dict of them. updates: pairs of a shared variable and its
    new value. givens: pairs of a variable and what stands in for it.
    """
    given = [x if isinstance(x, In) else In(x) for x in inputs]
    taken = [x._replace(allow_downcast=x.allow_downcast or allow_input_downcast) for x in given]
    listed = outputs.values() if isinstance(outputs, dict) else as_tuple(outputs)
    present = [x for x in listed if x is not None]
    with errors_as_theano():
        changed, replaced = check_pairs(updates), check_pairs(givens)
        program = mg.theano_function(
            to_nodes([x.variable for x in taken]), to_nodes(present) or None, changed, replaced
        )
    read = [*to_nodes(present), *(x for _, x in (*changed, *replaced) if isinstance(x, mg.Node))]
    expect_used(taken, ancestors(read), on_unused_input)
    return Function(taken, outputs, program)


def check_pairs(pairs: Any) -> list[tuple[mg.Node, Any]]:
    """Return pairs of a node and its new value; raise NoSuchVariable if their dtypes differ."""
    found = [*(pairs.items() if isinstance(pairs, Mapping) else pairs or ())]
    for x, value in found:
        expected, dtype = to_nodes(x).dtype, lift(value).dtype
        same = dtype == expected or not isinstance(value, TensorVariable)
        if not same:
            about: dict[str, Any] = {"name": x.node.name, "expected": expected, "dtype": dtype}
            raise NoSuchVariable("face_other_type", **about)
    return [(to_nodes(x), to_nodes(value)) for x, value in found]


def expect_used(inputs: list[In], read: set[mg.Node], otherwise: str) -> None:
    """Raise an error, or warn, if nothing reads an input."""
    for x in inputs:
        if to_nodes(x.variable) not in read and otherwise != "ignore":
            error = UnusedInputError("face_unused_input", name=to_nodes(x.variable).name)
            if otherwise == "raise":
                raise error
            warnings.warn(str(error), stacklevel=3)


def evaluate(x: TensorVariable, inputs_to_values: Mapping[Any, Any] | None = None) -> Any:
    """Return the value of a variable, given the values of its inputs."""
    given = inputs_to_values or {}
    return function([*given], x, on_unused_input="ignore")(*given.values())


TensorVariable.eval = evaluate

__getattr__ = face = Compat("theano.compile")
__dir__ = face.names
