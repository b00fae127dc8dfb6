"""A compatibility layer for TensorFlow 2: `import minigrad.faces.tensorflow as tf`.

>>> import minigrad.faces.tensorflow as tf
>>> x = tf.Variable(2.0)
>>> with tf.GradientTape() as tape:
...     y = x * x + 3
>>> y
<tf.Tensor: shape=(), dtype=float32, numpy=7.0>
>>> tape.gradient(y, x).numpy().item()
4.0
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces import flow
from minigrad.faces.face import Compat
from minigrad.faces.tensorflow import config, debugging, errors, keras, linalg, math, nn, random
from minigrad.faces.tensorflow.functions import function
from minigrad.faces.tensorflow.modules import Module
from minigrad.faces.tensorflow.tape import GradientTape, UnconnectedGradients
from minigrad.faces.tensorflow.tensors import (
    Tensor,
    TensorShape,
    Variable,
    as_tf,
    constant,
    convert_to_tensor,
    is_tensor,
    map_structure,
    tensor_function,
)

__all__ = [
    "GradientTape",
    "Module",
    "Tensor",
    "TensorShape",
    "UnconnectedGradients",
    "Variable",
    "cond",
    "config",
    "constant",
    "convert_to_tensor",
    "debugging",
    "errors",
    "executing_eagerly",
    "function",
    "is_tensor",
    "keras",
    "linalg",
    "math",
    "nn",
    "print",
    "random",
    "range",
    "split",
    "while_loop",
]

split = tensor_function(flow.split)


def executing_eagerly() -> bool:
    """Return whether operators run at once: False while a function is being traced."""
    return not errors.is_tracing()


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """Return the result of `true_fn` or `false_fn`; a graph holds both and runs one."""
    return map_structure(as_tf, mg.cond(pred, true_fn, false_fn))


def takes_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function so that its arguments are this module's tensors."""
    return lambda *values: function(*map(as_tf, values))


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    maximum_iterations: int | None = None,
) -> tuple[Any, ...]:
    """Repeat the body while the condition is true; return the final loop variables."""
    start = [convert_to_tensor(x) for x in loop_vars]
    cond, body = takes_tensors(cond), takes_tensors(body)
    found: tuple[Any, ...] = map_structure(
        as_tf, flow.run_while(cond, body, start, maximum_iterations)
    )
    return found


def loop_range(*bounds: Any) -> Any:
    """Return the range that a loop runs over, if its bounds are known only in the graph."""
    return builtins.range(*bounds)


SPANNED = mg.script(loop_range).converted


def range(*bounds: Any, dtype: Any = None) -> Any:
    """Return numbers in [start, limit); bounds known only in a traced function are for loops."""
    if any(isinstance(x, mg.Node) for x in bounds):
        first, *rest = bounds if len(bounds) > 1 else (0, *bounds)
        return SPANNED(convert_to_tensor(first), *rest)
    numbers: list[Any] = [x.numpy() if isinstance(x, mg.Tensor) else x for x in bounds]
    return as_tf(mg.arange(*numbers, dtype=dtype or flow.default_dtype(numbers)))


def print(*inputs: Any, output_stream: Any = None, sep: str = " ") -> None:
    """Print values; in a traced function, whenever its graph runs."""
    if errors.is_tracing():
        text = sep.join(str(x) for x in inputs if not is_tensor(x))
        for x in inputs:
            if is_tensor(x):
                mg.Print(x, text)
    else:
        stream = sys.stderr if output_stream is None else output_stream
        stream.write(sep.join(map(format_value, inputs)) + "\n")


def format_value(x: Any) -> str:
    """Return a value as `tf.print` prints it, such as [1 2.5]."""
    if not is_tensor(x):
        return str(x)
    return np.array2string(np.asarray(x), formatter={"float_kind": lambda n: f"{n:g}"})


__getattr__ = face = Compat(
    "tf",
    "TensorSpec bool=bool_ float32 float64 int32 int64 name_scope",
    calls=flow.CALLS
    | flow.LOOPS
    | {
        "norm(x)": "mg.sqrt(mg.sum(mg.square(x)))",
        "rank(x)": "mg.tensor(x.ndim, dtype=mg.int32)",
        "shape(x)": "mg.tensor([*x.shape], dtype=mg.int32)",
        "size(x)": "mg.tensor(int(x.size), dtype=mg.int32)",
        "stop_gradient(x)": "mg.stop_gradient(x)",
    },
    lacks={
        "tf.Variable(initial_value)": "get_variable",
        "def f(x): ...": "placeholder",
        "f(x)": "Session InteractiveSession",
        "tape.gradient(y, x)": "gradients",
        "tf.random.normal(shape)": "random_normal",
        "tf.random.uniform(shape)": "random_uniform",
        "tf.random.set_seed(0)": "set_random_seed",
        "tf.Variable": "global_variables_initializer",
        "v.assign(value)": "assign",
        "v.assign_add(value)": "assign_add",
        "tf.print(x)": "Print",
        "tf.keras.optimizers.SGD(0.1)": "train",
        "tf.matmul(a, b)": "einsum tensordot",
        "x[i : i + 32]": "data",
    },
    around=tensor_function,
    default_dtype=flow.default_dtype,
    stack_list=flow.stack_list,
)
__dir__ = face.names
