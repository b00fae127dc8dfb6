"""What nbgrader marks of a notebook whose cells were copied, split, moved, deleted or stripped."""

from __future__ import annotations

import copy
import json
import random
import runpy
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any
from unittest import mock

import nbformat
import pytest
from lessons import LESSONS, ROOT, TOUR

sys.path.append(str(ROOT / "docs" / "kit"))
import notebooks

Cells = list[dict[str, Any]]
CORE, TESTS = "L00-core-1", "L00-core-1-tests"
GAP = """def dynamic(steps, x):
    \"\"\"Build and run the steps in turn; return the last value.\"\"\"
    ..."""
ANSWER = "def dynamic(steps, x):\n    return 'mine'"


@pytest.fixture(scope="module")
def config() -> dict[str, Any]:
    """What stands in nbgrader's configuration, read without nbgrader."""
    named = ("CheckCellMetadata", "ClearOutput", "GetGrades", "NbGraderPreprocessor")
    fake = ModuleType("nbgrader.preprocessors")
    for name in (*named, "OverwriteCells", "OverwriteKernelspec"):
        setattr(fake, name, type(name, (), {}))
    found = {"nbgrader": ModuleType("nbgrader"), "nbgrader.preprocessors": fake}
    with mock.patch.dict(sys.modules, found):
        path = ROOT / "docs" / "kit" / "nbgrader_config.py"
        return runpy.run_path(str(path), {"get_config": mock.MagicMock})


def course(path: Any = LESSONS[0]) -> tuple[Cells, Cells]:
    """The cells of a lesson for nbgrader, and those that a learner hands in."""
    read = json.loads(path.read_text("utf-8"))
    learner = notebooks.for_learners(read)["cells"]
    for cell in learner:
        cell["source"] = notebooks.text(cell).replace(GAP, ANSWER)
    return notebooks.for_nbgrader(read)["cells"], learner


def at(cells: Cells, id: str) -> int:
    return next(i for i, cell in enumerate(cells) if notebooks.grading(cell).get("grade_id") == id)


def twice(id: str) -> Callable[[Cells], None]:
    return lambda cells: cells.insert(at(cells, id), copy.deepcopy(cells[at(cells, id)]))


def stripped(cells: Cells) -> None:
    """As another program stores a notebook: no metadata, other ids."""
    for i, cell in enumerate(cells):
        cell["metadata"], cell["id"] = {"id": f"x{i}"}, f"c{i}"


def stripped_once(cells: Cells) -> None:
    cells[at(cells, TESTS)]["metadata"] = {}


def deleted(*ids: str) -> Callable[[Cells], None]:
    def harm(cells: Cells) -> None:
        for id in ids:
            del cells[at(cells, id)]

    return harm


def moved(id: str, to: int) -> Callable[[Cells], None]:
    return lambda cells: cells.insert(to, cells.pop(at(cells, id)))


def split(place: Callable[[Cells], int], line: str) -> Callable[[Cells], None]:
    """Cut a cell in two before a line; both halves keep the metadata, as in JupyterLab."""

    def harm(cells: Cells) -> None:
        i = place(cells)
        head, found, tail = cells[i]["source"].partition(line)
        assert found
        second = copy.deepcopy(cells[i])
        cells[i]["source"], second["source"] = head, line + tail
        cells.insert(i + 1, second)

    return harm


def answer_place(cells: Cells) -> int:
    return next(i for i, cell in enumerate(cells) if ANSWER in cell["source"])


def answered_in_the_stub(cells: Cells) -> None:
    place, stub = answer_place(cells), cells[at(cells, CORE)]
    stub["source"] = cells[place]["source"]
    cells[place]["source"] = cells[place]["source"].replace("'mine'", "...")


def merged(cells: Cells) -> None:
    """The answer, the stub and the tests are one cell, with the metadata of the tests."""
    place, last = answer_place(cells), at(cells, TESTS)
    parts = [cell["source"] for cell in cells[place : last + 1]]
    cells[last]["source"] = "\n".join(parts)
    del cells[place:last]


