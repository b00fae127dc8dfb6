"""From Python functions to graphs: traced for each signature, with guards on what they read."""

from minigrad.hybrid.tracing.baking import Traced
from minigrad.hybrid.tracing.function import Function, functions_run_eagerly

__all__ = ["Function", "Traced", "functions_run_eagerly"]
