"""The dynamic graph: tensors that compute at once and leave a record on the tape."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from minigrad import ops
from minigrad.core import Array, Dtype, Op, as_array, float32, in_body, next_order
from minigrad.diagnostics.arguments import function, refuse
from minigrad.diagnostics.errors import DtypeError, GradientError, GraphError, ShapeError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here
from minigrad.dynamic.backward import backward
from minigrad.dynamic.changes import changes, share
from minigrad.dynamic.hooks import Handle, hooks_of
from minigrad.dynamic.inplace import InPlace
from minigrad.dynamic.recorder import TapeReader
from minigrad.dynamic.subclasses import read_as_subclass
from minigrad.dynamic.tape import TapeNode
from minigrad.ops.methods import Size, size_of

__all__ = ["Tensor"]

new = object.__new__

if TYPE_CHECKING:
    from minigrad.static import Graph, Node


class Tensor(InPlace):
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

    __slots__ = (
        *("__weakref__", "_hooks", "_sharing"),  # both are unset until there is one
        *("_array", "_grad", "creator", "name", "requires_grad"),
    )
    reader: ClassVar[TapeReader]
    _array: Array
    data: Array  # for users; a subclass may show it as another system does
    creator: TapeNode | None
    _grad: Tensor | None
    requires_grad: bool
    name: str | None

    def __init__(self, data: Any, requires_grad: bool = False, name: str | None = None) -> None:
        self._array = float32.type(data) if type(data) is float else as_array(data, None, "tensor")
        if requires_grad:
            _expect_floats(self._array, requires_grad, "tensor")
        self.requires_grad, self.name = requires_grad, name
        self.creator = self._grad = None

    def __init_subclass__(cls) -> None:
        read_as_subclass(cls, Tensor)

    @classmethod
    def __torch_function__(
        cls,
        func: Op,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Apply an operator to operands of which one is of a subclass; so is the result.

        A subclass may look at the operands before it hands them to `super()`, and at the result.

        >>> import minigrad as mg
        >>> class Metres(mg.Tensor):
        ...     pass
        >>> type(Metres([1.0, 2.0]) * 2).__name__
        'Metres'
        """
        reader: Any = cls.reader
        return reader.plainly(func, args, kwargs or {})

    @staticmethod
    def _around(data: Array, creator: TapeNode | None = None) -> Tensor:
        """Wrap an array that is known to be valid."""
        result = new(Tensor)
        result._array, result.creator, result.requires_grad = data, creator, creator is not None
        result._grad = result.name = None
        return result

    def _element(self, place: tuple[int, ...], element: Tensor) -> Tensor:
        """Return an element as a view that shares memory; a number is a copy."""
        if not in_body():
            element._array = self._array[(*place, ...)]
            share(element, self)
        return element

    def _shared_memory(self) -> Array:
        """Return the array of this tensor; unlike a NumPy scalar it can be shared."""
        return changes.array_of(self)

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of all axes."""
        shape: tuple[int, ...] = self._array.shape
        return shape

    @property
    def dtype(self) -> Dtype:
        """The data type of the elements."""
        dtype: Dtype = self._array.dtype
        return dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._array.shape)

    @property
    def size(self) -> Size:
        """The number of elements; x.size() are the lengths of the axes, x.size(0) one of them."""
        return size_of(self._array.shape)

    @property
    def is_leaf(self) -> bool:
        """True for tensors made by the user, False for results of recorded operations."""
        return self.creator is None

    @property
    def version(self) -> int:
        """How often the memory of this tensor was changed in place."""
        return changes.count(self._array)

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient, None as long as none was computed.

        It can be replaced, by None or by a tensor of this shape: ShapeError for another one,
        DtypeError for what is no tensor.
        """
        return self._grad

    @grad.setter
    def grad(self, gradient: Tensor | None) -> None:
        if gradient is not None and not hasattr(gradient, "creator"):
            kind = type(gradient).__name__
            raise DtypeError("grad_type", op="grad", found=kind, defined=here())
        if gradient is not None and gradient.shape != self.shape:
            found = gradient.shape
            raise ShapeError("grad_shape", op="grad", shape=self.shape, found=found, defined=here())
        self._grad = gradient

    def item(self) -> Any:
        """Return the single element as a Python number; ShapeError if there are more."""
        return self._single("item")

    def _single(self, use: str) -> Any:
        if self._array.size != 1:
            raise ShapeError("one_element", op=use, shape=self.shape, defined=here())
        return self._array.item()

    def numpy(self) -> np.ndarray[Any, Any]:
        """Return the values as an array that shares memory; read-only if gradients may need it."""
        view = np.asarray(self._array).view()
        view.flags.writeable = view.flags.writeable and not self.requires_grad
        return view

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers."""
        return self._array.tolist()

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Any:
        return np.array(self._array, dtype=dtype) if copy else np.asarray(self.numpy(), dtype=dtype)

    def __bool__(self) -> bool:
        return bool(self._single("bool"))

    def __float__(self) -> float:
        return float(self._single("float"))

    def __int__(self) -> int:
        return int(self._single("int"))

    def __index__(self) -> int:
        if self.dtype.kind not in "iu":
            raise DtypeError("index_type", op="index", value=self.dtype, defined=here())
        return int(self._single("index"))

    def __len__(self) -> int:
        if not self.shape:
            raise ShapeError("rank", op="len", expected="1 axis or more", shape=(), defined=here())
        return self.shape[0]

    def __repr__(self) -> str:
        values = np.array2string(np.asarray(self._array), separator=", ", prefix="tensor(")
        facts = [] if self.dtype in (float32, np.int64, np.bool_) else [f"dtype={self.dtype}"]
        if self.creator is not None:
            facts.append(f"creator={self.creator}")
        elif self.requires_grad:
            facts.append("requires_grad=True")
        return f"tensor({', '.join([values, *facts])})"

    def detach(self) -> Tensor:
        """Return the same values without history; memory is shared."""
        if in_body():
            return self._apply(ops.stop_gradient)
        return Tensor._around(self._shared_memory())

    def backward(
        self, gradient: Any = None, retain_graph: bool = False, create_graph: bool = False
    ) -> None:
        """Add the gradient of this tensor to `.grad` of every leaf that it depends on.

        gradient: weights of the elements; needed unless this tensor is a single number.
        retain_graph: keep what the tape saved, so that the same graph can be walked again.
        create_graph: record the backward pass itself, for higher orders.
        Raises GradientError when there is no graph, or it was walked already; then nothing changed.
        """
        backward(self, gradient, retain_graph, create_graph)

    def register_hook(self, hook: Callable[[Tensor], Any]) -> Handle:
        """Call hook(gradient) in every backward pass, as soon as the gradient here is complete.

        What it returns takes the place of the gradient; None leaves it as it is. The handle that
        is returned ends the hook: handle.remove(). GradientError without requires_grad.

        >>> import minigrad as mg
        >>> x = mg.tensor(2.0, requires_grad=True)
        >>> handle = x.register_hook(lambda g: g * 10)
        >>> (x * x).backward()
        >>> x.grad.item()
        40.0
        """
        function("register_hook", "hook", hook)
        hooks = hooks_of(self, "register_hook")
        key = next_order()
        hooks.functions[key] = hook
        return Handle(hooks, key)

    def retain_grad(self) -> None:
        """Make backward fill `.grad` of this tensor, although it isn't a leaf."""
        hooks = hooks_of(self, "retain_grad")
        if self.creator is not None:
            hooks.keep_for(self)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Record what is computed from this leaf from now on, or no longer.

        Raises DtypeError for integers, GradientError for the result of a recorded operation.
        """
        if self.creator is not None and not requires_grad:
            raise GradientError("not_a_leaf", op="requires_grad_", defined=here())
        _expect_floats(self._array, requires_grad, "requires_grad_")
        self.requires_grad = bool(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradient to None, as before the first backward, or to 0 in place."""
        if set_to_none:
            self.grad = None
        elif self.grad is not None:
            self.grad = self.grad.detach().zero_()

    def as_node(self, graph: Graph) -> Node:
        """Add this tensor to a static graph: a parameter as a variable, others as a constant."""
        if self.creator is not None:
            raise GraphError("has_history", op=self.creator.op, defined=here())
        value = np.array(self._array)[()]
        if self.requires_grad:
            return graph.variable(value, self.name, "parameter")
        return graph.constant(value, self.name)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        """Copy a leaf with its values and gradient; GradientError for an operation's result."""
        self._expect_leaf("deepcopy")
        twin = Tensor(self._array, self.requires_grad, self.name)
        twin.grad = copy.deepcopy(self.grad, memo)
        return twin

    def __reduce__(self) -> Any:
        self._expect_leaf("pickle")
        return _restore, (np.asarray(self._array), self.requires_grad, self.name, self.grad)

    def _expect_leaf(self, who: str) -> None:
        if self.creator is not None:
            raise GradientError("copy_history", op=who, creator=self.creator.op, defined=here())


Tensor.data = vars(Tensor)["_array"]  # the same slot under the name that users know


def _restore(data: Array, requires_grad: bool, name: str | None, grad: Tensor | None) -> Tensor:
    """Restore a pickled leaf."""
    tensor = Tensor(data, requires_grad, name)
    tensor.grad = grad
    return tensor


def _expect_floats(data: Array, requires_grad: bool, who: str) -> None:
    if not isinstance(requires_grad, (bool, np.bool_)):  # NumPy has the data type in this place
        raise refuse(who, "requires_grad", requires_grad, fill("expect_flag"))
    if requires_grad and data.dtype.kind != "f":
        raise DtypeError("float_only", op=who, dtype=data.dtype, defined=here())


Tensor.reader = TapeReader(Tensor)
