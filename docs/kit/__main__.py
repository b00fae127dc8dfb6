"""What a class gets, and what its teacher gets: python docs/kit OUT en|zh."""

from __future__ import annotations

import csv
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import bank  # noqa: E402
import slides  # noqa: E402
import wheel  # noqa: E402

import notebooks  # noqa: E402
from minigrad_lessons.opening import copy_pictures  # noqa: E402
from minigrad_lessons.questions import all_lessons  # noqa: E402
from minigrad_lessons.student import SOLUTION, without_hosting, write_notebook  # noqa: E402

HERE = Path(__file__).parent
LESSONS = ROOT / "notebooks"
WORDS = {
    "en": ("Answer key", "Exercises", "Questions", "points"),
    "zh": ("答案", "练习", "题目", "分"),
}


def main(folder: Path, language: str) -> None:
    read = {
        path.name: without_hosting(json.loads(path.read_text("utf-8")))
        for path in LESSONS.glob("*.ipynb")
    }
    course = {name: notebooks.in_language(read[name], language) for name in sorted(read)}
    hand_out(folder / "class", course)
    graded = {number(name): name for name in course if graded_cells(course[name])}
    teacher = folder / "teacher"
    for lesson, name in graded.items():
        write(teacher / "source" / lesson, name, notebooks.for_nbgrader(course[name]))
    shutil.copy(HERE / "nbgrader_config.py", teacher)
    shutil.copy(HERE / "teacher.md", teacher / "README.md")
    shutil.copytree(ROOT / "docs" / "teaching", teacher / "notes")
    key = answer_key({lesson: course[name] for lesson, name in graded.items()}, language)
    (teacher / "answers.md").write_text(key, "utf-8")
    marks(teacher / "marks.csv", [course[name] for name in graded.values()])
    for code in ("en", "zh"):
        questions(teacher / "questions", code)
    for lesson, name in graded.items():
        slides.write(teacher / "slides" / f"{lesson}.html", name, language)


def hand_out(folder: Path, course: dict[str, notebooks.Notebook]) -> None:
    """The folder of the class: lessons without answers, the engine, what pip is to install."""
    for name, notebook in course.items():
        write(folder, name, notebooks.for_learners(notebook))
    copy_pictures(str(LESSONS), str(folder))
    shutil.copy(ROOT / "constraints.txt", folder)
    shutil.copy(HERE / "class.md", folder / "README.md")
    # Both options mean this file's folder, wherever pip is started; a path would not.
    wanted = f"--constraint constraints.txt\n--find-links .\n{wheel.write(folder)}\n"
    (folder / "requirements.txt").write_text(wanted, "utf-8")


def write(folder: Path, name: str, notebook: notebooks.Notebook) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_notebook(str(folder / name), notebook)


def number(name: str) -> str:
    """What nbgrader calls the assignment of a notebook."""
    return f"L{name[:2]}" if name[0].isdigit() else name.partition(".")[0]


def graded_cells(notebook: notebooks.Notebook) -> list[dict[str, Any]]:
    return [c for c in notebook["cells"] if "points" in notebooks.grading(c)]


def answer_key(course: dict[str, notebooks.Notebook], language: str) -> str:
    """Our code for each exercise and the right answer to each question, lesson by lesson."""
    title, exercises, asked, points = WORDS[language]
    lines = [f"# {title}", ""]
    for lesson, notebook in course.items():
        lines += [f"## {lesson}", "", f"### {exercises}", ""]
        for cell, tests in solutions(notebook):
            worth = notebooks.grading(tests)["points"]
            code = SOLUTION.search(notebooks.text(cell))
            ours = "\n".join(code[0].splitlines()[1:-1]).strip() if code else ""
            head = f"**{notebooks.grading(cell)['grade_id']}** ({worth} {points})"
            lines += [head, "", "```python", ours, "```", ""]
        lines += [f"### {asked}", "", *right_answers(lesson, language), ""]
    return "\n".join(lines)


def solutions(notebook: notebooks.Notebook) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each cell with our answer, and the cell with its tests."""
    marked = [cell for cell in notebook["cells"] if notebooks.grading(cell)]
    yield from zip(marked[::2], marked[1::2], strict=True)


def right_answers(lesson: str, language: str) -> Iterator[str]:
    side = bank.SIDES[language]
    for question in all_lessons()[lesson].questions.values():
        for letter, option in zip(question.letters, question.options, strict=True):
            if option.right:
                told = re.sub(r"\s+", " ", f"{option.text[side]}: {option.feedback[side]}")
                yield f"- {question.id} **{letter}** {told}"


def marks(path: Path, course: list[notebooks.Notebook]) -> None:
    """A sheet with a column for each exercise; spreadsheets read its letters by the mark."""
    found = [notebooks.grading(cell) for notebook in course for cell in graded_cells(notebook)]
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        sheet = csv.writer(file)
        sheet.writerow(
            ["id", "name", *(g["grade_id"].removesuffix("-tests") for g in found), "sum"]
        )
        points = [g["points"] for g in found]
        sheet.writerow(["", "", *points, sum(points)])


def questions(folder: Path, language: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"moodle-{language}.xml").write_text(bank.moodle(language), "utf-8")
    bank.qti(language, folder / f"qti-{language}.zip")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
