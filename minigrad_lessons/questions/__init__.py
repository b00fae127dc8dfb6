"""The bank of questions, checks, claims, tables: one TOML file per lesson, in both languages.

Pure data and pure functions: what an answer is worth is decided here, `lesson` displays it.
"""

from __future__ import annotations

import re
import string
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeVar
from zlib import crc32

from minigrad.diagnostics.messages import Pair
from viz.words.text import row, row_text

Kind = Literal["predict", "quiz", "order"]
T = TypeVar("T")


class UnknownIdError(KeyError):
    """An id that the bank does not have; the message lists those it has."""

    def __init__(self, kind: str, requested: object, known: Sequence[str]) -> None:
        super().__init__(requested)
        self.kind, self.requested, self.known = kind, requested, known

    def __str__(self) -> str:
        known = ", ".join(self.known) or "-"
        return row_text("ask_unknown", kind=row(self.kind), id=repr(self.requested), known=known)


@dataclass(frozen=True, slots=True)
class Option:
    """One answer to choose, what to say to a learner who chose it, and whether it is right."""

    text: Pair
    feedback: Pair
    right: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One line of code to put in order, and the numbers of the lines it must come after."""

    code: str
    needs: tuple[int, ...] = ()
    distractor: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A question with options (predict, quiz) or with lines (order)."""

    id: str
    kind: Kind
    text: Pair
    options: tuple[Option, ...] = ()
    lines: tuple[Line, ...] = ()
    feedback: Pair = ("", "")  # of an order: why the distractor does not belong
    code: str = ""  # what it is about, where the lesson quotes it above the question

    @property
    def letters(self) -> str:
        return string.ascii_uppercase[: len(self.options)]


@dataclass(frozen=True, slots=True)
class Check:
    """What an exercise asks, which cell helps if the answer is missing, and our answer.

    hints: sentences for known mistakes, each after two patterns: one is searched for in the English
    message about the mistake, the other in what the learner wrote. parts: those of the learner's
    engine that it judges. The answer is empty where it is one of these, or there is nothing to
    hide. also: what is expected for inputs that the cell does not show, as a formula of a number n
    that each answer has its own of, so that nobody can write the numbers down.
    """

    id: str
    text: Pair
    hint: Pair
    ours: str = ""
    hints: tuple[tuple[str, str, Pair], ...] = ()
    parts: tuple[str, ...] = ()
    also: str = ""

    def hidden(self, code: str) -> dict[Any, Any]:
        """Return what is expected for inputs that depend on what the learner wrote."""
        return dict(eval(self.also, {"n": 31 + crc32(code.encode()) % 60}))

    def hint_for(self, message: str, code: str = "") -> Pair | None:
        """Return the hint for a message about a mistake; None if the mistake is unknown."""
        fits = (hint for a, b, hint in self.hints if re.search(a, message) and re.search(b, code))
        return next(fits, None)


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of a source, what is measured of it (with fields), and when it holds."""

    id: str
    source: str
    name: str  # what a lesson calls it; the id where it has no name
    claimed: Pair
    measured: Pair
    holds: Pair


@dataclass(frozen=True, slots=True)
class TableText:
    """The words of a table: its caption, the head of each column, and what its rows are called."""

    id: str
    caption: Pair
    head: tuple[Pair, ...]
    rows: tuple[Pair, ...] = ()  # none where the first column is measured, too


@dataclass(frozen=True, slots=True)
class System:
    """The history of a system: its first release, its mode then and today, what became of it.

    `began` and `today` are "static", "dynamic" or "both"; `today` may be "ended", too.
    """

    first: int
    began: str
    today: str
    state: Pair


@dataclass(frozen=True, slots=True)
class PeerCode:
    """A program for another system, what that system prints, and an explanation.

    `face` is false if our compatibility layer does not support the program. For a system that can
    no longer be installed nothing is printed, and `version` is empty.
    """

    system: str
    code: str
    prints: str
    version: str
    text: Pair
    face: bool = True
    card: System | None = None


@dataclass(frozen=True, slots=True)
class RecordedProgram:
    """What a program printed in a separate process, with versions, and the packages it needs."""

    id: str
    needs: tuple[str, ...]
    version: str
    prints: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an answer is worth, and why."""

    right: bool
    text: Pair


