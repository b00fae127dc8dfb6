"""Values that are looked at while a graph runs."""

from __future__ import annotations

from typing import Any

from minigrad import ops
from minigrad.diagnostics.arguments import expect

__all__ = ["Assert", "Print", "stop_gradient"]

PRINT, ASSERT = 'mg.Print(x, "x is")', 'mg.Assert(x > 0, "x must be positive")'


def stop_gradient(x: Any) -> Any:
    """Return x without a gradient flowing through it: a constant, as far as derivatives go.

    (tf.stop_gradient, jax.lax.stop_gradient; of a tensor also x.detach().)

    >>> import minigrad as mg
    >>> x = mg.tensor(3.0, requires_grad=True)
    >>> (x * mg.stop_gradient(x)).backward()
    >>> x.grad
    tensor(3.)
    """
    return ops.stop_gradient(x)


def Print(x: Any, message: str = "") -> Any:
    """Return x, and print `message` and its value whenever it is computed.

    In a graph that happens at each run that needs the result, or that depends on it through
    `control_dependencies`; in a branch, a loop or a traced function always. Gradients, which may
    compute it once more, do not print it once more. (tf.Print.)

    >>> import minigrad as mg
    >>> y = mg.Print(mg.tensor([1.0, 2.0]), "x is") * 2
    x is [1., 2.]
    """
    expect(isinstance(message, str), Print, PRINT)  # the values to print, in tf.Print
    return ops.print_value(x, message=message)


def Assert(condition: Any, message: str = "") -> Any:
    """Return the condition; raise AssertionFailed with `message` if any element is false.

    In a graph it is checked at each run that needs the result, as with `Print`. (tf.Assert.)

    >>> import minigrad as mg
    >>> mg.Assert(mg.tensor(2.0) > 0, "must be positive").item()
    True
    """
    expect(isinstance(message, str), Assert, ASSERT)  # the values to print, in tf.Assert
    return ops.assert_true(condition, message=message)
