"""TensorFlow's tensors and variables: of one data type, recorded only while a tape is active."""

from __future__ import annotations

import functools
import inspect
import itertools
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.face import immutable_error, mixed_dtypes_error, raise_missing
from minigrad.faces.flow import default_dtype
from minigrad.faces.tensorflow.errors import errors_as_tf, is_tracing

__all__ = ["Tensor", "TensorShape", "Variable", "constant", "convert_to_tensor", "is_tensor"]


class ThreadState(threading.local):
    """The state of tapes and traces in this thread.

    tapes: those that record, the innermost last. marked: leaves that required no gradient before.
    made, kept: for each function that is being traced the variables that came into being, and what
    variables held that are given a value. draws: what is drawn again before each call.
    """

    def __init__(self) -> None:
        self.tapes: list[Any] = []
        self.marked: list[Any] = []
        self.made: list[list[Any]] = []
        self.kept: list[list[tuple[Any, Any]]] = []
        self.draws: list[dict[Any, Callable[[], Any]]] = []

    def now_and_later(self, draw: Callable[[], Any]) -> Any:
        """Return a tensor of values drawn now, and again in later calls of traced functions."""
        held = mg.tensor(draw())
        for draws in self.draws:
            draws[held] = draw
        return held


NOW = ThreadState()


class TensorShape(tuple[Any, ...]):
    """Return the lengths of all axes."""

    __slots__ = ()

    def as_list(self) -> list[Any]:
        """Return the lengths as a list."""
        return [*self]

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self)

    def __repr__(self) -> str:
        return f"TensorShape({[*self]})"

    def __str__(self) -> str:
        return str(tuple(self))


