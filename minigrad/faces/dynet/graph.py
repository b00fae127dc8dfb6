"""DyNet's graph: expressions are recorded, and computed when a value is needed."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces import ties
from minigrad.faces.dynet.dynet_config import SETTINGS
from minigrad.faces.face import make_error
from minigrad.faces.ties import following

__all__ = [
    "ComputationGraph",
    "Expression",
    "Input",
    "apply",
    "as_expression",
    "elementwise",
    "leaf",
    "matmul",
    "now",
    "pick_index",
    "renew_cg",
    "reshape_value",
]

Dims = tuple[int, ...]
NUMBERS = int, float, np.number


class NotFinite(mg.NumericError, RuntimeError):
    """A value that is NaN or infinite, which DyNet calls a RuntimeError."""


@contextlib.contextmanager
def check_finite() -> Iterator[None]:
    """Raise NotFinite inside the block when an operator gives NaN or an infinity."""
    try:
        with mg.detect_anomaly():
            yield
    except mg.NumericError as found:
        raise NotFinite(found.key, defined=found.defined, ran=found.ran, **found.fields) from None


class ComputationGraph:
    """The expressions since the last `renew_cg`, in their order; `graph` holds them as nodes."""

    def __init__(self, version: int, immediate: bool = False, checked: bool = False) -> None:
        self.version, self.graph = version, mg.Graph()
        self.immediate, self.checked = immediate, checked
        self.noted: list[Expression] = []
        self.leaves: dict[int, Expression] = {}  # of parameters
        self.root: tuple[Expression, bool] | None = None  # of the last way back

    def forward(self, last: Expression) -> None:
        """Compute all expressions up to this one; batch operations of the same kind if so set."""
        together = SETTINGS["autobatch"] and str(SETTINGS["autobatch"]) != "0"
        with contextlib.ExitStack() as around:
            if together:
                around.enter_context(mg.lazy_batch())
            if self.checked:
                around.enter_context(check_finite())
            for x in self.noted[: last.index + 1]:
                if x.tensor is None:
                    x.tensor = x.function(*[operand.tensor for operand in x.operands])

    def invalidate(self) -> None:
        """Drop all computed values."""
        for x in self.noted:
            x.tensor = None

    def gradient(self, root: Expression, x: Expression) -> Any:
        """Return the gradient of one expression by another, recomputing those between them."""
        start = mg.tensor(x.run().detach(), requires_grad=True)
        found = {x: start}
        for e in self.noted[x.index + 1 : root.index + 1]:
            if any(operand in found for operand in e.operands):
                found[e] = e.function(*[found.get(y, y.tensor) for y in e.operands])
        found_root = found.get(root, root.tensor.detach())
        gradient = None
        if found_root.requires_grad:
            with following(ties.SECOND):
                gradient = mg.grad(mg.sum(found_root), start, allow_unused=True)
        return mg.zeros_like(start) if gradient is None else gradient


class CurrentGraph:
    """The current graph, to which new expressions are added."""

    cg = ComputationGraph(0)


now = CurrentGraph()


def renew_cg(immediate_compute: bool = False, check_validity: bool = False) -> ComputationGraph:
    """Begin a new graph; expressions of the last one are stale.

    immediate_compute: compute each expression when it is made; check_validity: NaN and infinity are
    errors.
    """
    now.cg = ComputationGraph(now.cg.version + 1, immediate_compute, check_validity)
    return now.cg


class Expression:
    """A lazy value: its dimension is known, and its position in the current graph.

    function, operands: what makes its tensor of theirs. batch: how many samples it holds; they are
    the first axis of its tensor if there are several, and the last one of what a user sees.
    """

    tensor: Any = None

    def __init__(
        self,
        function: Callable[..., Any],
        operands: Sequence[Expression],
        node: Any,
        batch: int,
        trained: bool = False,
    ) -> None:
        self.function, self.operands, self.node, self.batch = function, operands, node, batch
        self.dims: Dims = tuple(node.shape)[batch > 1 :]
        self.trained: bool = trained or any(x.trained for x in operands)
        self.cg, self.index = now.cg, len(now.cg.noted)
        self.cg.noted.append(self)
        if self.cg.immediate:
            self.cg.forward(self)

    def in_current_graph(self) -> Expression:
        """Return the expression itself, or raise GradientError if its graph was renewed."""
        if self.cg is not now.cg:
            raise make_error(mg.GradientError, "face_stale")
        return self

    @property
    def batch_dims(self) -> Dims:
        """The length of the sample axis, as a tuple that is empty for a single sample."""
        return (self.batch,) if self.batch > 1 else ()

    def __repr__(self) -> str:
        return f"expression {self.index}/{self.cg.version}"

    # ---- values ----

    def run(self, recalculate: bool = False) -> Any:
        """Return the tensor, computing it if it isn't there yet."""
        x = self.in_current_graph()
        if recalculate:
            x.cg.invalidate()
        if x.tensor is None:
            x.cg.forward(x)
        return x.tensor

    def dim(self) -> tuple[Dims, int]:
        """Return the lengths of the axes, and the number of samples."""
        x = self.in_current_graph()
        return x.dims, x.batch

    def forward(self, recalculate: bool = False) -> None:
        """Compute the value now."""
        self.run(recalculate)

    def npvalue(self, recalculate: bool = False) -> Any:
        """Return the value as an array, with samples along the last axis."""
        return self.in_current_graph()._to_numpy(self.run(recalculate))

    def vec_value(self, recalculate: bool = False) -> list[float]:
        """Return the value as a list, column by column."""
        found: list[float] = self.npvalue(recalculate).ravel("F").tolist()
        return found

    def scalar_value(self, recalculate: bool = False) -> float:
        """Return the value as a single number."""
        return float(self.run(recalculate).item())

    def value(self, recalculate: bool = False) -> Any:
        """Return the value: a number, a list for a vector, or an array for a matrix."""
        x = self.in_current_graph()
        if len(x.dims) > 1:
            return self.npvalue(recalculate)
        found = self.vec_value(recalculate)
        return found[0] if len(found) == 1 else found

    def _to_numpy(self, tensor: Any) -> Any:
        array = np.array(tensor.detach().numpy(), np.float64)
        return np.moveaxis(array, 0, -1) if self.batch > 1 else array

    # ---- the way back ----

    def backward(self, full: bool = False) -> None:
        """Add to the parameters' gradients; with `full`, `gradient` works for inputs, too."""
        x = self.in_current_graph()
        if x.dims != (1,) or x.batch > 1:
            raise make_error(mg.ShapeError, "face_backward", dim=(x.dims, x.batch))
        y = x.run()
        x.cg.root = x, full
        if y.requires_grad:
            with following(ties.SECOND):
                mg.sum(y).backward(retain_graph=True)

    def gradient(self) -> Any:
        """Return the gradient of the expression that `backward` was called on: 0 if that was not
        `full` and this one depends on no parameter."""
        x = self.in_current_graph()
        root, full = x.cg.root or (x, False)
        if x.cg.root is None or x.index > root.index:
            raise make_error(mg.GradientError, "face_no_backward")
        if full or x.trained or x is root:
            return x._to_numpy(x.cg.gradient(root, x))
        return np.zeros_like(x.npvalue())

    # ---- signs ----

    def __add__(self, other: Any) -> Expression:
        return elementwise(lambda a, b: a + b, self, other)

    def __sub__(self, other: Any) -> Expression:
        return elementwise(lambda a, b: a - b, self, other)

    def __mul__(self, other: Any) -> Expression:
        return matmul(self, other)

    def __truediv__(self, other: Any) -> Expression:
        if isinstance(other, NUMBERS):
            return apply(lambda x: x / other, self)
        raise make_error(mg.DtypeError, "face_division")

    def __pow__(self, other: Any) -> Expression:
        return elementwise(lambda a, b: a**b, self, other)

    def __neg__(self) -> Expression:
        return apply(lambda x: -x, self)

    def __radd__(self, other: Any) -> Expression:
        return elementwise(lambda a, b: b + a, self, other)

    def __rsub__(self, other: Any) -> Expression:
        return elementwise(lambda a, b: b - a, self, other)

    def __rmul__(self, other: Any) -> Expression:
        return matmul(self, other)

    def __getitem__(self, key: Any) -> Expression:
        """Return one element, row or part along the first axis, or several by a slice."""
        x = self.in_current_graph()
        if isinstance(key, slice):
            whole = (slice(None),) * len(x.batch_dims)
            return apply(lambda v: v[(*whole, key)], x)
        return pick_index(x, operator.index(key), 0)


