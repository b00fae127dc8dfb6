"""The dynamic graph: tensors that compute at once and leave a record on the tape."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FrameType
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from minigrad import backprop, events, ops
from minigrad.backprop import DATA, NOTHING
from minigrad.core import (
    Array,
    Attrs,
    Dtype,
    Op,
    Reader,
    Unrecorded,
    apply,
    as_array,
    as_operand,
    as_weak,
    context,
    float32,
    next_order,
    promote,
    run_kernel,
    show_shapes,
    spec_of,
    unify,
)
from minigrad.errors import DtypeError, GradientError, GraphError, ShapeError, TraceError
from minigrad.graph import Graph, Node, ancestors, in_body
from minigrad.source import caller, here
from minigrad.tape import TapeNode, at_once, changes, recording
from minigrad.values import Value


class Tensor(Value):
    """An array that knows how it was computed.

    `data` is the array (a NumPy scalar when there are no axes), `creator` the tape node that made
    it (None for a leaf), `grad` the accumulated gradient, None as long as none was computed.

    >>> import minigrad as mg
    >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
    >>> y = (x * x).sum()
    >>> y.backward()
    >>> y, x.grad
    (tensor(5., creator=Sum), tensor([2., 4.]))
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
        """The lengths of all axes."""
        shape: tuple[int, ...] = self.data.shape
        return shape

    @property
    def dtype(self) -> Dtype:
        """The data type of the elements."""
        dtype: Dtype = self.data.dtype
        return dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.data.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
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
        """The elements as nested lists of Python numbers."""
        return self.data.tolist()

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Any:
        return np.array(self.data, dtype=dtype) if copy else np.asarray(self.numpy(), dtype=dtype)

    def __bool__(self) -> bool:
        return bool(self.data)

    def __float__(self) -> float:
        return float(self.data)

    def __int__(self) -> int:
        return int(self.data)

    def __index__(self) -> int:
        return operator.index(self.data)

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
        if events.listeners and in_body():
            return self._apply(ops.stop_gradient)
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
        if context.lazy is not None:
            with at_once():
                return self.backward(gradient, retain_graph, create_graph)
        if create_graph:
            retain_graph = True
        found = _walk([self], [gradient], None, retain_graph, create_graph)
        with recording(create_graph):
            for leaf, part in zip(found, _unshared(found.values()), strict=True):
                leaf.grad = part if leaf.grad is None else leaf.grad + part

    def zero_grad(self) -> None:
        """Forget the gradient; it is None afterwards, as before the first backward."""
        self.grad = None

    def copy_(self, value: Any) -> Self:
        """Overwrite the values in place (only where no gradient is recorded)."""
        if in_body():
            raise TraceError("tensor_in_place", op="copy_", name=self.name or "", defined=here())
        if self.requires_grad and context.grad:
            raise GradientError("leaf_in_place", op="copy_", defined=here())
        data = as_array(value.data if isinstance(value, Tensor) else value, self.dtype, "copy_")
        if data.shape != self.shape:
            shapes = show_shapes(self.shape, data.shape)
            raise ShapeError("broadcast", op="copy_", shapes=shapes, defined=here())
        changes.note(self.data)
        if not isinstance(self.data, np.ndarray):
            self.data = np.array(self.data)  # a NumPy scalar cannot change in place
        np.copyto(self.data, data)
        return self

    def as_node(self, graph: Graph) -> Node:
        """This tensor in a static graph: a parameter is a variable, anything else a constant."""
        if self.creator is not None:
            raise GraphError("has_history", op=self.creator.op, defined=here())
        value = np.array(self.data)[()]
        if self.requires_grad:
            return graph.variable(value, self.name)
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

    def apply(self, op: Op, operands: Sequence[Any], attrs: Attrs) -> Any:
        if context.lazy is not None:
            return context.lazy.note(op, operands, attrs, sys._getframe(1))
        if events.listeners and in_body():
            return Node.reader.apply(op, tuple(operands), attrs)
        if len(operands) == 1 and (op.inputs is None or operands[0].data.dtype.kind == "f"):
            return _unary(op, operands[0], operands[0].data, attrs)
        arrays: list[Array] = []
        for x in operands:  # tensors of one floating type need no conversion
            if type(x) is not Tensor or x.data.dtype is not operands[0].dtype:
                break
            arrays.append(x.data)
        else:
            if op.inputs is None or arrays[0].dtype.kind == "f":
                return _finish(op, operands, arrays, attrs, run_kernel(op, arrays, attrs))
        tensors = [x if type(x) is Tensor else as_operand(op, as_weak(op, x)) for x in operands]
        tensors = unify(op, tensors, _cast)
        arrays = [x.data if type(x) is Tensor else x for x in tensors]
        return _finish(op, tensors, arrays, attrs, run_kernel(op, arrays, attrs))


