"""A JAX function, captured once by `jax.make_jaxpr` and read equation by equation."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.core import Array, BaseNode
from minigrad.diagnostics.errors import GraphError, TraceError
from minigrad.diagnostics.source import here
from minigrad.dynamic.tensor import Tensor
from minigrad.interop.captured import TOLERANCE, About, Builder, Captured, seed
from minigrad.interop.jax.arguments import Arguments
from minigrad.interop.jax.failed import error_for, quiet, reason
from minigrad.interop.jax.reader import SYSTEM, Reader, plain_array
from minigrad.interop.jax.recognise import mentions_jax


def belongs(obj: Any, inputs: Sequence[Any]) -> bool:
    """Return whether this is JAX's, by type, inputs or code. Nothing is imported or run.

    A function of NumPy arrays and Python numbers is JAX's if its code names something of JAX.
    """
    jax: Any = sys.modules.get("jax")
    if jax is None or not hasattr(jax, "Array") or not callable(obj):
        return False
    leaves = jax.tree_util.tree_leaves(tuple(inputs))
    if isinstance(obj, (Tensor, BaseNode)) or any(
        isinstance(x, (Tensor, BaseNode)) for x in leaves
    ):
        return False
    arrays = any(isinstance(x, jax.Array) for x in leaves)
    return isinstance(obj, jax.stages.Wrapped) or arrays or mentions_jax(obj)


def as_given(inputs: Sequence[Any]) -> Sequence[Any]:
    """Return the inputs unchanged: JAX takes NumPy's arrays."""
    return inputs


def with_loss(function: Any, loss: Any) -> Any:
    """Return the function followed by a loss of its result."""

    @functools.wraps(function, updated=())
    def followed(*args: Any) -> Any:
        return loss(function(*args))

    return followed


def capture(function: Any, inputs: Sequence[Any]) -> Captured:
    """Capture a JAX function as a minigrad graph for inputs like these.

    Arrays in containers are taken for parameters: they are variables, named by their keys. Loops
    of `lax.scan` are unrolled. A function that JAX does not differentiate is captured without a
    backward pass. TraceError for one that JAX cannot capture.
    """
    jax: Any = sys.modules["jax"]
    arguments, closed = _traced(jax, *_opened(jax, function, inputs))
    values, found, said = _original(jax, arguments)

    def captured(careful: bool) -> Captured:
        reader = Reader(jax, Builder(), careful)
        given = [reader.given(*named) for named in arguments.named()]
        outputs = reader.read(closed.jaxpr, closed.consts, given)
        refused = None if said is None else reader.refusal(said)
        return reader.builder.captured(SYSTEM, outputs, values, found, About(refused=refused))

    model = captured(careful=False)
    if max(model.gaps()) <= TOLERANCE:
        return model
    return min((model, captured(careful=True)), key=lambda x: max(x.gaps()))


def _opened(jax: Any, function: Any, inputs: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
    """Turn a module that holds its arrays, as in Equinox, into a function that takes them."""
    flat, structure = jax.tree_util.tree_flatten(function)
    arrays = [isinstance(x, (jax.Array, np.ndarray)) for x in flat]
    if not any(arrays):
        return function, inputs
    pairs = [*zip(flat, arrays, strict=True)]

    def call(model: Any, *xs: Any) -> Any:
        given = iter(jax.tree_util.tree_leaves(model))
        return structure.unflatten([next(given) if own else x for x, own in pairs])(*xs)

    held = structure.unflatten([x if own else None for x, own in pairs])  # numbers stay as they are
    named = inspect.signature(call).parameters["model"], *_by_place(function)
    call.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]
    call.__name__ = type(function).__name__
    return call, (held, *inputs)


def _by_place(function: Any) -> list[inspect.Parameter]:
    """Return the positional parameters of a function."""
    kinds = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [p for p in inspect.signature(function).parameters.values() if p.kind in kinds]


def _traced(jax: Any, function: Any, inputs: Sequence[Any]) -> tuple[Arguments, Any]:
    """Return the arguments that can be traced, and the equations of the function.

    Where a Python number is needed as it is (in an `if`, as a length), it is not traced.
    """
    arguments = Arguments(jax, function, inputs)
    try:
        return arguments, _equations(jax, arguments)
    except GraphError:
        raise
    except Exception as error:  # whatever the function raises
        fixed = Arguments(jax, function, inputs, numbers=False)
        needs_value = isinstance(error, (jax.errors.JAXTypeError, jax.errors.JAXIndexError))
        if not needs_value or len(fixed.given) == len(arguments.given):
            raise error_for(jax, arguments, error) from error
    try:
        return fixed, _equations(jax, fixed)
    except Exception as error:
        raise error_for(jax, fixed, error) from error


def _equations(jax: Any, arguments: Arguments) -> Any:
    closed = jax.make_jaxpr(arguments.results)(*arguments.given)
    if not closed.jaxpr.outvars:
        raise TraceError("capture_nothing", system=SYSTEM, function=arguments.called, ran=here())
    return closed


def _original(
    jax: Any, arguments: Arguments
) -> tuple[list[Array], dict[str, Array | None], str | None]:
    """Return JAX's results and gradients for the check, or why JAX gives no gradients."""
    kinds = [arguments.kind(x) for x in arguments.given]
    real = [i for i, kind in enumerate(kinds) if kind == "f"]

    def results(*leaves: Any) -> list[Any]:
        given = dict(zip(real, leaves, strict=True))
        return arguments.results(*(given.get(i, x) for i, x in enumerate(arguments.given)))

    reals = [arguments.given[i] for i in real]
    names = [name for name, _, _ in arguments.named()]
    values, said = None, None
    found: dict[str, Array | None] = {}
    # Also without jit: a known bound then gives a loop of fixed length, which has a gradient.
    for run in (jax.jit(results), results):
        try:
            with quiet():
                values, pull = jax.vjp(run, *reals)
            slopes = pull([_seed(jax, arguments, y) for y in values])
        except Exception as error:  # noqa: BLE001  (each operator has its own way to refuse)
            said = said or reason(error)
        else:
            found = {names[i]: np.array(g) for i, g in zip(real, slopes, strict=True)}
            said = None
            break
    try:
        with quiet():
            values = jax.jit(results)(*reals) if values is None else values
            arrays = [plain_array(jax, y) for y in values]
    except Exception as error:  # whatever a callback raises
        raise error_for(jax, arguments, error) from error
    return arrays, found, said


def _seed(jax: Any, arguments: Arguments, y: Any) -> Any:
    """Return the cotangent of a result in the check; float0 zeros where JAX requires them."""
    kind = arguments.kind(y)
    if kind == "f":
        return seed(np.asarray(y))
    return np.zeros(np.shape(y), y.dtype if kind == "c" else jax.dtypes.float0)
