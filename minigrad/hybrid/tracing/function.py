"""`function`: a Python function that is traced once for each signature, and then runs as a graph.

(TensorFlow: tf.function. JAX: jax.jit.)
"""

from __future__ import annotations

import functools
import itertools
import os
import threading
import types
from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np

from minigrad.core import events, in_body
from minigrad.diagnostics import arguments, foreign
from minigrad.diagnostics.errors import TraceError
from minigrad.diagnostics.messages import Pair, choose, fill
from minigrad.diagnostics.source import function_name, here
from minigrad.dynamic.tensor import Tensor
from minigrad.hybrid.tracing.body import TracedBody, clean_context, replace_tensors, stand_ins
from minigrad.hybrid.tracing.calls import building
from minigrad.hybrid.tracing.concrete import ConcreteFunction
from minigrad.hybrid.tracing.guards import find_guards, guard_alias, guard_captured, python_function
from minigrad.hybrid.tracing.keys import (
    Key,
    KeyPart,
    Operands,
    is_array,
    is_value,
    key_of,
    leaves_of,
)
from minigrad.hybrid.tracing.parameters import Parameters, check_argument
from minigrad.hybrid.tracing.traces import Trace, join_sentences
from minigrad.static import Graph, Node

__all__ = ["function", "run_functions_eagerly"]


@foreign.answer_names(foreign.TRACES)
class Function:
    """A Python function that is traced once for each signature of its arguments.

    `convert` turns the Python function into another one before it is traced; `name` is what errors
    and drawings call it. Made by `function` and `script`.
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str | None = None,
        input_signature: Sequence[Any] | None = None,
        convert: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None,
    ) -> None:
        functools.update_wrapper(self, python_function, updated=())
        self.__name__ = str(name or function_name(python_function))
        self.python_function, self.input_signature = python_function, input_signature
        self.cache: list[Trace] = []
        self.traces = 0
        self._convert, self._converted = convert, python_function
        self._parameters = Parameters(python_function)
        self._found: dict[Key, tuple[Trace, ...]] = {}
        self._numbers = itertools.count(1)
        self._calls = 0

    def __repr__(self) -> str:
        return f"<Function {self.__name__}: {self.traces} traces>"

    @overload
    def __get__(self, instance: None, owner: type) -> Function: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> types.MethodType: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _eagerly.on:
            return self.python_function(*args, **kwargs)
        values = self._parameters.bind(args, kwargs)
        operands = Operands()
        key = self._key(values, operands)
        self._calls = call = next(self._numbers)
        trace = self._trace_for(key, values, call)
        trace.calls += 1
        if operands.symbolic or trace.concrete.symbolic or in_body():
            return trace.concrete.inline(operands)
        return trace.concrete.run(operands, call - 1)

    @property
    def graph(self) -> Graph:
        """The graph of the newest trace; TraceError before the first call."""
        if not self.cache:
            raise TraceError("not_traced", function=self.__name__, ran=here())
        return self.cache[-1].graph

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the graph, as `graph.save` does; TraceError unless there is exactly one."""
        if len(self.cache) > 1:
            about: dict[str, Any] = {"function": self.__name__, "traces": len(self.cache)}
            raise TraceError("many_traces", **about, ran=here())
        self.graph.save(path)

    def explain(self) -> str:
        """Explain why each trace was made: which argument or captured value caused it."""
        name, about = self.__name__, {"traces": self.traces, "calls": self._calls}
        lines = [fill("explain", function=name, **about)]
        for number, trace in enumerate(self.cache, 1):
            about = {"number": number, "made": trace.made, "calls": trace.calls}
            lines.append(
                fill(
                    "explain_trace",
                    reason=join_sentences(trace.reasons),
                    signature=trace.signature,
                    **about,
                )
            )
        return choose(join_sentences(lines, "\n", "\n"), "\n")

    def _key(self, values: tuple[Any, ...], operands: Operands) -> Key:
        """Return the key that a trace must match; append tensors and arrays to `operands`."""
        declared = self.input_signature
        if declared is None:
            return tuple([key_of(x, operands) for x in values])
        names = self._parameters.names
        for spec, x, name in zip(declared, values, names, strict=False):
            check_argument(spec, x, name, operands)
        return tuple([key_of(x, operands) for x in values[len(declared) :]])

    def _trace_for(self, key: Key, values: tuple[Any, ...], call: int) -> Trace:
        """Return the trace for this call; make it if there is none."""
        trace = self._find_trace(key)
        if trace is None:
            with building:  # perhaps another thread has made it in the meantime
                trace = self._find_trace(key) or self._make_trace(key, values, call)
        if _tracing.stack:
            _tracing.stack[-1].guards += trace.guards
        return trace

    def _find_trace(self, key: Key) -> Trace | None:
        for trace in self._found.get(key, ()):
            if trace.holds():
                if events.listeners:
                    events.emit("hit", None, trace)
                return trace
        return None

    def _make_trace(self, key: Key, values: tuple[Any, ...], call: int) -> Trace:
        """Trace the function once more; nothing is left behind if that fails."""
        for outer in _tracing.stack:
            if outer.function is self and outer.key == key:
                raise TraceError("recursive", function=self.__name__, ran=here())
        declared = self.input_signature or ()
        values = (*declared, *values[len(declared) :])
        named = zip(self._parameters.names, values, strict=True)
        leaves = [leaf for name, x in named for leaf in leaves_of(name, x)]
        self._drop_dead_traces()
        objects = {place: x for place, x in leaves if not (is_array(x) or is_value(x))}
        parts = [KeyPart.of("an_argument", place, x) for place, x in leaves]
        guards = find_guards(self.python_function, objects)
        trace = Trace(self, key, parts, call, self._retrace_reason(key, parts), guards)
        if events.listeners:
            events.emit("traced", None, trace)
        trace.concrete = self._build_graph(
            trace, values, [leaf for leaf in leaves if is_array(leaf[1])]
        )
        self._found[key] = (*self._found.get(key, ()), trace)
        self.cache.append(trace)
        self.traces += 1
        return trace

    def _retrace_reason(self, key: Key, parts: list[KeyPart]) -> list[Pair]:
        """Say how this call differs from the latest most similar one."""
        found = [(t.key != key, t.changes(parts)) for t in reversed(self.cache)]
        return min(found, key=lambda x: (x[0], len(x[1])), default=(True, [fill("why_first")]))[1]

    def _build_graph(
        self, trace: Trace, values: tuple[Any, ...], arrays: list[tuple[str, Any]]
    ) -> ConcreteFunction:
        """Run the Python function on stand-ins, and keep what it builds."""
        if self._convert is not None:
            self._converted, self._convert = self._convert(self.python_function), None
        code = python_function(self.python_function)[0]
        body = TracedBody(self.__name__, code and code.__code__)
        around = [guard.get() for guard in trace.guards]
        body.referred = {id(x) for x in around if isinstance(x, np.ndarray)}
        _tracing.stack.append(trace)
        try:
            with clean_context(), body:
                nodes = stand_ins(body, arrays)
                result = self._parameters.call(self._converted, replace_tensors(values, nodes))
            return ConcreteFunction(body, result, _guard_captures(trace, body))
        finally:
            _tracing.stack.pop()

    def _drop_dead_traces(self) -> None:
        """Drop traces that were made for objects that no longer exist."""
        self.cache = [trace for trace in self.cache if not trace.gone]
        self._found = {
            key: alive
            for key, traces in self._found.items()
            if (alive := tuple(trace for trace in traces if not trace.gone))
        }


