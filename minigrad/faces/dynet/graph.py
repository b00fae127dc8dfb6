"""DyNet's graph: expressions are noted, and computed when a value is asked for."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces import ties
from minigrad.faces.dynet.dynet_config import SETTINGS
from minigrad.faces.face import failed
from minigrad.faces.ties import following

__all__ = [
    "ComputationGraph",
    "Expression",
    "Input",
    "aligned",
    "expression",
    "leaf",
    "now",
    "op",
    "picked",
    "product",
    "renew_cg",
    "shaped",
]

Dims = tuple[int, ...]
NUMBERS = int, float, np.number


class NotFinite(mg.NumericError, RuntimeError):
    """A value that is NaN or infinite, which DyNet calls a RuntimeError."""


@contextlib.contextmanager
def finite() -> Iterator[None]:
    """Refuse such values where they come up."""
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
        """Compute all that was noted up to an expression; operations alike together, if so set."""
        together = SETTINGS["autobatch"] and str(SETTINGS["autobatch"]) != "0"
        with contextlib.ExitStack() as around:
            if together:
                around.enter_context(mg.lazy_batch())
            if self.checked:
                around.enter_context(finite())
            for x in self.noted[: last.index + 1]:
                if x.tensor is None:
                    x.tensor = x.function(*[operand.tensor for operand in x.operands])

    def invalidate(self) -> None:
        """Forget what was computed."""
        for x in self.noted:
            x.tensor = None

    def slope(self, root: Expression, x: Expression) -> Any:
        """The gradient of one expression by another: what lies between them is computed anew."""
        start = mg.tensor(x.run().detach(), requires_grad=True)
        found = {x: start}
        for e in self.noted[x.index + 1 : root.index + 1]:
            if any(operand in found for operand in e.operands):
                found[e] = e.function(*[found.get(y, y.tensor) for y in e.operands])
        found_root = found.get(root, root.tensor.detach())
        slope = None
        if found_root.requires_grad:
            with following(ties.SECOND):
                slope = mg.grad(mg.sum(found_root), start, allow_unused=True)
        return mg.zeros_like(start) if slope is None else slope


class Now:
    """The graph to which expressions belong that are made now."""

    cg = ComputationGraph(0)


now = Now()


def renew_cg(immediate_compute: bool = False, check_validity: bool = False) -> ComputationGraph:
    """Begin a new graph; expressions of the last one are stale.

    immediate_compute: compute each expression when it is made; check_validity: NaN and infinity are
    errors.
    """
    now.cg = ComputationGraph(now.cg.version + 1, immediate_compute, check_validity)
    return now.cg


class Expression:
    """A value to come: its dimension is known, and its place in the graph of now.

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

    def here(self) -> Expression:
        """The expression itself, if it is not stale."""
        if self.cg is not now.cg:
            raise failed(mg.GradientError, "face_stale")
        return self

    @property
    def lead(self) -> Dims:
        """The axis of the samples, if there are several."""
        return (self.batch,) if self.batch > 1 else ()

    def __repr__(self) -> str:
        return f"expression {self.index}/{self.cg.version}"

    # ---- values ----

    def run(self, recalculate: bool = False) -> Any:
        """The tensor, computed if it is not there."""
        x = self.here()
        if recalculate:
            x.cg.invalidate()
        if x.tensor is None:
            x.cg.forward(x)
        return x.tensor

    def dim(self) -> tuple[Dims, int]:
        """The lengths of the axes, and the number of samples."""
        x = self.here()
        return x.dims, x.batch

    def forward(self, recalculate: bool = False) -> None:
        """Compute it now."""
        self.run(recalculate)

    def npvalue(self, recalculate: bool = False) -> Any:
        """The value as an array, samples last."""
        return self.here()._outside(self.run(recalculate))

    def vec_value(self, recalculate: bool = False) -> list[float]:
        """The value as a list, column by column."""
        found: list[float] = self.npvalue(recalculate).ravel("F").tolist()
        return found

    def scalar_value(self, recalculate: bool = False) -> float:
        """The single number."""
        return float(self.run(recalculate).item())

    def value(self, recalculate: bool = False) -> Any:
        """A number, the list of a vector, or the array of a matrix."""
        x = self.here()
        if len(x.dims) > 1:
            return self.npvalue(recalculate)
        found = self.vec_value(recalculate)
        return found[0] if len(found) == 1 else found

    def _outside(self, tensor: Any) -> Any:
        array = np.array(tensor.detach().numpy(), np.float64)
        return np.moveaxis(array, 0, -1) if self.batch > 1 else array

    # ---- the way back ----

    def backward(self, full: bool = False) -> None:
        """Add to the gradients of parameters; `full`: `gradient` knows those of inputs, too."""
        x = self.here()
        if x.dims != (1,) or x.batch > 1:
            raise failed(mg.ShapeError, "face_backward", dim=(x.dims, x.batch))
        y = x.run()
        x.cg.root = x, full
        if y.requires_grad:
            with following(ties.SECOND):
                mg.sum(y).backward(retain_graph=True)

    def gradient(self) -> Any:
        """The gradient of what `backward` was called on; 0 where that was not `full`, and no
        parameter lies behind."""
        x = self.here()
        root, full = x.cg.root or (x, False)
        if x.cg.root is None or x.index > root.index:
            raise failed(mg.GradientError, "face_no_backward")
        if full or x.trained or x is root:
            return x._outside(x.cg.slope(root, x))
        return np.zeros_like(x.npvalue())

    # ---- signs ----

    def __add__(self, other: Any) -> Expression:
        return aligned(lambda a, b: a + b, self, other)

    def __sub__(self, other: Any) -> Expression:
        return aligned(lambda a, b: a - b, self, other)

    def __mul__(self, other: Any) -> Expression:
        return product(self, other)

    def __truediv__(self, other: Any) -> Expression:
        if isinstance(other, NUMBERS):
            return op(lambda x: x / other, self)
        raise failed(mg.DtypeError, "face_division")

    def __pow__(self, other: Any) -> Expression:
        return aligned(lambda a, b: a**b, self, other)

    def __neg__(self) -> Expression:
        return op(lambda x: -x, self)

    def __radd__(self, other: Any) -> Expression:
        return aligned(lambda a, b: b + a, self, other)

    def __rsub__(self, other: Any) -> Expression:
        return aligned(lambda a, b: b - a, self, other)

    def __rmul__(self, other: Any) -> Expression:
        return product(self, other)

    def __getitem__(self, key: Any) -> Expression:
        """Along the first axis: one element, row or part; or several by a slice."""
        x = self.here()
        if isinstance(key, slice):
            whole = (slice(None),) * len(x.lead)
            return op(lambda v: v[(*whole, key)], x)
        return picked(x, operator.index(key), 0)