def _finish(
    op: Op, tensors: Sequence[Any], arrays: Sequence[Array], attrs: Attrs, result: Array
) -> Any:
    """Record the operation if a gradient may flow through it, tell listeners, wrap the result."""
    if events.listeners and in_body():
        return Node.reader.apply(op, tuple(tensors), attrs)
    node = None
    wants = []
    for x in tensors:
        wants.append(type(x) is Tensor and x.requires_grad)  # noqa: PERF401 - quicker so
    if True in wants and context.grad:
        mask = tuple(wants)
        kept = op.kept.get(mask) or _derive(op, mask, result, arrays, attrs)
        if kept.wanted:
            inputs, saved = [], [_keep(result, kept.parts[0])]
            for i, x in enumerate(tensors):
                inputs.append((x.creator or x) if wants[i] else _stub(x))
                saved.append(_keep(arrays[i], kept.parts[i + 1]))
            frame = sys._getframe(2)
            node = _record(op, attrs, kept, tuple(inputs), tuple(saved), result, frame)
    if events.listeners:
        _tell(op, node, result, tensors, arrays)
    return _wrap(result, node)


def _unary(op: Op, x: Tensor, a: Array, attrs: Attrs) -> Any:
    """One operand, as in most layers: what `_finish` does, without its loops."""
    result = run_kernel(op, (a,), attrs)
    kept = op.kept.get((True,))
    if not x.requires_grad or not context.grad or events.listeners or kept is None:
        return _finish(op, (x,), (a,), attrs, result)
    if kept.has_shapes or not kept.wanted:
        return _finish(op, (x,), (a,), attrs, result)
    keeps_y, keeps_a = kept.parts
    saved = (result if keeps_y else None, a if keeps_a else None)
    frame = sys._getframe(2)
    return _wrap(result, _record(op, attrs, kept, (x.creator or x,), saved, result, frame))


def _tell(
    op: Op, node: TapeNode | None, result: Array, tensors: Sequence[Any], arrays: Sequence[Array]
) -> None:
    if node is not None:
        events.emit("built", op, node, None, tuple(tensors))
    events.emit("run", op, node, result, tuple(arrays))


def _derive(
    op: Op, mask: tuple[bool, ...], result: Array, arrays: Sequence[Array], attrs: Attrs
) -> backprop.Retained:
    values = [x if hasattr(x, "shape") else result.dtype.type(x) for x in (result, *arrays)]
    specs = [spec_of(x) for x in values]
    kept = op.kept[mask] = backprop.retained(op, mask, specs, attrs)
    return kept


def _keep(value: Array, part: int) -> Any:
    return value if part == DATA else None if part == NOTHING else spec_of(value)


def _record(
    op: Op,
    attrs: Attrs,
    kept: backprop.Retained,
    inputs: tuple[Any, ...],
    saved: tuple[Any, ...],
    result: Array,
    frame: FrameType,
) -> TapeNode:
    node = TapeNode()
    node.op, node.attrs, node.kept, node.inputs, node.saved = op, attrs, kept, inputs, saved
    node.shape, node.dtype = result.shape, result.dtype
    node.order, node.scope = next_order(), context.scope
    node.code, node.lasti = caller(frame)
    return node


def _infix(op: Op) -> Callable[[Tensor, Any], Any]:
    """The method behind an operator such as `*`: what `apply` does, without the detours.

    Two tensors of one data type, or a float tensor and a Python number, need no conversion; that
    is the hot path of every model. Anything else takes the general way.
    """
    symbol = op.symbol or op.run
    floats_only = op.inputs is not promote

    def method(self: Tensor, other: Any) -> Any:
        a, kind = self.data, type(other)
        if kind is Tensor:
            b, b_wants = other.data, other.requires_grad
            if not (type(a) is type(b) is not ndarray or a.dtype is b.dtype):
                return _general.apply(op, (self, other), {})
            if floats_only and a.dtype.kind != "f":
                return _general.apply(op, (self, other), {})
        elif (kind is float or kind is int) and (type(a) in FLOATS or a.dtype.kind == "f"):
            b, b_wants = other, False  # NumPy gives it the data type of the other operand
        else:
            return apply(op, (self, other), {})
        try:
            result = context.silently(symbol, a, b)
        except (ValueError, TypeError):
            return _general.apply(op, (self, other), {})  # which says what is wrong
        a_wants = self.requires_grad
        if not (a_wants or b_wants) or not context.grad or events.listeners:
            b = b if kind is Tensor else a.dtype.type(b)
            return _finish(op, (self, other if kind is Tensor else b), (a, b), NONE, result)
        kept = op.kept.get((a_wants, b_wants))
        if kept is None:
            kept = _derive(op, (a_wants, b_wants), result, (a, b), {})
        left = (self.creator or self) if a_wants else _stub(self)
        right = (other.creator or other) if b_wants else _stub(other)
        keeps_y, keeps_a, keeps_b = kept.parts  # NOTHING or DATA: these rules read no shapes
        saved = (result if keeps_y else None, a if keeps_a else None, b if keeps_b else None)
        return _wrap(
            result, _record(op, NONE, kept, (left, right), saved, result, sys._getframe(1))
        )

    return method


