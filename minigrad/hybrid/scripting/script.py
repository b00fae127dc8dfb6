"""`script`: the control flow of a Python function, read from its source, becomes part of the graph.

(PyTorch: torch.jit.script. TensorFlow: AutoGraph, part of tf.function.)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, overload

from minigrad.diagnostics import arguments
from minigrad.hybrid.scripting.convert import (
    convert,
    rewritten,
    rewritten_or_unchanged,
    source_function,
)
from minigrad.hybrid.tracing import Function

__all__ = ["script"]


class Script(Function):
    """A function whose source was rewritten before it is traced. Made by `script`."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        input_signature: Sequence[Any] | None = None,
        strict: bool = True,
    ) -> None:
        rewrite = convert if strict else rewritten_or_unchanged
        self.converted = rewrite(python_function)  # now, so that refusals come now
        super().__init__(
            python_function, input_signature=input_signature, convert=lambda _: self.converted
        )

    @property
    def code(self) -> str:
        """The rewritten source as text, to be read."""
        return rewritten(source_function(self.python_function)).text


@overload
def script(
    python_function: Callable[..., Any],
    input_signature: Sequence[Any] | None = None,
    strict: bool = True,
) -> Script: ...
@overload
def script(
    python_function: None = None, input_signature: Sequence[Any] | None = None, strict: bool = True
) -> Callable[[Callable[..., Any]], Script]: ...
def script(
    python_function: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    strict: bool = True,
) -> Any:
    """Trace like `function`, with if, while and for on tensors as part of the graph.

    The source is read: if, elif, else, while, for over ranges and tensors, break, continue, early
    return, and, or, not and conditional expressions are rewritten, in this function and in those
    of yours that it calls. What decides on Python values is decided while tracing; both sides of
    what decides on a tensor are in the graph, and one runs: what stands behind `and` and `or`, too,
    runs only if it is needed. A range of Python numbers is unrolled, unless a tensor decides on
    break; `x += 1` gives x a new value, and nothing changes in place; print and assert act whenever
    the graph runs. try, with, import and class act while it is traced: what the graph raises when
    it runs is not caught. `code` shows the rewritten source. ScriptError, with the line, for what
    cannot be rewritten; unless it is `strict`, that is traced as it is, and the error comes where
    Python meets a value of the graph. (torch.jit.script, tf.autograph.)

    >>> import minigrad as mg
    >>> @mg.script
    ... def collatz(n):
    ...     steps = 0
    ...     while n != 1:
    ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
    ...         steps += 1
    ...     return steps
    >>> collatz(mg.tensor(27)), collatz(mg.tensor(7)), collatz.traces
    (tensor(111), tensor(16), 1)
    """
    if python_function is None:
        return functools.partial(script, input_signature=input_signature, strict=strict)
    if isinstance(python_function, Function):
        python_function = python_function.python_function
    arguments.function("script", "python_function", python_function)
    return Script(python_function, input_signature, strict)
