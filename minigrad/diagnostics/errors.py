"""One family of errors: each names the operator, the shapes, the user's line and the remedy."""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable

from minigrad.diagnostics.messages import choose, fill
from minigrad.diagnostics.source import Location, here

__all__ = [
    "ArgumentError",
    "AssertionFailed",
    "ControlFlowError",
    "CycleError",
    "DtypeError",
    "FeedError",
    "FormatError",
    "FrozenGraphError",
    "GradientError",
    "GraphError",
    "IndexRangeError",
    "MissingNameError",
    "MissingPackageError",
    "NotFedError",
    "NumericError",
    "ScriptError",
    "ShapeError",
    "TraceError",
    "UninitializedError",
    "VerifyError",
]

P = typing.ParamSpec("P")
T = typing.TypeVar("T")


class GraphError(Exception):
    """The parent of every error of the engine.

    `key` is the row of `messages.ERRORS`, `fields` fill it, `defined` and `ran` are the user's
    lines. The text follows the chosen language at the time it is read.
    """

    def __init_subclass__(cls) -> None:
        cls.__module__ = "minigrad"  # a traceback names an error as users do

    def __init__(
        self,
        key: str,
        /,
        *,
        defined: Location | None = None,
        ran: Location | None = None,
        **fields: object,
    ) -> None:
        super().__init__(key)
        self.key, self.fields, self.defined, self.ran = key, fields, defined, ran
        self.before: Callable[[], typing.Any] | None = None  # of a model: gives what ran before

    @property
    def pair(self) -> tuple[str, str]:
        """The message in English and in Chinese."""
        rows = [fill(self.key, **self.fields)]
        for row, location in (("defined_at", self.defined), ("run_at", self.ran)):
            if location is not None:
                rows.append(fill(row, where=location.label))
        english, chinese = zip(*rows, strict=True)
        return "\n".join(english), "\n".join(chinese)

    def __str__(self) -> str:
        return choose(self.pair)


def located(function: Callable[P, T]) -> Callable[P, T]:
    """Make a composed function's errors name the user's line."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except GraphError as error:
            error.defined = error.defined or here()
            raise

    return call


class ArgumentError(GraphError, ValueError):
    """An argument, other than an operand, that the function cannot take."""


class MissingNameError(GraphError, AttributeError):
    """A name that another framework has, and that is different here."""


class MissingPackageError(GraphError, ImportError):
    """A package that an extra brings, and that is not installed or cannot be loaded."""


class ShapeError(GraphError, ValueError, RuntimeError):  # ValueError elsewhere, Runtime in PyTorch
    """Operands whose shapes do not fit."""


class IndexRangeError(ShapeError, IndexError):
    """A position outside its axis."""


class DtypeError(GraphError, TypeError, RuntimeError):  # TypeError elsewhere, Runtime in PyTorch
    """Operands of a data type that the operator cannot take."""


class NumericError(GraphError, ArithmeticError):
    """A result that is NaN or infinite, found by `detect_anomaly`; integers divided by 0.

    Also integers raised to negative powers, which make no integer.
    """


class GradientError(GraphError, RuntimeError):
    """A backward pass that cannot be made, or would be wrong."""


class NotFedError(GraphError, ValueError):
    """A placeholder that the fetched nodes need was not fed."""


class FeedError(GraphError, ValueError):
    """A value that does not belong to the placeholder it was fed to."""


class UninitializedError(GraphError, RuntimeError):
    """A variable that has no value in this session."""


class CycleError(GraphError, ValueError):
    """Nodes that would depend on themselves."""


class FrozenGraphError(GraphError, RuntimeError):
    """A node added to a frozen graph."""


class TraceError(GraphError, TypeError):
    """A symbolic node used where Python needs a value."""


class VerifyError(GraphError, ValueError):
    """A graph whose records contradict each other."""


class AssertionFailed(GraphError, AssertionError):
    """A condition that `mg.Assert` found false."""


class ControlFlowError(GraphError, TypeError):
    """Branches or loop steps whose results do not fit together."""


class FormatError(GraphError, ValueError):
    """A file that is no graph, or a graph that cannot be put into a file."""


class ScriptError(GraphError, RuntimeError):
    """Python source that `mg.script` cannot make part of a graph."""