class Input(Expression):
    """An expression whose value is given, and can be replaced."""

    def set(self, value: Any) -> None:
        """Set another value of the same dimension; expressions that depend on it are recomputed."""
        array = np.asarray(value, np.float32).reshape(self.batch_dims + self.dims)
        self.function = lambda: mg.tensor(array)
        self.in_current_graph().cg.invalidate()


def leaf(value: Any, batch: int = 1) -> Input:
    """Make an expression of an array; with several samples, its first axis counts them.

    Its first dimension is 1 where it has none.
    """
    tensor = mg.tensor(np.asarray(value, np.float32))
    with now.cg.graph:
        node = mg.placeholder(shape=tensor.shape)
    return Input(lambda: tensor, (), node, batch)


def as_expression(x: Any) -> Expression:
    """Return an operand's expression: one of the current graph, or a parameter's."""
    if not isinstance(x, Expression):
        raise make_error(mg.DtypeError, "face_expression", value=repr(x))
    return x.in_current_graph()


def apply(function: Callable[..., Any], *xs: Any, batch: int | None = None) -> Expression:
    """Apply a function of tensors to expressions; infer the result's dimension at once."""
    operands = [as_expression(x) for x in xs]
    node = function(*[x.node for x in operands])
    known = max(x.batch for x in operands) if batch is None else batch
    return Expression(function, operands, node, known)