def _guard_captures(trace: Trace, body: TracedBody) -> dict[int, Callable[[], Any]]:
    """Guard captured values, too; return getters for those that are reached by a name.

    A value that the function itself changed (a counter, say) is a side effect and no reason for a
    new trace; one that belongs to the trace itself is not from around.
    """
    trace.guards = [guard for guard in trace.guards if guard.holds()]
    named: dict[int, Callable[[], Any]] = {}
    for guard in tuple(trace.guards):
        x = guard.get()
        if isinstance(x, Node) and x.graph is body:
            trace.guards.remove(guard)
        elif is_array(x) and id(x) in named:
            trace.guards.append(guard_alias(guard, named[id(x)]))
        elif is_array(x):
            named[id(x)] = guard.get
    others = [x for x in body.captures.values() if isinstance(x, Tensor) and id(x) not in named]
    trace.guards += map(guard_captured, others)
    return named


class _ActiveTraces(threading.local):
    """The traces that this thread is making, the innermost last."""

    def __init__(self) -> None:
        self.stack: list[Trace] = []


class _EagerMode:
    on = False


_tracing = _ActiveTraces()
_eagerly = _EagerMode()


def run_functions_eagerly(eagerly: bool) -> None:
    """Run all functions and scripts as plain Python from now on, or as graphs again.

    For looking at values inside, with print or a debugger. (TensorFlow:
    tf.config.run_functions_eagerly.)

    >>> import minigrad as mg
    >>> @mg.function
    ... def f(x):
    ...     return type(x).__name__
    >>> mg.run_functions_eagerly(True)
    >>> f(mg.tensor(1.0))
    'Tensor'
    >>> mg.run_functions_eagerly(False)
    """
    _eagerly.on = bool(eagerly)


def functions_run_eagerly() -> bool:
    """Return whether functions run as plain Python at present."""
    return _eagerly.on


THEANO = "mg.theano_function([x], y)"


@overload
def function(
    python_function: Callable[..., Any], input_signature: Sequence[Any] | None = None
) -> Function: ...
@overload
def function(
    python_function: None = None, input_signature: Sequence[Any] | None = None
) -> Callable[[Callable[..., Any]], Function]: ...
@foreign.suggest_ours(THEANO)
def function(
    python_function: Callable[..., Any] | None = None, input_signature: Sequence[Any] | None = None
) -> Any:
    """Trace a function to run as a graph: at the first call, and for each new signature.

    Tensors and arrays count by shape and data type, Python values (and those that the function
    reads from around) by value, other objects by identity. Python's own side effects, such as
    print or append, happen once for each trace; `mg.Print` prints at each call. Returns tensors in
    the structure that the function returns; called with nodes, it adds to their graph.
    input_signature: a `TensorSpec` for each argument; then there is one trace.
    TraceError where a value is needed that does not exist yet. (tf.function, jax.jit.)

    >>> import minigrad as mg
    >>> @mg.function
    ... def f(x):
    ...     print("tracing")
    ...     return x * x
    >>> f(mg.tensor([1.0, 2.0])), f(mg.tensor([3.0, 4.0])), f.traces
    tracing
    (tensor([1., 4.]), tensor([ 9., 16.]), 1)
    """
    if python_function is None:
        return functools.partial(Function, input_signature=input_signature)
    arguments.expect(not isinstance(python_function, (list, tuple)), function, THEANO)
    arguments.function("function", "python_function", python_function)
    return Function(python_function, input_signature=input_signature)
