"""What nbgrader is to know of this course; it reads this in the folder from which it starts."""

import ast
import copy
import json
import re
import shutil
import uuid
from pathlib import Path

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbformat import from_dict
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearOutput,
    GetGrades,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
)

WIDGET = "application/vnd.jupyter.widget-view+json"
HIDDEN = re.compile(r"(?ms)^### BEGIN HIDDEN TESTS\n.*?^### END HIDDEN TESTS\n?")
# What stands in the place of our answer. A learner's own stands in the cell above it.
STUB = (
    "# Your answer goes into the cell above. Leave this one as it is.\n"
    "# 答案写在上面的单元格里，这个单元格不用改。"
)


# Pictures lie beside the lesson, and a page of feedback goes out alone.
PICTURE = re.compile(r"(?m)^!?\[[^\]]*\]\(pictures/[^)]*\)\s*")


class Readable(NbGraderPreprocessor):
    """Feedback as a page: what stands for a widget, in one language, and no hidden test.

    The student's answer is the cell above the stub, which nbgrader would show in its place.
    """

    def preprocess(self, nb, resources):
        kept = []
        for cell in nb.cells:
            stub = grade_id(cell) and plain(cell) == plain({"source": STUB})
            if stub and kept and kept[-1].cell_type == "code" and not grade_id(kept[-1]):
                kept[-1].metadata["nbgrader"] = cell.metadata["nbgrader"]
            else:
                kept.append(cell)
        nb.cells = kept
        return super().preprocess(nb, resources)

    def preprocess_cell(self, cell, resources, index):
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET, None)
        if cell.cell_type == "code":
            cell.source = HIDDEN.sub("", cell.source)
        else:
            cell.source = PICTURE.sub("", cell.source)
        return cell, resources


# ---- Submissions whose cells were copied, split, moved, deleted or stripped ------------------


class Restored(NbGraderPreprocessor):
    """Put the stub and the tests of each exercise back, once each and behind its answer.

    It runs first, since a notebook is checked after each preprocessor.
    """

    def preprocess(self, nb, resources):
        told, directory = resources["nbgrader"], self.parent.parent.coursedir
        folder = directory.format_path(directory.source_directory, ".", told["assignment"])
        path = Path(folder, told["notebook"] + ".ipynb")
        if path.exists():
            source = json.loads(path.read_text("utf-8"))["cells"]
            nb = from_dict({**nb, "cells": restored(nb.cells, source)})
        repair(nb)
        return nb, resources


def restored(cells, source):
    """Return the cells of a submission with the stub and tests of each exercise in their place.

    source: the cells of the lesson for nbgrader. The graded cells of the submission are dropped,
    whether their metadata or only their text tells what they are, and put back from the source.
    Everything else is the learner's and stays in its order, also an answer in a graded cell.
    """
    exercises = list(exercises_of(source))
    asked = set().union(*(names for _, names, _ in exercises))
    stubs, tests = ({grade_id(pair[half]) for *_, pair in exercises} for half in (0, 1))
    known = {plain(cell) for *_, pair in exercises for cell in pair} | {plain({"source": STUB})}

    def is_ours(cell):
        found = grade_id(cell)
        edited = found in tests and not binds(cell, asked)
        return plain(cell) in known or edited or (found in stubs and not plain(cell))

    kept, places = [], {}
    for cell in cells:
        if is_ours(cell):
            places[grade_id(cell)] = len(kept)
        else:
            kept.append(without_grading(cell))
    added = {}
    for number, (start, names, pair) in enumerate(exercises):
        later = {plain(cell) for cell in source[start + 1 :]} - known - {""}
        others = set().union(*(others for _, others, _ in exercises[number + 1 :])) - names
        place = place_of_tests(kept, names, later, others, places.get(grade_id(pair[1])))
        stub, judge = copy.deepcopy(pair)
        added.setdefault(place, []).extend([{**stub, "source": STUB}, judge])
    return [
        cell
        for place in range(len(kept) + 1)
        for cell in [*added.get(place, []), *kept[place : place + 1]]
    ]


def exercises_of(source):
    """Yield for each exercise its answer's place, the names it asks for, its stub and its tests."""
    for place, cell in enumerate(source[:-1]):
        if cell.get("metadata", {}).get("nbgrader", {}).get("solution") and place:
            names = set(asked_names(text(source[place - 1])))
            yield place - 1, names, [cell, source[place + 1]]


