"""The operator record, and the one switch between its three readers.

An operator is defined once, as an `Op`: a shape rule, a kernel on arrays, gradient rules.
`apply` hands it to the reader its operands ask for: plain arrays run the kernel, a `Tensor` runs
it and records a node, a graph `Node` records a node and runs nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Iterable, Sequence, Set
from dataclasses import dataclass, field
from operator import attrgetter
from types import CodeType
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from minigrad.core.context import silence, silently
from minigrad.core.specs import (
    Array,
    Attrs,
    Dtype,
    Rule,
    Shape,
    Spec,
    Unrecorded,
    bool_,
    float32,
    float64,
    int64,
    promote,
    show_shapes,
    spec_of,
)
from minigrad.diagnostics.errors import DtypeError, GraphError, NumericError, ShapeError
from minigrad.diagnostics.source import Location, SavedLine, here

__all__ = [
    "NODE_SLOTS",
    "READERS",
    "READY",
    "REGISTRY",
    "STOPS",
    "BaseNode",
    "Op",
    "Reader",
    "Sample",
    "ancestors",
    "apply",
    "as_array",
    "as_operand",
    "as_weak",
    "cast_array",
    "explain",
    "into",
    "is_weak",
    "operator",
    "overflowed",
    "run_kernel",
    "unify",
    "weak_dtype",
]


@dataclass(frozen=True, slots=True)
class Sample:
    """Operands that the tests of an operator are run on: shapes, attributes, range of values."""

    shapes: Sequence[tuple[int, ...]]
    attrs: Attrs = field(default_factory=dict)
    low: float = -2.0
    high: float = 2.0
    integers: Sequence[int] = ()  # positions that hold class numbers 0, 1, 2 instead
    bools: Sequence[int] = ()  # positions that hold True and False instead


@dataclass(frozen=True, eq=False, repr=False)
class Op:
    """One operator, defined once.

    The mathematics:
        shape    (*shapes, **attrs) -> shape; raises ShapeError
        run      kernel (out, *arrays, **attrs) -> array; allocates when `out` is None
        vjp      for each operand a rule (g, y, *operands, **attrs) -> its gradient, written in
                 operators; it may read shapes, never data. None: no gradient flows there.
                 Where the number of operands is open, or they share work: one rule for all,
                 (g, y, *operands, wrt, **attrs) -> list of gradients, those at the positions
                 `wrt` filled in (None: no gradient flows there)
        dtype    (*dtypes) -> dtype of the result
        inputs   (*dtypes) -> dtype that operands are cast to first; None: taken as they come
        infer    (specs, attrs) -> spec of the result, where shape and dtype rules do not suffice
    Facts:
        broadcasts   operands are stretched to a common shape (the sweep undoes it); those of an
                     operator that is not elementwise along all axes but the last two
        elementwise  each element of the result depends on that element of the operands alone
        shape_only   positions whose shape is read and whose data are not
        selectors    positions that choose (conditions, indices): they keep their own data type
        ufunc        the NumPy function that is the whole kernel, if one is
        symbol       Python's operator, when it gives the kernel's bits (and is faster on scalars)
        effect       keeps or changes state, or has no kernel of its own: executors handle it
        impure       runs once for each run of its graph, even if nothing reads the result
        products     (shape of the result, *shapes) -> multiplications of a product, to be counted
        memo         what readers have found out about it, each under keys of its own
    In other vocabularies (inert): `title` in both languages, `formula` with {0}, {1} for operands.
    """

    name: str
    shape: Callable[..., Shape | None]
    run: Callable[..., Array]
    vjp: tuple[Rule | None, ...] | Rule = ()
    dtype: Callable[..., Dtype] = promote
    inputs: Callable[..., Dtype] | None = promote
    infer: Callable[[Sequence[Spec], Attrs], Spec] | None = None
    broadcasts: bool = False
    elementwise: bool = False
    shape_only: Container[int] = ()
    selectors: Container[int] = ()
    effect: bool = False
    impure: bool = False
    products: Callable[..., int] | None = None
    ufunc: np.ufunc | None = None
    symbol: Callable[..., Any] | None = None
    title: tuple[str, str] = ("", "")
    formula: str = ""
    samples: Sequence[Sample] = ()
    memo: dict[Any, Any] = field(default_factory=dict)

    def __call__(self, *operands: Any, **attrs: Any) -> Any:
        return apply(self, operands, attrs)

    def __repr__(self) -> str:
        return self.name

    def has_rule(self, position: int) -> bool:
        """Return whether a gradient may flow to the operand at this position."""
        if not isinstance(self.vjp, tuple):
            return position not in self.shape_only and position not in self.selectors
        return position < len(self.vjp) and self.vjp[position] is not None

    def spec(self, specs: Sequence[Spec], attrs: Attrs) -> Spec:
        """Infer the spec of the result; if nothing is known of an operand, its shape is unknown."""
        if self.infer is not None:
            return self.infer(specs, attrs)
        dtype = self.dtype(*(s.dtype for s in specs)) if "dtype" not in attrs else attrs["dtype"]
        shapes = [s.shape for s in specs]
        if None in shapes and not self.effect:
            return Spec(None, dtype)
        return Spec(self.shape(*shapes, **attrs), dtype)


REGISTRY: dict[str, Op] = {}


def operator(name: str, **record: Any) -> Op:
    """Define an operator and enter it in the registry."""
    if name in REGISTRY:
        raise ValueError(f"there is an operator {name} already")
    op = REGISTRY[name] = Op(name, **record)
    return op


# What nodes hold that are filled once and then left alone; those of the tape have their own way.
NODE_SLOTS = ("attrs", "code", "inputs", "lasti", "op", "order", "scope")


class BaseNode:
    """One application of an operator: the common base of tape and graph nodes.

    `inputs` are the nodes (or leaves) it reads, `order` grows with every node ever built,
    `code` and `lasti` are the user's line, `scope` the layer it was built in.
    """

    __slots__ = ()
    controls: tuple[Any, ...] = ()  # nodes that must run first though no value comes from them
    op: Op
    inputs: tuple[Any, ...]
    attrs: Attrs
    order: int
    scope: str
    code: CodeType | SavedLine
    lasti: int

    @property
    def where(self) -> Location:
        """The user's line that defined this node."""
        return Location(self.code, self.lasti)

    def __str__(self) -> str:
        return self.op.name


