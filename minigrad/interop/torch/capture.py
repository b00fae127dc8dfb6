"""A PyTorch module or function, captured once by `torch.export` and read operator by operator."""

from __future__ import annotations

import copy
import inspect
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from minigrad.diagnostics.errors import TraceError
from minigrad.diagnostics.source import here
from minigrad.dynamic.tensor import Tensor
from minigrad.interop.captured import About, Builder, Captured
from minigrad.interop.torch.eager import eager
from minigrad.interop.torch.functions import CustomFunctions
from minigrad.interop.torch.lines import Lines, inline_regions
from minigrad.interop.torch.original import original
from minigrad.interop.torch.reader import OPERATORS, SYSTEM, Reader, name_of
from minigrad.interop.torch.state import copied, hooked, tied_names


def belongs(obj: Any, inputs: Sequence[Any]) -> bool:
    """Whether this is PyTorch's: a module, or a function of tensors. Nothing is imported for it."""
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    return isinstance(obj, torch.nn.Module) or any(isinstance(x, torch.Tensor) for x in inputs)


def capture(model: Any, inputs: Sequence[Any]) -> Captured:
    """A graph of ours that computes what a PyTorch module or function does, for such inputs.

    Parameters are variables, named as in the module. What is drawn at random (dropout, noise) is
    drawn once. TraceError for a model that torch.export cannot capture.
    """
    torch: Any = sys.modules["torch"]
    return _captured(torch, _as_module(torch, model), inputs)


def both_ways(model: Any, inputs: Sequence[Any]) -> tuple[Captured, list[Tensor]]:
    """The model captured, and what its operators computed as PyTorch ran them one by one."""
    torch: Any = sys.modules["torch"]
    module = _as_module(torch, model)
    captured = _captured(torch, module, inputs)
    return captured, eager(torch, module, inputs, [x.name for x in captured.feeds])


def _captured(torch: Any, module: Any, inputs: Sequence[Any]) -> Captured:
    lines, functions = Lines(torch), CustomFunctions(torch)
    try:
        with warnings.catch_warnings():  # of PyTorch about itself
            warnings.simplefilter("ignore", FutureWarning)
            warnings.filterwarnings(
                "ignore", "The (tensor attributes|.grad attribute)", UserWarning
            )
            with torch.enable_grad(), functions.kept():
                with lines.noted():
                    program = torch.export.export(module, _asking(torch, inputs))
                inline_regions(program.graph_module)
                program = program.run_decompositions(_unknown(torch, program))
    except (RuntimeError, TypeError, ValueError) as error:  # whatever it finds in a model
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise TraceError("capture", system=SYSTEM, reason=reason[:300], ran=here()) from error
    given = _named(torch, module, inputs, program)
    shape = torch.utils._pytree.tree_structure(tuple(inputs))
    builder = Builder()
    outputs = Reader(torch, builder, program, module, lines, functions).read(given)
    lost = tuple(dict.fromkeys(builder.lost))
    values, found, refused = original(torch, module, given, shape, lost)
    hooks = [*hooked(module), *lines.hooks]
    about = About(tied_names(module), hooks, lost, refused)
    about.precise = lambda: _precise(torch, module, inputs)
    return builder.captured(SYSTEM, outputs, values, found, about)


def _precise(torch: Any, module: Any, inputs: Sequence[Any]) -> Captured | None:
    """The same model in float64, where rounding is too small to matter; None if it refuses."""

    def double(x: Any) -> Any:
        return x.detach().double() if x.is_floating_point() else x

    try:
        tree = torch.utils._pytree
        given = tree.tree_map_only(torch.Tensor, double, tuple(inputs))
        return _captured(torch, copy.deepcopy(module).double(), given)
    except (RuntimeError, TypeError, ValueError, TraceError):  # it asks for float32, for instance
        return None


def _asking(torch: Any, inputs: Sequence[Any]) -> Any:
    """Copies of the inputs that ask for a gradient, as far as they can have one."""

    def asking(x: Any) -> Any:
        return copied(x, True).clone() if x.is_floating_point() else x

    return torch.utils._pytree.tree_map_only(torch.Tensor, asking, tuple(inputs))


def _named(torch: Any, module: Any, inputs: Sequence[Any], program: Any) -> dict[str, Any]:
    """The inputs, flat, under the names of the arguments."""
    flat = torch.utils._pytree.tree_leaves(tuple(inputs))
    told = getattr(module, "argument_names", ())
    names = map(str, program.graph_signature.user_inputs)
    named = [told[i] if i < len(told) else name for i, name in enumerate(names)]
    return dict(zip(named, flat, strict=True))


def _as_module(torch: Any, model: Any) -> Any:
    """A module as it is; a function in one that holds the modules which it calls."""
    if isinstance(model, torch.nn.Module):
        return model
    held = {}
    if inspect.isfunction(model):
        around = inspect.getclosurevars(model)
        held = {**around.globals, **around.nonlocals}

    class Function(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            for name, value in held.items():
                if isinstance(value, torch.nn.Module):
                    setattr(self, name, value)

        def forward(self, *args: Any) -> Any:
            return model(*args)

    made = Function()
    made.argument_names = _arguments(model)
    return made


def _arguments(function: Any) -> list[str]:
    """What a function calls its arguments, as far as it says so."""
    try:
        named = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # one written in C
        return []
    return [p.name for p in named if p.kind == p.POSITIONAL_OR_KEYWORD]


def _unknown(torch: Any, program: Any) -> dict[Any, Any]:
    """How PyTorch itself takes apart the operators that have no counterpart here."""
    targets = {n.target for n in program.graph.nodes if n.op == "call_function"}
    missing = {t for t in targets if hasattr(t, "_schema") and name_of(t) not in OPERATORS}
    if not missing:
        return {}
    table = torch.export.default_decompositions()
    return {op: how for op, how in table.items() if name_of(op) not in OPERATORS}
