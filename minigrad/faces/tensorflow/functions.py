"""TensorFlow's graphs: `@tf.function`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import minigrad as mg
from minigrad.faces.face import new_variable_error
from minigrad.faces.flow import RULES
from minigrad.faces.tensorflow import config
from minigrad.faces.tensorflow.errors import NotTheSignature, error_as, errors_as_tf
from minigrad.faces.tensorflow.tensors import (
    NOW,
    Variable,
    VariableKey,
    as_tf,
    map_structure,
    set_recording,
)
from minigrad.faces.ties import following as by_rules

__all__ = ["Function", "function"]


# What `mg.function` makes, for drawings to know it.
TRACED: Any = type(mg.function(lambda: None))


class Function(TRACED):  # type: ignore[misc]
    """A Python function that is traced for each kind of arguments and runs as a graph.

    `if`, `while` and `for` on tensors become part of the graph, unless `autograph` is False.
    """

    def __init__(
        self, python_function: Callable[..., Any], input_signature: Any, autograph: bool
    ) -> None:
        self._plain = python_function
        converted = python_function
        if autograph:
            converted = mg.script(python_function, strict=False).converted
        self._begin = functools.partial(
            super().__init__, wrap_for_tracing(python_function, converted), None, input_signature
        )
        self._begin()
        self._earlier = self._concrete = 0
        self._draws: dict[Any, Callable[[], Any]] = {}  # random numbers, and how they are drawn

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if config.functions_run_eagerly():
            return self._plain(*args, **kwargs)
        fresh = self.traces == self._earlier == 0
        found, made, kept = self._run(args, kwargs)
        if made and fresh:  # they are there now: once more without making any
            for v, before in reversed(kept):
                v.data = before
            self._earlier = self.traces
            self._draws.clear()
            self._begin()
            found, made, _ = self._run(args, kwargs)
        if made:
            raise new_variable_error(self.__name__)
        return map_structure(as_tf, found)

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
        """Run the function; return the result, variables made, and prior values of changed ones."""
        made: list[Any] = []
        kept: list[Any] = []
        for x, draw in self._draws.items():
            x.data = draw()
        for outer in NOW.draws:
            outer.update(self._draws)
        NOW.draws.append(self._draws)
        NOW.made.append(made)
        NOW.kept.append(kept)
        try:
            with errors_as_tf(graph=True), set_recording(), by_rules(RULES):
                found = super().__call__(
                    *map_structure(as_traceable, args), **map_structure(as_traceable, kwargs)
                )
                return found, made, kept
        except mg.FeedError as error:
            raise error_as(error, NotTheSignature) from None
        finally:
            NOW.draws.pop()
            NOW.made.pop()
            NOW.kept.pop()

    def experimental_get_tracing_count(self) -> int:
        """Return how often the function was traced."""
        return int(self._earlier + max(self._concrete, self.traces))

    def get_concrete_function(self, *args: Any) -> Any:
        """Trace a graph for arguments of these kinds; return it as a function of tensors."""
        self._concrete += 1
        graph = mg.make_graph(self.python_function)(*(args or self.input_signature or ()))
        return ConcreteFunction(self, graph)


def wrap_for_tracing(
    python_function: Callable[..., Any], converted: Callable[..., Any]
) -> Callable[..., Any]:
    """Wrap a function for tracing; values that it captures aren't checked at later calls."""
    code = getattr(python_function, "__code__", None)

    def stands(x: Any) -> Any:
        if isinstance(x, mg.Node) and code is not None:
            x.code, x.lasti = code, 0  # the line of the function's `def`
        return x.variable() if isinstance(x, VariableKey) else as_tf(x)

    @functools.wraps(python_function)
    def traced(*args: Any, **kwargs: Any) -> Any:
        return converted(*map_structure(stands, args), **map_structure(stands, kwargs))

    return traced


def as_traceable(x: Any) -> Any:
    """Return a Variable's traceable form; anything else unchanged."""
    return x.held if isinstance(x, Variable) else x


class ConcreteFunction:
    """One graph of a function, which can be called like the function."""

    def __init__(self, owner: Function, graph: mg.Graph) -> None:
        self.owner, self.graph = owner, graph

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.owner(*args, **kwargs)


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
) -> Any:
    """Compile a function to a graph, traced once for each shape and data type of its tensors."""
    if func is None:
        return lambda f: Function(f, input_signature, autograph)
    return Function(func, input_signature, autograph)
