"""Values that a layer keeps from call to call, such as a running mean: read and renewed.

In the dynamic graph a buffer is a tensor, and changes at once. In a static graph it is a variable,
and its new value is a node that must run: `Optimizer.minimize` sees to it for all that its loss
depends on, `updates(loss)` is for other cases. (TensorFlow 1 kept a list of such nodes, UPDATE_OPS,
which was to be fetched by hand, and often was forgotten.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.source import here
from minigrad.dynamic.tensor import Tensor
from minigrad.static import Body, Node, ancestors, expect_node
from minigrad.static.build import assign, group


class BufferUpdate(NamedTuple):
    """An assignment to a buffer: its new value, and the nodes that must run for it to happen."""

    buffer: Tensor
    value: Node
    sources: frozenset[Node]


def buffer_for(buffer: Tensor, x: Any) -> Any:
    """Return the buffer as x can use it: itself, or its variable in x's graph."""
    return x.graph.buffer(buffer) if isinstance(x, Node) else buffer


def update_buffer(buffer: Tensor, x: Any, rule: Callable[[Any], Any]) -> None:
    """Replace a buffer by rule(buffer), because x was seen: at once, or in each run that has x.

    A second call in one graph goes on from the value of the first, as it does in a dynamic graph.
    Raises GraphError inside a branch or a loop, where nothing can be kept.
    """
    if not isinstance(x, Node):
        buffer.copy_(rule(buffer))
        return
    before = [u for u in x.graph.updates if u.buffer is buffer]
    value = rule(before[-1].value if before else buffer_for(buffer, x))
    if isinstance(value.graph, Body) and value.graph.outer is not None:
        raise GraphError("update_in_body", op="BatchNorm", name=buffer.name, defined=here())
    sources = before[-1].sources if before else frozenset()
    value.graph.updates.append(BufferUpdate(buffer, value, sources | {x}))


def updates(loss: Node) -> Node:
    """Build a node that updates the buffers of all layers that `loss` depends on.

    Needed only where a training step is not made by `Optimizer.minimize`.

    >>> import minigrad as mg
    >>> layer = mg.nn.BatchNorm1d(1)
    >>> with mg.Graph() as graph, mg.Session() as sess:
    ...     loss = layer(mg.placeholder("x", shape=(4, 1))).sum()
    ...     sess.run(mg.global_variables_initializer())
    ...     sess.run(mg.nn.updates(loss), {"x": [[0], [10], [20], [30]]})
    ...     float(sess.run(graph.buffer(layer.running_mean))[0])  # a tenth of the way from 0 to 15
    1.5
    """
    loss = expect_node("updates", loss)
    needed = set(ancestors([loss]))
    newest = {id(u.buffer): u for u in loss.graph.updates if u.sources <= needed}
    return group(*(assign(loss.graph.buffer(u.buffer), u.value) for u in newest.values()))
