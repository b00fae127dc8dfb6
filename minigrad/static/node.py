"""A node: one value of a static graph, which is built and not run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from minigrad import ops
from minigrad.core import (
    NODE_SLOTS,
    BaseNode,
    Dtype,
    PublicShape,
    Reader,
    Spec,
    show_shape,
)
from minigrad.diagnostics.errors import ShapeError, TraceError
from minigrad.diagnostics.messages import choose, one_line
from minigrad.diagnostics.source import here
from minigrad.ops.methods import Lengths, Value, size_of
from minigrad.static.traced_length import TracedLength

__all__ = ["Node"]


class UnknownSize(Lengths):
    """The lengths of the axes of a node, not all of which are known: its size is no number yet."""

    def __init__(self, node: Node) -> None:
        self._node = node

    @property
    def lengths(self) -> tuple[Any, ...]:  # type: ignore[override]
        return self._node.shape or (None,) * self._node.ndim

    def __index__(self) -> int:
        node = self._node
        about: dict[str, Any] = {"name": node.name, "shape": show_shape(node.shape)}
        raise ShapeError("size_unknown", op="size", defined=node.where, ran=here(), **about)

    __int__ = __float__ = __index__

    def __eq__(self, other: object) -> bool:
        return int(self) == other

    def __bool__(self) -> bool:
        return bool(int(self))

    __hash__ = object.__hash__


class Node(BaseNode, Value):
    """A value of a static graph: its shape and data type are known, the value is not yet.

    Nodes are made by `placeholder`, `Variable`, `constant` and by operators on them, and never
    change afterwards. `inputs` are the nodes that this one reads, `op` is its operator, `name` its
    name in the graph. Using it where Python needs a value raises TraceError.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", shape=(None, 3))
    ...     x * 2
    <Node Mul: float32 (None, 3), no value>
    """

    __slots__ = (*NODE_SLOTS, "__weakref__", "controls", "graph", "name", "spec")
    reader: ClassVar[Reader]
    inputs: tuple[Node, ...]
    controls: tuple[Node, ...]
    graph: Any  # the Graph that it belongs to; that class is made of nodes, not they of it
    name: str
    spec: Spec

    @property
    def shape(self) -> PublicShape | None:
        """The shape; None means an unknown length, or a wholly unknown shape."""
        shape: PublicShape | None = self.graph.shape_of(self)
        return shape

    @property
    def dtype(self) -> Dtype:
        """The data type of the value to come."""
        return self.spec.dtype

    @property
    def ndim(self) -> int:
        """The number of axes; ShapeError when it is not known."""
        if self.spec.shape is None:
            raise ShapeError(
                "rank_unknown", op=self.op.name, name=self.name, defined=self.where, ran=here()
            )
        return len(self.spec.shape)

    @property
    def size(self) -> Lengths:
        """The number of elements; x.size() are the lengths of the axes, x.size(0) one of them."""
        known = [n for n in self.shape or (None,) if n is not None]
        return size_of(tuple(known)) if self.shape == tuple(known) else UnknownSize(self)

    def __repr__(self) -> str:
        name, shape = one_line(self.name), show_shape(self.shape)
        what = self.op if name == str(self.op) else f"{name} = {self.op}"
        return f"<Node {what}: {self.dtype} {shape}, {choose(('no value', '无值'), ' / ')}>"

    __str__ = __repr__

    def __bool__(self) -> bool:
        return bool(self.graph.python_value(self, "use_bool"))

    def __float__(self) -> float:
        return float(self.graph.python_value(self, "use_number"))

    def __int__(self) -> int:
        return int(self.graph.python_value(self, "use_number"))

    def __index__(self) -> int:
        return int(self.graph.python_value(self, "use_number").__index__())

    def item(self) -> Any:
        """Raise TraceError: a node has no value; only a tensor has `item`."""
        return self.graph.python_value(self, "use_number").item()

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return np.array(self.graph.python_value(self, "use_array"), *args, **kwargs)

    def numpy(self) -> Any:
        """Raise TraceError: a node has no value; only a tensor has an array."""
        return self.graph.python_value(self, "use_array")

    def __iter__(self) -> Iterator[Any]:
        count = len(self.graph.python_value(self, "use_loop"))
        length = self.shape and self.shape[0]
        if isinstance(length, TracedLength):
            length.expect(lambda n: n == count)
        return iter([self[i] for i in range(count)])

    def __len__(self) -> int:
        return len(self.graph.python_value(self, "use_loop"))

    def detach(self) -> Node:
        """Return the same value without a gradient flowing through it."""
        return self._apply(ops.stop_gradient)

    def backward(self, *args: Any, **kwargs: Any) -> None:
        """Raise TraceError: the gradients of a node are nodes, built by `mg.gradients`."""
        raise self._refusal("node_backward", "backward")

    def register_hook(self, *args: Any, **kwargs: Any) -> None:
        """Raise TraceError: the gradients of a node are nodes, built by `mg.gradients`."""
        raise self._refusal("node_backward", "register_hook")

    def retain_grad(self) -> None:
        """Raise TraceError: the gradients of a node are nodes, built by `mg.gradients`."""
        raise self._refusal("node_backward", "retain_grad")

    def copy_(self, value: Any) -> None:
        """Raise TraceError: a node never changes; `mg.assign` gives a variable new values."""
        raise self._refusal("node_in_place", "copy_")

    def __setitem__(self, key: Any, value: Any) -> None:
        raise self._refusal("node_in_place", "x[…] =")

    def _refusal(self, key: str, use: str) -> TraceError:
        return TraceError(key, use=use, name=self.name, op=self.op, defined=self.where, ran=here())


def _refused(name: str) -> Any:
    """Make a method that raises TraceError: nodes never change in place."""

    def method(self: Node, *args: Any, **kwargs: Any) -> Any:
        raise self._refusal("node_in_place", name)

    method.__name__, method.__doc__ = name, Node.copy_.__doc__
    return method


IN_PLACE = (
    *("add_", "clamp_", "clip_", "div_", "exp_", "fill_", "mul_", "neg_", "pow_", "relu_"),
    *("sigmoid_", "sqrt_", "sub_", "tanh_", "zero_"),
)
for _name in IN_PLACE:
    setattr(Node, _name, _refused(_name))
