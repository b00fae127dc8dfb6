"""L04: a run of a graph with what is fed and kept, and updates that go downhill."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from minigrad_lessons.lesson.exercise.cases import Draw, Program
from minigrad_lessons.lesson.exercise.graphs import graph, names_of
from minigrad_lessons.lesson.exercise.property import Names, Property
from minigrad_lessons.lesson.exercise.trial import Name

GIVEN = ('x = placeholder("x")', 'a = variable(2.0, "a")', 'b = variable(5.0, "b")')
FORMULAS = ("{a} * {b}", "{a} + {b}", "{a} - {b}", "{a} + 1.0")
STATE = "state = [session.state.get(v) for v in (a, b)]"
REFUSED = ("except EngineError as error:", "    message = str(error)")


def running(draw: Draw) -> Program:
    """Return a program that runs a graph with updates, and perhaps without a value it needs."""
    lines = graph(draw, GIVEN, FORMULAS, most=4)
    names, text = names_of(lines), ["session = Session(a, b)"]
    for result in ("first", "second")[: 1 + draw.below(2)]:
        outputs = ", ".join(draw.some(names[::-1], 2, 1))
        changed = draw.apart("ab", 2)
        updates = ", ".join(f"({name}, {draw.one(names)})" for name in changed)
        fed = f"{{x: {draw.below(4)}.5}}"
        text.append(f"{result} = session.run([{outputs}], {fed}, [{updates}])")
    if draw.below(3) == 2:
        lacks = draw.one(("x])", "late], {x: 1.0})"))
        run = f"    session.run([{names[-1]} * {lacks}"
        text += ('late = variable(9.0, "late")', "try:", run, *REFUSED)
    return (*lines, *text, STATE)


def ran(made: Names, engine: ModuleType) -> Names:
    """Return the results, what is kept, what ran, and what an error says."""
    events: Any = vars(engine)["EVENTS"]
    facts: Names = {k: made[k] for k in ("first", "second") if k in made}
    facts["run"] = sorted(what.op for kind, what, _ in events if kind == "run")
    if "message" in made:
        facts["message"] = Name("EngineError")
        facts |= {f"{name!r} in message": name in made["message"] for name in ("late", "x")}
    return facts | {k: made[k] for k in ("state",) if k in made}


CORE = Property(running, look=ran)

LOSSES = ("v * w * w", "v * v + w", "v * w", "(v - w) * (v - w)")


def stepping(draw: Draw) -> Program:
    rate, some = draw.one((0.5, 0.25, 0.3)), draw.one(("v, w", "w", "w, v"))
    numbers = draw.below(7) - 3, draw.below(7) - 3
    return down(draw.one(LOSSES), some, rate, *map(float, numbers))


def down(loss: str, some: str, rate: float, v: float, w: float) -> Program:
    return (
        *(f'v = variable({v}, "v")', f'w = variable({w}, "w")'),
        f"updates = descent({loss}, [{some}], {rate})",
        "session = Session(v, w)",
        "first = session.run([v, w], {}, updates)",
        "second = session.run([v, w], {}, updates)",
        "third = session.run([v, w])",
    )


def steps(made: Names, engine: ModuleType) -> Names:
    return {name: made[name] for name in ("first", "second", "third") if name in made}


STRETCH = Property(
    stepping, always=(down("v * w * w", "v, w", 0.5, 2.0, 1.0),), look=steps, examples=60
)
