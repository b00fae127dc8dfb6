"""The list that `mg.gradients` returns, and its error when used as a single node."""

from __future__ import annotations

from inspect import getattr_static
from typing import Any, ClassVar, NoReturn

from minigrad.core import Attrs, Op, Reader
from minigrad.diagnostics.errors import GraphError, MissingNameError
from minigrad.diagnostics.source import here
from minigrad.static.node import Node


class Gradients(list[Any]):
    """A list with one gradient for each x, as TensorFlow's `gradients` returns.

    Used as a node it is refused, above all by the signs that lists have as well: `2 * grads` would
    repeat the list, and `grads + grads` would join two. A plain list is joined by +.
    """

    __slots__ = ()
    __array_ufunc__ = None  # NumPy leaves the operation to us
    __hash__ = None
    reader: ClassVar[Reader]

    def refusal(self, use: str) -> GraphError:
        """Return the error about a list that is used as a node."""
        return GraphError("gradients_list", use=use, count=len(self), defined=here())

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_") or getattr_static(Node, name, None) is None:
            raise AttributeError(f"list has no attribute {name!r}", name=name, obj=self)
        about: dict[str, Any] = {"use": f".{name}", "count": len(self)}
        raise MissingNameError("gradients_list", **about, defined=here())

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise self.refusal("np.array")

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return Gradients(super().__getitem__(key))
        if not hasattr(type(key), "__index__") or isinstance(key, Node):
            raise self.refusal("[…]")
        return super().__getitem__(key)

    def __add__(self, other: Any) -> Any:
        return [*self, *self._plain("+", other)]

    def __radd__(self, other: Any) -> Any:
        return [*self._plain("+", other), *self]

    def __iadd__(self, other: Any) -> Any:
        self.extend(self._plain("+=", other))
        return self

    def __eq__(self, other: object) -> bool:
        return super().__eq__(self._plain("==", other))

    def __ne__(self, other: object) -> bool:
        return super().__ne__(self._plain("!=", other))

    def _plain(self, sign: str, other: Any) -> Any:
        """Return the other operand if a list may be combined with it; GraphError otherwise."""
        if not isinstance(other, list) or ("+" in sign and isinstance(other, Gradients)):
            raise self.refusal(sign)
        return other


def _refused(sign: str) -> Any:
    def method(self: Gradients, *other: Any) -> NoReturn:
        raise self.refusal(sign)

    return method


SIGNS = {"mul": "*", "sub": "-", "truediv": "/", "matmul": "@", "pow": "**", "floordiv": "//"}
for _name, _sign in {**SIGNS, "mod": "%"}.items():
    for _side in ("", "r", "i"):
        setattr(Gradients, f"__{_side}{_name}__", _refused(_sign + "=" * (_side == "i")))
for _name, _sign in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "neg": "-", "pos": "+"}.items():
    setattr(Gradients, f"__{_name}__", _refused(_sign))
for _name in ("abs", "float", "int"):
    setattr(Gradients, f"__{_name}__", _refused(_name))


class _Refusing:
    """The reader that refuses such a list among an operator's operands."""

    level = 10

    def apply(self, op: Op, operands: tuple[Any, ...], attrs: Attrs) -> NoReturn:
        raise next(x for x in operands if isinstance(x, Gradients)).refusal(op.name)


Gradients.reader = _Refusing()
