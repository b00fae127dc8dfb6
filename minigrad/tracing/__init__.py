"""From Python functions to graphs: traced for each signature, with guards on what they read."""

from minigrad.tracing.baking import Traced, TraceWarning, trace
from minigrad.tracing.function import (
    Function,
    function,
    functions_run_eagerly,
    run_functions_eagerly,
)
from minigrad.tracing.keys import TensorSpec
from minigrad.tracing.making import make_graph

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
