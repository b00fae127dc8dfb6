"""Subclasses of tensors: what operators give is of the subclass, too, and it may have its say."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from minigrad.core import READERS, Array, Attrs, Op, context, in_body
from minigrad.dynamic.recorder import TapeReader
from minigrad.dynamic.recording import at_once
from minigrad.dynamic.tape import TapeNode
from minigrad.ops.methods import Value

new = object.__new__


class KindReader(TapeReader):
    """Reads operators among whose operands is a subclass of tensors, which is asked first."""

    level = 3

    def __init__(self, kind: type[Any], plain: TapeReader) -> None:
        super().__init__(plain.tensor)
        self.kind, self.around = kind, functools.partial(_of_kind, kind)
        self.sweep, self.pullback, self.record = plain.sweep, plain.pullback, plain.record  # type: ignore[method-assign]

    def apply(self, op: Op, operands: Sequence[Any], attrs: Attrs) -> Any:
        types = tuple(dict.fromkeys(type(x) for x in operands if isinstance(x, self.tensor)))
        return self.kind.__torch_function__(op, types, tuple(operands), attrs)

    def plainly(self, op: Op, operands: tuple[Any, ...], attrs: Mapping[str, Any]) -> Any:
        """What the operator gives for tensors, or for nodes where one is among the operands."""
        readers = [READERS[type(x)] for x in operands]
        others = [reader for reader in readers if not isinstance(reader, KindReader)]
        higher = max(others, key=lambda reader: reader.level, default=self)
        if higher.level > TapeReader.level and higher is not self:
            return higher.apply(op, operands, dict(attrs))
        if context.now.taker is None or in_body():
            return super().apply(op, operands, dict(attrs))
        with at_once():  # it is not put off
            return super().apply(op, operands, dict(attrs))


def _of_kind(kind: type[Any], data: Array, creator: TapeNode | None = None) -> Any:
    """A tensor of this class around an array that is known to be in order."""
    result = new(kind)
    result._array, result.creator, result.requires_grad = data, creator, creator is not None
    result._grad = result.name = None
    return result


def read_as_kind(kind: Any, tensor: type[Any]) -> None:
    """Have operators on a subclass go to the reader of its kind, by every way that leads there."""
    if "reader" in vars(kind):
        return
    kind.reader = KindReader(kind, tensor.reader)
    for name, quick in [*vars(tensor).items()]:
        if name in vars(Value) and getattr(kind, name, None) is quick and callable(quick):
            setattr(kind, name, vars(Value)[name])
    if kind.T is tensor.T:
        kind.T = Value.T
