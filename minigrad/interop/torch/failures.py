"""Errors of a user's model, with the module, the operands and the line that they come from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from minigrad import ops
from minigrad.core import Op
from minigrad.diagnostics.errors import TraceError
from minigrad.diagnostics.messages import Pair, fill, one_line
from minigrad.diagnostics.source import Location, is_user_code
from minigrad.interop.boxes import failed_op
from minigrad.interop.captured import About, Builder, Refused, Stopped, frames_of, is_user_file
from minigrad.interop.torch.eager import GraphNotes, Notes
from minigrad.interop.torch.lines import Lines
from minigrad.interop.torch.reader import SYSTEM, leaves, quiet
from minigrad.ops import state
from minigrad.ops.methods import Value
from minigrad.static import Node

LONGEST = 300  # characters of a message of PyTorch's


def stop(torch: Any, module: Any, inputs: Mapping[str, Any], shape: Any, error: Exception) -> Any:
    """Raise the error for a model whose own system raised this one.

    The model is run again with its operators recorded: `viz.error` draws what ran before the
    operator that failed, and its operands.
    """
    notes = Notes(torch, module)
    try:
        with quiet():
            notes.results(inputs, shape)
    except Exception as again:  # noqa: BLE001
        repeated = type(again) is type(error)
    else:
        repeated = False
    ran = location(torch, error)
    missing = "model_inputs" if isinstance(error, TypeError) else "model_correct_layer"
    remedy = fill("model_correct" if ran else missing, system=SYSTEM)
    fields: dict[str, Any] = {"where": _where(module, error), "error": reason(error)}
    fields |= {"remedy": remedy, "system": SYSTEM, "ran": ran}
    if not repeated or notes.failed is None:
        raise TraceError("model_stopped", **fields, call=("", "")) from error
    function, given = notes.failed
    name = function.__name__.strip("_")
    shapes = _described([x for x in leaves(given) if isinstance(x, torch.Tensor)])
    call = fill("model_call", function=name, shapes=shapes) if shapes else ("", "")
    values = [x for x in leaves(notes.mapped(given)) if isinstance(x, Value)]
    _raise(failed_op(name, SYSTEM), values, TraceError("model_stopped", **fields, call=call), error)


def ran_before(torch: Any, module: Any, inputs: Mapping[str, Any], shape: Any) -> Stopped | None:
    """Run a model that raises again; return what ran before, None if it runs now."""
    builder, lines = Builder(), Lines(torch)
    notes = GraphNotes(torch, module, builder, lines)
    try:
        with quiet():
            notes.results(inputs, shape)
    except Exception as error:  # noqa: BLE001 whatever the user's code raises
        where = location(torch, error)
    else:
        return None
    made = [n for n in builder.graph.nodes if n in builder.originals]
    read = {x for n in made for x in n.inputs}
    read |= {n for n in made if n.op is ops.stop_gradient}  # unread ones are what autograd saves
    ends = [n for n in made if n not in read and not _counts(n)]
    about = About(refused=Refused("", ""), recorded=True)
    name = where.text if where is not None else type(module).__name__
    operands: list[Node] = []
    if notes.failed is not None:
        function, given = notes.failed
        name = getattr(function, "__name__", str(function)).strip("_")
        operands = [x for x in leaves(notes.mapped(given)) if isinstance(x, Node)]
    known = {**builder.feeds, **builder.originals}
    ends = [n for n in dict.fromkeys([*ends, *operands, *builder.feeds]) if n in known]
    scopes = notes.layers.scope(notes.path[-1])
    parts = [path for path, part in module.named_modules() if not [*part.children()]]
    after = parts.index(notes.path[-1]) + 1 if notes.path[-1] in parts else 0
    visited = {label.partition(" (")[0] for label in builder.visits}
    rest = ["/".join(notes.layers.scope(path)) for path in parts[after:]]
    return Stopped(
        builder.captured(SYSTEM, ends, [known[n] for n in ends], {}, about),
        name,
        operands,
        "/".join(scopes),
        None if where is None else (where.code, where.lasti),
        [scope for scope in rest if scope not in visited],
    )


def _counts(node: Node) -> bool:
    """Return whether a node counts a buffer up, as BatchNorm does for the batches it has seen."""
    return node.dtype.kind == "i" and any(x.op is state.variable for x in node.inputs)


def _raise(op: Op, operands: list[Any], error: TraceError, cause: Exception) -> Any:
    """Raise an error from a frame with `op` and its operands, which is then drawn."""
    raise error from cause


def _described(tensors: Sequence[Any]) -> str:
    """Describe tensors by their shapes, with their types if these differ."""
    types = [str(x.dtype).removeprefix("torch.") for x in tensors]
    several = len(set(types)) > 1
    shapes = [str(tuple(x.shape)) for x in tensors]
    return ", ".join(
        f"{kind} {shape}" if several else shape for kind, shape in zip(types, shapes, strict=True)
    )


def reason(error: BaseException) -> str:
    """Return the type of an error and the first line of its message."""
    first = next(iter(str(error).strip().splitlines()), "").rstrip(". ")
    name = type(error).__name__
    return f"{name}: {first[:LONGEST]}" if first else name


def location(torch: Any, error: BaseException) -> Location | None:
    """Return the innermost line outside of PyTorch that an error went through, best the user's."""
    places = [(frame.f_code, lasti) for frame, lasti in frames_of(error)]
    files = [(x, x[0].co_filename) for x in places if is_user_code(x[0].co_filename)]
    own = [x for x, file in files if is_user_file(file, torch.__path__[0])]
    own = own or [x for x, file in files if not file.startswith(torch.__path__[0] + os.sep)]
    return Location(*own[-1]) if own else None


def _where(module: Any, error: BaseException) -> Pair:
    """Name the innermost module that the error went through; a function by its name."""
    paths = {id(part): path for path, part in module.named_modules(remove_duplicate=False)}
    owners = [id(frame.f_locals.get("self")) for frame, _ in frames_of(error)]
    path = next((paths[x] for x in reversed(owners) if x in paths), "")
    if path:
        kind = type(module.get_submodule(path)).__name__
        return fill("model_at", path=one_line(path), kind=kind)
    function = getattr(module, "function", type(module))
    name = getattr(function, "__name__", type(function).__name__)
    return name, name