ndarray = np.ndarray
NONE: Attrs = {}  # shared by all nodes without attributes; nobody writes to it
FLOATS = {np.float16, np.float32, np.float64}
_general = TapeReader()
Tensor.reader = _general
for _name, _op in (
    ("__add__", ops.add),
    ("__sub__", ops.sub),
    ("__mul__", ops.mul),
    ("__truediv__", ops.div),
):
    setattr(Tensor, _name, _infix(_op))


def _stub(x: Any) -> Any:
    """What the tape remembers of an operand without gradient: a number, or shape and name."""
    data = x.data if type(x) is Tensor else x
    if not isinstance(data, ndarray):
        return data
    return Unrecorded(data.shape, data.dtype, x.name if type(x) is Tensor else None)


def _cast(x: Any, dtype: Dtype) -> Any:
    return ops.cast(x, dtype=dtype)


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
        if node.order < changes.latest:
            changes.check(node)
    keep: set[Any] = set()
    if targets is not None:
        keep = {_place(x)[0] for x in targets}
    with recording(create_graph), np.errstate(all="ignore"):
        backprop.sweep(
            nodes,
            found,
            _read_tensors if create_graph else None,
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


def _read_tensors(node: TapeNode) -> tuple[Any, tuple[int, ...]]:
    """The saved values as tensors that know where they came from."""
    pairs = zip(node.saved or (), (node, *node.inputs), strict=True)
    return [_rejoin(value, source) for value, source in pairs], node.kept.wanted


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
    >>> (dx,) = mg.grad(x * x * x, [x], create_graph=True)
    >>> mg.grad(dx, [x])[0].item()
    18.0
    """
    if context.lazy is not None:
        with at_once():
            options = retain_graph, create_graph, allow_unused
            return grad_of(outputs, inputs, grad_outputs, *options)
    ys = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    many = isinstance(inputs, (list, tuple))
    xs = list(inputs) if many else [inputs]
    seeds = grad_outputs if isinstance(grad_outputs, (list, tuple)) else [grad_outputs] * len(ys)
    retain = create_graph if retain_graph is None else retain_graph
    if any(isinstance(y, Node) for y in ys):  # while a function is traced
        result = backprop.gradients(ys, xs, list(seeds))
    else:
        found = _walk(ys, list(seeds), xs, retain, create_graph)
        result = [_found(x, found) for x in xs]
    for x, g in zip(xs, result, strict=True):
        if g is None and not allow_unused:
            raise GradientError("not_connected", name=x.name or "this input", defined=here())
    tensors = list(_unshared(result))
    return tensors if many else tensors[0]


def _found(x: Any, found: dict[Any, Any]) -> Any:
    """The gradient of one tensor, among those that a sweep left."""
    key, row = _place(x)
    g = found.get(key)
    return g if g is None or row is None else ops.pick_rows(g, rows=(row,))


def _place(x: Any) -> tuple[Any, int | None]:
    """Where a sweep leaves the gradient of a tensor: at its node, or at that of its batch."""
    creator = x.creator
    if creator is not None and creator.op is ops.pick_rows and creator.attrs["apart"]:
        row = creator.attrs["rows"][0]
        if isinstance(row, int):  # noted in `lazy_batch`: others read the same row
            return creator.inputs[0], row
    return creator or x, None


def _unshared(gradients: Iterable[Any]) -> Iterator[Any]:
    """Gradients as tensors, no two of which share memory with each other or with a view."""
    seen: set[int] = set()
    for g in gradients:
        if g is None or isinstance(g, (Tensor, Node)):
            yield g
            continue
        shared = isinstance(g, np.ndarray) and (g.base is not None or id(g) in seen)
        seen.add(id(g))
        yield _wrap(g.copy() if shared else g, None)