def asked_names(code):
    """Yield the names that the statements with a gap bind."""
    for statement in ast.parse(re.sub(r"(?m)^[%!].*$", "", code)).body:
        nodes = list(ast.walk(statement))
        if any(isinstance(node, ast.Constant) and node.value is Ellipsis for node in nodes):
            yield from (
                [statement.name]
                if isinstance(statement, ast.FunctionDef | ast.ClassDef)
                else [
                    n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
                ]
            )


def place_of_tests(kept, names, later, others, was):
    """Return where the tests of an exercise go: behind its answer and what was added to that.

    was: where they were, which is right unless that is before the answer, or in another section.
    """
    answers = [place for place, cell in enumerate(kept) if binds(cell, names)]
    before = [place for place in answers if was is not None and place < was]
    first = max(before or answers, default=-1 if was is None else was - 1) + 1
    if not answers and was is None:
        return next((i for i, cell in enumerate(kept) if plain(cell) in later), len(kept))
    behind = range(first, len(kept))
    end = next(
        (i for i in behind if plain(kept[i]) in later or binds(kept[i], others)),
        len(kept) if was is None or was < first else was,
    )
    return was if was is not None and first <= was <= end else end


def binds(cell, names):
    """Whether a cell defines one of these names; its text need not be valid Python."""
    any_of = "|".join(map(re.escape, sorted(names)))
    pattern = rf"(?m)^(?:(?:async +)?def|class) +(?:{any_of})\b|^(?:{any_of}) *(?::[^=]*)?=(?!=)"
    return bool(names) and cell.get("cell_type") == "code" and bool(re.search(pattern, text(cell)))


def grade_id(cell):
    return cell.get("metadata", {}).get("nbgrader", {}).get("grade_id")


def without_grading(cell):
    cell = copy.deepcopy(dict(cell))
    metadata = dict(cell.get("metadata", {}))
    metadata.pop("nbgrader", None)
    return {**cell, "metadata": metadata}


def text(cell):
    return "".join(cell.get("source", ""))


def plain(cell):
    """The text of a cell as learners get it, without the space around lines that editors change."""
    shown = HIDDEN.sub("", text(cell).replace("\r\n", "\n"))
    return "\n".join(line.rstrip() for line in shown.splitlines() if line.strip())


def repair(notebook):
    """Give each cell what the format of the notebook asks for, and an id that no other one has."""
    met = set()
    for cell in notebook["cells"]:
        cell["source"] = text(cell)
        if cell["cell_type"] == "code":
            cell.setdefault("outputs", [])
            cell.setdefault("execution_count", None)
        else:
            for key in ("outputs", "execution_count"):
                cell.pop(key, None)
        found = cell.pop("id", None)
        if (notebook["nbformat"], notebook["nbformat_minor"]) >= (4, 5):
            fits = isinstance(found, str) and re.fullmatch(r"[\w-]{1,64}", found, re.ASCII)
            cell["id"] = found if fits and found not in met else uuid.uuid4().hex[:8]
            met.add(cell["id"])


def named(assignment, student, notebooks):
    """Take a single notebook that was renamed for the one of the assignment.

    What was handed in stays; a copy under the right name is put beside it.
    """
    (wanted,) = [path.name for path in Path("source", assignment).glob("*.ipynb")] or [None]
    if wanted and len(notebooks) == 1 and Path(notebooks[0]).name != wanted:
        right = str(Path(notebooks[0]).with_name(wanted))
        shutil.copy(notebooks[0], right)
        notebooks[:] = [right]


c = get_config()  # noqa: F821 - nbgrader gives it

c.CourseDirectory.course_id = "minigrad"
c.ClearSolutions.code_stub = {"python": STUB}
c.Execute.timeout = 300  # seconds for one cell; an answer that never ends is stopped after 30
c.OverwriteCells.add_missing_cells = True  # tests that somebody deleted count nevertheless
c.Autograde.pre_convert_hook = named
c.Autograde.sanitize_preprocessors = [
    Restored,
    ClearOutput,
    OverwriteKernelspec,
    OverwriteCells,
    CheckCellMetadata,
]
c.GenerateFeedback.preprocessors = [GetGrades, Readable, CSSHTMLHeaderPreprocessor]
