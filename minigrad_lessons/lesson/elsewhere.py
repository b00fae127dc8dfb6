"""Programs that run somewhere else: `elsewhere` starts a Python that knows nothing of the notebook.

Where no process can be started, or a package is missing, what such a program printed is kept, with
the versions.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from html import escape
from importlib.util import find_spec
from pathlib import Path

import minigrad as mg
from minigrad.diagnostics.messages import Pair
from minigrad_lessons.lesson.wording import bilingual, bilingual_lines
from minigrad_lessons.questions import RecordedProgram, find_recorded_program
from viz.page.document import Document
from viz.words.text import row

__all__ = ["elsewhere"]

ROOT = str(Path(mg.__file__).parents[1])  # the other Python finds the engine where this one did
PATIENCE = 120.0  # seconds


class Elsewhere(Document):
    """What a program printed in a separate process, now or when it was recorded."""

    def __init__(self, kept: RecordedProgram, program: str, folder: str | os.PathLike[str]) -> None:
        self.lack = _missing_requirement(kept)
        self.kept = kept
        self.printed = kept.prints if self.lack else _run_in_new_process(program, folder)
        self.lines = self.printed.splitlines()

    def __repr__(self) -> str:
        return f"{self.printed}\n{bilingual_lines(self._origin_note())}"

    def _repr_html_(self) -> str:
        return self._page()[1]

    def _origin_note(self) -> Pair:
        if self.lack:
            return row("elsewhere_kept", lack=self.lack, version=self.kept.version)
        return row("elsewhere_now")

    def _page(self) -> tuple[Pair, str]:
        parts = [
            f'<pre class="mg-beside-printed">{escape(self.printed)}</pre>',
            f"<p>{bilingual(self._origin_note())}</p>",
        ]
        inside = f"<section>{''.join(parts)}</section>"
        return row("elsewhere_title"), f'<div class="mg-shown mg-beside">{inside}</div>'


def _missing_requirement(kept: RecordedProgram) -> Pair | None:
    """Return what the program needs and this machine lacks; None if it can run."""
    if sys.platform == "emscripten":
        return row("elsewhere_process")
    missing = next((name for name in kept.needs if find_spec(name) is None), None)
    return None if missing is None else (f"`{missing}`",) * 2


def _run_in_new_process(program: str, folder: str | os.PathLike[str]) -> str:
    """Run a program in a new process; return its output, ending with the error that stops it."""
    path = os.pathsep.join(filter(None, (ROOT, os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    errors = [line for line in done.stderr.splitlines() if line[:1].strip()]
    return "\n".join([*done.stdout.splitlines(), *(errors[-1:] if done.returncode else ())])


def elsewhere(id: str, folder: str | os.PathLike[str]) -> Callable[[str], Elsewhere]:
    """Return a function that runs a program in a new Python process with only a folder.

    id: a row of the bank, which says what packages the program needs, and keeps what it printed
    once, with the versions: that is shown where a package is missing, or no process can be started.
    folder: where it starts, and so where it finds its files. Shown is what it prints, and last the
    error that stops it; `lines` has them one by one. UnknownIdError for an unknown id.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     elsewhere("examples.sum", folder)("print(1 + 1)").lines
    ['2']
    """
    kept = find_recorded_program(id)
    return lambda program: Elsewhere(kept, program, folder)
