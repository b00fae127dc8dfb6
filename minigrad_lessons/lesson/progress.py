"""What a learner has answered, kept beside the notebooks if the learner agrees: `progress`."""

from __future__ import annotations

import csv
import io
import os
from datetime import datetime
from html import escape
from typing import Any

from minigrad_lessons.lesson.wording import GRADING, MARKS, bilingual, bilingual_lines
from viz.words import user_files
from viz.words.text import Pair, row
from viz.words.user import write

__all__ = ["progress"]

KEY = "progress"
SOLVED = "solved"  # the key of the notebooks whose one exercise was solved
HEAD = ("id", "kind", "answer", "right", "tries", "when")


class Progress:
    """Each check that has judged an answer, and each question that was answered, by its id."""

    def __init__(
        self, found: dict[str, dict[str, Any]] | None, problem: Pair | None = None
    ) -> None:
        self.found, self.problem = found, problem

    @property
    def csv(self) -> str:
        """A row for each id, for a spreadsheet: what was answered last, and when."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(HEAD)
        rows.writerows([id, *(at[name] for name in HEAD[1:])] for id, at in self._sorted())
        return text.getvalue()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rows to a file, with the mark by which spreadsheets know its letters."""
        write(path, "\ufeff" + self.csv)

    def _sorted(self) -> list[tuple[str, dict[str, Any]]]:
        return sorted((self.found or {}).items())

    def __repr__(self) -> str:
        lines = [f"{MARKS[at['right']]} {id}  {at['answer']}".rstrip() for id, at in self._sorted()]
        return "\n".join([bilingual_lines(self._title()), *lines])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{MARKS[at['right']]}</td><td>{escape(id)}</td>"
            f"<td>{escape(str(at['answer']))}</td></tr>"
            for id, at in self._sorted()
        )
        return f'<div class="mg-shown"><p>{bilingual(self._title())}</p><table>{rows}</table></div>'

    def _title(self) -> tuple[str, str]:
        if self.problem is not None:
            return row("progress_unkept", reason=self.problem)
        if self.found is None:
            return row("progress_off")
        right = sum(at["right"] for at in self.found.values())
        return row("progress_on", count=len(self.found), right=right)


def progress(keep: bool | None = None) -> Progress:
    """Show which checks passed and what was answered; saved once you agree, with `True`.

    It is saved in `.minigrad.json` beside the notebooks and goes nowhere else; `False` deletes it.
    `.save("progress.csv")` writes it for a spreadsheet.

    >>> progress(True)
    Answers kept in .minigrad.json: 0, 0 of them right. `lessons.progress(False)` deletes them.
    >>> from minigrad_lessons import check, quiz
    >>> _ = quiz("L00.1", answers="B"), check("L00.faded.1", 20, 20)
    >>> progress()
    Answers kept in .minigrad.json: 2, 1 of them right. `lessons.progress(False)` deletes them.
    ✗ L00.1  B
    ✓ L00.faded.1
    >>> progress(False)
    No answers are kept. `lessons.progress(True)` keeps new ones, beside the notebooks only.
    """
    problem = None
    if keep is not None:
        problem = user_files.choose(KEY, (_saved_answers() or {}) if keep else None)
    return Progress(_saved_answers(), problem)


def record_answer(kind: str, id: str, right: bool, answer: str = "") -> None:
    """Keep what was answered, if the learner has agreed; nothing where nbgrader grades.

    That the exercise of the tour is solved is always kept, as the parts of the engine are.
    """
    if right and id == "tour.exercise" and not os.environ.get(GRADING):
        user_files.choose(SOLVED, ["tour"])
    found = None if os.environ.get(GRADING) else _saved_answers()
    if found is not None:
        tries = found.get(id, {}).get("tries", 0) + 1
        when = datetime.now().isoformat(" ", "minutes")
        record = {"kind": kind, "answer": answer, "right": right, "tries": tries, "when": when}
        user_files.choose(KEY, found | {id: record})


def solved_lessons() -> list[str]:
    """Return the notebooks without a part of the engine whose exercise was solved."""
    found = user_files.choices().get(SOLVED)
    return found if isinstance(found, list) else []


def _saved_answers() -> dict[str, dict[str, Any]] | None:
    found = user_files.choices().get(KEY)
    return found if isinstance(found, dict) else None
