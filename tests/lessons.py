"""What tests of the lessons share: reading a notebook, and running its cells without a kernel."""

from __future__ import annotations

import ast
import linecache
import re
from functools import cache
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LESSONS = [path for path in NOTEBOOKS if re.match(r"\d\d_", path.name)]


@cache
def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    return [c for c in read(path).cells if c.cell_type == "code"]


def number(path: Path) -> str:
    return f"L{path.name[:2]}"


def run_cell(source: str, names: dict[str, Any], title: str) -> Any:
    """Run a cell among these names; like a notebook, give the value of its last expression."""
    file = f"<{title}>"
    # `mg.script` and the errors read the lines of the learner, as they do in a notebook.
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), file, "exec"), names)
    return last and eval(compile(ast.Expression(last.value), file, "eval"), names)
