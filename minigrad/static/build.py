"""Building a static graph: what enters it, what changes a variable, and what is cut out to run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from minigrad import ops
from minigrad.core import Attrs, Dim, as_array, fits, float32, show_shape
from minigrad.diagnostics.arguments import as_dtype, node_name, open_shape
from minigrad.diagnostics.errors import ArgumentError, GraphError, ShapeError
from minigrad.diagnostics.source import here
from minigrad.ops import state
from minigrad.static import (
    Graph,
    Node,
    ancestors,
    expect_node,
    expect_one_graph,
    get_default_graph,
    graph_of,
)

__all__ = [
    "Variable",
    "assign",
    "build_graph",
    "constant",
    "global_variables_initializer",
    "group",
    "placeholder",
    "read_value",
]


def placeholder(
    name_or_dtype: Any = None,
    /,
    shape: Sequence[int | None] | None = None,
    dtype: Any = None,
    *,
    name: str | None = None,
) -> Node:
    """Add an input that is fed when the graph runs.

    A length None is open: any length may be fed. Without `shape` nothing is known until then.
    The data type is float32 unless given. Both orders are understood, (name, shape, dtype) and
    TensorFlow 1's (dtype, shape, name); ArgumentError for a text that could be either.

    >>> import minigrad as mg
    >>> mg.placeholder("image", shape=(None, 784)).shape
    (None, 784)
    >>> mg.placeholder(mg.int64, (None,), name="label")
    <Node label = Placeholder: int64 (None,), no value>
    """
    given, kind = name_or_dtype, dtype
    if isinstance(given, (np.dtype, type)):
        given, kind = dtype, name_or_dtype
    elif isinstance(given, str) and given in TYPES:
        raise ArgumentError("name_or_dtype", name=given, dtype=TYPES[given], defined=here())
    if name is not None:
        given = name if given is None else (given, name)
    named = node_name("placeholder", given)
    lengths = open_shape("placeholder", shape)
    known = None if lengths is None else tuple(Dim() if n is None else n for n in lengths)
    declared = as_dtype("placeholder", float32 if kind is None else kind)
    attrs: Attrs = {"shape": known, "dtype": declared}
    return get_default_graph().add(state.placeholder, (), attrs, named)


# What texts stand for a data type in TensorFlow and NumPy; codes such as "i" do so in NumPy alone.
TYPES = {
    **{np.dtype(code).name: np.dtype(code).name for code in "?bhilBHILefd"},
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "int": "int64",
}


def Variable(
    initial_value: Any, name: str | None = None, dtype: npt.DTypeLike | None = None
) -> Node:
    """Add a node whose value a session keeps between runs.

    It has no value in a session until `global_variables_initializer()` was run there. float32
    unless `dtype` or an array says otherwise. Raises DtypeError for what is not numbers.
    (TensorFlow 1: tf.Variable.)

    >>> import minigrad as mg
    >>> with mg.Graph(), mg.Session() as sess:
    ...     W = mg.Variable([1.0, 2.0], name="W")
    ...     sess.run(mg.global_variables_initializer())
    ...     sess.run(W * 3).tolist()
    [3.0, 6.0]
    """
    given = initial_value._array if hasattr(type(initial_value), "as_node") else initial_value
    value = as_array(given, None if dtype is None else as_dtype("Variable", dtype), "Variable")
    return get_default_graph().variable(value, node_name("Variable", name))


def constant(value: Any, dtype: npt.DTypeLike | None = None, name: str | None = None) -> Node:
    """Add a value that is part of the graph: a number, nested lists, or an array (copied).

    float32 unless `dtype` or an array says otherwise. Raises DtypeError for what is not numbers.
    (TensorFlow 1: tf.constant.)

    >>> import minigrad as mg
    >>> mg.constant([1, 2], name="c")
    <Node c = Constant: int64 (2,), no value>
    """
    kind = None if dtype is None else as_dtype("constant", dtype)
    array = as_array(value, kind, "constant")
    return get_default_graph().constant(array, node_name("constant", name))


def assign(variable: Any, value: Any) -> Node:
    """Add a node that gives a variable a new value when it is fetched.

    All reads of the variable in the same run see the old value; the new one holds after the run.
    In a traced function it may also be a tensor from around: each call leaves it the new value.
    Raises ShapeError for another shape, GraphError for what is not a variable. (tf.assign.)

    >>> import minigrad as mg
    >>> with mg.Graph(), mg.Session() as sess:
    ...     n = mg.Variable(0)
    ...     count = mg.assign(n, n + 1)
    ...     sess.run(mg.global_variables_initializer())
    ...     [int(sess.run(count)) for _ in range(3)]
    [1, 2, 3]
    """
    graph = variable.graph if isinstance(variable, Node) else get_default_graph()
    node = graph.lift(variable)
    if not graph.is_variable(node):
        raise GraphError("not_a_variable", op="Assign", value=node.name, defined=here())
    value = graph.lift(value, node.dtype, "Assign")
    if value.dtype != node.dtype:
        value = ops.cast(value, dtype=node.dtype)
    if not fits(value.spec.shape, node.spec.shape):
        expected, shape = show_shape(node.shape), show_shape(value.shape)
        raise ShapeError(
            "assign_shape",
            op="Assign",
            name=node.name,
            expected=expected,
            shape=shape,
            defined=here(),
        )
    return graph.assigned(node, value)


def read_value(variable: Any) -> Node:
    """Read a variable at this point of the run: after the assignments that ran before.

    Which those are, control dependencies say. (TensorFlow 1: variable.read_value().)

    >>> import minigrad as mg
    >>> with mg.Graph(), mg.Session() as sess:
    ...     w = mg.Variable(1.0, name="w")
    ...     with mg.control_dependencies([mg.assign(w, w + 1)]):
    ...         after = mg.read_value(w)
    ...     _ = sess.run(mg.global_variables_initializer())
    ...     [float(value) for value in sess.run([w, after])]
    [1.0, 2.0]
    """
    graph = variable.graph if isinstance(variable, Node) else get_default_graph()
    node = graph.lift(variable)
    if not graph.is_variable(node):
        raise GraphError("not_a_variable", op="ReadValue", value=node.name, defined=here())
    return graph.add(state.read_value, (node,), {})


def group(*nodes: Node) -> Node:
    """Add a node that runs others and has no value itself. (tf.group.)

    >>> import minigrad as mg
    >>> with mg.Graph(), mg.Session() as sess:
    ...     a, b = mg.Variable(1.0), mg.Variable(2.0)
    ...     sess.run(mg.global_variables_initializer())
    ...     sess.run(mg.group(mg.assign(a, b), mg.assign(b, a)))  # both read before either changes
    ...     [float(x) for x in sess.run([a, b])]
    [2.0, 1.0]
    """
    found = [expect_node("group", x) for x in nodes]
    return graph_of(state.group, found).add(state.group, found, {})


def global_variables_initializer() -> Node:
    """Add a node that gives every variable of the current graph its initial value.

    It is not added to the graph, so it can be made for a frozen one, too. Every session starts
    without values and has to run it. (tf.global_variables_initializer.)

    >>> import minigrad as mg
    >>> with mg.Graph(), mg.Session() as sess:
    ...     w = mg.Variable(5.0)
    ...     sess.run(mg.global_variables_initializer())
    ...     float(sess.run(w))
    5.0
    """
    graph = get_default_graph()
    variables = tuple(graph.variables)
    node = Graph().add(state.initialize, (), {"variables": variables, "shape": (0,)})
    node.graph = variables[0].graph if variables else graph  # it may be cut out of another
    return node


def build_graph(inputs: Any, outputs: Any) -> Graph:
    """Freeze the part of the graph that leads from `inputs` to `outputs`.

    One node or a list of nodes each; a graph with one output (not a list) returns one array.

    >>> import minigrad as mg
    >>> x = mg.placeholder("x")
    >>> graph = mg.build_graph(x, x * x + 3)
    >>> float(mg.run(graph, feed_dict={x: 2}))
    7.0
    """
    graph = Graph()
    graph.single = not isinstance(outputs, (list, tuple))
    graph.inputs = tuple(expect_node("build_graph", x) for x in _as_list(inputs))
    graph.outputs = tuple(expect_node("build_graph", x) for x in _as_list(outputs))
    if not graph.outputs:
        raise GraphError("no_outputs", defined=here())
    for x in graph.inputs:
        if x.op is not state.placeholder:
            raise GraphError("not_an_input", name=x.name, op=x.op, defined=here())
    graph._nodes = ancestors([*graph.inputs, *graph.outputs])
    expect_one_graph("build_graph", graph.outputs, graph.inputs)
    graph.effects = tuple(n for n in graph._nodes if n.op is state.run_counter)  # even if unread
    graph.inputs = graph.inputs or graph.placeholders
    for node in set(graph.placeholders).difference(graph.inputs):
        output = graph.outputs[0].name
        raise GraphError("missing_input", name=node.name, output=output, defined=node.where)
    return graph.freeze()


def _as_list(x: Any) -> list[Any]:
    return [] if x is None else list(x) if isinstance(x, (list, tuple)) else [x]
