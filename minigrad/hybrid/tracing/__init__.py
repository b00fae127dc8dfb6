"""From Python functions to graphs: traced for each signature, with guards on what they read."""

from minigrad.hybrid.tracing.baking import Traced, TraceWarning, trace
from minigrad.hybrid.tracing.function import (
    Function,
    function,
    functions_run_eagerly,
    run_functions_eagerly,
)
from minigrad.hybrid.tracing.keys import TensorSpec
from minigrad.hybrid.tracing.making import make_graph

__all__ = [
    "Function",
    "TensorSpec",
    "TraceWarning",
    "Traced",
    "function",
    "functions_run_eagerly",
    "make_graph",
    "run_functions_eagerly",
    "trace",
]
