"""TensorFlow 1's words: `import minigrad.faces.tensorflow1 as tf`.

>>> import minigrad.faces.tensorflow1 as tf
>>> x = tf.placeholder(tf.float32, [None, 2])
>>> W = tf.Variable(tf.ones([2, 1]))
>>> y = tf.matmul(x, W)
>>> with tf.Session() as sess:
...     sess.run(tf.global_variables_initializer())
...     sess.run(y, feed_dict={x: [[1.0, 2.0]]})
array([[3.]], dtype=float32)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.face import Face, ordered
from minigrad.faces.tensorflow1 import errors, nn, train

__all__ = [
    "Graph",
    "Print",
    "Variable",
    "cond",
    "errors",
    "get_variable",
    "nn",
    "split",
    "train",
    "while_loop",
]


class Graph(mg.Graph):
    """A graph to build in: `with tf.Graph().as_default():`."""

    def as_default(self) -> Graph:
        """The graph itself, which is entered by `with`."""
        return self


def Variable(initial_value: Any, name: str | None = None, dtype: Any = None) -> mg.Node:
    """A variable; a node it begins with is computed now, once for all sessions."""
    if callable(initial_value):
        initial_value = initial_value()
    if isinstance(initial_value, mg.Node):
        initial_value = mg.Session(initial_value.graph).run(initial_value)
    return mg.Variable(initial_value, name, dtype or kind(initial_value))


def kind(value: Any) -> Any:
    """int32 for Python's whole numbers; None, which is what minigrad chooses, for all others."""
    whole = not hasattr(value, "dtype") and np.asarray(value).dtype.kind == "i"
    return mg.int32 if whole else None


def get_variable(
    name: str, shape: Sequence[int] = (), dtype: Any = mg.float32, *, initializer: Any
) -> mg.Node:
    """A new variable of this name: `initializer` is a value, or a function of the shape."""
    value = initializer(shape) if callable(initializer) else initializer
    return Variable(value, name, dtype)


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """Both branches are in the graph, one runs."""
    return mg.cond(pred, true_fn, false_fn)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    maximum_iterations: int | None = None,
) -> Any:
    """A loop in the graph; a single loop variable is handed to the functions, and back, alone."""
    first, *more = loop_vars
    if more:
        step = lambda *values: tuple(body(*values))  # noqa: E731
        return mg.while_loop(cond, step, tuple(loop_vars), maximum_iterations)
    return mg.while_loop(cond, lambda x: ordered(body(x))[0], first, maximum_iterations)


def split(value: Any, num_or_size_splits: Any, axis: int = 0) -> list[Any]:
    """So many equal parts, or parts of these lengths."""
    if isinstance(num_or_size_splits, int):
        return mg.split(value, axis=axis, sections=num_or_size_splits)
    return mg.split(value, num_or_size_splits, axis)


def Print(input_: Any, data: Sequence[Any], message: str = "") -> Any:
    """`input_`, which prints the data whenever it is computed."""
    with mg.control_dependencies([mg.Print(x, message) for x in data]):
        return input_ * 1


def packed(x: Any) -> Any:
    """A list in which there are nodes, as one node."""
    nodes = isinstance(x, (list, tuple)) and any(isinstance(item, mg.Node) for item in x)
    return mg.stack(x) if nodes else x


def named(x: Any, name: str | None) -> mg.Node:
    """A node, also of what was computed from numbers alone, under the name that it is to have."""
    node = x if isinstance(x, mg.Node) else mg.constant(x)
    node.name = name or node.name
    return node


def calls(table: dict[str, str]) -> dict[str, str]:
    """Calls that make one node each, which may be given a name."""
    return {f"{theirs[:-1]}, name=None)": f"named({ours}, name)" for theirs, ours in table.items()}


UNARY = "abs ceil cos erf exp floor log log1p logical_not negative round sigmoid sign sin sqrt"
UNARY += " square tanh"
BINARY = "add divide equal greater greater_equal less less_equal logical_and logical_or maximum"
BINARY += " minimum multiply not_equal pow subtract"
REDUCED = "x, axis=None, keepdims=False"
SHAPED = "shape, dtype=mg.float32"

