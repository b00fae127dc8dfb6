"""Diagrams outside notebooks: python -m viz FILE.py:NAME -o out.svg"""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from minigrad.diagnostics.messages import set_language
from minigrad.ops.methods import Value
from minigrad_lessons.terminal import language
from viz.picture.layout import LayoutError
from viz.views.draw import FORMATS, diagram_of, names_of
from viz.words.text import row_text


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a file, draw the thing of a name in it, and write or print it; 0, or 2 on an error."""
    reader = argparse.ArgumentParser("python -m viz", description=row_text("cli_usage"))
    reader.add_argument("what", metavar="FILE.py:NAME", help=row_text("cli_what"))
    reader.add_argument("-o", "--output", help=row_text("cli_out", known=", ".join(FORMATS)))
    chosen = reader.parse_args(arguments)
    try:
        found, name = _run(chosen.what)
        diagram = diagram_of(found[name], names_of(found))
        if chosen.output:
            diagram.save(chosen.output)
        else:
            print(diagram)
    except (ValueError, TypeError, OSError, LayoutError, _Failed) as error:
        print(f"viz: {error}", file=sys.stderr)
        return 2
    return 0


class _Failed(Exception):
    """The file could not be run."""


def _run(what: str) -> tuple[dict[str, Any], str]:
    """Run the file of FILE.py:NAME; return all its variables, and the name in it."""
    file, colon, name = what.rpartition(":")
    if not (colon and file and name.isidentifier()):
        raise ValueError(row_text("cli_form", given=what))
    if not Path(file).is_file():
        raise ValueError(row_text("cli_file", file=file))
    sys.path.insert(0, str(Path(file).resolve().parent))
    try:
        found = runpy.run_path(file)
    except (Exception, SystemExit) as error:
        kind = type(error).__name__
        raise _Failed(row_text("cli_failed", file=file, error=f"{kind}: {error}")) from error
    finally:
        del sys.path[0]
    if name not in found:
        public = [key for key, value in found.items() if isinstance(value, Value)]
        raise ValueError(row_text("cli_name", file=file, name=name, known=", ".join(public) or "-"))
    return found, name


if __name__ == "__main__":
    set_language("zh" if language() == "zh" else "en")
    sys.exit(main())
