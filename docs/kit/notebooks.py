"""The notebooks of a class: what learners start from, and what nbgrader calls their source."""

from __future__ import annotations

import ast
import re
from copy import deepcopy
from itertools import pairwise
from typing import Any, NamedTuple

from minigrad_lessons import student

Notebook = dict[str, Any]
EMPTY: dict[str, Any] = {"metadata": {}}
DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)

FRESH = """\
### BEGIN HIDDEN TESTS
from runpy import run_module

lessons = run_module("minigrad_lessons.lesson.marks")["reload_course"]()
{ours}
### END HIDDEN TESTS
"""
POINTS = """
### BEGIN HIDDEN TESTS
__import__("runpy").run_module("minigrad_lessons.lesson.marks")["points"]({points})
### END HIDDEN TESTS"""


class Line(NamedTuple):
    """A statement, and how it is written."""

    statement: ast.stmt
    source: str


def in_language(notebook: Notebook, language: str) -> Notebook:
    """A notebook that begins in a language."""
    notebook = deepcopy(notebook)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            source = re.sub(r"viz\.language\(\)", f'viz.language("{language}")', text(cell))
            cell["source"] = source.splitlines(True)
    return notebook


def for_learners(notebook: Notebook) -> Notebook:
    """What `python tasks.py student` writes, without the offer to see our answers."""
    notebook = student.student_version(notebook)
    for cell in notebook["cells"]:
        if grading(cell).get("solution"):
            cell["source"] = student.STUB.splitlines(True)
    notebook["metadata"]["student"] = student.sources_key(notebook)
    return notebook


def for_nbgrader(notebook: Notebook) -> Notebook:
    """The same lesson with our answers, and tests that no cell of a learner can take over."""
    notebook, asked = student.without_hosting(notebook), set[str]()
    defined, own = list[Line](), list[Line]()
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell, following in pairwise([*cells, EMPTY]):
        cell["outputs"], cell["execution_count"] = [], None
        if "points" in grading(cell):
            ours = [line for line in defined if not bound(line.statement) & asked] + own
            cell["source"] = sealed(text(cell), ours, grading(cell)["points"]).splitlines(True)
        elif not grading(cell):
            lines, asks = statements(text(cell)), bool(grading(following))
            open_ones = [line.statement for line in lines if has_gap(line.statement)]
            asked |= {name for statement in open_ones for name in bound(statement) if asks}
            defined += [line for line in own if isinstance(line.statement, DEFINITIONS)]
            own = [line for line in lines if makes(line.statement, asks)]
    return notebook


def sealed(tests: str, before: list[Line], points: float) -> str:
    """Tests that begin with what they use of the lesson, in our words, and end with the points."""
    ours = "\n".join(line.source for line in needed(ast.parse(tests), before))
    return FRESH.format(ours=ours) + tests.rstrip("\n") + POINTS.format(points=points)


def statements(source: str) -> list[Line]:
    source = re.sub(r"(?m)^[%!].*$", "", source)
    body = ast.parse(source).body
    return [Line(statement, ast.get_source_segment(source, statement) or "") for statement in body]


def makes(statement: ast.stmt, asks: bool) -> bool:
    """Whether a statement of ours makes something that is used below.

    In a cell that asks for an answer, whatever stands beside that; elsewhere, what is defined.
    """
    alone = isinstance(statement, ast.Expr) or has_gap(statement)
    return not alone and (asks or isinstance(statement, DEFINITIONS))


def needed(tests: ast.AST, before: list[Line]) -> list[Line]:
    """Those of the statements whose names are used, by the tests or by one of them, in order."""
    found: list[Line] = []
    names = used(tests)
    for line in reversed(before):
        if names & bound(line.statement):
            found.insert(0, line)
            names |= used(line.statement)
    return found


def used(tree: ast.AST) -> set[str]:
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Load)}


def bound(statement: ast.stmt) -> set[str]:
    """The names that a statement makes, or changes what they stand for."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {(a.asname or a.name).partition(".")[0] for a in statement.names}
    nodes = list(ast.walk(statement))
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    changed = (n.value for n in nodes if isinstance(n, ast.Subscript | ast.Attribute))
    return stored | {n.id for n in changed if isinstance(n, ast.Name)}


def has_gap(statement: ast.stmt) -> bool:
    nodes = ast.walk(statement)
    return any(isinstance(n, ast.Constant) and n.value is Ellipsis for n in nodes)


def grading(cell: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = cell["metadata"].get("nbgrader", {})
    return found


def text(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])