__getattr__ = face = Face(
    "tf",
    "Session assign bool=bool_ control_dependencies float32 float64 get_default_graph"
    " global_variables_initializer group int32 int64 name_scope reset_default_graph"
    " stop_gradient",
    calls={
        "Assert(condition, data)": "mg.Assert(condition)",
        "assign_add(ref, value)": "mg.assign(ref, ref + value)",
        "assign_sub(ref, value)": "mg.assign(ref, ref - value)",
        "constant_initializer(value=0.0)": "lambda shape: mg.full(shape, value)",
        "disable_eager_execution()": "None",
        "disable_v2_behavior()": "None",
        "gradients(ys, xs, grad_ys=None)": "list(mg.gradients(ys, xs, grad_ys))",
        "map_fn(fn, elems)": "mg.scan(lambda none, x: (none, fn(x)), 0.0, elems)[1]",
        "no_op()": "mg.group()",
        "ones_initializer()": "lambda shape: mg.ones(shape)",
        "placeholder(dtype, shape=None, name=None)": "mg.placeholder(dtype, shape, name=name)",
        "random_normal_initializer(mean=0.0, stddev=1.0, seed=None)": (
            "lambda shape: mg.randn(shape, seed=seed) * stddev + mean"
        ),
        "scan(fn, elems, initializer)": (
            "mg.scan(lambda carry, x: (fn(carry, x),) * 2, initializer, elems)[1]"
        ),
        "set_random_seed(seed)": "mg.manual_seed(seed)",
        "trainable_variables()": "[*mg.get_default_graph().variables]",
        "global_variables()": "[*mg.get_default_graph().variables]",
        "unstack(x, axis=0)": "mg.unbind(x, axis)",
        "variable_scope(name)": "mg.name_scope(name)",
        "zeros_initializer()": "lambda shape: mg.zeros(shape)",
    }
    | calls(
        {
            **{f"{f}(x)": f"mg.{f}(x)" for f in UNARY.split()},
            **{f"{f}(a, b)": f"mg.{f}(a, b)" for f in BINARY.split()},
            **{
                f"reduce_{f}({REDUCED})": f"mg.{f}(x, axis=axis, keepdims=keepdims)"
                for f in ["all", "any", "logsumexp", "max", "mean", "min", "prod", "sum"]
            },
            "add_n(inputs)": "mg.sum(mg.stack(inputs), axis=0)",
            "argmax(input, axis=0)": "mg.argmax(input, axis)",
            "argmin(input, axis=0)": "mg.argmin(input, axis)",
            "cast(x, dtype)": "mg.cast(x, dtype)",
            "clip_by_value(x, min, max)": "mg.clip(x, min, max)",
            "concat(values, axis)": "mg.concatenate(values, axis)",
            "constant(value, dtype=None)": "mg.constant(value, dtype or kind(value))",
            "expand_dims(x, axis)": "mg.expand_dims(x, axis)",
            "eye(n, m=None)": "mg.constant(mg.eye(n, m))",
            "fill(dims, value)": "mg.constant(mg.full(tuple(dims), value))",
            "gather(params, indices, axis=0)": "mg.take(params, packed(indices), axis)",
            "identity(x)": "mg.clone(x)",
            "linspace(start, stop, num)": "mg.constant(mg.linspace(start, stop, num))",
            "matmul(a, b, transpose_a=False, transpose_b=False)": (
                "mg.matmul(a, b, transpose_a, transpose_b)"
            ),
            "one_hot(indices, depth)": "mg.one_hot(indices, depth)",
            "ones_like(x)": "mg.ones_like(x)",
            f"ones({SHAPED})": "mg.constant(mg.ones(shape, dtype=dtype))",
            "random_normal(shape, mean=0.0, stddev=1.0, dtype=mg.float32, seed=None)": (
                "mg.constant(mg.randn(shape, seed=seed, dtype=dtype) * stddev + mean)"
            ),
            "random_uniform(shape, minval=0.0, maxval=1.0, dtype=mg.float32, seed=None)": (
                "mg.constant(mg.rand(shape, seed=seed, dtype=dtype) * (maxval - minval) + minval)"
            ),
            "range(*bounds, dtype=mg.int32)": "mg.constant(mg.arange(*bounds, dtype=dtype))",
            "reshape(x, shape)": "mg.reshape(x, shape)",
            "squeeze(x, axis=None)": "mg.squeeze(x, axis)",
            "stack(values, axis=0)": "mg.stack(values, axis)",
            "tile(x, multiples)": "mg.tile(x, multiples)",
            "transpose(x, perm=None)": "mg.transpose(x, perm)",
            "where(condition, x=None, y=None)": "mg.where(condition, x, y)",
            "zeros_like(x)": "mg.zeros_like(x)",
            f"zeros({SHAPED})": "mg.constant(mg.zeros(shape, dtype=dtype))",
        }
    ),
    lacks={
        "tf.random_normal(shape, stddev=0.1)": "truncated_normal",
        "with tf.Session() as sess: ...": "InteractiveSession ConfigProto",
        "tf.nn.relu(tf.matmul(x, W) + b)": "layers",
        "x.shape": "shape size rank",
    },
    kind=kind,
    named=named,
    packed=packed,
)
__dir__ = face.names
