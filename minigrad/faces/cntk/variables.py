"""The leaves of CNTK's graphs: inputs, for which data are passed, and parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.cntk.axes import BATCH, DYNAMIC, GRAPH, Axis
from minigrad.faces.cntk.functions import Function
from minigrad.faces.face import make_error

__all__ = ["Parameter", "Variable", "input_variable", "sequence_variable"]


class Variable(Function):
    """An input: data is passed for it."""

    def __init__(
        self, shape: Any, axis: Axis, needs_gradient: bool = False, name: str = ""
    ) -> None:
        dims = (shape,) if isinstance(shape, int) else tuple(shape)
        with GRAPH:
            node = mg.placeholder(shape=(None, *dims), name=name or None)
        super().__init__(node, axis, name=name)
        self.arguments, self.needs_gradient = (self,), needs_gradient

    def to_rows(self, data: Any) -> tuple[Any, list[int]]:
        """Return the data's rows and the length of each sequence."""
        rank = len(self.shape)
        if self.axis is BATCH:
            array = np.asarray(data, np.float32)
            array = array[np.newaxis] if array.ndim == rank else array
            return self._check_shape(array), [1] * len(array)
        whole = isinstance(data, np.ndarray) and data.ndim == rank + 1
        parts = [np.asarray(part, np.float32) for part in ([data] if whole else data)]
        for part in parts:
            self._check_shape(part)
        return np.concatenate(parts), [len(part) for part in parts]

    def _check_shape(self, array: Any) -> Any:
        if array.shape[1:] != self.shape or array.ndim == 0 or not len(array):
            about = {"name": self.name or "input", "found": array.shape, "shape": self.shape}
            raise make_error(mg.FeedError, "face_fed", **about)
        return array


class Parameter(Function):
    """A value that learners change."""

    def __init__(self, init: Any, name: str = "") -> None:
        self.tensor = mg.tensor(np.asarray(init, np.float32), requires_grad=True)
        with GRAPH:
            node = mg.placeholder(shape=self.tensor.shape, name=name or None)
        super().__init__(node, None, name=name)
        self.parameters = (self,)

    @property
    def value(self) -> Any:
        """A copy of the values; other values can be set."""
        return np.array(self.tensor.detach().numpy())

    @value.setter
    def value(self, value: Any) -> None:
        with mg.no_grad():
            self.tensor.copy_(mg.tensor(np.asarray(value, np.float32)))


def input_variable(
    shape: Any,
    dtype: Any = np.float32,
    needs_gradient: bool = False,
    is_sparse: bool = False,
    dynamic_axes: Sequence[Axis] = (BATCH,),
    name: str = "",
) -> Variable:
    """Make an input of samples of this shape, or of sequences with a second dynamic axis."""
    return Variable(shape, dynamic_axes[-1], needs_gradient, name)


def sequence_variable(
    shape: Any,
    dtype: Any = np.float32,
    needs_gradient: bool = False,
    is_sparse: bool = False,
    sequence_axis: Axis = DYNAMIC,
    name: str = "",
) -> Variable:
    """Make an input of sequences of items of this shape."""
    return Variable(shape, sequence_axis, needs_gradient, name)