def shuffled(cells: Cells) -> None:
    graded = [i for i, cell in enumerate(cells) if notebooks.grading(cell)]
    places = graded[:]
    random.Random(1).shuffle(places)
    cells[:] = [
        cells[places[graded.index(i)]] if i in graded else cell for i, cell in enumerate(cells)
    ]


def without_ids(cells: Cells) -> None:
    for cell in cells:
        cell.pop("id", None)


def edited(cells: Cells) -> None:
    cells[at(cells, TESTS)]["source"] = "lessons.check = print"


def as_text(cells: Cells) -> None:
    cell = cells[at(cells, TESTS)]
    cell["cell_type"] = "markdown"
    del cell["outputs"], cell["execution_count"]


def with_other_line_ends(cells: Cells) -> None:
    stripped(cells)
    for cell in cells:
        cell["source"] = cell["source"].replace("\n", "  \r\n")


def answer_twice(cells: Cells) -> None:
    """An old answer stays above the new one."""
    place = answer_place(cells)
    old = copy.deepcopy(cells[place])
    old["source"] = old["source"].replace("'mine'", "'old'")
    cells.insert(place, old)


HARM: dict[str, Callable[[Cells], None]] = {
    "nothing": lambda cells: None,
    "tests twice": twice(TESTS),
    "stub twice": twice(CORE),
    "both twice": lambda cells: (twice(TESTS)(cells), twice(CORE)(cells))[0],
    "all metadata lost": stripped,
    "metadata of one cell lost": stripped_once,
    "ids lost": without_ids,
    "tests deleted": deleted(TESTS),
    "stub deleted": deleted(CORE),
    "both deleted": deleted(TESTS, CORE),
    "tests moved to the start": moved(TESTS, 0),
    "tests moved to the end": moved(TESTS, 1000),
    "stub moved to the end": moved(CORE, 1000),
    "graded cells shuffled": shuffled,
    "answer split": split(answer_place, "lessons.check("),
    "tests split": split(lambda cells: at(cells, TESTS), "lessons.check("),
    "answer twice": answer_twice,
    "answered in the stub": answered_in_the_stub,
    "answer, stub and tests merged": merged,
    "tests edited": edited,
    "tests turned into text": as_text,
    "other line ends": with_other_line_ends,
}


@pytest.mark.parametrize("harm", HARM)
def test_each_stub_and_its_tests_are_back_behind_the_answer(config, harm: str) -> None:
    source, learner = course()
    before = [cell["source"] for cell in learner if not notebooks.grading(cell)]
    HARM[harm](learner)
    cells = config["restored"](learner, source)
    wanted = [notebooks.grading(c)["grade_id"] for c in source if notebooks.grading(c)]
    graded = [cell for cell in cells if notebooks.grading(cell)]
    assert [notebooks.grading(cell)["grade_id"] for cell in graded] == wanted
    ours = {
        notebooks.grading(c)["grade_id"]: notebooks.text(c) for c in source if notebooks.grading(c)
    }
    for cell in graded[1::2]:
        assert notebooks.text(cell) == ours[notebooks.grading(cell)["grade_id"]]
    binding = [i for i, cell in enumerate(cells) if "def dynamic" in notebooks.text(cell)]
    last = [i for i in binding if cells[i]["source"].replace("\r", "").find("'mine'") > 0][-1]
    assert last < at(cells, CORE) < at(cells, TESTS)
    headings = [i for i in range(last + 1, at(cells, CORE)) if cells[i]["cell_type"] != "code"]
    assert headings == [], "another section lies between"
    kept = [notebooks.text(cell) for cell in cells if not notebooks.grading(cell)]
    unharmed = {"nothing", "tests twice", "stub twice", "both twice", "tests deleted"}
    if harm in unharmed or "moved" in harm or "metadata" in harm:
        assert kept == before


