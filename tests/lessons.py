"""What tests of the lessons share: reading a notebook, and running its cells without a kernel."""

from __future__ import annotations

import ast
import linecache
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LESSONS = [path for path in NOTEBOOKS if re.match(r"\d\d_", path.name)]
TOUR = ROOT / "notebooks" / "tour.ipynb"

# The functions of viz and of the course that make something to operate, by what it is.
PLAYERS = "step|compare|timeline|live"
BOARDS = "batches|branches|checkpoints|passes|sweep|topological_orders|traces"
DRAWINGS = "draw|memory|schedule"

# The parts of a lesson, in order: what the cell of each looks like.
TEMPLATE = {
    "title": r'markdown\n<div lang="en">\n\n# .*\n\n<div lang="zh">\n\n# ',
    "setup": r"code\n(?=.*^import minigrad as mg)(?=.*viz\.language\()(?!.*print\()",
    "recall": r"code\n.*quiz\(",
    "predict": r"code\n.*predict\(",
    "observe": r"code\n",
    "explain": r"markdown",
    "predict again": r"code\n.*predict\(",
    "observe again": r"code\n",
    "explain again": r"markdown",
    "key moment": rf"code\n.*(?:viz|lessons)\.({PLAYERS}|{BOARDS}|{DRAWINGS})\(",
    "worked example": r"code\n.*# 1 .*# 2 .*# 3 .*check\(",
    "faded example, 1 gap": r"code\n.*\.\.\..*check\(",
    "faded example, 3 gaps": r"code\n(?:.*\.\.\.){3}.*check\(",
    "bug hunt": r"code\n(?:.*\n)?(except |with .*lessons\.caught\()",
    "exercise": r"code\n.*### BEGIN SOLUTION",
    "its tests": r"code\n.*### BEGIN HIDDEN TESTS",
    "stretch exercise": r"code\n.*### BEGIN SOLUTION",
    "its own tests": r"code\n.*### BEGIN HIDDEN TESTS",
    "claim check": r"code\n.*claims\(",
    "quiz": r"code\n.*quiz\(",
    "recap": r"markdown\n.*\*\*New terms:\*\*.*\*\*新术语\*\*：",
}


@cache
def from_toml(path: Path) -> dict[str, Any]:
    """What a file holds; to read those of all lessons takes a while, and several tests do."""
    return tomllib.loads(path.read_text("utf-8"))


@cache
def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    return [c for c in read(path).cells if c.cell_type == "code"]


def told_ids(path: Path) -> str:
    """The ids of claims and examples: a cell's metadata holds those that it is the evidence for."""
    held = (
        cell.metadata.get(kind, []) for cell in read(path).cells for kind in ("claims", "examples")
    )
    return " ".join(id for ids in held for id in ids)


def number(path: Path) -> str:
    """What the bank of questions calls a notebook."""
    return f"L{path.name[:2]}" if path in LESSONS else path.stem


def run_here(source: str) -> str:
    """The lines of a cell without its long texts: programs that run elsewhere."""
    return re.sub(r'"""(?:.|\n)*?"""', "", source)


def places(path: Path) -> dict[str, int]:
    """Which cell is which part: for each part the first that fits after the part before."""
    cells = enumerate(f"{cell.cell_type}\n{run_here(cell.source)}" for cell in read(path).cells)
    found = {}
    for part, pattern in TEMPLATE.items():
        fits = re.compile(pattern, re.DOTALL | re.MULTILINE)
        place = next((i for i, cell in cells if fits.match(cell)), None)
        if place is None:
            break
        found[part] = place
    return found


def run_cell(source: str, names: dict[str, Any], title: str) -> Any:
    """Run a cell among these names; like a notebook, give the value of its last expression."""
    file = f"<{title}>"
    # `mg.script` and the errors read the lines of the learner, as they do in a notebook.
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), file, "exec"), names)
    return last and eval(compile(ast.Expression(last.value), file, "eval"), names)