class Tensor(mg.Tensor):
    """An immutable array of one shape and data type, without implicit conversion."""

    __slots__ = ()

    @classmethod
    def __torch_function__(
        cls,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Apply an operator by TensorFlow's rules: one data type, and recorded only on a tape."""
        with errors_as_tf(), set_recording():
            given = unify_dtypes(func, [latest_value(x) for x in args])
            found = super(Tensor, Tensor).__torch_function__(func, types, given, kwargs)
            return cast_to_operands(func, given, found)

    @property
    def shape(self) -> TensorShape:
        """Return the lengths of all axes."""
        return TensorShape(self.data.shape)

    def get_shape(self) -> TensorShape:
        """Return the lengths of all axes."""
        return self.shape

    def numpy(self) -> Any:
        """Return the values as a new array, or as a number if there are no axes."""
        return np.array(self.data)[()]

    def ref(self) -> Tensor:
        """Return a hashable reference to the tensor: here the tensor itself."""
        return self

    def __format__(self, spec: str) -> str:
        return format(self.numpy(), spec) if spec else str(self)

    def __str__(self) -> str:
        return f"tf.Tensor({self.numpy()}, shape={self.shape}, dtype={self.dtype})"

    def __repr__(self) -> str:
        return f"<tf.Tensor: {self._describe()}>"

    def _describe(self) -> str:
        values = np.asarray(self.data)
        shown = repr(values) if values.shape else str(values)
        shown = f"\n{shown}" if "\n" in shown else shown
        return f"shape={self.shape}, dtype={self.dtype}, numpy={shown}"

    def __setitem__(self, key: Any, value: Any) -> None:
        raise immutable_error("x[…] =")

    backward = grad = property(lambda self: raise_missing("backward", "tape.gradient(y, x)"))
    item = property(lambda self: raise_missing("item", "x.numpy()"))
    sum = property(lambda self: raise_missing("sum", "tf.reduce_sum(x)"))
    mean = property(lambda self: raise_missing("mean", "tf.reduce_mean(x)"))
    __iadd__, __isub__, __imul__ = mg.Tensor.__add__, mg.Tensor.__sub__, mg.Tensor.__mul__
    __itruediv__, __ipow__ = mg.Tensor.__truediv__, mg.Tensor.__pow__


class SymbolicReader:
    """The reader of operators on symbolic tensors while a function is traced, by the same rules."""

    level = 4

    def apply(self, op: Any, operands: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
        """Add a node to the graph."""
        given = unify_dtypes(op, [latest_value(x) for x in operands])
        node = as_symbolic(mg.Node.reader.apply(op, given, dict(attrs)))
        return cast_to_operands(op, given, node)

    def __getattr__(self, name: str) -> Any:
        return getattr(mg.Node.reader, name)


class SymbolicTensor(mg.Node):
    """A stand-in for a tensor while a function is traced: shape and data type, no values."""

    __slots__ = ()
    reader = SymbolicReader()

    numpy = property(lambda self: raise_missing("numpy", "tf.print(x)"))

    def __str__(self) -> str:
        return f'Tensor("{self.name}:0", shape={self.shape}, dtype={self.dtype})'

    __repr__ = __str__


class Variable(Tensor):
    """A value that changes by `assign`, `assign_add` and `assign_sub`; tapes watch it."""

    __slots__ = ("held", "trainable")

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool = True,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        given = constant(initial_value() if callable(initial_value) else initial_value, dtype)
        self.trainable, self.held = trainable, VariableKey(self)
        super().__init__(given.data, trainable and given.dtype.kind == "f", name and f"{name}:0")
        if NOW.made:
            NOW.made[-1].append(self)
            NOW.kept[-1].append((self, self.numpy()))

    def assign(self, value: Any) -> Variable:
        """Set this value; a traced function sets it whenever it runs."""
        value = self._check_value(value)
        if is_tracing():
            for kept in NOW.kept[-1:]:
                kept.append((self, self.numpy()))
            mg.assign(self, value)
        else:
            self.data = np.array(value.data)[()]
        return self

    def assign_add(self, delta: Any) -> Variable:
        """Add `delta` to the value."""
        return self.assign(self + delta)

    def assign_sub(self, delta: Any) -> Variable:
        """Subtract `delta` from the value."""
        return self.assign(self - delta)

    def value(self) -> Any:
        """Return the current value."""
        return latest_value(self) * 1 if is_tracing() else constant(self.data)

    read_value = value

    def _check_value(self, value: Any) -> Any:
        if not isinstance(value, (mg.Tensor, mg.Node)):
            value = constant(value, self.dtype)
        if value.dtype != self.dtype:
            raise mixed_dtypes_error("assign", [self.dtype, value.dtype], mg.ArgumentError)
        if value.shape != self.shape and None not in value.shape:
            about: dict[str, Any] = {"expected": self.shape, "shape": value.shape}
            raise mg.ShapeError("assign_shape", op="assign", name=self.name, **about)
        return value

    def __repr__(self) -> str:
        about = self._describe().replace(", dtype", " dtype", 1)
        return f"<tf.Variable '{self.name or 'Variable:0'}' {about}>"

    __str__ = __repr__

    def __deepcopy__(self, memo: Any) -> Variable:
        return Variable(self.data, self.trainable)

    def _assign(self, other: Any) -> Any:
        raise immutable_error("v +=")

    __iadd__ = __isub__ = __imul__ = __itruediv__ = _assign


class VariableKey:
    """A variable as a function's argument, compared by identity: each one gets a trace."""

    def __init__(self, variable: Variable) -> None:
        self.variable = weakref.ref(variable)


# ---- What an operator may be given ---------------------------------------------------------------


def set_recording() -> Any:
    """Set gradient recording: on only while a tape is active or a function is being traced."""
    return mg.set_grad_enabled(mg.is_grad_enabled() and bool(NOW.tapes or is_tracing()))


def latest_value(x: Any) -> Any:
    """Return a variable's value assigned in the traced function, if any; else x itself."""
    if not isinstance(x, Variable):
        return x
    graph: Any = mg.get_default_graph()
    while hasattr(graph, "captures"):
        for update in reversed(graph.updates):
            if update.buffer is x:
                return update.value
        graph = graph.outer
    return x


def unify_dtypes(op: Any, operands: Sequence[Any]) -> tuple[Any, ...]:
    """Return operands of one data type, as TensorFlow requires, or raise DtypeError."""
    typed = operand_dtypes(op, operands)
    if not typed or op.name == "Cast":
        return tuple(operands)
    if len({*typed}) > 1 and all(dtype.kind == "i" for dtype in typed):
        operands = [mg.cast(x, mg.int32) if is_loop_index(x) else x for x in operands]
        typed = operand_dtypes(op, operands)
    floats = ["float" for x in operands if type(x) is float]
    whole = typed[0].kind in "iu"
    if len({*typed}) > 1 or (whole and floats and op.name != "Div"):
        raise mixed_dtypes_error(op.name, [*typed, *floats])
    if op.name == "Div" and whole:
        return tuple(mg.cast(x, mg.float64) if hasattr(x, "dtype") else x for x in operands)
    return tuple(x.astype(typed[0]) if isinstance(x, np.ndarray) else x for x in operands)


def is_loop_index(x: Any) -> bool:
    """Return whether x is the node of a Python integer in a loop of a graph."""
    return type(x) is mg.Node and x.dtype == np.int64


def operand_dtypes(op: Any, operands: Sequence[Any]) -> list[Any]:
    """Return the data types of the tensors that must share one; selectors don't count."""
    own = {i for i in range(len(operands)) if i in op.selectors or i in op.shape_only}
    tensors = [(i, x) for i, x in enumerate(operands) if isinstance(x, (mg.Tensor, mg.Node))]
    return [x.dtype for i, x in tensors if i not in own] if op.inputs is not None else []


def cast_to_operands(op: Any, operands: Sequence[Any], result: Any) -> Any:
    """Return a result in the operands' data type; DtypeError if the operator doesn't support it."""
    typed = operand_dtypes(op, operands)
    if not typed or typed[0].kind == "f" or not (op.elementwise or op.name in SUMS):
        return result
    if op.name == "Cast" or result.dtype in (typed[0], np.bool_):
        return result
    if typed[0].kind == "b" or op.name not in SUMS:
        raise mixed_dtypes_error(op.name, typed)
    return mg.cast(result, typed[0])


SUMS = "CumSum", "Mean", "Prod", "Sum"


# ---- From Python's values ------------------------------------------------------------------------


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """Make a tensor of these values: int32 or float32 unless they or `dtype` say otherwise."""
    if isinstance(value, (list, tuple)) and any(map(is_tensor, leaves(value))):
        return as_tf(mg.stack([constant(x, dtype) for x in value]))
    if isinstance(value, mg.Node):
        return value if dtype is None else mg.cast(value, dtype)
    data = value.data if isinstance(value, mg.Tensor) else value
    with errors_as_tf():
        found = Tensor(mg.tensor(data, dtype=dtype or default_dtype(data)).data, name=name)
        return found if shape is None else mg.broadcast_to(found, tuple(shape))


def convert_to_tensor(value: Any, dtype: Any = None) -> Any:
    """Convert values to a tensor; a tensor is returned unchanged."""
    if isinstance(value, (mg.Tensor, mg.Node)) and not isinstance(value, Variable):
        return value
    return value.value() if isinstance(value, Variable) else constant(value, dtype)


def is_tensor(x: Any) -> bool:
    """Return whether x is a tensor, a variable or a symbolic tensor."""
    return isinstance(x, (mg.Tensor, mg.Node))


def leaves(x: Any) -> Iterator[Any]:
    """Yield the leaves of nested lists, tuples and dicts."""
    if isinstance(x, dict):
        x = [*x.values()]
    if not isinstance(x, (list, tuple)):
        yield x
        return
    for item in x:
        yield from leaves(item)


def map_structure(f: Callable[[Any], Any], x: Any) -> Any:
    """Map a function over nested lists, tuples and dicts; keep their structure."""
    if isinstance(x, dict):
        return {key: map_structure(f, item) for key, item in x.items()}
    if isinstance(x, (list, tuple)):
        items = [map_structure(f, item) for item in x]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    return f(x)


def as_tf(x: Any) -> Any:
    """Convert a result to this module's Tensor, or to a SymbolicTensor in a traced function."""
    if type(x) is mg.Tensor:
        x.__class__ = Tensor  # not a copy: a leaf's gradient belongs to the object the user holds
    x = as_symbolic(x)
    return constant(x) if isinstance(x, (np.ndarray, np.generic)) else x


def as_symbolic(x: Any) -> Any:
    """Turn a node into a SymbolicTensor; return anything else unchanged."""
    if type(x) is mg.Node:
        x.__class__ = SymbolicTensor  # not a copy: the graph and its readers hold this very node
    return x


OPERANDS = {"a", "b", "condition", "elems", "indices", "input", "inputs", "labels", "logits"}
OPERANDS |= {"params", "value", "values", "x", "y"}


def tensor_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function to accept lists and numbers as tensors, and to return tensors."""
    names = [*inspect.signature(function).parameters]

    @functools.wraps(function)
    def call(*args: Any, name: str | None = None, **kwargs: Any) -> Any:
        given = [*zip(itertools.chain(names, itertools.repeat("")), args, strict=False)]
        operands = {key: x for key, x in [*given, *kwargs.items()] if key in OPERANDS}
        alone = not any(map(is_tensor, leaves(operands)))
        with errors_as_tf(), set_recording():
            fitting = {key: to_operand(key, x, alone) for key, x in operands.items()}
            positional = [fitting.get(key, x) for key, x in given]
            found = function(*positional, **{k: fitting.get(k, x) for k, x in kwargs.items()})
            return map_structure(as_tf, found)

    return call


def to_operand(key: str, x: Any, alone: bool) -> Any:
    """Convert an operand to a tensor; a number only if no other operand is a tensor."""
    if key in ("inputs", "values") and isinstance(x, (list, tuple)):
        return [constant(item) if alone else item for item in x]
    array = isinstance(x, (list, tuple, np.ndarray, np.generic))
    return constant(x) if array or (alone and isinstance(x, (int, float))) else x
