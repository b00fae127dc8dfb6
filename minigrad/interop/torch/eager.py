"""A model run by PyTorch as it stands: each operator, once it has run, noted on a tape of ours."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from minigrad.core import Spec, context
from minigrad.core.events import Event, listen
from minigrad.dynamic.recording import recording
from minigrad.dynamic.tensor import Tensor
from minigrad.interop.boxes import box
from minigrad.interop.torch.functions import CustomFunctions
from minigrad.interop.torch.lines import Lines
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
    passes,
    seeded,
    without_gradient,
)
from minigrad.interop.torch.shapes import moved
from minigrad.interop.torch.state import called, copied, copied_state
from minigrad.interop.torch.writes import Aliases, written


def eager(torch: Any, module: Any, inputs: Sequence[Any], names: Sequence[str]) -> list[Tensor]:
    """What the model computes, as tensors of ours with the tape behind them.

    names: of the inputs. Neither the model nor its state changes.
    """
    notes = _Notes(torch, module)
    state = {name: notes.leaf(x, name) for name, x in copied_state(module).items()}
    given = [
        notes.leaf(copied(x, x.is_floating_point()).clone(), name)
        if isinstance(x, torch.Tensor)
        else x
        for name, x in itertools.zip_longest(names, inputs, fillvalue="x")
    ]
    plainly = contextlib.ExitStack()
    for part in (torch.enable_grad(), _plain(torch), seeded(torch), recording(True)):
        plainly.enter_context(part)
    with plainly, listen(_keep), notes.noted():
        result = called(torch, module, state, tuple(given))
    results = torch.utils._pytree.tree_leaves(result)
    return [notes.ours(y) for y in results if isinstance(y, torch.Tensor)]


def _keep(event: Event) -> None:
    """Let the tape keep every operand: it is run again, to be drawn."""
    node: Any = event.node
    if event.kind == "built":
        node.keep([getattr(x, "data", x) for x in event.operands])


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
        self.aliases, self.functions = Aliases(torch), CustomFunctions(torch)
        self.path = [""]

    def leaf(self, x: Any, name: str) -> Any:
        """A parameter or an input, which is handed on."""
        ours = Tensor(array(x), bool(x.requires_grad), name)
        self.known[id(x)] = ours, x
        self.aliases.add(x)
        return x

    def ours(self, x: Any) -> Any:
        """The tensor of ours, or what it holds, if it was never one."""
        known = self.known.get(id(x))
        return Tensor(array(x)) if known is None else known[0]

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """While this is open each operator that ran is noted, in the layer that called it."""
        note, kept = self.note, self._kept
        mode = self.torch.utils._python_dispatch.TorchDispatchMode

        class Noting(mode):  # type: ignore[misc, valid-type]
            def __torch_dispatch__(
                self, function: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                before = kept(function, args)  # an operator may write to its operands
                result = function(*args, **(kwargs or {}))
                note(function, before, kwargs or {}, result)
                return result

        with contextlib.ExitStack() as stack:
            for path, part in self.module.named_modules():
                enter = part.register_forward_pre_hook(lambda *_, p=path: self.path.append(p))
                leave = part.register_forward_hook(lambda *_: self._left())
                stack.callback(enter.remove)
                stack.callback(leave.remove)
            stack.enter_context(self.functions.kept())
            stack.enter_context(Noting())
            yield

    def _left(self) -> None:
        self.path.pop()

    def _kept(self, function: Any, args: Any) -> Any:
        """The arguments as they are before it runs: copies of constants that are written to."""
        targets = {id(x) for x in written(function, args)} - self.known.keys()
        return [x.clone() if id(x) in targets else x for x in args] if targets else args

    def note(self, function: Any, args: Any, kwargs: Any, result: Any) -> None:
        """The same operator of ours, on what its operands are here."""
        several = isinstance(result, (tuple, list))
        for x in result if several else [result]:
            self.aliases.add(x)
        mine = [self._mapped(x) for x in args]
        options = {k: self._mapped(x) for k, x in kwargs.items()}
        target = result if name_of(function).endswith("_") and not several else None
        others = [] if target is None else list(self.aliases.sharing(target))
        symbolic = any(isinstance(x, Tensor) for x in leaves([*mine, *options.values()]))
        if not symbolic and not any(id(y) in self.known for y, _ in others):
            return
        function = self.functions.behind(function)
        name = name_of(function)
        name = name if name in OPERATORS else name.removesuffix("_")
        outer, place = context.scope, context.now.place
        context.scope = "/".join(self.layers.scope(self.path[-1]))
        context.now.place = self.lines.running()
        try:
            found: Any = [None] if several else None
            if symbolic and name not in SHAPE_ONLY and name.removesuffix("_like") not in DRAWN:
                found = self._applied(name, function, mine, options, result)
            if not self.torch.is_grad_enabled():
                found = without_gradient(found)
            for theirs, ours in zip(result, found, strict=False) if several else [(result, found)]:
                self._set(theirs, ours)
            for y, places in others:  # which look at what was written
                self._set(y, moved(self.ours(y), self.ours(target), places))
        finally:
            context.scope, context.now.place = outer, place

    def _set(self, x: Any, ours: Any) -> None:
        """Note what a tensor is here; None for a constant."""
        if isinstance(ours, Tensor):
            self.known[id(x)] = ours, x
        else:
            self.known.pop(id(x), None)

    def _applied(self, name: str, function: Any, mine: Any, options: Any, result: Any) -> Any:
        if name in OPERATORS:
            ready = [operand(self.torch, x) for x in mine]
            kept = {k: operand(self.torch, x) for k, x in options.items() if k not in PLACES}
            found = OPERATORS[name](*ready, **kept)
            if found is not NotImplemented:
                return found
        mine = self._fixed(mine)
        values = [x for x in leaves([*mine, *options.values()]) if isinstance(x, Tensor)]
        several = isinstance(result, (tuple, list))
        arrays = [array(y) for y in (result if several else [result])]
        specs = [Spec(np.shape(y), y.dtype) for y in arrays]
        state = self.torch.get_rng_state()
        call, pull = calls(self.torch, function, mine, options, state)
        passing, _ = passes(pull, [x.data for x in values], arrays)
        boxes = box(name, SYSTEM, call, pull, values, specs, passing)
        return boxes if several else boxes[0]

    def _fixed(self, x: Any) -> Any:
        """Constants as they are now, though they may be written to later."""
        if isinstance(x, (list, tuple)):
            return [self._fixed(y) for y in x]
        return x.detach().clone() if isinstance(x, self.torch.Tensor) else x

    def _mapped(self, x: Any) -> Any:
        if isinstance(x, (list, tuple)):
            return [self._mapped(y) for y in x]
        known = self.known.get(id(x)) if isinstance(x, self.torch.Tensor) else None
        return x if known is None else known[0]


PLACES = ("layout", "device", "pin_memory", "memory_format", "non_blocking", "copy")
