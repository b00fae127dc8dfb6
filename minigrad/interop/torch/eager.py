"""A model run by PyTorch as it stands: each operator, once it has run, noted on a tape of ours."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from minigrad.core import Spec, context
from minigrad.dynamic.recording import recording
from minigrad.dynamic.tensor import Tensor
from minigrad.interop.boxes import box
from minigrad.interop.torch.lines import Lines
from minigrad.interop.torch.original import copied
from minigrad.interop.torch.reader import (
    DRAWN,
    OPERATORS,
    SHAPE_ONLY,
    SYSTEM,
    Layers,
    array,
    calls,
    leaves,
    name_of,
    operand,
    seeded,
)


def eager(torch: Any, module: Any, inputs: Sequence[Any], names: Sequence[str]) -> list[Tensor]:
    """What the model computes, as tensors of ours with the tape behind them.

    names: of the inputs. Neither the model nor its state changes.
    """
    notes = _Notes(torch, module)
    state = {
        name: notes.leaf(copied(x), name)
        for name, x in (*module.named_parameters(), *module.named_buffers())
    }
    given = [
        notes.leaf(copied(x), name) if isinstance(x, torch.Tensor) else x
        for name, x in itertools.zip_longest(names, inputs, fillvalue="x")
    ]
    with torch.no_grad(), _plain(torch), seeded(torch), recording(True), notes.noted():
        result = torch.func.functional_call(module, state, tuple(given))
    results = torch.utils._pytree.tree_leaves(result)
    return [notes.ours(y) for y in results if isinstance(y, torch.Tensor)]


@contextlib.contextmanager
def _plain(torch: Any) -> Iterator[None]:
    """One operator at a time: no kernel for a whole recurrent layer."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "TF32", UserWarning)  # of a device that is not there
        with torch.backends.mkldnn.flags(enabled=False):
            yield


class _Notes:
    """Which tensor of ours each of PyTorch's is, while its operators run."""

    def __init__(self, torch: Any, module: Any) -> None:
        self.torch, self.module = torch, module
        self.lines, self.layers = Lines(torch), Layers(module)
        self.known: dict[int, tuple[Any, Any]] = {}  # what it is, and itself: so that it stays
        self.path = [""]

    def leaf(self, x: Any, name: str) -> Any:
        """A parameter or an input, which is handed on."""
        ours = Tensor(array(x), bool(x.is_floating_point()), name)
        self.known[id(x)] = ours, x
        return x

    def ours(self, x: Any) -> Any:
        """The tensor of ours, or what it holds, if it was never one."""
        known = self.known.get(id(x))
        return Tensor(array(x)) if known is None else known[0]

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """While this is open each operator that ran is noted, in the layer that called it."""
        note = self.note
        mode = self.torch.utils._python_dispatch.TorchDispatchMode

        class Noting(mode):  # type: ignore[misc, valid-type]
            def __torch_dispatch__(
                self, function: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                result = function(*args, **(kwargs or {}))
                note(function, args, kwargs or {}, result)
                return result

        with contextlib.ExitStack() as stack:
            for path, part in self.module.named_modules():
                enter = part.register_forward_pre_hook(lambda *_, p=path: self.path.append(p))
                leave = part.register_forward_hook(lambda *_: self._left())
                stack.callback(enter.remove)
                stack.callback(leave.remove)
            stack.enter_context(Noting())
            yield

    def _left(self) -> None:
        self.path.pop()

    def note(self, function: Any, args: Any, kwargs: Any, result: Any) -> None:
        """The same operator of ours, on what its operands are here."""
        mine = [self._mapped(x) for x in args]
        options = {k: self._mapped(x) for k, x in kwargs.items()}
        if not any(isinstance(x, Tensor) for x in leaves([*mine, *options.values()])):
            return
        name = name_of(function)
        name = name if name in OPERATORS else name.removesuffix("_")
        if name in SHAPE_ONLY or name.removesuffix("_like") in DRAWN:
            return
        outer, place = context.scope, context.now.place
        context.scope = "/".join(self.layers.scope(self.path[-1]))
        context.now.place = self.lines.running()
        try:
            found = self._applied(name, function, mine, options, result)
        finally:
            context.scope, context.now.place = outer, place
        several = isinstance(result, (tuple, list))
        pairs = zip(result, found, strict=False) if several else [(result, found)]
        for theirs, ours in pairs:
            if isinstance(theirs, self.torch.Tensor) and ours is not None:
                self.known[id(theirs)] = ours, theirs

    def _applied(self, name: str, function: Any, mine: Any, options: Any, result: Any) -> Any:
        if name in OPERATORS:
            ready = [operand(self.torch, x) for x in mine]
            kept = {k: operand(self.torch, x) for k, x in options.items() if k not in PLACES}
            found = OPERATORS[name](*ready, **kept)
            if found is not NotImplemented:
                return found
        values = [x for x in leaves([*mine, *options.values()]) if isinstance(x, Tensor)]
        several = isinstance(result, (tuple, list))
        arrays = [array(y) for y in (result if several else [result])]
        specs = [Spec(np.shape(y), y.dtype) for y in arrays]
        state = self.torch.get_rng_state()
        call, pull = calls(self.torch, function, mine, options, state)
        boxes = box(name, SYSTEM, call, pull, values, specs)
        return boxes if several else boxes[0]

    def _mapped(self, x: Any) -> Any:
        if isinstance(x, (list, tuple)):
            return [self._mapped(y) for y in x]
        known = self.known.get(id(x)) if isinstance(x, self.torch.Tensor) else None
        return x if known is None else known[0]


PLACES = ("layout", "device", "pin_memory", "memory_format", "non_blocking", "copy")
