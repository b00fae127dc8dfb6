"""DyNet's parameters, lookup tables, collections and initializers."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.dynet.files import populate, save
from minigrad.faces.dynet.graph import Dims, Expression, apply, now
from minigrad.faces.face import make_error

__all__ = ["LookupParameters", "ParameterCollection", "Parameters", "initial_array"]

Start = Callable[[Dims], Any]


def glorot(dims: Dims, gain: float = 1.0) -> Any:
    """Draw uniform Glorot weights: the more numbers are added up, the narrower the range."""
    bound = gain * math.sqrt(3 * len(dims) / sum(dims))
    return (mg.rand(dims) * 2 - 1) * bound


STARTS: dict[str, Start] = {
    "glorot": glorot,
    "uniform": lambda dims: mg.rand(dims) * 2 - 1,
    "normal": lambda dims: mg.randn(dims),
    "identity": lambda dims: mg.eye(dims[0]),
}


def initial_array(init: Any, dims: Dims) -> Any:
    """Return the initial array for `init`: a name, a number, an array or an initializer."""
    if isinstance(init, str) and init in STARTS:
        init = STARTS[init]
    elif init is None:
        init = glorot
    if isinstance(init, str):
        raise make_error(mg.ArgumentError, "face_init", init=init, known=", ".join(STARTS))
    value = init(dims) if callable(init) else init
    found = np.asarray(getattr(value, "data", value) if not np.isscalar(value) else value)
    found = np.full(dims, found) if found.ndim == 0 else found
    if found.shape != dims:
        raise make_error(mg.ShapeError, "face_init_shape", found=found.shape, dim=dims)
    return found.astype(np.float32)


class NamedParameter:
    """A named member of a parameter collection."""

    _name: str
    _updated = True

    def name(self) -> str:
        """Return the name, prefixed by those of its collections."""
        return self._name

    def set_updated(self, b: bool) -> None:
        """Set whether trainers change it."""
        self._updated = b

    def is_updated(self) -> bool:
        """Return whether trainers change it."""
        return self._updated


class Parameters(Expression, NamedParameter):
    """A trained tensor, which has an expression of its own in each graph."""

    def __init__(self, name: str, value: Any) -> None:
        self._name = name
        self.own = mg.tensor(value, requires_grad=True, name=name)

    def in_current_graph(self) -> Expression:
        """Return its expression in the current graph."""
        leaves = now.cg.leaves
        if id(self) not in leaves:
            node = now.cg.graph.lift(self.own)
            leaves[id(self)] = Expression(lambda: self.own, (), node, 1, trained=True)
        return leaves[id(self)]

    def __repr__(self) -> str:
        return f"Parameter {self._name}"

    def expr(self, update: bool = True) -> Expression:
        """Return its expression, which without `update` passes no gradient back."""
        return self.in_current_graph() if update else apply(mg.stop_gradient, self)

    def shape(self) -> Dims:
        """Return the lengths of its axes."""
        return tuple(self.own.shape)

    def as_array(self) -> Any:
        """Return a copy of the values."""
        return np.array(self.own.detach().numpy(), np.float64)

    def grad_as_array(self) -> Any:
        """Return the gradient accumulated since the last update."""
        return grad_or_zeros(self.own)

    gradient = grad_as_array

    def set_value(self, value: Any) -> None:
        """Set other values."""
        overwrite(self.own, value)

    def zero(self) -> None:
        """Set all values to 0."""
        self.set_value(np.zeros(self.shape()))

    def scale(self, s: float) -> None:
        """Multiply its values by s."""
        self.set_value(self.as_array() * s)

    def trained_tensors(self) -> list[Any]:
        """Return the tensors that trainers change: the single one held here."""
        return [self.own]


class LookupParameters(NamedParameter):
    """A table of parameters; trainers change the rows that were looked up, and no others."""

    def __init__(self, name: str, values: Any) -> None:
        self._name = name
        self.rows = [mg.tensor(row, requires_grad=True) for row in values]

    def __repr__(self) -> str:
        return f"LookupParameter {self._name}"

    def __getitem__(self, i: int) -> Expression:
        """Return the expression of a row."""
        if not 0 <= i < len(self.rows):
            raise make_error(
                mg.IndexRangeError, "face_row", index=i, name=self._name, rows=len(self.rows)
            )
        row, leaves = self.rows[i], now.cg.leaves
        if id(row) not in leaves:
            node = now.cg.graph.lift(row)
            leaves[id(row)] = Expression(lambda: row, (), node, 1, trained=True)
        return leaves[id(row)]

    def batch(self, indices: Sequence[int]) -> Expression:
        """Return several rows as the samples of one expression."""
        rows = [self[i] for i in indices]
        if len(rows) == 1:
            return rows[0]
        return apply(lambda *values: mg.stack(values), *rows, batch=len(rows))

    def shape(self) -> Dims:
        """Return the number of rows, and the lengths of each row's axes."""
        return len(self.rows), *self.rows[0].shape

    def as_array(self) -> Any:
        """Return a copy of the values."""
        return np.array([row.detach().numpy() for row in self.rows], np.float64)

    npvalue = as_array

    def row_as_array(self, i: int) -> Any:
        """Return a copy of a row."""
        return self.as_array()[i]

    def rows_as_array(self, rows: Sequence[int]) -> Any:
        """Return a copy of some rows."""
        return self.as_array()[list(rows)]

    def grad_as_array(self) -> Any:
        """Return the gradients of all rows."""
        return np.array([grad_or_zeros(row) for row in self.rows])

    def row_grad_as_array(self, i: int) -> Any:
        """Return the gradient of a row."""
        return grad_or_zeros(self.rows[i])

    def init_from_array(self, values: Any) -> None:
        """Set other values, row by row."""
        for row, value in zip(self.rows, values, strict=True):
            overwrite(row, value)

    def init_row(self, i: int, value: Any) -> None:
        """Set other values for a row."""
        overwrite(self.rows[i], value)

    def trained_tensors(self) -> list[Any]:
        """Return the tensors that trainers change: the rows that have a gradient."""
        return [row for row in self.rows if row.grad is not None]