def ancestors(outputs: Iterable[BaseNode], given: Set[Any] = frozenset()) -> list[Any]:
    """Return all nodes that `outputs` depend on, themselves included, in the order built.

    What leads to `given` nodes is left out.
    """
    found = set(outputs)
    waiting = [x for x in found if x not in given] if given else list(found)
    while waiting:
        node = waiting.pop()
        for x in (*node.inputs, *node.controls) if node.controls else node.inputs:
            if isinstance(x, BaseNode) and x not in found:
                found.add(x)
                if x not in given:
                    waiting.append(x)
    return sorted(found, key=attrgetter("order"))


class Reader(Protocol):
    """One way to read `a * b`. The operand with the highest level decides."""

    level: int

    def apply(self, op: Op, operands: tuple[Any, ...], attrs: Attrs) -> Any: ...


class ValueReader:
    """Plain arrays: run the kernel."""

    level = 0

    def apply(self, op: Op, operands: tuple[Any, ...], attrs: Attrs) -> Array:
        dtype = None
        for x in operands:  # arrays of one floating type need no conversion
            if type(x) not in READY:
                break
            if op.inputs is not None:
                dtype = dtype or x.dtype
                if x.dtype is not dtype:
                    break
        else:
            if dtype is None or dtype.kind == "f":
                return run_kernel(op, operands, attrs)
        arrays = unify(op, [as_operand(op, x) for x in operands], cast_array)
        return run_kernel(op, arrays, attrs)


READY = {np.ndarray, Spec, Unrecorded, np.float32, np.float64, np.int64, np.int32, np.bool_}


VALUES = ValueReader()


class _Readers(dict[type, Reader]):
    """The reader for each class of operands, cached."""

    def __missing__(self, kind: type) -> Reader:
        reader: Reader = getattr(kind, "reader", VALUES)
        self[kind] = reader
        return reader


READERS = _Readers()


def apply(op: Op, operands: tuple[Any, ...], attrs: Attrs) -> Any:
    """Dispatch an operator and its operands to the reader of the highest level among them."""
    reader: Reader = VALUES
    for x in operands:
        other = READERS[type(x)]
        if other is not reader and other.level > reader.level:
            reader = other
    return reader.apply(op, operands, attrs)


_WEAK = {bool: bool_, int: int64, float: float32}


def as_operand(op: Op, x: Any) -> Any:
    """Convert numbers or lists to an array; return a Python number, node or Spec unchanged."""
    if type(x) in _WEAK or isinstance(x, (np.ndarray, np.generic, Spec, BaseNode)):
        return x
    return as_array(x, None, op.name)


def as_weak(op: Op, x: Any) -> Any:
    """Convert a NumPy scalar to a Python number, which takes the other operand's data type.

    Not where the tensor only chooses, or where operands are taken as they come: nothing would be
    left of the scalar's own type.
    """
    weak = isinstance(x, np.generic) and op.inputs is not None and not op.selectors
    return x.item() if weak else x


def is_weak(x: Any) -> bool:
    """Return whether this is a Python number, which has no data type of its own."""
    return type(x) in _WEAK


# What Python's numbers become where NumPy makes something else of them: its integers are as wide as
# an address.
OF_PYTHON = {float64: float32} | ({} if np.dtype(np.intp) == int64 else {np.dtype(np.intp): int64})


