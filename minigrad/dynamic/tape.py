"""The tape: what is recorded of each operation."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from types import CodeType
from typing import Any

from minigrad.backprop.rules import FREED, Pullback
from minigrad.core import READY, Array, Attrs, BaseNode, Dtype, Op, Unrecorded, context, next_order
from minigrad.diagnostics.errors import GradientError
from minigrad.diagnostics.source import SavedLine, here


def _read_only(slot: str) -> Any:
    """Make a property that shows a slot and refuses to change it."""

    def refuse(node: TapeNode, value: object) -> None:
        raise GradientError("recorded", name=slot[1:], op=node.op, defined=node.where, ran=here())

    return property(attrgetter(slot), refuse)


class TapeNode(BaseNode):
    """One recorded operation: the operator, where its operands came from, what its rules need.

    `inputs` holds for each operand the node that made it, or the leaf tensor itself, or (no
    gradient flows there) the number or the Spec of the array. `saved` holds the result and the
    operands as far as the gradient rules read them, and is None once a backward pass used it.

    A node never changes. The slots behind the properties are written where it is recorded. One or
    two operands have slots of their own. With tuples instead, a tape of 100,000 operations has
    226,000 objects for the garbage collector to visit, not 126,000, and recording and walking it
    back takes one and a half times as long; 1,000 operations take 7 % longer.
    """

    __slots__ = (
        *("__weakref__", "_attrs", "_code", "_dtype", "_hooks", "_pullback", "_lasti", "_order"),
        *("_operand", "_operand2", "_result", "_scope", "_shape", "_source", "_source2"),
    )
    _attrs: Attrs
    _code: CodeType | SavedLine
    _dtype: Dtype
    _hooks: Any  # unset unless there are some, see backward
    _pullback: Pullback
    _lasti: int
    _order: int
    _scope: str
    _shape: tuple[int, ...]
    _source: Any  # of three operands and more: the tuple of all sources
    _source2: Any
    _result: Any  # saved, else None; FREED once it was used
    _operand: Any  # saved, else None; of three operands and more: the tuple of all
    _operand2: Any

    op: Any = _read_only("_op")
    pullback: Any = _read_only("_pullback")
    attrs: Any = _read_only("_attrs")
    shape: Any = _read_only("_shape")
    dtype: Any = _read_only("_dtype")
    order: Any = _read_only("_order")
    scope: Any = _read_only("_scope")
    code: Any = _read_only("_code")
    lasti: Any = _read_only("_lasti")
    inputs: Any = _read_only("_inputs")
    saved: Any = _read_only("_saved")

    @classmethod
    def of(
        cls,
        pullback: Pullback,
        sources: Sequence[Any],
        saved: Sequence[Any],
        about: Array,
        attrs: Attrs,
        place: tuple[CodeType | SavedLine, int],
    ) -> TapeNode:
        """Make a node with any number of operands; `about` has the result's shape and type."""
        node = cls()
        node._result, *operands = saved
        node._source2 = node._operand2 = None
        if pullback.count == 1:
            (node._source,), (node._operand,) = sources, operands
        elif pullback.count == 2:
            (node._source, node._source2), (node._operand, node._operand2) = sources, operands
        else:
            node._source, node._operand = tuple(sources), tuple(operands)
        node._pullback, node._attrs = pullback, attrs
        node._shape, node._dtype = about.shape, about.dtype
        node._order, node._scope = next_order(), context.now.scope
        node._code, node._lasti = place
        return node

    @property
    def _op(self) -> Op:
        return self._pullback.op

    @property
    def ndim(self) -> int:
        return len(self._shape)

    @property
    def sources(self) -> tuple[Any, ...]:
        """Like `inputs`; an array through which no gradient flows is (shape, dtype, name)."""
        count = self._pullback.count
        if count == 1:
            return (self._source,)
        if count == 2:
            return (self._source, self._source2)
        sources: tuple[Any, ...] = self._source
        return sources

    @property
    def _inputs(self) -> tuple[Any, ...]:
        return tuple([Unrecorded(*x) if type(x) is tuple else x for x in self.sources])

    @property
    def _saved(self) -> tuple[Any, ...] | None:
        count, result, first = self._pullback.count, self._result, self._operand
        operands = (first,) if count == 1 else (first, self._operand2) if count == 2 else first
        if self._result is FREED:  # asked last: another thread may be dropping it
            return None
        return (result, *operands)

    def retell(self, code: CodeType | SavedLine, lasti: int) -> None:
        """Set another line: the user's, when our own code recorded the node on its behalf."""
        self._code, self._lasti = code, lasti

    def keep(self, operands: Sequence[Any]) -> None:
        """Save also the operands that no gradient flows to, so that the node can run again."""
        found = [
            x if type(s) is tuple else None for x, s in zip(operands, self.sources, strict=True)
        ]
        if len(found) > 2:
            pairs = zip(self._operand, found, strict=True)
            self._operand = tuple([a if b is None else b for a, b in pairs])
            return
        if found[0] is not None:
            self._operand = found[0]
        if len(found) == 2 and found[1] is not None:
            self._operand2 = found[1]

    def release(self) -> None:
        """Drop what was saved; a node that saved nothing can be walked again."""
        if self._pullback.has_data:
            self._result, self._operand, self._operand2 = FREED, None, None

    def __repr__(self) -> str:
        return f"<{self.op} recorded at {self.where.label}>"


READY.add(TapeNode)  # it stands for an operand of which only the shape is read