def grad_or_zeros(tensor: Any) -> Any:
    """Return the gradient of a tensor, or zeros if it has none."""
    found = tensor.grad
    return np.zeros(tensor.shape) if found is None else np.array(found.numpy(), np.float64)


def overwrite(tensor: Any, value: Any) -> None:
    """Overwrite a parameter with values of the same shape."""
    array = np.asarray(value, np.float32)
    if array.shape != tuple(tensor.shape):
        raise make_error(
            mg.ShapeError, "face_init_shape", found=array.shape, dim=tuple(tensor.shape)
        )
    with mg.no_grad():
        tensor.copy_(mg.tensor(array))


class ParameterCollection:
    """A collection of parameters by name, and of nested collections."""

    def __init__(self, parent: ParameterCollection | None = None, name: str = "/") -> None:
        self._parent, self._name = parent, name
        self._held: list[Parameters | LookupParameters] = []
        self._counts: dict[str, int] = {}

    def _unique_name(self, name: str | None) -> str:
        """Return a unique name, with a number appended if it is empty or already in use."""
        name = name or ""
        count = self._counts.get(name, 0)
        self._counts[name] = count + 1
        return f"{self._name}{name}_{count}" if count or not name else f"{self._name}{name}"

    def _register(self, parameters: Any) -> Any:
        """Add parameters to this collection and to those that contain it."""
        self._held.append(parameters)
        return self._parent._register(parameters) if self._parent else parameters

    def add_parameters(
        self, dim: int | Dims, init: Any = None, name: str | None = None, **_: Any
    ) -> Parameters:
        """Add parameters of these dimensions; for `init` see `initial_array`."""
        dims = (dim,) if isinstance(dim, int) else tuple(dim)
        found: Parameters = self._register(
            Parameters(self._unique_name(name), initial_array(init, dims))
        )
        return found

    def parameters_from_numpy(self, array: Any, name: str | None = None) -> Parameters:
        """Add parameters initialised from an array."""
        return self.add_parameters(np.shape(array), array, name)

    def add_lookup_parameters(
        self, dim: Dims, init: Any = None, name: str | None = None, **_: Any
    ) -> LookupParameters:
        """Add a lookup table; dim: row count and row dimensions; for `init` see `initial_array`."""
        table = LookupParameters(self._unique_name(name), initial_array(init, tuple(dim)))
        found: LookupParameters = self._register(table)
        return found

    def lookup_parameters_from_numpy(self, array: Any, name: str | None = None) -> LookupParameters:
        """Add a lookup table initialised from an array."""
        return self.add_lookup_parameters(np.shape(array), array, name)

    def add_subcollection(self, name: str | None = None) -> ParameterCollection:
        """Add a collection inside this one."""
        return ParameterCollection(self, self._unique_name(name) + "/")

    def name(self) -> str:
        """Return the name, which is the prefix of its parameters' names."""
        return self._name

    def parameters_list(self) -> list[Parameters]:
        """Return all parameters except lookup tables."""
        return [x for x in self._held if isinstance(x, Parameters)]

    def lookup_parameters_list(self) -> list[LookupParameters]:
        """Return all lookup tables."""
        return [x for x in self._held if isinstance(x, LookupParameters)]

    def parameter_count(self) -> int:
        """Return the total number of values."""
        return sum(math.prod(x.shape()) for x in self._held)

    def all_parameters(self) -> Iterator[Parameters | LookupParameters]:
        """Return an iterator over parameters and tables, in the order in which they were added."""
        return iter(self._held)

    def save(self, filename: str | os.PathLike[str]) -> None:
        """Write a text file as DyNet does; nothing in it is executed when it is read."""
        save(self._held, filename)

    def populate(self, filename: str | os.PathLike[str]) -> None:
        """Read the values of a file that `save` wrote, here or in DyNet, in their order."""
        populate(self._held, filename)
