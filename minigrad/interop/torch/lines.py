"""The user's line behind each captured operator, and where gradients stop."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from minigrad.diagnostics.source import Location, SavedLine
from minigrad.interop.captured import Line, is_user_file

# What PyTorch asks tensors for all the time, and what computes nothing.
QUESTIONS = {
    *("layout", "requires_grad", "is_sparse", "device", "is_nested", "shape", "dtype", "is_leaf"),
    *("is_quantized", "is_mkldnn", "grad", "ndim", "stride", "storage_offset", "_is_view", "size"),
    *("untyped_storage", "is_inference", "is_conj", "is_neg", "numel", "dim", "_version"),
}


class Lines:
    """A recorder of the user's lines that call PyTorch's functions during capture."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.library = str(Path(torch.__file__).parent)
        self._users: dict[str, bool] = {}  # whether a file is the user's, by its name
        self.seen: list[Line] = []
        self.hooks: list[str] = []  # where the user's code registers a hook on a gradient
        self.cut: set[int] = set()  # numbers of the calls whose results have no gradient

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Annotate every node captured in this context with the number of its line."""
        traceback = self.torch.fx.traceback
        note, stops, note_hook = self._now, self._stops, self.note_hook
        mode = self.torch.overrides.TorchFunctionMode
        data, detach = self.torch.Tensor.data.__get__, self.torch.Tensor.detach

        def of_pytorch(frame: Any) -> bool:
            while frame.f_code.co_name == "__torch_function__":  # which hands the call on
                frame = frame.f_back
            return bool(frame.f_code.co_filename.startswith(self.library))

        class Noting(mode):  # type: ignore[misc, valid-type]
            def __torch_function__(
                self, function: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                getter = getattr(function, "__name__", "") == "__get__"
                called = getattr(function, "__self__", None) if getter else function
                if getattr(called, "__name__", "") in QUESTIONS:
                    return function(*args, **(kwargs or {}))
                if function == data and not of_pytorch(sys._getframe(1)):
                    function = detach  # the same to a gradient, and it is captured
                note_hook(function)
                number = note()
                if number is None or not hasattr(traceback, "annotate"):
                    return function(*args, **(kwargs or {}))
                with traceback.annotate({"line": number}):
                    result = function(*args, **(kwargs or {}))
                stops(number, result)
                return result

        with traceback.preserve_node_meta(), Noting():
            yield

    def note_hook(self, function: Any) -> None:
        """Record the user's line of a call that registers a hook on a gradient."""
        line = self.running() if function == self.torch.Tensor.register_hook else None
        if line is not None:
            self.hooks.append(Location(*line).label)

    def _stops(self, number: int, result: Any) -> None:
        """Record whether this call stops gradients in PyTorch, under no_grad, for instance."""
        tensors = [
            y
            for y in self.torch.utils._pytree.tree_leaves(result)
            if isinstance(y, self.torch.Tensor)
        ]
        mapped = self.torch._C._functorch.is_batchedtensor  # by vmap: it doesn't tell itself
        unknown = self.torch.is_grad_enabled() and any(map(mapped, tensors))
        if tensors and not unknown and not any(y.requires_grad for y in tensors):
            self.cut.add(number)

    def stops(self, meta: dict[str, Any]) -> bool:
        """Return whether a node of the captured graph passes no gradient back."""
        return (meta.get("custom") or {}).get("line") in self.cut

    def _now(self) -> int | None:
        line = self.running()
        if line is None:
            return None
        self.seen.append(line)
        return len(self.seen) - 1

    def running(self) -> Line | None:
        """Return the user's line that is running now."""
        frame: Any = sys._getframe(1)
        known = self._users
        while frame is not None:
            name = frame.f_code.co_filename
            own = known.get(name)
            if own is None:
                own = known[name] = is_user_file(name, self.library)
            if own:
                break
            frame = frame.f_back
        return None if frame is None else (frame.f_code, frame.f_lasti)

    def of(self, meta: dict[str, Any]) -> Line | None:
        """Return a captured node's line, from its stack trace if it has no line number."""
        number: int | None = (meta.get("custom") or {}).get("line")
        if number is not None:
            return self.seen[number]
        found = [SavedLine(*place) for place in _stack(meta.get("stack_trace") or "")]
        own = [line for line in found if is_user_file(line.co_filename, self.library)]
        return (own[-1], 0) if own else None

    def place(self, meta: dict[str, Any]) -> SavedLine | None:
        """Return a node's line in the model's own code: the innermost outside of PyTorch."""
        found = [x for x in _stack(meta.get("stack_trace") or "") if self.library not in x[0]]
        return SavedLine(*found[-1]) if found else None


def inline_regions(module: Any) -> None:
    """Put the nodes of each region under no_grad back into the graph around it.

    PyTorch does the same later, and loses the nodes' metadata.
    """
    graph = module.graph
    region = "wrap_with_set_grad_enabled"
    while found := [n for n in graph.nodes if getattr(n.target, "__name__", "") == region]:
        for node in found:
            _, body, *operands = node.args
            results = _inlined(module, node, getattr(module, body.target), operands)
            for part in list(node.users):  # each takes one of the results
                part.replace_all_uses_with(results[part.args[1]])
                graph.erase_node(part)
            graph.erase_node(node)
    graph.eliminate_dead_code(lambda node: node.op != "get_attr")
    module.recompile()


def _inlined(module: Any, before: Any, body: Any, operands: Sequence[Any]) -> Any:
    """Copy the nodes of a body in front of a node; return the body's results."""
    known: dict[Any, Any] = {}
    given, graph = iter(operands), module.graph
    with graph.inserting_before(before):
        for node in body.graph.nodes:
            if node.op == "placeholder":
                known[node] = next(given)
                continue
            if node.op == "output":
                return [known.get(x) for x in node.args[0]]
            known[node] = graph.node_copy(node, known.__getitem__)
            if node.op == "get_attr":
                held = getattr(body, node.target)
                known[node].target = f"{before.name}_{node.target}"
                setattr(module, known[node].target, held)
    return []


def _stack(trace: str) -> Iterator[tuple[str, int, str]]:
    """Yield file, line number and text of each entry of a printed stack trace."""
    lines = [line.strip() for line in trace.splitlines()]
    for line, text in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith('File "'):
            file, _, rest = line.removeprefix('File "').partition('", line ')
            yield file, int(rest.split(",")[0]), text if not text.startswith('File "') else ""
