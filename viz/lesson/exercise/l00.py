"""L00: steps that are built and run one by one, or all built before any runs."""

from __future__ import annotations

from viz.lesson.exercise.cases import Draw, Program
from viz.lesson.exercise.property import Property

STEPS = ("Add +", "Mul *", "Sub -", "Div /")


def steps(draw: Draw) -> str:
    """Return a list of steps as text; one may divide by zero."""
    some = (draw.one(STEPS).split() for _ in range(draw.count(4)))
    return ", ".join(f'("{name}", lambda v: v {sign} {draw.below(4)})' for name, sign in some)


def one_by_one(draw: Draw) -> Program:
    return (f"result = dynamic([{steps(draw)}], {draw.below(8) - 3})",)


def built_first(draw: Draw) -> Program:
    numbers = [draw.below(8) - 3 for _ in range(draw.count(3))]
    return (
        f"run = static([{steps(draw)}])",
        "count = len(EVENTS)",
        f"results = [run(x) for x in {numbers}]",
    )


CORE = Property(one_by_one, events=True, raises=("ZeroDivisionError",))
STRETCH = Property(built_first, events=True, raises=("ZeroDivisionError",))
