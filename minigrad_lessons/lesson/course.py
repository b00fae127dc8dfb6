"""The start page: the lessons beside it, what each needs, and how far the learner has come."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from minigrad.diagnostics.messages import Pair
from minigrad_lessons.lesson.learner_engine import parts_written
from minigrad_lessons.lesson.progress import solved_lessons
from minigrad_lessons.lesson.wording import MARKS, bilingual, bilingual_lines
from minigrad_lessons.questions import find_lesson
from viz.page.document import Document
from viz.words.text import row, row_text

__all__ = ["course"]

SHORT_ROUTE = ("", "L00", "L02", "L03", "L05", "L12")  # the tour, which has no number, first
LESSONS = "[0-9][0-9]_*.ipynb"
MINUTES = re.compile(r"(\d+)(?: \+ (?:about|约) (\d+))? (?:minutes|分钟)")


class Entry(NamedTuple):
    """One notebook of the course. `parts` of the engine are true where the learner wrote them.

    `solved` is true of the tour, which has no part, when its exercise was.
    """

    file: str
    number: str
    title: Pair
    can: Pair
    minutes: str
    after: tuple[str, ...]
    parts: dict[str, bool]
    solved: bool = False

    @property
    def state(self) -> str:
        """What has become of it, as far as the engine shows."""
        if not self.parts:
            return "done" if self.solved else "open"
        return (
            "done" if all(self.parts.values()) else "begun" if any(self.parts.values()) else "new"
        )


class Course(Document):
    """The notebooks of the course as a map, each with a link."""

    def __init__(self, stops: Sequence[Entry]) -> None:
        self.stops = tuple(stops)

    def __repr__(self) -> str:
        return "\n".join(
            f"{_state_mark(one)} {bilingual_lines(_heading(one))}  {bilingual_lines(_summary(one))}"
            for one in self.stops
        )

    def _repr_html_(self) -> str:
        return self._page()[1]

    def _page(self) -> tuple[Pair, str]:
        stops = "".join(map(_card_html, self.stops))
        return row("course_title"), f'<ol class="mg-shown mg-course">{stops}</ol>'


def _heading(stop: Entry) -> Pair:
    english, chinese = (f"{stop.number} {title}".strip() for title in stop.title)
    return english, chinese


def _state_mark(stop: Entry) -> str:
    return {"done": MARKS[True], "begun": "◐", "new": "○"}.get(stop.state, " ")


def _summary(stop: Entry) -> Pair:
    """Describe the minutes of a stop, the lessons before it, and the progress so far."""
    lesson, _, exercises = stop.minutes.partition(" + ")
    timed = "course_exercises" if exercises else "course_minutes"
    said = [row(timed, count=lesson, more=exercises)]
    if stop.after:
        said.append(row("course_after", lesson=(", ".join(stop.after), "、".join(stop.after))))
    if stop.parts:
        count = sum(stop.parts.values())
        said.append(row(f"course_{stop.state}", count=count, total=len(stop.parts)))
    elif stop.solved:
        said.append(row("course_solved"))
    return " · ".join(p[0] for p in said), " · ".join(p[1] for p in said)


def _card_html(stop: Entry) -> str:
    parts = " ".join(
        f"<span>{MARKS[True] if mine else '○'} <code>{escape(name)}</code></span>"
        for name, mine in stop.parts.items()
    )
    engine = f'<p class="mg-parts">{parts}</p>' if parts else ""
    link, label = f'href="{escape(stop.file)}"', ""
    if stop.number in SHORT_ROUTE:
        label = f' <small class="mg-route">{bilingual(row("course_short"))}</small>'
    if not stop.number:
        engine = f'<a class="mg-start" {link}>{bilingual(row("course_start"))}</a>'
    return (
        f'<li data-state="{stop.state}"><a {link}>'
        f"<b>{_state_mark(stop)} {bilingual(_heading(stop))}</b></a>{label}"
        f"<p>{bilingual(stop.can)}</p><p>{bilingual(_summary(stop))}</p>{engine}</li>"
    )


def _read_title_and_minutes(path: Path) -> tuple[Pair, str]:
    """Return the title of a notebook, and the minutes of the lesson and of its exercises."""
    first = "".join(json.loads(path.read_text("utf-8"))["cells"][0]["source"])
    english, chinese = re.findall(r"^# (?:L\d\d )?(.*)$", first, re.MULTILINE)
    return (english, chinese), " + ".join(filter(None, MINUTES.findall(first)[0]))


def course(folder: str | Path = ".") -> Course:
    """Show the course as a map: the tour, then each lesson of a folder, linked to its notebook.

    A lesson is done when all its parts of the learner's engine are kept (a ✓ does that), begun when
    some are; the tour is done when its exercise is solved. ValueError for a folder without lessons.

    >>> print(str(course("notebooks")).splitlines()[1])
    ○ L00 One formula, two graphs  45 min + 15 min exercises · not begun
    """
    folder = Path(folder)
    mine = parts_written()
    paths = [path for path in (folder / "tour.ipynb",) if path.exists()]
    paths += sorted(folder.glob(LESSONS))
    if not paths:
        raise ValueError(row_text("course_none", folder=folder.resolve()))
    stops, last = [], tuple[str, ...]()
    for path in paths:
        lesson = "tour" if path.stem == "tour" else f"L{path.name[:2]}"
        bank, (title, minutes) = find_lesson(lesson), _read_title_and_minutes(path)
        number = "" if lesson == "tour" else lesson
        after = bank.after or last
        solved, parts = lesson in solved_lessons(), mine.get(lesson, {})
        stops.append(Entry(path.name, number, title, bank.can, minutes, after, parts, solved))
        last = (number,) if number else ()
    return Course(stops)
