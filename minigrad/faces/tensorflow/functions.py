"""TensorFlow's graphs: `@tf.function`."""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

import minigrad as mg
from minigrad.faces.face import not_again
from minigrad.faces.tensorflow import config
from minigrad.faces.tensorflow.errors import NotTheSignature, again, following
from minigrad.faces.tensorflow.tensors import NOW, Held, Variable, convert, mapped, recorded

__all__ = ["Function", "function"]


class Function:
    """A Python function that is traced for each kind of arguments, and runs as a graph.

    `if`, `while` and `for` on tensors become part of the graph, unless `autograph` is False.
    """

    __name__: str

    def __init__(
        self, python_function: Callable[..., Any], input_signature: Any, autograph: bool
    ) -> None:
        functools.update_wrapper(self, python_function, updated=())
        self.python_function, self.input_signature = python_function, input_signature
        self._earlier = self._concrete = 0
        self._converted = python_function  # what cannot be rewritten is traced as it is
        if autograph:
            with contextlib.suppress(mg.ScriptError):
                self._converted = mg.script(python_function).converted
        self._traced: Any = None
        self._draws: dict[Any, Callable[[], Any]] = {}  # random numbers, and how they are drawn

    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if config.functions_run_eagerly():
            return self.python_function(*args, **kwargs)
        fresh = self._traced is None
        if fresh:
            self._traced = self._made()
        found, made, kept = self._run(args, kwargs)
        if made and fresh:  # they are there now: once more without making any
            for v, before in reversed(kept):
                v.data = before
            self._earlier, self._traced = self._traced.traces, self._made()
            found, made, _ = self._run(args, kwargs)
        if made:
            raise not_again(self.__name__)
        return mapped(convert, found)

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
        """The result, the variables made meanwhile, and what those that changed held before."""
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
            with following(graph=True), recorded():
                return self._traced(*mapped(held, args), **mapped(held, kwargs)), made, kept
        except mg.FeedError as error:
            raise again(error, NotTheSignature) from None
        finally:
            NOW.draws.pop()
            NOW.made.pop()
            NOW.kept.pop()

    def _made(self) -> Any:
        """What traces it: values that Python reads from around are not looked at again."""
        f, converted = self.python_function, self._converted
        code = getattr(f, "__code__", None)

        def stands(x: Any) -> Any:
            if isinstance(x, mg.Node) and code is not None:
                x.code, x.lasti = code, 0  # the line of the function's `def`
            return x.variable() if isinstance(x, Held) else convert(x)

        @functools.wraps(f)
        def traced(*args: Any, **kwargs: Any) -> Any:
            return converted(*mapped(stands, args), **mapped(stands, kwargs))

        return mg.function(traced, self.input_signature)

    def experimental_get_tracing_count(self) -> int:
        """How often it was traced."""
        traces = 0 if self._traced is None else self._traced.traces
        return int(self._earlier + max(self._concrete, traces))

    def get_concrete_function(self, *args: Any) -> Any:
        """The graph for arguments of these kinds, as a function of tensors."""
        self._concrete += 1
        graph = mg.make_graph(self._made())(*(args or self.input_signature or ()))
        return Concrete(self, graph)


def held(x: Any) -> Any:
    """A variable by what it is, anything else as it is."""
    return x.held if isinstance(x, Variable) else x


class Concrete:
    """One graph of a function, which can be called like it."""

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
    """A function that runs as a graph, traced once for each shape and data type of its tensors."""
    if func is None:
        return lambda f: Function(f, input_signature, autograph)
    return Function(func, input_signature, autograph)
