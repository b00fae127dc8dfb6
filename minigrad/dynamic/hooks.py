"""Hooks on gradients: functions that see a gradient, and tensors that keep it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from minigrad import ops
from minigrad.diagnostics.errors import GradientError
from minigrad.diagnostics.source import here

Hook = Callable[[Any], Any]


class Hooks:
    """The hooks on the gradient of one node or leaf, in the order registered."""

    def __init__(self) -> None:
        self.functions: dict[int, Hook] = {}
        self._keepers: list[weakref.ref[Any]] = []

    def keep_for(self, tensor: Any) -> None:
        """Register a tensor that gets the gradient, too."""
        if all(x is not tensor for x in self.keepers()):
            self._keepers.append(weakref.ref(tensor))

    def keepers(self) -> list[Any]:
        return [x for ref in self._keepers if (x := ref()) is not None]


hooked: set[weakref.ref[Any]] = set()  # nodes and leaves that have hooks


class Handle:
    """The handle that `register_hook` returns; `remove()` ends the hook."""

    def __init__(self, hooks: Hooks, key: int) -> None:
        self._hooks, self._key = hooks, key

    def remove(self) -> None:
        """Remove the hook; a second call changes nothing."""
        self._hooks.functions.pop(self._key, None)


def hooks_of(tensor: Any, who: str) -> Hooks:
    """Return the hooks of a tensor: those of its node, or of the leaf itself."""
    if not tensor.requires_grad:
        raise GradientError("needs_grad", op=who, defined=here())
    holder, row = gradient_place(tensor)
    if row is not None:
        raise GradientError("hook_of_row", op=who, defined=here())
    hooks: Hooks | None = getattr(holder, "_hooks", None)
    if hooks is None:
        hooks = holder._hooks = Hooks()
        hooked.add(weakref.ref(holder, hooked.discard))
    return hooks


def gradient_place(x: Any) -> tuple[Any, int | tuple[int] | None]:
    """Return where a sweep leaves a tensor's gradient: at its node, or at that of its batch."""
    node = x.creator
    if node is not None and node.op is ops.pick_rows and node.attrs.get("apart"):
        row = node.attrs["rows"][0]
        if isinstance(row, (int, tuple)):  # noted in `lazy_batch`: others read the same row
            return node.inputs[0], row
    return node or x, None