class Input(Expression):
    """An expression whose value is given, and may be set anew."""

    def set(self, value: Any) -> None:
        """Another value of the same dimension; what depends on it is computed anew."""
        array = np.asarray(value, np.float32).reshape(self.lead + self.dims)
        self.function = lambda: mg.tensor(array)
        self.here().cg.invalidate()


def leaf(value: Any, batch: int = 1) -> Input:
    """An expression of an array, of which the first axis counts the samples if there are several.

    Its first dimension is 1 where it has none.
    """
    tensor = mg.tensor(np.asarray(value, np.float32))
    with now.cg.graph:
        node = mg.placeholder(shape=tensor.shape)
    return Input(lambda: tensor, (), node, batch)


def expression(x: Any) -> Expression:
    """An operand, which is an expression of this graph, or a parameter."""
    if not isinstance(x, Expression):
        raise failed(mg.DtypeError, "face_expression", value=repr(x))
    return x.here()


def op(function: Callable[..., Any], *xs: Any, batch: int | None = None) -> Expression:
    """What a function makes of the tensors of expressions; its dimension is found at once."""
    operands = [expression(x) for x in xs]
    node = function(*[x.node for x in operands])
    known = max(x.batch for x in operands) if batch is None else batch
    return Expression(function, operands, node, known)


def aligned(function: Callable[..., Any], *xs: Any) -> Expression:
    """A function element by element: missing axes stand behind, as in columns; numbers as such."""
    given = [x for x in xs if not isinstance(x, NUMBERS)]
    operands = [expression(x) for x in given]
    rank = max(len(x.dims) for x in operands)
    shapes = [x.lead + x.dims + (1,) * (rank - len(x.dims)) for x in operands]

    def call(*values: Any) -> Any:
        tensors = map(shaped, values, shapes)
        return function(*[x if isinstance(x, NUMBERS) else next(tensors) for x in xs])

    return op(call, *operands)


def shaped(value: Any, shape: Dims) -> Any:
    """The value in this shape; nothing is done where it has it."""
    return value if tuple(value.shape) == shape else mg.reshape(value, shape)


def product(a: Any, b: Any) -> Expression:
    """The product of matrices, in which a vector is a column; or each element times a number."""
    if isinstance(b, NUMBERS):
        return op(lambda x: x * b, a)
    a, b = expression(a), expression(b)
    if b.dims == (1,):
        return aligned(lambda x, y: x * y, a, b)
    left = a.lead + a.dims + (1,) * (len(a.dims) == 1)

    def call(x: Any, y: Any) -> Any:
        x = shaped(x, left)
        if len(b.dims) > 1 or b.batch == 1:
            return mg.matmul(x, y)
        if a.batch == 1:
            return mg.matmul(y, x, transpose_b=True)
        return mg.squeeze(mg.matmul(x, mg.expand_dims(y, -1)), -1)

    return op(call, a, b)


def picked(x: Any, index: int, dim: int) -> Expression:
    """One position of a dimension, which is gone then."""
    x = expression(x)
    if not -x.dims[dim] <= index < x.dims[dim]:
        about = {"index": index, "axis": dim, "length": x.dims[dim]}
        raise failed(mg.IndexRangeError, "index_range", op="pick", **about)
    left = x.dims[:dim] + x.dims[dim + 1 :] or (1,)
    axis, shape = dim + len(x.lead), x.lead + left
    return op(lambda v: shaped(mg.take(v, index, axis), shape), x)
