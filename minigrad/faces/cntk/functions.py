"""CNTK's functions: nodes with dynamic axes, which are evaluated for the data of their inputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces import ties
from minigrad.faces.cntk.axes import BATCH, GRAPH, TRAINING, Axis
from minigrad.faces.face import make_error
from minigrad.faces.ties import following

__all__ = [
    "Function",
    "along_axis",
    "apply",
    "as_function",
    "elementwise",
    "evaluate",
    "gradients",
    "matmul",
    "reduce",
]

Shape = tuple[int, ...]
SESSION = mg.Session(GRAPH)


class Function:
    """A symbolic value, whose `node` has all samples, or all items of all sequences, as its rows.

    axis: the innermost dynamic axis; None where there is none, as for parameters.
    """

    def __new__(cls, *given: Any, **options: Any) -> Any:
        """Return a Python function unchanged, so that `@C.Function` can decorate one."""
        return given[0] if inspect.isfunction(given[0]) else super().__new__(cls)

    def __init__(
        self, node: Any, axis: Axis | None, operands: Iterable[Function] = (), name: str = ""
    ) -> None:
        self.node, self.axis, self.name = node, axis, name
        operands = list(operands)
        self.arguments: tuple[Any, ...] = _union(x.arguments for x in operands)
        self.parameters: tuple[Any, ...] = _union(x.parameters for x in operands)
        self.parts: dict[str, Any] = {k: v for x in operands for k, v in x.parts.items()}
        self._gradients: dict[tuple[int, ...], list[Any]] = {}

    @property
    def shape(self) -> Shape:
        """The lengths of the static axes."""
        return tuple(self.node.shape)[self.axis is not None :]

    @property
    def dynamic_axes(self) -> tuple[Axis, ...]:
        """The axis of samples, and that of items if these are sequences."""
        return () if self.axis is None else (BATCH, self.axis)[: 1 + (self.axis is not BATCH)]

    @property
    def output(self) -> Function:
        """The function itself, which has one output."""
        return self

    @property
    def outputs(self) -> tuple[Function, ...]:
        """The output."""
        return (self,)

    def __repr__(self) -> str:
        axes = ", ".join(["#", "*"][: len(self.dynamic_axes)])
        return f"Output('{self.name}', [{axes}], {self.shape})"

    def __getattr__(self, name: str) -> Any:
        """Return the layer or parameter of this name, as in `model.first.W`."""
        if not name.startswith("_"):
            found = [x for x in self.parameters if x.name == name]
            if name in self.parts or len(found) == 1:
                return self.parts[name] if name in self.parts else found[0]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    # ---- values ----

    def eval(self, arguments: Any = None) -> Any:
        """Return the value for this data: an array, or a list of arrays for sequences."""
        (found,) = evaluate([self], self.data_by_input(arguments))
        return found

    def __call__(self, *data: Any) -> Any:
        """Return the value for the inputs' data, given in the order of the inputs."""
        return self.eval(dict(zip(self.arguments, data, strict=True)))

    def data_by_input(self, arguments: Any) -> dict[Any, Any]:
        """Map inputs to data, from a dict by inputs or names, or from the only input's data."""
        if arguments is None:
            return {}
        if not isinstance(arguments, Mapping):
            return dict(zip(self.arguments, [arguments], strict=True))
        names = {x.name: x for x in self.arguments if x.name}
        return {names[x] if isinstance(x, str) else x: data for x, data in arguments.items()}

    def grad(self, at: Any, wrt: Sequence[Any] | None = None, outputs: Any = None) -> Any:
        """Return the gradient of the sum of all values for inputs that need one, or those in `wrt`.

        With `outputs`, their values too; one gradient by itself, several by what they belong to.
        """
        chosen = [x for x in self.arguments if x.needs_gradient] if wrt is None else [*wrt]
        extra, given = [*(outputs or ())], self.data_by_input(at)
        nodes = [
            Function(node, x.axis, [self, x])
            for node, x in zip(gradients(self, chosen), chosen, strict=True)
        ]
        found = evaluate([*nodes, *extra], given)
        by = dict(zip(chosen, found, strict=False))
        gradient = by if len(chosen) > 1 else found[0]
        if outputs is None:
            return gradient
        values = found[len(chosen) :]
        return gradient, values[0] if len(extra) == 1 else dict(zip(extra, values, strict=True))

    # ---- signs ----

    def __add__(self, other: Any) -> Function:
        return elementwise(lambda a, b: a + b, self, other)

    def __sub__(self, other: Any) -> Function:
        return elementwise(lambda a, b: a - b, self, other)

    def __mul__(self, other: Any) -> Function:
        return elementwise(lambda a, b: a * b, self, other)

    def __truediv__(self, other: Any) -> Function:
        return elementwise(lambda a, b: a / b, self, other)

    def __radd__(self, other: Any) -> Function:
        return elementwise(lambda a, b: b + a, self, other)

    def __rsub__(self, other: Any) -> Function:
        return elementwise(lambda a, b: b - a, self, other)

    def __rmul__(self, other: Any) -> Function:
        return elementwise(lambda a, b: b * a, self, other)

    def __rtruediv__(self, other: Any) -> Function:
        return elementwise(lambda a, b: b / a, self, other)

    def __neg__(self) -> Function:
        return apply(lambda x: -x, self)

    def __matmul__(self, other: Any) -> Function:
        return matmul(self, other)

    def __rmatmul__(self, other: Any) -> Function:
        return matmul(other, self)

    def __bool__(self) -> bool:
        raise make_error(mg.TraceError, "face_no_value", name=repr(self))


