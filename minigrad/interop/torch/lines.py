"""Which line of the user's stands behind each operator that PyTorch captures."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from minigrad.diagnostics.source import SavedLine
from minigrad.interop.captured import Line, users


class Lines:
    """Notes which line of the user's calls each function of PyTorch, while it is captured."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.library = str(Path(torch.__file__).parent)
        self.seen: list[Line] = []

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """While this is open every node of a captured graph bears the number of its line."""
        traceback = self.torch.fx.traceback
        note = self._now
        mode = self.torch.overrides.TorchFunctionMode

        class Noting(mode):  # type: ignore[misc, valid-type]
            def __torch_function__(
                self, function: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                number = note()
                if number is None or not hasattr(traceback, "annotate"):
                    return function(*args, **(kwargs or {}))
                with traceback.annotate({"line": number}):
                    return function(*args, **(kwargs or {}))

        with traceback.preserve_node_meta(), Noting():
            yield

    def _now(self) -> int | None:
        line = self.running()
        if line is None:
            return None
        self.seen.append(line)
        return len(self.seen) - 1

    def running(self) -> Line | None:
        """The user's line that is running now."""
        frame: Any = sys._getframe(1)
        while frame is not None and not users(frame.f_code.co_filename, self.library):
            frame = frame.f_back
        return None if frame is None else (frame.f_code, frame.f_lasti)

    def of(self, meta: dict[str, Any]) -> Line | None:
        """The line behind a node of the captured graph; by its stack, where it bears no number."""
        number: int | None = (meta.get("custom") or {}).get("line")
        if number is not None:
            return self.seen[number]
        found = [SavedLine(*place) for place in _stack(meta.get("stack_trace") or "")]
        own = [line for line in found if users(line.co_filename, self.library)]
        return (own[-1], 0) if own else None


def _stack(trace: str) -> Iterator[tuple[str, int, str]]:
    """File, number and text of each line of a stack as Python prints it."""
    lines = [line.strip() for line in trace.splitlines()]
    for line, text in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith('File "'):
            file, _, rest = line.removeprefix('File "').partition('", line ')
            yield file, int(rest.split(",")[0]), text if not text.startswith('File "') else ""
