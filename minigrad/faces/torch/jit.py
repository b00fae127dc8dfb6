"""TorchScript's API: `torch.jit.trace`, `script`, `save`, `load`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import minigrad as mg
from minigrad.faces.face import Compat, as_tuple, graph_as_function, make_error

__all__ = ["trace", "trace_module"]


def trace(
    func: Any,
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Sequence[Any] | None = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
) -> Any:
    """Trace a function with example inputs; the graph takes any inputs of as many axes.

    Lengths that it reads from shapes are read again for each input; what Python did with a number
    (a loop, an `if`, `int(n)`) stays as it was for the examples. Each of `check_inputs` is tried
    on the function and on the graph: TraceError where they differ.
    """
    traced = mg.trace(func, *as_tuple(example_inputs), open_lengths=True)
    for inputs in check_inputs or ():
        check = traced.check(*as_tuple(inputs), tolerance=check_tolerance)
        if not check:
            raise make_error(mg.TraceError, "face_check", check=repr(check))
    return traced


def trace_module(mod: Any, inputs: Mapping[str, Any], **options: Any) -> Any:
    """Trace a module's methods by name; only `forward` is supported."""
    if [*inputs] != ["forward"]:
        raise face.error_for("trace_module")
    return trace(mod, inputs["forward"], **options)


__getattr__ = face = Compat(
    "torch.jit",
    "script",
    calls={"load(f)": "graph_as_function(mg.load_graph(f))", "save(m, f)": "m.save(f)"},
    lacks={
        "a function without it": "ignore unused export",
        "torch.jit.trace(model, x)": "trace_module",
    },
    graph_as_function=graph_as_function,
)
__dir__ = face.names