def _union(groups: Iterable[Iterable[Any]]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(x for some in groups for x in some))


def evaluate(
    functions: Sequence[Function], input_data: Mapping[Any, Any], training: bool = False
) -> list[Any]:
    """Evaluate functions for their inputs' data; return each value as its axes arrange it."""
    feeds: dict[Any, Any] = {TRAINING: float(training)}
    lengths: dict[Axis, list[int]] = {}
    for x, data in input_data.items():
        feeds[x.node], found = x.to_rows(data)
        axis = x.axis or BATCH
        if lengths.setdefault(axis, found) != found:
            raise make_error(mg.FeedError, "face_lengths", one=lengths[axis], other=found)
    for axis, found in lengths.items():
        if axis is not BATCH:
            feeds |= axis.index_feeds(found)
    for p in dict.fromkeys(p for x in functions for p in x.parameters):
        feeds[p.node] = p.tensor.detach().numpy()
    values = SESSION.run([x.node for x in functions], feeds)
    return [
        _to_arrays(v, lengths.get(x.axis or BATCH), x.axis)
        for v, x in zip(values, functions, strict=True)
    ]


def _to_arrays(value: Any, lengths: Sequence[int] | None, axis: Axis | None) -> Any:
    """Return the value as an array, or as one array for each sequence."""
    if axis in (None, BATCH) or lengths is None:
        return np.asarray(value)
    return np.split(value, np.cumsum(lengths)[:-1])


RULES = ties.SECOND | ties.EACH  # where CNTK differs


def gradients(y: Function, wrt: Sequence[Function]) -> list[Any]:
    """Return the gradient nodes of the sum of y, built at the first call only."""
    key = tuple(map(id, wrt))
    if key not in y._gradients:
        with following(RULES):
            found = mg.gradients(mg.sum(y.node), [x.node for x in wrt])
        pairs = zip(found, wrt, strict=True)
        y._gradients[key] = [mg.zeros_like(x.node) if g is None else g for g, x in pairs]
    return y._gradients[key]


def as_function(x: Any) -> Function:
    """Return an operand as a Function; numbers become a constant."""
    if isinstance(x, Function):
        return x
    return Function(GRAPH.lift(mg.tensor(np.asarray(x, np.float32))), None)


def common_axis(operands: Sequence[Function]) -> Axis | None:
    """Return the operands' common dynamic axis; operands without one fit any axis."""
    found = {x.axis for x in operands} - {None}
    if len(found) > 1:
        names = ", ".join(repr(x) for x in operands)
        raise make_error(mg.ShapeError, "face_axes", operands=names)
    return found.pop() if found else None


def apply(function: Callable[..., Any], *xs: Any, name: str = "", axis: Any = "common") -> Function:
    """Build a Function by calling `make` with the operands' nodes."""
    operands = [as_function(x) for x in xs]
    own = common_axis(operands) if axis == "common" else axis
    return Function(function(*[x.node for x in operands]), own, operands, name)


def elementwise(function: Callable[..., Any], *xs: Any) -> Function:
    """Build an elementwise Function, with static axes aligned from the last."""
    operands = [as_function(x) for x in xs]
    rank = max(len(x.shape) for x in operands)

    def call(*nodes: Any) -> Any:
        return function(*[_pad_rank(n, x, rank) for n, x in zip(nodes, operands, strict=True)])

    return apply(call, *operands)


def _pad_rank(node: Any, x: Function, rank: int) -> Any:
    missing = rank - len(x.shape)
    if x.axis is None or not missing:
        return node
    return mg.reshape(node, (-1, *[1] * missing, *x.shape))


def along_axis(function: Callable[..., Any], x: Any, axis: int | None = None) -> Function:
    """Apply a function along one static axis, or along all of them flattened into one."""
    x = as_function(x)
    if axis is not None:
        along = axis + (x.axis is not None) if axis >= 0 else axis
        return apply(lambda v: function(v, axis=along), x)
    flat, full = (
        ((-1,), x.shape) if x.axis is None else ((-1, int(np.prod(x.shape))), (-1, *x.shape))
    )
    return apply(lambda v: mg.reshape(function(mg.reshape(v, flat), axis=-1), full), x)


def reduce(function: Callable[..., Any], x: Any, axis: Any = None) -> Function:
    """Reduce over one static axis (kept with length 1), over all static axes, or over all axes."""
    x = as_function(x)
    if axis == "all":
        return apply(lambda v: function(v), x, axis=None)
    if axis is not None:
        along = axis + (x.axis is not None) if axis >= 0 else axis
        return apply(lambda v: function(v, axis=along, keepdims=True), x)
    axes = tuple(range(x.axis is not None, len(x.shape) + (x.axis is not None)))
    return apply(lambda v: function(v, axis=axes), x) if axes else x


def matmul(left: Any, right: Any) -> Function:
    """Multiply along the last axis of the left and the first of the right operand."""
    left, right = as_function(left), as_function(right)
    if right.axis is None or len(left.shape) > 1:
        return apply(mg.matmul, left, right)
    return apply(lambda a, b: mg.squeeze(mg.matmul(mg.expand_dims(a, -2), b), -2), left, right)
