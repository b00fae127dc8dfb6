"""A PyTorch module or function, captured once by `torch.export` and read operator by operator."""

from __future__ import annotations

import contextlib
import copy
import dis
import inspect
import itertools
import operator
import sys
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from minigrad.diagnostics.errors import TraceError
from minigrad.diagnostics.messages import one_line
from minigrad.diagnostics.source import Location, here
from minigrad.dynamic.tensor import Tensor
from minigrad.interop.captured import About, Builder, Captured, Refused, is_user_file
from minigrad.interop.torch.adapted import adapt_inputs
from minigrad.interop.torch.eager import eager, recorded
from minigrad.interop.torch.failures import location, ran_before, reason, stop
from minigrad.interop.torch.functions import CustomFunctions
from minigrad.interop.torch.lines import Lines, inline_regions
from minigrad.interop.torch.original import original, outputs, run
from minigrad.interop.torch.reader import OPERATORS, SYSTEM, Reader, name_of, quiet
from minigrad.interop.torch.state import copy_leaf, hooked_names, tied_names


def belongs(obj: Any, inputs: Sequence[Any]) -> bool:
    """Return whether this is a PyTorch module or a function of tensors; import nothing."""
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    return isinstance(obj, torch.nn.Module) or any(isinstance(x, torch.Tensor) for x in inputs)


def capture(model: Any, inputs: Sequence[Any]) -> Captured:
    """Capture a PyTorch module or function as a minigrad graph for inputs like these.

    Parameters are variables, named as in the module. Random numbers (dropout, noise) are
    drawn once. TraceError for a model that torch.export cannot capture.
    """
    torch: Any = sys.modules["torch"]
    module, inputs, notes = adapt_inputs(torch, _as_module(torch, model), inputs)
    found = _captured(torch, module, inputs)
    found.about.notes = notes
    return found


def as_given(inputs: Sequence[Any]) -> Sequence[Any]:
    """Convert NumPy arrays among the inputs to tensors, float64 ones to float32."""
    torch: Any = sys.modules["torch"]

    def tensor(x: Any) -> Any:
        made = torch.from_numpy(x.copy())
        return made.float() if made.dtype == torch.float64 else made

    return list(torch.utils._pytree.tree_map_only(np.ndarray, tensor, list(inputs)))


