"""A compatibility layer for TensorFlow 1: `import minigrad.faces.tensorflow1 as tf`.

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

import minigrad as mg
from minigrad.faces import flow
from minigrad.faces.face import Compat
from minigrad.faces.flow import default_dtype, split, stack_list
from minigrad.faces.tensorflow1 import errors, nn, train
from minigrad.faces.tensorflow1.sessions import Session, redraw_each_run

__all__ = [
    "Graph",
    "Print",
    "Session",
    "Variable",
    "cond",
    "errors",
    "get_default_graph",
    "get_variable",
    "nn",
    "split",
    "train",
    "while_loop",
]


class Graph(mg.Graph):
    """A graph to build in: `with tf.Graph().as_default():`."""

    def as_default(self) -> Graph:
        """Return the graph itself, to be used in a `with` statement."""
        return self

    def get_operations(self) -> list[mg.Node]:
        """Return all nodes in the order in which they were built."""
        return list(self.nodes)


def get_default_graph() -> mg.Graph:
    """Return the current default graph, with TensorFlow 1's methods."""
    graph = mg.get_default_graph()
    if type(graph) is mg.Graph:
        graph.__class__ = Graph  # not a copy: later nodes go into this very graph
    return graph


def Variable(initial_value: Any, name: str | None = None, dtype: Any = None) -> mg.Node:
    """Make a variable; an initial value that is a node is computed once, for all sessions."""
    if callable(initial_value):
        initial_value = initial_value()
    if isinstance(initial_value, mg.Node):
        initial_value = Session(initial_value.graph).run(initial_value)
    return mg.Variable(initial_value, name, dtype or default_dtype(initial_value))


def get_variable(
    name: str, shape: Sequence[int] = (), dtype: Any = mg.float32, *, initializer: Any
) -> mg.Node:
    """Make a new variable of this name; `initializer` is a value or a function of the shape."""
    value = initializer(shape) if callable(initializer) else initializer
    return Variable(value, name, dtype)


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """Choose between two branches: both are in the graph, one runs."""
    return mg.cond(pred, true_fn, false_fn)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    maximum_iterations: int | None = None,
) -> Any:
    """Build a loop; a single loop variable is passed and returned without a tuple."""
    found = flow.run_while(cond, body, loop_vars, maximum_iterations)
    return found if len(found) > 1 else found[0]


def Print(input_: Any, data: Sequence[Any], message: str = "") -> Any:
    """Return a copy of `input_` that prints the data whenever it is computed."""
    with mg.control_dependencies([mg.Print(x, message) for x in data]):
        return input_ * 1


def with_name(x: Any, name: str | None) -> mg.Node:
    """Return x as a node, named if a name is given; plain numbers become a constant."""
    node = x if isinstance(x, mg.Node) else mg.constant(x)
    node.name = name or node.name
    return node


def named_calls(table: dict[str, str]) -> dict[str, str]:
    """Return a table of calls that make one node each, with an optional name."""
    return {
        f"{theirs[:-1]}, name=None)": f"with_name({ours}, name)" for theirs, ours in table.items()
    }


__getattr__ = face = Compat(
    "tf",
    "assign bool=bool_ control_dependencies float32 float64"
    " global_variables_initializer group int32 int64 name_scope reset_default_graph"
    " stop_gradient",
    calls={
        "Assert(condition, data)": "mg.Assert(condition)",
        "assign_add(ref, value)": "mg.assign(ref, ref + value)",
        "assign_sub(ref, value)": "mg.assign(ref, ref - value)",
        "constant_initializer(value=0.0)": "lambda shape: mg.full(shape, value)",
        "disable_eager_execution()": "None",
        "disable_v2_behavior()": "None",
        "gradients(ys, xs, grad_ys=None)": "list(flow.gradients(ys, xs, grad_ys))",
        "no_op()": "mg.group()",
        "ones_initializer()": "lambda shape: mg.ones(shape)",
        "placeholder(dtype, shape=None, name=None)": "mg.placeholder(dtype, shape, name=name)",
        "random_normal_initializer(mean=0.0, stddev=1.0, seed=None)": (
            "lambda shape: mg.randn(shape, seed=seed) * stddev + mean"
        ),
        "set_random_seed(seed)": "mg.manual_seed(seed)",
        "trainable_variables()": "[*mg.get_default_graph().variables]",
        "global_variables()": "[*mg.get_default_graph().variables]",
        "variable_scope(name)": "mg.name_scope(name)",
        "zeros_initializer()": "lambda shape: mg.zeros(shape)",
    }
    | flow.LOOPS
    | named_calls(
        flow.CALLS
        | {
            "constant(value, dtype=None)": "mg.constant(value, dtype or default_dtype(value))",
            "random_normal(shape, mean=0.0, stddev=1.0, dtype=mg.float32, seed=None)": (
                "redraw_each_run(shape, dtype, seed, lambda one:"
                " mg.randn(shape, seed=one, dtype=dtype) * stddev + mean)"
            ),
            "random_uniform(shape, minval=0.0, maxval=1.0, dtype=mg.float32, seed=None)": (
                "redraw_each_run(shape, dtype, seed, lambda one:"
                " mg.rand(shape, seed=one, dtype=dtype) * (maxval - minval) + minval)"
            ),
        }
    ),
    lacks={
        "tf.random_normal(shape, stddev=0.1)": "truncated_normal",
        "with tf.Session() as sess: ...": "InteractiveSession ConfigProto",
        "tf.nn.relu(tf.matmul(x, W) + b)": "layers",
        "x.shape": "shape size rank",
    },
    redraw_each_run=redraw_each_run,
    flow=flow,
    default_dtype=default_dtype,
    with_name=with_name,
    stack_list=stack_list,
)
__dir__ = face.names
