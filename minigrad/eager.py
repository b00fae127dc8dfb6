"""The dynamic graph: tensors that compute at once and leave a record on the tape."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from minigrad import events, grad, ops
from minigrad.core import (
    Array,
    Attrs,
    BaseNode,
    Dtype,
    Op,
    Reader,
    Spec,
    as_array,
    as_operand,
    context,
    float32,
    next_order,
    run_kernel,
    spec_of,
    unify,
)
from minigrad.errors import DtypeError, GradientError, GraphError
from minigrad.graph import Graph, Node, add_variable, ancestors
from minigrad.source import caller, here
from minigrad.values import Value


class TapeNode(BaseNode):
    """One recorded operation: the operator, where its operands came from, what its rules need.

    `inputs` holds for each operand the node that made it, or the leaf tensor itself, or (no
    gradient flows there) the number or the Spec of the array. `saved` holds the result and the
    operands as far as the gradient rules read them, and is None once a backward pass used it.
    """

    __slots__ = ("__weakref__", "kept", "saved", "spec")
    saved: tuple[Any, ...] | None
    kept: grad.Retained
    spec: tuple[tuple[int, ...], Dtype]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.spec[0]

    @property
    def dtype(self) -> Dtype:
        return self.spec[1]

    def __repr__(self) -> str:
        return f"<{self.op} recorded at {self.where.label}>"


class Tensor(Value):
    """An array that knows how it was computed.

    `data` is the array (a NumPy scalar when there are no axes), `creator` the tape node that made
    it (None for a leaf), `grad` the accumulated gradient, None as long as none was computed.
    """

    __slots__ = ("__weakref__", "creator", "data", "grad", "name", "requires_grad")
    reader: ClassVar[Reader]
    data: Array
    creator: TapeNode | None
    grad: Tensor | None
    requires_grad: bool
    name: str | None

    def __init__(self, data: Any, requires_grad: bool = False, name: str | None = None) -> None:
        self.data = as_array(data, None, "tensor")
        if requires_grad and self.data.dtype.kind != "f":
            raise DtypeError("float_only", op="tensor", dtype=self.data.dtype, defined=here())
        self.requires_grad, self.name = requires_grad, name
        self.creator = self.grad = None

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.data.shape
        return shape

    @property
    def dtype(self) -> Dtype:
        dtype: Dtype = self.data.dtype
        return dtype

    @property
    def ndim(self) -> int:
        return len(self.data.shape)

    @property
    def size(self) -> int:
        return int(self.data.size)

    @property
    def is_leaf(self) -> bool:
        """True for tensors made by the user, False for results of recorded operations."""
        return self.creator is None

    def item(self) -> Any:
        """The single number of this tensor as a Python number."""
        return self.data.item()

    def numpy(self) -> np.ndarray[Any, Any]:
        """The values as an array that shares memory; read-only when a gradient may need them."""
        view = np.asarray(self.data).view()
        view.flags.writeable = view.flags.writeable and not self.requires_grad
        return view

    def tolist(self) -> Any:
        return self.data.tolist()

    def __array__(self, dtype: npt.DTypeLike = None, copy: bool | None = None) -> Any:
        return np.array(self.data, dtype=dtype) if copy else np.asarray(self.numpy(), dtype=dtype)

    def __bool__(self) -> bool:
        return bool(self.data)

    def __float__(self) -> float:
        return float(self.data)

    def __int__(self) -> int:
        return int(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        values = np.array2string(np.asarray(self.data), separator=", ", prefix="tensor(")
        facts = [] if self.dtype in (float32, np.int64, np.bool_) else [f"dtype={self.dtype}"]
        if self.creator is not None:
            facts.append(f"creator={self.creator}")
        elif self.requires_grad:
            facts.append("requires_grad=True")
        return f"tensor({', '.join([values, *facts])})"

    def detach(self) -> Tensor:
        """The same values without their history; memory is shared."""
        if not isinstance(self.data, np.ndarray):
            self.data = np.asarray(self.data)
        return _wrap(self.data, None)

    def backward(
        self, gradient: Any = None, retain_graph: bool = False, create_graph: bool = False
    ) -> None:
        """Add the gradient of this tensor to `.grad` of every leaf that it depends on.

        gradient: weights of the elements; needed unless this tensor is a single number.
        retain_graph: keep what the tape saved, so that the same graph can be walked again.
        create_graph: record the backward pass itself, for higher orders.
        Raises GradientError when there is no graph, or it was walked already; then nothing changed.
        """
        if create_graph:
            retain_graph = True
        found = _walk([self], [gradient], None, retain_graph, create_graph)
        seen: set[int] = set()
        for leaf, g in found.items():
            if isinstance(g, np.ndarray) and (g.base is not None or id(g) in seen):
                g = g.copy()  # else two leaves would share one gradient array
            seen.add(id(g))
            part = g if isinstance(g, Tensor) else _wrap(g, None)
            with recording(create_graph):
                leaf.grad = part if leaf.grad is None else leaf.grad + part

    def zero_grad(self) -> None:
        """Forget the gradient; it is None afterwards, as before the first backward."""
        self.grad = None

    def copy_(self, value: Any) -> Self:
        """Overwrite the values in place (only where no gradient is recorded)."""
        if self.requires_grad and context.grad:
            raise GradientError("leaf_in_place", op="copy_", defined=here())
        data = getattr(value, "data", value)
        if isinstance(self.data, np.ndarray):
            np.copyto(self.data, data)
        else:
            self.data = self.data.dtype.type(data)
        return self

    def as_node(self, graph: Graph) -> Node:
        """This tensor in a static graph: a parameter is a variable, anything else a constant."""
        if self.creator is not None:
            raise GraphError("has_history", op=self.creator.op, defined=here())
        value = np.array(self.data)[()]
        if self.requires_grad:
            return add_variable(graph, value, self.name)
        return graph.constant(value, self.name)


def _wrap(data: Array, creator: TapeNode | None) -> Tensor:
    """A tensor around an array that is known to be in order."""
    tensor = Tensor.__new__(Tensor)
    tensor.data, tensor.creator = data, creator
    tensor.requires_grad = creator is not None
    tensor.grad = tensor.name = None
    return tensor


class TapeReader:
    """How the dynamic graph reads `a * b`: run the kernel, and record a node."""

    level = 1

    def apply(self, op: Op, operands: Sequence[Any], attrs: Attrs) -> Tensor:
        tensors = [x if type(x) is Tensor else as_operand(op, x) for x in operands]
        tensors = unify(op, tensors, _cast)
        arrays = [x.data if type(x) is Tensor else x for x in tensors]
        result = run_kernel(op, arrays, attrs)
        node = None
        if context.grad:
            mask = tuple([type(x) is Tensor and x.requires_grad for x in tensors])
            if True in mask:
                node = _record(op, tensors, arrays, attrs, mask, result)
        if events.listeners:
            if node is not None:
                events.emit("built", op, node, None, tuple(tensors))
            events.emit("run", op, node, result, tuple(arrays))
        return _wrap(result, node)


def _record(
    op: Op,
    tensors: Sequence[Any],
    arrays: Sequence[Array],
    attrs: Attrs,
    mask: tuple[bool, ...],
    result: Array,
) -> TapeNode | None:
    """A node on the tape, which keeps no more than the gradient rules will read."""
    kept = op.kept.get(mask)
    if kept is None:
        specs = [spec_of(x) for x in (result, *arrays)]
        kept = op.kept[mask] = grad.retained(op, mask, specs, attrs)
    if not kept.wanted:
        return None
    node = TapeNode()
    node.op, node.attrs, node.kept, node.order = op, attrs, kept, next_order()
    node.scope = context.scope
    node.code, node.lasti = caller()
    node.spec = (result.shape, result.dtype)
    node.inputs = tuple(
        [(x.creator or x) if wants else _stub(x) for x, wants in zip(tensors, mask, strict=True)]
    )
    node.saved = tuple(
        [
            value if part == grad.DATA else None if part == grad.NOTHING else spec_of(value)
            for value, part in zip((result, *arrays), kept.parts, strict=True)
        ]
    )
    return node


def _stub(x: Any) -> Any:
    """What the tape remembers of an operand without gradient: a number itself, of arrays the Spec."""
    data = x.data if type(x) is Tensor else x
    return data if isinstance(data, (np.generic, Spec)) else Spec(data.shape, data.dtype)


def _cast(x: Any, dtype: Dtype) -> Any:
    return ops.cast(x, dtype=dtype)


Tensor.reader = TapeReader()


@contextlib.contextmanager
def recording(on: bool) -> Iterator[None]:
    before, context.grad = context.grad, on
    try:
        yield
    finally:
        context.grad = before


def no_grad() -> contextlib.AbstractContextManager[None]:
    """Compute without recording: results have no creator and need no memory for backward.

    Holds for this thread only; also a decorator.

    >>> import minigrad as mg
    >>> x = mg.tensor(2.0, requires_grad=True)
    >>> with mg.no_grad():
    ...     y = x * x
    >>> y.creator is None
    True
    """
    return recording(False)


def _walk(
    outputs: Sequence[Tensor],
    seeds: Sequence[Any],
    targets: Sequence[Tensor] | None,
    retain_graph: bool,
    create_graph: bool,
) -> dict[Any, Any]:
    """Gradients by leaf (or by the node of each target), from one sweep over the tape."""
    found: dict[Any, Any] = {}
    for y, seed in zip(outputs, seeds, strict=True):
        key = y.creator or y
        if not y.requires_grad:
            raise GradientError("no_graph", defined=here())
        g = _seed(y, seed, create_graph)
        found[key] = found[key] + g if key in found else g
    nodes = ancestors(y.creator for y in outputs if y.creator is not None)
    for node in nodes:  # look before anything is changed
        if node.saved is None:
            raise GradientError("freed", op=node.op, defined=node.where, ran=here())
    keep: set[Any] = set()
    if targets is not None:
        keep = {x.creator or x for x in targets}
    with recording(create_graph):
        grad.sweep(
            nodes,
            found,
            _as_tensors if create_graph else _as_arrays,
            lambda node: node.kept.wanted,
            keep,
        )
    if not retain_graph:
        for node in nodes:
            if node.kept.has_data:
                node.saved = None
    return found


def _seed(y: Tensor, seed: Any, create_graph: bool) -> Any:
    if seed is None:
        if y.size != 1:
            raise GradientError("scalar_only", shape=y.shape, defined=here())
        data = y.dtype.type(1) if y.shape == () else np.ones(y.shape, y.dtype)
    else:
        data = as_array(getattr(seed, "data", seed), y.dtype, "backward")
        if data.shape != y.shape:
            raise GradientError("seed_shape", seed=data.shape, shape=y.shape, defined=here())
    if not create_graph:
        return data
    return seed if isinstance(seed, Tensor) else _wrap(data, None)


def _as_arrays(node: TapeNode) -> tuple[Any, ...]:
    assert node.saved is not None
    return node.saved


def _as_tensors(node: TapeNode) -> list[Any]:
    """The saved values as tensors that know where they came from."""
    assert node.saved is not None
    sources = (node, *node.inputs)
    return [_rejoin(value, source) for value, source in zip(node.saved, sources, strict=True)]


def _rejoin(value: Any, source: Any) -> Any:
    if isinstance(source, Tensor):
        return source
    return _wrap(value, source) if isinstance(source, TapeNode) and value is not None else value


def grad_of(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> Any:
    """The gradients of `outputs` with respect to `inputs`, returned instead of accumulated.

    One tensor for `inputs` gives one tensor, a list gives a list. (torch.autograd.grad.)

    >>> import minigrad as mg
    >>> x = mg.tensor(3.0, requires_grad=True)
    >>> dx, = mg.grad(x * x * x, [x], create_graph=True)
    >>> mg.grad(dx, [x])[0].item()
    18.0
    """
    ys = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    many = isinstance(inputs, (list, tuple))
    xs = list(inputs) if many else [inputs]
    seeds = grad_outputs if isinstance(grad_outputs, (list, tuple)) else [grad_outputs] * len(ys)
    retain = create_graph if retain_graph is None else retain_graph
    found = _walk(ys, list(seeds), xs, retain, create_graph)
    result = []
    for x in xs:
        g = found.get(x.creator or x)
        if g is None and not allow_unused:
            raise GradientError("not_connected", name=x.name or "this input", defined=here())
        result.append(g if g is None or isinstance(g, Tensor) else _wrap(g, None))
    return result if many else result[0]
