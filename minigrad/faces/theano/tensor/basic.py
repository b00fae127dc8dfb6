"""Theano's variables: results of `T.matrix()` and of every operation on one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.face import Compat
from minigrad.faces.theano import config
from minigrad.faces.theano.tensor.subtensor import index_range

__all__ = ["TensorSharedVariable", "TensorType", "TensorVariable"]

KINDS = {
    (): "scalar",
    (False,): "vector",
    (False, False): "matrix",
    (True, False): "row",
    (False, True): "col",
    (False,) * 3: "3D",
    (False,) * 4: "4D",
}


class TensorType:
    """A data type and a broadcast pattern: which axes always have length 1."""

    def __init__(self, dtype: Any, broadcastable: Iterable[bool], name: str | None = None) -> None:
        self.dtype = np.dtype(dtype).name
        self.broadcastable = tuple(map(bool, broadcastable))
        self.ndim, self.name = len(self.broadcastable), name

    def __call__(self, name: str | None = None) -> TensorVariable:
        """Make a variable of this type, to be an input of a function."""
        shape = [1 if one else None for one in self.broadcastable]
        return TensorVariable(mg.placeholder(name or f"<{self}>", shape=shape, dtype=self.dtype))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"TensorType({self.dtype}, {KINDS.get(self.broadcastable, self.broadcastable)})"


class Apply:
    """The origin of a variable: an operator and its operands."""

    def __init__(self, node: mg.Node) -> None:
        self.op, self.outputs = node.op, [TensorVariable(node)]
        self.inputs = [TensorVariable(x) for x in node.inputs]


class TensorVariable:
    """A symbolic value: a node of the default graph, available as `node`."""

    __array_ufunc__ = None  # in an operation with a variable, NumPy's array defers to it
    eval: Any
    dimshuffle: Any

    def __init__(self, node: Any) -> None:
        self._node = node
        named = node is not None and node.op.name in ("Placeholder", "Variable")
        self._name = node.name if named and not node.name.startswith("<") else None

    @property
    def node(self) -> Any:
        """The variable's node in the default graph."""
        return self._node

    @property
    def name(self) -> str | None:
        """The variable's name, or None."""
        return self._name

    @name.setter
    def name(self, name: str | None) -> None:
        self._name = name
        self.node.name = name or self.node.name

    @property
    def dtype(self) -> str:
        """The name of its data type."""
        return str(self.node.dtype.name)

    @property
    def ndim(self) -> int:
        """The number of its axes."""
        return int(self.node.ndim)

    @property
    def broadcastable(self) -> tuple[bool, ...]:
        """For each axis whether its length is always 1."""
        return tuple(n == 1 for n in self.node.shape)

    @property
    def type(self) -> TensorType:
        """Its data type and pattern."""
        return TensorType(self.dtype, self.broadcastable)

    @property
    def owner(self) -> Apply | None:
        """The Apply it comes from; None for inputs, constants and shared variables."""
        return Apply(self.node) if self.node.inputs else None

    @property
    def shape(self) -> Shape:
        """Its symbolic shape, whose lengths are known at run time."""
        return Shape(self)

    @property
    def size(self) -> TensorVariable:
        """The number of its elements."""
        return functools.reduce(lambda a, b: a * b, self.shape, constant(np.int64(1)))

    @property
    def T(self) -> TensorVariable:
        """The transpose, with the axes in reverse order."""
        return TensorVariable(mg.transpose(self.node))

    def __getitem__(self, key: Any) -> TensorVariable:
        found = [convert_index(to_nodes(x)) for x in (key if isinstance(key, tuple) else (key,))]
        return TensorVariable(self.node[tuple(found)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorVariable) and self.node is other.node

    def __hash__(self) -> int:
        return hash(self.node)

    def __bool__(self) -> bool:
        return bool(self.node)

    def __len__(self) -> int:
        return len(self.node)

    def __iter__(self) -> Any:
        if self.node.shape[:1] == (None,) or not self.ndim:
            return iter(self.node)
        return (self[i] for i in range(self.node.shape[0]))

    def __float__(self) -> float:
        return float(self.node)

    def __index__(self) -> int:
        return int(self.node)

    __int__ = __index__

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self.node.__array__()

    def __repr__(self) -> str:
        return self.name or f"{self.node.op.name}.0"


class TensorSharedVariable(TensorVariable):
    """A value that all functions share; a function's `updates` change it."""

    def __init__(self, value: Any, name: str | None = None) -> None:
        given = np.asarray(value)
        super().__init__(mg.Variable(given, name or f"<{given.dtype.name}>", given.dtype))
        self._name, self._keeper = name, mg.theano_function([], self.node)

    def get_value(self, borrow: bool = False) -> Any:
        """Return a copy of its current value."""
        return np.asarray(self._keeper.get_value(self.node))

    def set_value(self, new_value: Any, borrow: bool = False) -> None:
        """Set another value of the same shape and data type."""
        self._keeper.set_value(self.node, np.asarray(new_value, self.node.dtype))


class Shape(TensorVariable):
    """The lengths of a variable: one by one, or all as a vector."""

    def __init__(self, of: TensorVariable) -> None:
        super().__init__(None)
        self._of = of

    @property
    def node(self) -> Any:
        if self._node is None:
            self._node = mg.stack([x.node for x in self])
        return self._node

    def __len__(self) -> int:
        return self._of.ndim

    def __iter__(self) -> Any:
        return (Length(self._of.node, i) for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return [*self][key]
        return [*self][key] if isinstance(key, int) else super().__getitem__(key)


class Length(TensorVariable):
    """The length of one axis; `ones` is a vector of that length."""

    def __init__(self, of: mg.Node, axis: int) -> None:
        known = of.shape[axis]  # type: ignore[index]
        along = [0] * axis + [slice(None)] + [0] * (of.ndim - axis - 1)
        self.known, self.ones = (
            known,
            None if known else mg.ones_like(mg.cast(of[tuple(along)], mg.int64)),
        )
        super().__init__(mg.constant(known, mg.int64) if known else mg.sum(self.ones))


def to_nodes(values: Any) -> Any:
    """Replace the variables in a structure by their nodes."""
    if isinstance(values, TensorVariable):
        return values.node
    if isinstance(values, (list, tuple)):
        return type(values)([to_nodes(x) for x in values])
    return values


def convert_index(item: Any) -> Any:
    """Convert a part of a subscript; a slice bounded by variables becomes positions."""
    if not isinstance(item, slice):
        return item
    start, stop, step = map(to_nodes, (item.start, item.stop, item.step))
    if any(isinstance(x, mg.Node) for x in (start, stop)) and step is None:
        return index_range(start, stop)
    return slice(start, stop, step)


def to_variables(found: Any) -> Any:
    """Wrap nodes as variables, and known values as constants."""
    if isinstance(found, (list, tuple)):
        return [to_variables(x) for x in found]
    if isinstance(found, mg.Node):
        return TensorVariable(found)
    numbers = isinstance(found, (mg.Tensor, np.ndarray, np.generic))
    return constant(np.asarray(found)) if numbers else found


def on_variables(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of nodes as one of variables."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return to_variables(
            function(*to_nodes(args), **{k: to_nodes(x) for k, x in kwargs.items()})
        )

    return call


def lift(x: Any) -> Any:
    """Return a node or an array; Python's numbers get the smallest dtype that holds them."""
    if isinstance(x, (TensorVariable, mg.Node)):
        return to_nodes(x)
    array = np.asarray(x)
    if type(x) is int:
        held = (np.iinfo(kind).min <= x <= np.iinfo(kind).max for kind in WHOLE)
        return array.astype(next(kind for kind, fits in zip(WHOLE, held, strict=True) if fits))
    if type(x) is float and (config.floatX == "float32" or float(np.float32(x)) == x):
        return array.astype(np.float32)
    return array


WHOLE = np.int8, np.int16, np.int32, np.int64


def constant(x: Any, name: str | None = None) -> TensorVariable:
    """Make a constant variable from a value."""
    array = lift(x)
    return TensorVariable(mg.constant(array, array.dtype, name))


def as_variable(x: Any) -> TensorVariable:
    """Return x if it is a variable, else a constant of it."""
    return x if isinstance(x, TensorVariable) else constant(x)


def promote(*xs: Any) -> list[Any]:
    """Cast operands to the data type that holds all of them."""
    found = [lift(x) for x in xs]
    dtype = np.result_type(*(x.dtype for x in found))
    return [as_type(x, dtype) for x in found]


def as_type(x: Any, dtype: Any) -> Any:
    """Cast a node or an array to this data type."""
    if x.dtype == dtype:
        return x
    return mg.cast(x, dtype) if isinstance(x, mg.Node) else x.astype(dtype)


def to_float(x: Any) -> Any:
    """Cast integers to a floating-point type that holds them."""
    found = lift(x)
    return as_type(found, np.result_type(found.dtype, np.float32))


def ancestors(outputs: Iterable[mg.Node]) -> set[mg.Node]:
    """Return these nodes and all nodes that they depend on."""
    found: set[mg.Node] = set()
    left = [*outputs]
    while left:
        node = left.pop()
        if node not in found:
            found.add(node)
            left += node.inputs
    return found


OPERATORS: dict[str, Callable[..., Any]] = {
    "add": mg.add,
    "sub": mg.subtract,
    "mul": mg.multiply,
    "truediv": lambda a, b: mg.divide(to_float(a), to_float(b)),
    "floordiv": mg.floor_divide,
    "mod": mg.mod,
    "pow": mg.pow,
}
COMPARISONS: dict[str, Callable[..., Any]] = {
    "lt": mg.less,
    "le": mg.less_equal,
    "gt": mg.greater,
    "ge": mg.greater_equal,
    "and": mg.logical_and,
    "or": mg.logical_or,
    "xor": mg.logical_xor,
}


def _method(function: Callable[..., Any], reverse: bool = False) -> Any:
    def method(self: Any, other: Any) -> Any:
        pair = (other, self) if reverse else (self, other)
        return to_variables(function(*promote(*pair)))

    return method


for _name, _function in (OPERATORS | COMPARISONS).items():
    setattr(TensorVariable, f"__{_name}__", _method(_function))
    if _name in OPERATORS:
        setattr(TensorVariable, f"__r{_name}__", _method(_function, reverse=True))
for _name, _function in {"neg": mg.negative, "abs": mg.abs, "invert": mg.logical_not}.items():
    setattr(TensorVariable, f"__{_name}__", on_variables(_function))

__getattr__ = face = Compat("theano.tensor.basic")
__dir__ = face.names