def as_array(x: Any, dtype: npt.DTypeLike | None, who: str) -> Array:
    """Copy numbers or nested lists to a contiguous array; float32 or int64 by default."""
    try:
        given = np.array(x, order="C")
        if given.dtype.kind not in "fiub":
            raise TypeError(x)
        array = given if dtype is None else silently(given.astype, dtype, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise DtypeError("not_numeric", op=who, value=_brief(x), defined=here()) from error
    if overflowed(given, array):
        raise DtypeError("out_of_range", op=who, value=_brief(x), dtype=array.dtype, defined=here())
    if array.dtype.kind not in "fiub":
        raise DtypeError("not_numeric", op=who, value=_brief(x), defined=here())
    if dtype is None and array.dtype in OF_PYTHON and not isinstance(x, (np.ndarray, np.generic)):
        array = array.astype(OF_PYTHON[array.dtype])
    return array[()]  # no axes: a NumPy scalar


def overflowed(given: Array, array: Array) -> bool:
    """Return whether a conversion to integers changed a number: NumPy doesn't report it."""
    if array.dtype.kind not in "iu" or given.dtype == array.dtype or given.dtype.kind not in "fiu":
        return False
    whole = np.trunc(given) if given.dtype.kind == "f" else given
    return not np.array_equal(whole, array)


def _brief(x: object) -> str:
    text = repr(x)
    return text if len(text) <= 60 else text[:57] + "..."


def cast_array(x: Array, dtype: Dtype) -> Array:
    return x.astype(dtype)


@functools.cache
def weak_dtype(number: Dtype, other: Dtype) -> Dtype:
    """Return the data type that a Python number of this kind takes combined with the other.

    The other's; but a float among integers makes them float32, and a number is no bool.
    """
    if other.kind == "f" or (number.kind in "iu" and other.kind in "iu"):
        return other
    return promote(number, other)


def unify(op: Op, operands: list[Any], cast: Callable[[Any, Dtype], Any]) -> list[Any]:
    """Bring operands to the one data type the operator works in; Python numbers are weak.

    See `weak_dtype`. `cast` is the reader's way to convert.
    """
    if op.inputs is not None and not op.selectors:  # most have operands of one floating type
        known = [x.dtype for x in operands if type(x) not in _WEAK]
        first = known[0] if known else bool_
        if first.kind == "f" and first.isnative and known.count(first) == len(known):
            if len(known) == len(operands):
                return operands
            return [_of_type(op, first, x) if type(x) in _WEAK else x for x in operands]
    for i, x in enumerate(operands):
        if type(x) in _WEAK and (op.inputs is None or i in op.selectors):
            operands[i] = as_array(x, _WEAK[type(x)], op.name)
    if op.inputs is None:
        return operands
    weak = [type(x) in _WEAK for x in operands]
    fixed = [i in op.selectors or i in op.shape_only for i in range(len(operands))]
    strong = [x.dtype for x, w, f in zip(operands, weak, fixed, strict=True) if not (w or f)]
    free = [_WEAK[type(x)] for x, w in zip(operands, weak, strict=True) if w]
    common = op.inputs(*strong) if strong else op.inputs(*free)
    if strong:
        for number in free:
            common = weak_dtype(number, common)
    for i, x in enumerate(operands):
        if weak[i]:
            operands[i] = _of_type(op, common, x)
        elif x.dtype != common and not fixed[i]:
            operands[i] = cast(x, common)
    return operands


# How NumPy says that a kernel cannot go on.
STOPS = (ValueError, IndexError, TypeError, OverflowError, MemoryError)


def _of_type(op: Op, dtype: Dtype, number: Any) -> Any:
    """Convert a Python number to the other operand's dtype; DtypeError if it doesn't fit."""
    try:
        return dtype.type(number)
    except OverflowError:
        raise DtypeError(
            "out_of_range", op=op.name, value=_brief(number), dtype=dtype, defined=here()
        ) from None


def run_kernel(op: Op, arrays: Sequence[Array], attrs: Attrs) -> Array:
    """Run the kernel; if it fails, raise the operator's own error.

    Shapes are not checked beforehand: NumPy does that anyway, and when it refuses, the shape rule
    is asked for the message.
    """
    try:
        return silence().run(op.run, None, *arrays, **attrs)
    except GraphError as error:
        error.defined = error.defined or here()
        raise
    except STOPS as error:
        raise explain(op, [spec_of(a) for a in arrays], attrs, error) from None


NEGATIVE_POWER = "negative integer powers"  # as NumPy says it, whichever kernel calls its ufunc


def explain(op: Op, specs: Sequence[Spec], attrs: Attrs, error: Exception) -> GraphError:
    """Return the error of the operator's shape rule, or else the kernel's own reason."""
    try:
        op.spec(specs, attrs)
    except GraphError as found:
        found.defined = found.defined or here()
        return found
    if NEGATIVE_POWER in str(error):
        return NumericError("negative_power", op="Pow", defined=here())
    shapes = show_shapes(*(s.shape for s in specs))
    return ShapeError("kernel", op=op.name, shapes=shapes, reason=str(error), defined=here())


def into(out: Array | None, value: Array) -> Array:
    """Finish a kernel that can't write in place: return the value, or copy it to `out`."""
    if out is None:
        return value
    np.copyto(out, value, casting="unsafe")
    return out