def with_loss(model: Any, loss: Any) -> Any:
    """Return the model followed by a loss of its result."""
    torch: Any = sys.modules["torch"]
    module = _as_module(torch, model)

    class Loss(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = module
            self.training = module.training

        def forward(self, *args: Any) -> Any:
            return loss(self.model(*args))

    made = Loss()
    made.function = getattr(module, "function", module.forward)
    return made


def both_ways(model: Any, inputs: Sequence[Any]) -> tuple[Captured, list[Tensor]]:
    """Capture the model; return the graph and what its operators computed eagerly."""
    torch: Any = sys.modules["torch"]
    module = _as_module(torch, model)
    captured = _captured(torch, module, inputs)
    with quiet():
        return captured, eager(torch, module, *_named(torch, module, inputs))


def _captured(torch: Any, module: Any, inputs: Sequence[Any]) -> Captured:
    """Capture the model with torch.export, or by recording the operators that run."""
    given, shape = _named(torch, module, inputs)
    try:
        result, shared = run(torch, module, given, shape)
    except Exception as error:  # noqa: BLE001 whatever the user's code raises
        try:
            stop(torch, module, given, shape, error)
        except TraceError as stopped:
            stopped.before = lambda: ran_before(torch, module, given, shape)
            raise
    tensors, others = outputs(torch, result)
    if not tensors:
        raise TraceError("model_returns", system=SYSTEM, value=brief(result), ran=_end(module))
    builder, about = Builder(), About(tied_names(module), beside=tuple(map(brief, others)))
    try:
        with quiet():
            lines, functions = Lines(torch), CustomFunctions(torch)
            program = _exported(torch, module, inputs, lines, functions)
            if program is not None:
                try:
                    nodes = Reader(torch, builder, program, module, lines, functions).read(given)
                except TraceError:
                    raise
                except Exception:  # noqa: BLE001 a form of an operator that we cannot read
                    program = None
            if program is None:
                builder, lines = Builder(), Lines(torch)
                nodes = recorded(torch, module, given, shape, builder, lines)
            about.recorded, about.hooks = program is None, [*hooked_names(module), *lines.hooks]
            about.frozen = [n for n, p in module.named_parameters() if not p.requires_grad]
            about.lost = tuple(dict.fromkeys(builder.lost))
            values, found, refused = original(torch, module, given, shape, about.lost, shared)
            about.refused = None if refused is None else _with_location(builder, refused)
    except TraceError:
        raise
    except Exception as error:  # whatever PyTorch cannot hand to us
        where = location(torch, error)
        why = reason(error)
        raise TraceError("model_unrecorded", system=SYSTEM, reason=why, ran=where) from error
    about.precise = lambda: _in_float64(torch, module, inputs)
    return builder.captured(SYSTEM, nodes, values, found, about)


def _with_location(builder: Builder, refused: Refused) -> Refused:
    """Add to PyTorch's refusal to differentiate the operator that it names and its line."""
    named = [name for name in builder.lost if name in refused.reason]
    boxes = {f"{SYSTEM}_{name}".replace(".", "_"): name for name in named}
    nodes = [node for node in builder.graph.nodes if node.op.name in boxes]
    if not nodes:
        return refused
    last = nodes[-1]
    return Refused(refused.reason, boxes[last.op.name], (last.code, last.lasti))


def _in_float64(torch: Any, module: Any, inputs: Sequence[Any]) -> Captured | None:
    """Capture the model in float64, where rounding hardly matters; None if it fails."""

    def double(x: Any) -> Any:
        return x.detach().double() if x.is_floating_point() else x

    try:
        tree = torch.utils._pytree
        given = tree.tree_map_only(torch.Tensor, double, tuple(inputs))
        with quiet():
            return _captured(torch, copy.deepcopy(module).double(), given)
    except (RuntimeError, TypeError, ValueError, TraceError):  # it asks for float32, for instance
        return None


def _exported(
    torch: Any, module: Any, inputs: Sequence[Any], lines: Lines, functions: CustomFunctions
) -> Any:
    """Export a model by torch.export; None if it can't, or if sizes stay unknown."""
    try:
        with torch.enable_grad(), functions.kept():
            with lines.noted(), _returning_tensors(torch, module):
                program = torch.export.export(module, _grad_inputs(torch, inputs))
            if _depends_on_values(torch, program):
                return None
            inline_regions(program.graph_module)
            if _is_plain(torch, program):
                return program
            return program.run_decompositions(_unknown(torch, program))
    except Exception:  # noqa: BLE001 among many kinds a SyntaxError, for the name of a module
        return None


def _is_plain(torch: Any, program: Any) -> bool:
    """Return whether a program needs no decomposition: its operators are known and pure.

    Decomposing a program takes as long as exporting it.
    """
    places = {node: i for i, node in enumerate(program.graph.nodes)}
    reached: set[Any] = set()
    own: set[Any] = set()  # written to while nothing else looks at it: as good as new

    def shares(node: Any) -> bool:
        """Return whether a node's result may share memory with its operands."""
        schema = getattr(node.target, "_schema", None)
        returns = () if schema is None else schema.returns
        return node not in own and (schema is None or any(x.alias_info for x in returns))

    for node, place in places.items():
        if node.op == "placeholder":
            reached.add(node)
        if node.op != "call_function" or reached.isdisjoint(node.all_input_nodes):
            continue
        reached.add(node)
        schema = getattr(node.target, "_schema", None)
        if schema is None:
            if node.target is not operator.getitem:
                return False
            continue
        name = name_of(node.target)
        if not schema.returns or (name == "dropout" and not node.args[2]):
            continue  # it checks something; out of training it does nothing
        if schema.is_mutable:
            written, name = node.args[0], name.removesuffix("_")
            users = [user for user in written.users if user is not node]
            alone = all(places[user] < place and not shares(user) for user in users)
            if written.op != "call_function" or not alone or shares(written):
                return False
            own.add(node)
        device = any(isinstance(x, torch.device) for x in node.args)  # it may copy, or not
        if name not in OPERATORS or device:
            return False
    return True


def _grad_inputs(torch: Any, inputs: Sequence[Any]) -> Any:
    """Copy the inputs; those that can have a gradient require one."""

    def track(x: Any) -> Any:
        return copy_leaf(x, True).clone() if x.is_floating_point() else x

    return torch.utils._pytree.tree_map_only(torch.Tensor, track, tuple(inputs))


@contextlib.contextmanager
def _returning_tensors(torch: Any, module: Any) -> Iterator[None]:
    """Make a model return only its tensors: torch.export rejects types it doesn't know."""
    hook = module.register_forward_hook(lambda *call: tuple(outputs(torch, call[-1])[0]))
    try:
        yield
    finally:
        hook.remove()


def _depends_on_values(torch: Any, program: Any) -> bool:
    """Return whether a number or a size in the program is known at run time only."""
    symbols = (torch.SymInt, torch.SymFloat, torch.SymBool)
    for node in program.graph.nodes:
        for x in torch.utils._pytree.tree_leaves(node.meta.get("val")):
            if any(isinstance(n, symbols) for n in (x, *getattr(x, "shape", ()))):
                return True
    return False


def _end(module: Any) -> Location | None:
    """Return the last line at which the user's function returns."""
    function = getattr(module, "function", module.forward)
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None or not is_user_file(code.co_filename, sys.modules["torch"].__path__[0]):
        return None
    ends = [x.offset for x in dis.get_instructions(code) if x.opname.startswith("RETURN")]
    return Location(code, ends[-1])


def brief(x: Any) -> str:
    """Return a short text for a value: its repr if that is brief, else its type."""
    shown = one_line(repr(x))
    return type(x).__name__ if len(shown) > 40 or " at 0x" in shown else shown


def _named(torch: Any, module: Any, inputs: Sequence[Any]) -> tuple[dict[str, Any], Any]:
    """Return the flat inputs, named by argument and path, and their tree structure."""
    names = _arguments(getattr(module, "function", module.forward))
    tree = torch.utils._pytree
    flat, shape = tree.tree_flatten_with_path(tuple(inputs))
    named: dict[str, Any] = {}
    for path, x in flat:
        place, *keys = (next(getattr(k, w) for w in WHERE if hasattr(k, w)) for k in path)
        name = names[place] if place < len(names) else f"x{place + 1}"
        named[_free_name("_".join(map(str, (name, *keys))), named)] = x
    return named, shape


WHERE = ("key", "idx", "name")  # how a step of a path through a container says where it leads


def _free_name(name: str, taken: Collection[str]) -> str:
    """Return the name, with a number appended if it is taken."""
    numbered = (f"{name}_{i}" for i in itertools.count(1))
    return name if name not in taken else next(n for n in numbered if n not in taken)


def _as_module(torch: Any, model: Any) -> Any:
    """Return a module unchanged; wrap a function in one with the modules that it uses."""
    if isinstance(model, torch.jit.ScriptModule):
        raise TraceError("capture_scripted", name=model.original_name, ran=here())
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
    made.function = model
    return made


def _arguments(function: Any) -> list[str]:
    """Return the names of a function's positional arguments, if it has a signature."""
    try:
        named = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # one written in C
        return []
    return [p.name for p in named if p.kind == p.POSITIONAL_OR_KEYWORD]


def _unknown(torch: Any, program: Any) -> dict[Any, Any]:
    """Return PyTorch's decompositions of the operators that have no counterpart here."""
    targets = {n.target for n in program.graph.nodes if n.op == "call_function"}
    missing = {t for t in targets if hasattr(t, "_schema") and name_of(t) not in OPERATORS}
    if not missing:
        return {}
    table = torch.export.default_decompositions()
    return {op: how for op, how in table.items() if name_of(op) not in OPERATORS}
