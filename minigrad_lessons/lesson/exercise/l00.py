"""L00: steps that are built and run one by one, or all built before any runs."""

from __future__ import annotations

from minigrad_lessons.lesson.exercise.cases import Draw, Program
from minigrad_lessons.lesson.exercise.property import Property

CALLED = ("", "calls.append(v) or ")
STEPS = ("Add +", "Mul *", "Sub -", "Div /")


def steps(draw: Draw) -> str:
    """Return a list of steps as text; one may divide by zero, or note that it is called."""
    some = (draw.one(STEPS).split() for _ in range(1 + draw.below(4)))
    return ", ".join(
        f'("{name}", lambda v: {draw.one(CALLED)}v {sign} {draw.below(4)})' for name, sign in some
    )


def counting(line: str) -> str:
    """Return a line with the list that its steps need: only an answer may call them in it."""
    return f"calls = []; {line}" if "calls" in line else line


def one_by_one(draw: Draw) -> Program:
    result = f"result = dynamic([{steps(draw)}], {draw.below(8) - 3})"
    return (counting(result), "kind = type(result).__name__")


def built_first(draw: Draw) -> Program:
    numbers = [draw.below(8) - 3 for _ in range(draw.count(3))]
    return (
        counting(f"run = static([{steps(draw)}])"),
        "count = len(EVENTS)",
        f"results = [run(x) for x in {numbers}]",
    )


ZERO = ("ZeroDivisionError",)
CORE = Property(one_by_one, events=True, raises=ZERO)
STRETCH = Property(built_first, events=True, raises=ZERO)
