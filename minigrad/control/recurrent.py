"""A recurrent cell along the time of a batch whose rows may end at different steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.control.flow import is_symbolic, scan
from minigrad.core import show_shape
from minigrad.core.structure import flatten, rebuild
from minigrad.diagnostics.arguments import function, refuse
from minigrad.diagnostics.errors import ShapeError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here
from minigrad.dynamic.tensor import Tensor
from minigrad.ops.arrange import as_operand
from minigrad.static import get_default_graph


def dynamic_rnn(
    cell: Callable[[Any, Any], Any],
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
) -> tuple[Any, Any]:
    """Run a recurrent cell along time; return all outputs (batch, time, …) and the last state.

    cell(x, state) -> (output, state), or the new state alone, which is then the output as well.
    inputs: (batch, time, features), both first axes may be open. sequence_length: (batch,)
    integers; after its end a row's outputs are 0 and its state stays. initial_state: zeros if the
    cell has `zero_state(x)`. (After tf.nn.dynamic_rnn.)

    >>> import minigrad as mg
    >>> cell = mg.nn.GRUCell(3, 4, seed=0)
    >>> x = mg.placeholder("x", shape=(None, None, 3))
    >>> outputs, state = mg.dynamic_rnn(cell, x, sequence_length=mg.placeholder("n", (None,)))
    >>> outputs.shape, state.shape
    ((None, None, 4), (None, 4))
    """
    function("dynamic_rnn", "cell", cell)
    if initial_state is None and not hasattr(cell, "zero_state"):
        raise refuse("dynamic_rnn", "initial_state", None, fill("expect_state"))
    inputs = as_operand(inputs)
    if inputs.ndim < 3:
        expected, shape = "3 axes (batch, time, features)", show_shape(inputs.shape)
        raise ShapeError("rank", op="dynamic_rnn", expected=expected, shape=shape, defined=here())
    steps = ops.transpose(inputs, axes=(1, 0, *range(2, inputs.ndim)))
    state = cell.zero_state(steps[0]) if initial_state is None else initial_state  # type: ignore[attr-defined]
    skeleton = flatten(state)[1]

    def step(carry: Any, x: Any) -> Any:
        t, old = carry
        result = cell(x, old)
        alone = flatten(result)[1] == skeleton
        new = result if alone else result[1]
        output = flatten(new)[0][0] if alone else result[0]
        if sequence_length is not None:
            going = ops.reshape(t < sequence_length, shape=(-1, 1))
            pairs = zip(flatten(new)[0], flatten(old)[0], strict=True)
            new = rebuild(skeleton, [ops.where(going, n, o) for n, o in pairs])
            output = ops.where(going, output, 0.0)
        return (t + 1, new), output

    (_, last), outputs = scan(step, (_number_like(inputs, 0), state), steps)
    return ops.transpose(outputs, axes=(1, 0, *range(2, outputs.ndim))), last


def _number_like(x: Any, value: int) -> Any:
    """Return a number as a node or a tensor, whichever x is."""
    number = np.int64(value)
    return get_default_graph().lift(number) if is_symbolic(x) else Tensor(number)
