"""`make_graph`: the graph that a function builds, to look at. (JAX: jax.make_jaxpr.)"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.core import as_array
from minigrad.core.structure import LEAF, flatten, transform
from minigrad.diagnostics import arguments
from minigrad.hybrid.tracing.body import TracedBody, clean_context, replace_tensors, stand_ins
from minigrad.hybrid.tracing.concrete import ConcreteFunction
from minigrad.hybrid.tracing.guards import python_function
from minigrad.hybrid.tracing.keys import TensorSpec, is_array, leaves_of
from minigrad.hybrid.tracing.parameters import Parameters
from minigrad.ops import state
from minigrad.static import Graph, Node, ancestors
from minigrad.static.build import build_graph

__all__ = ["make_graph"]


def make_graph(function: Callable[..., Any]) -> Callable[..., Graph]:
    """Return a function of examples that returns the graph `function` builds for them.

    For looking at it, or running it with `mg.run`. examples: tensors, arrays, numbers or
    TensorSpec, also nested, of which only shape and data type count; anything else is a constant.
    Several results become several outputs. Parameters become variables, as in any static graph.
    TraceError where Python asks for a value.

    >>> import minigrad as mg
    >>> print(mg.make_graph(lambda x: x * x + 3)(mg.TensorSpec((None,))).text())
    %0 = Placeholder "x" : float32[None]
    %1 = Mul(%0, %0) : float32[None]
    %2 = Constant 3.0 : float32[]
    %3 = Add(%1, %2) : float32[None]
    return %3
    """

    arguments.function("make_graph", "function", function)

    @functools.wraps(function, updated=())
    def make(*examples: Any, **options: Any) -> Graph:
        concrete = _trace(function, examples, options)
        with clean_context(), Graph() as graph:
            inputs = [_copy_input(graph, x) for x in concrete.body.arguments]
            leaves, arrangement = flatten(concrete.inline(inputs))
            outputs = [graph.lift(x) for x in leaves]
        result = build_graph(inputs, outputs[0] if arrangement is LEAF else outputs)
        result.effects += tuple(x for x in graph.nodes if x.op.impure)
        result._nodes = ancestors([*result.nodes, *result.effects])
        return result

    return make


def _trace(
    function: Callable[..., Any], examples: tuple[Any, ...], options: Any
) -> ConcreteFunction:
    parameters = Parameters(function)
    values = parameters.bind(transform(examples, _number_spec), transform(options, _number_spec))
    named = zip(parameters.names, values, strict=True)
    arrays = [leaf for name, x in named for leaf in leaves_of(name, x) if is_array(leaf[1])]
    code = python_function(function)[0]
    name = getattr(function, "__name__", type(function).__name__)
    body = TracedBody(str(name), code and code.__code__)
    with clean_context(), body:
        result = parameters.call(function, replace_tensors(values, stand_ins(body, arrays)))
    return ConcreteFunction(body, result, {})


def _number_spec(x: Any) -> Any:
    """Return a number's spec."""
    if isinstance(x, (int, float, np.generic)) and not isinstance(x, (bool, np.bool_)):
        return TensorSpec((), as_array(x, None, "make_graph").dtype)
    return x


def _copy_input(graph: Graph, x: Node) -> Node:
    node = graph.add(state.placeholder, (), x.attrs, x.name)
    node.code, node.lasti = x.code, x.lasti
    return node