@dataclass(frozen=True, slots=True)
class Lesson:
    """All the bank holds for one lesson.

    `can` is what a learner can do afterwards, `after` the lessons to take before it, where that
    is not the one with the number before. `served` is what a separate process answered, for
    where none can be started. `words` is the Chinese of what its checks call things, by the
    English; `{}` matches any text.
    """

    can: Pair
    after: tuple[str, ...]
    questions: dict[str, Question]
    checks: dict[str, Check]
    claims: dict[str, Claim]
    tables: dict[str, TableText]
    beside: tuple[PeerCode, ...]
    served: Mapping[str, Any]
    kept: dict[str, RecordedProgram]
    words: Mapping[str, str]


def parse(text: str) -> Lesson:
    """Parse a lesson from the text of its TOML file."""
    data = tomllib.loads(text)
    about = data.get("lesson", {})
    return Lesson(
        _pair(about.get("can", {"en": "", "zh": ""})),
        tuple(about.get("after", "").split()),
        {q["id"]: _read_question(q) for q in data.get("question", [])},
        {c["id"]: _read_check(c) for c in data.get("check", [])},
        {
            c.get("name", c["id"]): Claim(
                *(c["id"], c["source"], c.get("name", c["id"])),
                *(_pair(c[k]) for k in ("claimed", "measured", "holds")),
            )
            for c in data.get("claim", [])
        },
        {
            t["id"]: TableText(t["id"], _pair(t), _pairs(t["head"]), _pairs(t.get("rows", ())))
            for t in data.get("table", [])
        },
        tuple(map(_read_beside, data.get("beside", []))),
        data.get("served", {}),
        {
            k["id"]: RecordedProgram(
                k["id"], tuple(k.get("needs", ())), k["version"], k["prints"].strip("\n")
            )
            for k in data.get("kept", [])
        },
        data.get("words", {}),
    )


def _pair(data: Mapping[str, Any]) -> Pair:
    return data["en"], data["zh"]


def _pairs(data: Sequence[Mapping[str, Any]]) -> tuple[Pair, ...]:
    return tuple(_pair(one) for one in data)


def _read_beside(data: Mapping[str, Any]) -> PeerCode:
    code, prints = (data.get(key, "").strip("\n") for key in ("code", "prints"))
    facts, face = data.get("card"), data.get("face", True)
    card = System(facts["first"], facts["began"], facts["today"], _pair(facts)) if facts else None
    return PeerCode(data["system"], code, prints, data.get("version", ""), _pair(data), face, card)


def _read_check(data: Mapping[str, Any]) -> Check:
    hints = tuple((x["told"], x.get("code", ""), _pair(x)) for x in data.get("when", ()))
    more = hints, tuple(data.get("parts", "").split()), data.get("also", "")
    return Check(data["id"], _pair(data), _pair(data["hint"]), data.get("ours", ""), *more)


def _read_question(data: Mapping[str, Any]) -> Question:
    options = tuple(
        Option(_pair(o), _pair(o["feedback"]), o.get("right", False))
        for o in data.get("option", [])
    )
    lines = tuple(
        Line(line["code"], tuple(line.get("needs", ())), line.get("distractor", False))
        for line in data.get("line", [])
    )
    feedback = _pair(data["feedback"]) if "feedback" in data else ("", "")
    code = data.get("code", "").strip()
    return Question(data["id"], data["kind"], _pair(data), options, lines, feedback, code)


@cache
def lesson_names() -> list[str]:
    """Return the names of all lessons, for example "L00"."""
    found = files(__name__).iterdir()
    return sorted(f.name.removesuffix(".toml") for f in found if f.name.endswith(".toml"))


