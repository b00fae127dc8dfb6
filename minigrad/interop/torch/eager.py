"""A model run by PyTorch: each operator that ran is recorded as one of ours."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.core import Spec, context
from minigrad.core.events import Event, listen
from minigrad.diagnostics.errors import TraceError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import Location
from minigrad.dynamic.recording import recording
from minigrad.dynamic.tensor import Tensor
from minigrad.interop.boxes import opaque_node
from minigrad.interop.captured import Builder, Line, is_user_file, label
from minigrad.interop.torch.functions import CustomFunctions
from minigrad.interop.torch.lines import Lines
from minigrad.interop.torch.original import outputs, readable
from minigrad.interop.torch.reader import (
    DRAWN,
    OPERATORS,
    PLACES,
    SHAPE_ONLY,
    SYSTEM,
    Layers,
    array,
    as_function,
    as_list,
    at_line,
    by_places,
    fixed_seed,
    has_complex,
    leaves,
    name_of,
    operand,
    passes,
    without_gradient,
)
from minigrad.interop.torch.shapes import take_or_keep
from minigrad.interop.torch.state import copied_state, copy_leaf, functional_call
from minigrad.interop.torch.writes import Aliases, written_tensors
from minigrad.ops.methods import Value
from minigrad.static import Node


def eager(torch: Any, module: Any, inputs: Mapping[str, Any], shape: Any) -> list[Tensor]:
    """Compute the model's results as minigrad tensors with their tape.

    inputs: the arguments, flat and by name; shape: how they are arranged. Neither the model nor
    its state changes.
    """
    results = Notes(torch, module).results(inputs, shape)
    return [y if isinstance(y, Tensor) else Tensor(y) for y in results]


def recorded(
    torch: Any, module: Any, inputs: Mapping[str, Any], shape: Any, builder: Builder, lines: Lines
) -> list[Any]:
    """Run the model and build a graph of what ran: nodes for its results, or arrays.

    What depends on values (a number that is read, a mask, the path of the program) is in the graph
    as it was in this run. TraceError if the user's code branches on a tensor.
    """
    return GraphNotes(torch, module, builder, lines).results(inputs, shape)


@contextlib.contextmanager
def _plain(torch: Any) -> Iterator[None]:
    """Run one operator at a time, without a kernel for a whole recurrent layer."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "TF32", UserWarning)  # of a device that is not there
        with torch.backends.mkldnn.flags(enabled=False):
            yield


