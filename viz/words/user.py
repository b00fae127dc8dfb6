"""The user's side: the line that called us, and the files that we write."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from minigrad.diagnostics import files
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.source import Location
from viz.words.text import row_text

OWN = str(Path(__file__).parents[1]) + os.sep


def user() -> Location:
    """Return the line of the user's code that is running now."""
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OWN):
        frame = frame.f_back
    return Location(frame.f_code, frame.f_lasti)


def ending(path: str | os.PathLike[str], known: Sequence[str]) -> str:
    """Return a file's suffix in lower case; raise ValueError if it is none of those known."""
    name = Path(path).name
    found = Path(name).suffix.lower()
    if found not in known:
        example = f"{name.partition('.')[0] or 'picture'}{known[0]}"
        about = {"name": name, "known": ", ".join(known), "example": example}
        raise ValueError(row_text("save_format", **about))
    return found


def write(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a whole file at once; see `minigrad.diagnostics.files.replacing`."""
    try:
        files.write(path, content)
    except GraphError as error:
        error.defined = user()
        raise