@cache
def find_lesson(name: str) -> Lesson:
    """Return the lesson of that name; raise UnknownIdError if there is none."""
    if name not in lesson_names():
        raise UnknownIdError("ask_kind_lesson", name, lesson_names())
    return parse(files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


@cache
def all_lessons() -> dict[str, Lesson]:
    """Return every lesson of the bank by its name."""
    return {name: find_lesson(name) for name in lesson_names()}


def _find(id: str, kind: str, entries: Callable[[Lesson], Mapping[str, T]]) -> T:
    """Return the entry of that id; only if its own lesson lacks it, the others are read."""
    name = str(id).partition(".")[0]
    known = entries(find_lesson(name)) if name in lesson_names() else {}
    if id not in known:
        known = {key: e for b in all_lessons().values() for key, e in entries(b).items()}
    if id not in known:
        raise UnknownIdError(kind, id, list(known))
    return known[id]


def find_question(id: str, *kinds: Kind) -> Question:
    """Return the question of that id; raise UnknownIdError if none of these kinds has it."""

    def entries(lesson: Lesson) -> dict[str, Question]:
        return {key: q for key, q in lesson.questions.items() if q.kind in kinds}

    return _find(id, "ask_kind_question", entries)


def find_check(id: str) -> Check:
    """Return the check of that id; raise UnknownIdError if there is none."""
    return _find(id, "ask_kind_check", lambda lesson: lesson.checks)


def checks_of(part: str) -> list[Check]:
    """Return the checks that judge a part of the learner's engine."""
    return [c for b in all_lessons().values() for c in b.checks.values() if part in c.parts]


def title_of(lesson: str, text: str) -> Pair:
    """Return a check's name for something in both languages; code is the same in both.

    >>> called("L04", "x = 10"), called("L04", "2 rows")
    (('x = 10', 'x = 10'), ('2 rows', '2 行'))
    """
    known = find_lesson(lesson).words
    for english, chinese in known.items():
        pattern = re.escape(english).replace(r"\{\}", "(.+)")
        if found := re.fullmatch(pattern, text):
            return text, chinese.format(*(title_of(lesson, part)[1] for part in found.groups()))
    return text, text


def find_table(id: str) -> TableText:
    """Return the text of the table of that id; raise UnknownIdError if there is none."""
    return _find(id, "ask_kind_table", lambda lesson: lesson.tables)


def find_recorded_program(id: str) -> RecordedProgram:
    """Return what the program of that id once printed; raise UnknownIdError if there is none."""
    return _find(id, "ask_kind_kept", lambda lesson: lesson.kept)


def judge(question: Question, answer: Any) -> Verdict | None:
    """Judge an answer; return None if there is none. Never raises, whatever the answer is."""
    if answer is None or (isinstance(answer, str | list | tuple) and not answer):
        return None
    return _judge_order(question, answer) if question.lines else _judge_choice(question, answer)


def _judge_choice(question: Question, answer: Any) -> Verdict:
    letter = answer.strip().upper() if isinstance(answer, str) else ""
    if len(letter) != 1 or letter not in question.letters:
        letters = ", ".join(question.letters)
        return Verdict(False, row("ask_no_option", answer=repr(answer)[:40], letters=letters))
    option = question.options[question.letters.index(letter)]
    return Verdict(option.right, option.feedback)


def _judge_order(question: Question, answer: Any) -> Verdict:
    """Accept any order in which each line comes after the lines that it needs."""
    lines = dict(enumerate(question.lines, 1))
    known = isinstance(answer, list | tuple) and all(type(n) is int and n in lines for n in answer)
    if not known:
        return Verdict(False, row("ask_no_order", answer=repr(answer)[:40], last=str(len(lines))))
    if len(set(answer)) < len(answer):
        twice = next(n for n in answer if answer.count(n) > 1)
        return Verdict(False, row("ask_order_twice", number=twice))
    for place, number in enumerate(answer):
        if lines[number].distractor:
            english, chinese = row("ask_order_distractor", number=number)
            return Verdict(
                False, (f"{english} {question.feedback[0]}", f"{chinese}{question.feedback[1]}")
            )
        if late := [n for n in lines[number].needs if n in answer[place:]]:
            return Verdict(False, row("ask_order_before", number=number, needed=late[0]))
    if missing := [n for n in lines if not lines[n].distractor and n not in answer]:
        return Verdict(False, row("ask_order_missing", number=missing[0]))
    return Verdict(True, row("ask_order_right"))


def one_order(question: Question) -> list[int]:
    """Return one right answer to an order question."""
    left = {n: line for n, line in enumerate(question.lines, 1) if not line.distractor}
    order: list[int] = []
    while ready := [n for n, line in left.items() if set(line.needs) <= set(order)]:
        order.append(ready[0])
        del left[ready[0]]
    return order
