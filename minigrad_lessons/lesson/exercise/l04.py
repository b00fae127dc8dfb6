"""L04: a run of a graph with what is fed and kept, and updates that go downhill."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from minigrad_lessons.lesson.exercise.graphs import names_of, random_graph
from minigrad_lessons.lesson.exercise.property import Names, Property
from minigrad_lessons.lesson.exercise.running import Unquoted
from minigrad_lessons.lesson.exercise.shrinking import Program, Rng

GIVEN = ('x = placeholder("x")', 'a = variable(2.0, "a")', 'b = variable(5.0, "b")')
FORMULAS = ("{a} * {b}", "{a} + {b}", "{a} - {b}", "{a} + 1.0")
STATE = "state = [session.state.get(v) for v in (a, b)]"
REFUSED = ("except EngineError as error:", "    message = str(error)")


def session_program(rng: Rng) -> Program:
    """Return a program that runs a graph with updates, and perhaps without a value it needs."""
    lines = random_graph(rng, GIVEN, FORMULAS, most=4)
    names, text = names_of(lines), ["session = Session(a, b)"]
    for result in ("first", "second")[: 1 + rng.below(2)]:
        outputs = ", ".join(rng.choices(names[::-1], 2, 1))
        changed = rng.sample("ab", 2)
        updates = ", ".join(f"({name}, {rng.choice(names)})" for name in changed)
        fed = f"{{x: {rng.below(4)}.5}}"
        text.append(f"{result} = session.run([{outputs}], {fed}, [{updates}])")
    if rng.below(3) == 2:
        lacks = rng.choice(("x])", "late], {x: 1.0})"))
        run = f"    session.run([{names[-1]} * {lacks}"
        text += ('late = variable(9.0, "late")', "try:", run, *REFUSED)
    return (*lines, *text, STATE)


def session_facts(made: Names, engine: ModuleType) -> Names:
    """Return the results, what is kept, what ran, and what an error says."""
    events: Any = vars(engine)["EVENTS"]
    facts: Names = {k: made[k] for k in ("first", "second") if k in made}
    facts["run"] = sorted(what.op for kind, what, _ in events if kind == "run")
    if "message" in made:
        facts["message"] = Unquoted("EngineError")
        facts |= {f"{name!r} in message": name in made["message"] for name in ("late", "x")}
    return facts | {k: made[k] for k in ("state",) if k in made}


CORE = Property(session_program, look=session_facts)

LOSSES = ("v * w * w", "v * v + w", "v * w", "(v - w) * (v - w)")


def descent_program(rng: Rng) -> Program:
    rate, some = rng.choice((0.5, 0.25, 0.3)), rng.choice(("v, w", "w", "w, v"))
    numbers = rng.below(7) - 3, rng.below(7) - 3
    return descent_lines(rng.choice(LOSSES), some, rate, *map(float, numbers))


def descent_lines(loss: str, some: str, rate: float, v: float, w: float) -> Program:
    return (
        *(f'v = variable({v}, "v")', f'w = variable({w}, "w")'),
        f"updates = descent({loss}, [{some}], {rate})",
        "session = Session(v, w)",
        "first = session.run([v, w], {}, updates)",
        "second = session.run([v, w], {}, updates)",
        "third = session.run([v, w])",
    )


def descent_facts(made: Names, engine: ModuleType) -> Names:
    return {name: made[name] for name in ("first", "second", "third") if name in made}


STRETCH = Property(
    descent_program,
    always=(descent_lines("v * w * w", "v, w", 0.5, 2.0, 1.0),),
    look=descent_facts,
    examples=60,
)
