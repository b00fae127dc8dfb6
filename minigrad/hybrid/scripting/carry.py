"""The state that a loop of the graph carries from step to step: the numbers in its variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.core import Spec, as_array, float32, float64, int64, is_weak
from minigrad.core.structure import flatten, rebuild
from minigrad.diagnostics.errors import ControlFlowError, GraphError
from minigrad.diagnostics.source import here
from minigrad.hybrid.scripting.merging import describe, is_same_value, variable_label, zeros
from minigrad.hybrid.scripting.missing import MaybeUndefined, is_missing, is_number, maybe_undefined

State = tuple[Any, ...]

NAMED = {
    "branch_types": "script_branch_types",
    "loop_type": "script_loop_type",
    "loop_shape": "script_loop_shape",
}


class name_errors:
    """Make errors in the block name the variable that they are about instead of a number.

    who: the statement; owners: for each number the variable. Errors of functions given to `inside`
    are left as they are: their numbers are of other things.
    """

    def __init__(self, who: str, owners: Sequence[str]) -> None:
        self.who, self.owners = who, owners
        self.others: list[BaseException] = []

    def __enter__(self) -> name_errors:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, GraphError) and error.key in NAMED and error not in self.others:
            fields: dict[str, Any] = {**error.fields, "op": self.who}
            fields["variable"] = variable_label(self.owners[fields.pop("index")])
            raise type(error)(NAMED[error.key], defined=here(), **fields) from None

    def inside(self, f: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            try:
                return f(*args)
            except GraphError as error:
                self.others.append(error)
                raise

        call.argument_names = self.owners  # type: ignore[attr-defined]
        return call


class Carry:
    """The variables of a loop: `numbers` are what the graph carries, `owners` whose they are."""

    def __init__(self, who: str, names: Sequence[str], state: State) -> None:
        self.who, self.names = who, names
        self.parts = [flatten(value) for value in state]
        pairs = [
            (x, name)
            for name, (leaves, _) in zip(names, self.parts, strict=True)
            for x in leaves
            if is_number(x)
        ]
        self.numbers = tuple(x for x, _ in pairs)
        self.owners = [name for _, name in pairs]

    def with_numbers(self, numbers: Sequence[Any]) -> State:
        """Return the variables with these numbers in them."""
        rest = iter(numbers)
        return tuple(
            rebuild(skeleton, [next(rest) if is_number(x) else x for x in leaves])
            for leaves, skeleton in self.parts
        )

    def values(self, new: State, before: Sequence[Any]) -> tuple[Any, ...]:
        """Return the numbers in the variables after a step; ControlFlowError if others changed."""
        result: list[Any] = []
        rest = iter(before)
        for name, (leaves, skeleton), value in zip(self.names, self.parts, new, strict=True):
            old = [next(rest) for x in leaves if is_number(x)]
            if is_missing(value):
                result += old
                continue
            whole = maybe_undefined(value, name) if isinstance(skeleton, MaybeUndefined) else value
            result += self._numbers(name, leaves, skeleton, whole)
        return tuple(result)

    def _numbers(self, name: str, leaves: list[Any], skeleton: Any, value: Any) -> list[Any]:
        found, after = flatten(value)
        fits = after == skeleton and all(
            is_number(y) if is_number(x) else is_same_value(x, y)
            for x, y in zip(leaves, found, strict=True)
        )
        if not fits:
            before = describe(rebuild(skeleton, leaves))
            raise ControlFlowError(
                "script_loop_values",
                op=self.who,
                variable=variable_label(name),
                before=before,
                after=describe(value),
                defined=here(),
            )
        return [y for y in found if is_number(y)]


def spec_of_carried(x: Any) -> Spec:
    """Return the spec of a number, tensor or node."""
    if hasattr(x, "spec"):
        spec: Spec = x.spec
        return spec
    array = as_array(x, None, "loop") if is_weak(x) else x
    return Spec(array.shape, array.dtype)


_PYTHON = {np.dtype(bool): False, int64: 0, float32: 0.0, float64: 0.0}


def initial_placeholder(value: Any) -> Any:
    """Return a placeholder value for a variable that the first step will set to one like this."""
    leaves, skeleton = flatten(value)
    return rebuild(skeleton, [_placeholder(x) if is_number(x) else x for x in leaves])


def _placeholder(x: Any) -> Any:
    """Return 0, if possible as a Python number, because that adapts to any data type."""
    if is_weak(x):
        return type(x)()
    return _PYTHON[x.dtype] if x.shape == () and x.dtype in _PYTHON else zeros(x)
