"""TensorFlow 2's errors: `except tf.errors.InvalidArgumentError:`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import minigrad as mg
from minigrad.faces.face import Compat

__all__ = ["InvalidArgumentError", "errors_as_tf"]


class InvalidArgumentError(mg.GraphError):
    """An operator's error at run time: shapes, data types, a false assertion."""


class NotTheSignature(mg.FeedError, TypeError):
    """An argument that `input_signature` does not allow, which TensorFlow calls a TypeError."""


THEIRS = {mg.FeedError: NotTheSignature}
FOUND_RUNNING = mg.ShapeError, mg.DtypeError, mg.AssertionFailed, mg.NumericError


@contextlib.contextmanager
def errors_as_tf(graph: bool = False) -> Iterator[None]:
    """Raise TensorFlow's errors inside the block; errors while tracing keep minigrad's classes.

    graph: whether a traced function is called, whose errors name the run if it came to that.
    """
    try:
        yield
    except FOUND_RUNNING as error:
        if is_tracing() or (graph and error.ran is None):
            raise
        raise error_as(error, InvalidArgumentError) from None


def error_as(error: mg.GraphError, kind: type[mg.GraphError]) -> mg.GraphError:
    """Return the same error as another exception class."""
    return kind(error.key, defined=error.defined, ran=error.ran, **error.fields)


def is_tracing() -> bool:
    """Return whether a function is being traced."""
    return hasattr(mg.get_default_graph(), "captures")


__getattr__ = face = Compat(
    "tf.errors",
    "FailedPreconditionError=UninitializedError OpError=GraphError"
    " OperatorNotAllowedInGraphError=TraceError",
)
__dir__ = face.names