def elementwise(function: Callable[..., Any], *xs: Any) -> Expression:
    """Apply an elementwise function; missing axes are added at the end, numbers stay numbers."""
    given = [x for x in xs if not isinstance(x, NUMBERS)]
    operands = [as_expression(x) for x in given]
    rank = max(len(x.dims) for x in operands)
    shapes = [x.batch_dims + x.dims + (1,) * (rank - len(x.dims)) for x in operands]

    def call(*values: Any) -> Any:
        tensors = map(reshape_value, values, shapes)
        return function(*[x if isinstance(x, NUMBERS) else next(tensors) for x in xs])

    return apply(call, *operands)


def reshape_value(value: Any, shape: Dims) -> Any:
    """Reshape the value, unless it already has this shape."""
    return value if tuple(value.shape) == shape else mg.reshape(value, shape)


def matmul(a: Any, b: Any) -> Expression:
    """Multiply matrices (a vector is a column), or each element by a number."""
    if isinstance(b, NUMBERS):
        return apply(lambda x: x * b, a)
    a, b = as_expression(a), as_expression(b)
    if b.dims == (1,):
        return elementwise(lambda x, y: x * y, a, b)
    left = a.batch_dims + a.dims + (1,) * (len(a.dims) == 1)

    def call(x: Any, y: Any) -> Any:
        x = reshape_value(x, left)
        if len(b.dims) > 1 or b.batch == 1:
            return mg.matmul(x, y)
        if a.batch == 1:
            return mg.matmul(y, x, transpose_b=True)
        return mg.squeeze(mg.matmul(x, mg.expand_dims(y, -1)), -1)

    return apply(call, a, b)


def pick_index(x: Any, index: int, dim: int) -> Expression:
    """Pick one position of a dimension and drop that dimension."""
    x = as_expression(x)
    if not -x.dims[dim] <= index < x.dims[dim]:
        about = {"index": index, "axis": dim, "length": x.dims[dim]}
        raise make_error(mg.IndexRangeError, "index_range", op="pick", **about)
    left = x.dims[:dim] + x.dims[dim + 1 :] or (1,)
    axis, shape = dim + len(x.batch_dims), x.batch_dims + left
    return apply(lambda v: reshape_value(mg.take(v, index, axis), shape), x)