@pytest.mark.parametrize("minor", [4, 5])
def test_what_is_restored_is_a_valid_notebook(config, minor: int) -> None:
    source, learner = course()
    twice(TESTS)(learner)
    learner[3].pop("id", None)
    for cell in learner:
        cell.pop("outputs", None)
    cells = config["restored"](learner, source)
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": minor}
    config["repair"](book)
    nbformat.validate(nbformat.from_dict(book))
    assert all(("id" in cell) is (minor == 5) for cell in cells)


@pytest.mark.parametrize("path", [*LESSONS, TOUR], ids=lambda path: path.stem)
def test_a_notebook_that_nobody_harmed_stays_as_it_is(config, path: Any) -> None:
    source, learner = course(path)
    for harm in (lambda _: None, stripped, lambda cells: twice(last_graded(cells))(cells)):
        damaged = copy.deepcopy(learner)
        harm(damaged)
        cells = config["restored"](damaged, source)
        assert [notebooks.grading(c).get("grade_id") for c in cells] == [
            notebooks.grading(c).get("grade_id") for c in learner
        ]


def last_graded(cells: Cells) -> str:
    id: str = [notebooks.grading(cell)["grade_id"] for cell in cells if notebooks.grading(cell)][-1]
    return id


def test_a_helper_beside_an_answer_runs_before_its_tests(config) -> None:
    source, learner = course()
    helper = {"cell_type": "code", "metadata": {}, "source": "def helper(): ...", "outputs": []}
    learner.insert(at(learner, CORE), helper)
    for id in (TESTS, CORE):
        deleted(id)(learner)
    cells = config["restored"](learner, source)
    place = next(i for i, cell in enumerate(cells) if cell["source"] == helper["source"])
    assert place == at(cells, CORE) - 1


def test_what_nobody_answered_has_its_tests_all_the_same(config) -> None:
    source, learner = course()
    learner = [cell for cell in learner if "dynamic(" not in cell["source"]]
    cells = config["restored"](learner, source)
    assert at(cells, TESTS) == at(cells, CORE) + 1
    assert config["restored"]([], source)


def test_a_renamed_notebook_is_taken_for_the_one_that_is_asked_for(
    config, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("source/L00", "submitted/ann/L00"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "source/L00/00_one.ipynb").write_text("{}")
    handed_in = tmp_path / "submitted/ann/L00/00_one (2).ipynb"
    handed_in.write_text("mine")
    found = [str(handed_in)]
    config["named"](assignment="L00", student="ann", notebooks=found)
    assert found == [str(handed_in.with_name("00_one.ipynb"))]
    assert handed_in.with_name("00_one.ipynb").read_text() == handed_in.read_text() == "mine"
    several = ["a.ipynb", "b.ipynb"]
    config["named"](assignment="L00", student="ann", notebooks=several)
    assert several == ["a.ipynb", "b.ipynb"]


def test_feedback_shows_the_answer_where_it_was_written_and_no_picture_that_is_not_there(
    config: dict[str, Any],
) -> None:
    source, learner = course()
    made = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}}
    page = nbformat.from_dict({**made, "cells": config["restored"](learner, source)})
    config["repair"](page)
    reader = config["Readable"]
    # nbgrader's own preprocessor does this for each cell.
    reader.__base__.preprocess = lambda self, nb, resources: (
        [self.preprocess_cell(cell, resources, i) for i, cell in enumerate(nb.cells)] and nb,
        resources,
    )
    shown, _ = reader().preprocess(page, {})
    (answer,) = (c for c in shown.cells if notebooks.grading(c).get("grade_id") == CORE)
    assert answer.source.startswith(ANSWER)
    text = "\n".join(cell.source for cell in shown.cells)
    assert config["STUB"] not in text
    assert "HIDDEN" not in text
    assert "](pictures/" not in text
    assert "# L00" in shown.cells[0].source
