"""What a learner makes or chooses, kept in the folder of the notebooks: an engine, a language."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from minigrad.diagnostics import files
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.messages import Pair

FOLDER = "MINIGRAD_LEARNER"  # the variable that names another folder; tests set it


def folder() -> Path:
    """Return the folder of the user's files: the variable's, else that of the running notebook."""
    return Path(os.environ.get(FOLDER) or Path.cwd())


def _file() -> Path:
    return folder() / ".minigrad.json"


def choices() -> dict[str, Any]:
    """Return the saved choices; empty if no file with them can be read."""
    with contextlib.suppress(OSError, ValueError):
        found = json.loads(_file().read_text("utf-8"))
        return found if isinstance(found, dict) else {}
    return {}


def choose(key: str, value: Any) -> Pair | None:
    """Keep a choice, or return why that cannot be: then it holds as long as the kernel."""
    known = choices()
    if known.get(key) == value:
        return None
    return store(_file(), json.dumps({**known, key: value}, ensure_ascii=False) + "\n")


def store(file: Path, content: str | bytes) -> Pair | None:
    """Write a file of the learner's, or return why that cannot be: no lesson ends for it."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        files.write(file, content)
    except GraphError as error:
        return error.pair
    except OSError as error:
        reason = f"{error.strerror}: {error.filename or file}"
        return reason, reason
    return None