class Notes:
    """A map from PyTorch's tensors to ours while its operators run."""

    def __init__(self, torch: Any, module: Any) -> None:
        self.torch, self.module = torch, module
        self.lines, self.layers = Lines(torch), Layers(module)
        self.known: dict[int, tuple[Any, Any]] = {}  # what it is, and itself: so that it stays
        self.aliases, self.functions = Aliases(torch), CustomFunctions(torch)
        self.path = [""]
        self.failed: tuple[Any, list[Any]] | None = None  # a function that raised, its operands

    def results(self, inputs: Mapping[str, Any], shape: Any) -> list[Any]:
        """Run the model; return the values of ours that it returns, arrays for constants."""
        torch = self.torch
        state = {name: self._leaf(x, name, False) for name, x in copied_state(self.module).items()}
        given = [
            self._leaf(copy_leaf(x, x.is_floating_point()).clone(), name, True)
            if isinstance(x, torch.Tensor)
            else x
            for name, x in inputs.items()
        ]
        arguments = torch.utils._pytree.tree_unflatten(given, shape)
        plainly = contextlib.ExitStack()
        for part in (torch.enable_grad(), _plain(torch), fixed_seed(torch), readable(torch)):
            plainly.enter_context(part)
        with plainly, listen(self.heard), self.noted():
            result = functional_call(torch, self.module, state, arguments)
        return [self.ours(y) for y in outputs(torch, result)[0]]

    def _leaf(self, x: Any, name: str, given: bool) -> Any:
        """Note a parameter or an input, and return it."""
        self.known[id(x)] = self.leaf(x, name, given), x
        self.aliases.add(x)
        return x

    def leaf(self, x: Any, name: str, given: bool) -> Any:
        """Convert a parameter or an input to our own value."""
        return Tensor(array(x), bool(x.requires_grad), label(name))

    def ours(self, x: Any) -> Any:
        """Return our value for a tensor, or its array if it has none."""
        known = self.known.get(id(x))
        return array(x) if known is None else known[0]

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Record each operator that runs in this context, in the layer that called it."""
        note, kept, notes = self.note, self._kept, self
        mode = self.torch.utils._python_dispatch.TorchDispatchMode
        function_mode = self.torch.overrides.TorchFunctionMode

        class Noting(mode):  # type: ignore[misc, valid-type]
            def __torch_dispatch__(
                self, function: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                before = kept(function, args)  # an operator may write to its operands
                result = function(*args, **(kwargs or {}))
                note(function, before, kwargs or {}, result)
                return result

        class Watching(function_mode):  # type: ignore[misc, valid-type]
            def __torch_function__(
                self, function: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                notes.lines.note_hook(function)
                if getattr(function, "__name__", "") in ("__bool__", "is_nonzero"):
                    notes.decided(args[0], sys._getframe(1))
                try:
                    return function(*args, **(kwargs or {}))
                except Exception:
                    notes.failed = notes.failed or (function, [*args, *(kwargs or {}).values()])
                    raise

        with contextlib.ExitStack() as stack:
            for path, part in self.module.named_modules():
                enter = part.register_forward_pre_hook(lambda *_, p=path: self.path.append(p))
                leave = part.register_forward_hook(lambda *_: self._left())
                stack.callback(enter.remove)
                stack.callback(leave.remove)
            stack.enter_context(self.functions.kept())
            stack.enter_context(Watching())
            stack.enter_context(Noting())
            yield

    def _left(self) -> None:
        self.path.pop()

    def decided(self, x: Any, frame: Any) -> None:
        """Handle control flow that depends on a tensor's value, in this frame."""

    @contextlib.contextmanager
    def at(self, line: Line | None) -> Iterator[None]:
        """Assign what is recorded inside to the running module and this line of the user's."""
        outer, place = context.now.scope, context.now.place
        context.now.scope = "/".join(self.layers.scope(self.path[-1]))
        context.now.place = line
        try:
            with recording(True):
                yield
        finally:
            context.now.scope, context.now.place = outer, place

    def heard(self, event: Event) -> None:
        """Make the tape keep every operand, since it is run again for drawing."""
        node: Any = event.node
        if event.kind == "built":
            node.keep([getattr(x, "data", x) for x in event.operands])

    def boxed(self, name: str, lost: bool, custom: bool) -> None:
        """Note an operator that calls PyTorch; lost: without a derivative; custom: the user's."""

    def asks(self, x: Any) -> bool:
        """Return whether one of our values requires a gradient."""
        return bool(x.requires_grad)

    def held(self, x: Any, tensor: Any) -> Any:
        """Return the array of our value for this PyTorch tensor."""
        return x.data

    def _kept(self, function: Any, args: Any) -> Any:
        """Return the arguments before the call, with copies of constants it will write to."""
        targets = {id(x) for x in written_tensors(function, args)} - self.known.keys()
        return [x.clone() if id(x) in targets else x for x in args] if targets else args

    def note(self, function: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Apply our counterpart of an operator that ran to our values of its operands."""
        several = isinstance(result, (tuple, list))
        for x in as_list(result):
            self.aliases.add(x)
        mine = [self.mapped(x) for x in args]
        options = {k: self.mapped(x) for k, x in kwargs.items()}
        target = result if name_of(function).endswith("_") and not several else None
        others = [] if target is None else list(self.aliases.sharing(target))
        symbolic = any(isinstance(x, Value) for x in leaves([*mine, *options.values()]))
        if not symbolic and not any(id(y) in self.known for y, _ in others):
            return
        if not any(isinstance(y, self.torch.Tensor) for y in as_list(result)):
            return  # a number that is read
        function = self.functions.behind(function)
        name = name_of(function)
        name = name if name in OPERATORS else name.removesuffix("_")
        line = self.lines.running()
        with at_line(line), self.at(line):
            found: Any = [None] if several else None
            if symbolic and name not in SHAPE_ONLY and name.removesuffix("_like") not in DRAWN:
                given = leaves([*args, *kwargs.values()])
                found = self._applied(name, function, mine, options, result, given)
            if not self.torch.is_grad_enabled():
                found = without_gradient(found)
            for theirs, ours in zip(result, found, strict=False) if several else [(result, found)]:
                self.set(theirs, ours)
            for y, places in others:  # which look at what was written
                self.set(y, take_or_keep(self.ours(y), self.ours(target), places))

    def set(self, x: Any, ours: Any) -> None:
        """Set our value for a tensor; None for a constant."""
        if isinstance(ours, Value):
            self.known[id(x)] = ours, x
        else:
            self.known.pop(id(x), None)

    def _applied(
        self, name: str, function: Any, mine: Any, options: Any, result: Any, given: Any
    ) -> Any:
        inputs = leaves([*mine, *options.values()])
        if name in OPERATORS and not has_complex([*inputs, *as_list(result)]):
            ready = [operand(self.torch, x) for x in by_places(name, mine, given)]
            kept = {k: operand(self.torch, x) for k, x in options.items() if k not in PLACES}
            found = OPERATORS[name](*ready, **kept)
            if found is not NotImplemented:
                return found
        mine = self._fixed(mine)
        values = [x for x in leaves([*mine, *options.values()]) if isinstance(x, Value)]
        several = isinstance(result, (tuple, list))
        arrays = [array(y) for y in as_list(result)]
        specs = [Spec(np.shape(y), y.dtype) for y in arrays]
        state = self.torch.get_rng_state()
        call, pull = as_function(self.torch, function, mine, options, state)
        pairs = zip(inputs, given, strict=True)
        held = [self.held(x, tensor) for x, tensor in pairs if isinstance(x, Value)]
        # inside an operator no tensor of theirs requires a gradient
        requires_grad = [self.asks(x) for x in values]
        passing, lost = passes(pull, held, arrays, requires_grad)
        self.boxed(name, lost, custom=not hasattr(function, "_schema"))
        boxes = opaque_node(name, SYSTEM, call, pull, values, specs, passing)
        return boxes if several else boxes[0]

    def _fixed(self, x: Any) -> Any:
        """Copy constants as they are now, since they may be written to later."""
        if isinstance(x, (list, tuple)):
            return [self._fixed(y) for y in x]
        return x.detach().clone() if isinstance(x, self.torch.Tensor) else x

    def mapped(self, x: Any) -> Any:
        """Replace the tensors that are known by our values."""
        if isinstance(x, (list, tuple)):
            return [self.mapped(y) for y in x]
        known = self.known.get(id(x)) if isinstance(x, self.torch.Tensor) else None
        return x if known is None else known[0]


class GraphNotes(Notes):
    """A recorder of a run as nodes of a graph."""

    def __init__(self, torch: Any, module: Any, builder: Builder, lines: Lines) -> None:
        super().__init__(torch, module)
        self.builder, self.lines = builder, lines

    def leaf(self, x: Any, name: str, given: bool) -> Any:
        if given:
            return self.builder.placeholder(name, array(x))
        scope = "/".join(self.layers.scope(name.rpartition(".")[0]))
        return self.builder.variable(name, array(x), scope, x.requires_grad)

    @contextlib.contextmanager
    def at(self, line: Line | None) -> Iterator[None]:
        with self.builder.at(self.builder.entered(self.layers.scope(self.path[-1])), line):
            yield

    def heard(self, event: Event) -> None:
        """Ignore the event: a graph keeps its operands anyway."""

    def boxed(self, name: str, lost: bool, custom: bool) -> None:
        self.builder.boxed(name, None, custom)
        if lost:
            self.builder.lost.append(name)

    def set(self, x: Any, ours: Any) -> None:
        super().set(x, ours)
        if isinstance(ours, Node):
            self.builder.originals[ours] = array(x)  # as it is now: it may be written to

    def asks(self, x: Any) -> bool:
        leaves, seen, rest = {*self.builder.leaves.values()}, {x}, [x]
        while rest:
            node = rest.pop()
            if node in leaves:
                return True
            found = {*node.inputs} - seen if node.op is not ops.stop_gradient else ()
            seen.update(found)
            rest.extend(found)
        return False

    def held(self, x: Any, tensor: Any) -> Any:
        return array(tensor)

    def decided(self, x: Any, frame: Any) -> None:
        """Raise TraceError if the user's own code branches on a value; libraries may."""
        if id(x) in self.known and is_user_file(frame.f_code.co_filename, self.lines.library):
            line = Location(frame.f_code, frame.f_lasti)
            raise TraceError("capture", system=SYSTEM, reason=fill("capture_decides"), ran=line)
