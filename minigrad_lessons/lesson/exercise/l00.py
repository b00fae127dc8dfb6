"""L00: steps that are built and run one by one, or all built before any runs."""

from __future__ import annotations

from minigrad_lessons.lesson.exercise.property import Property
from minigrad_lessons.lesson.exercise.shrinking import Program, Rng

STEPS = ("Add +", "Mul *", "Sub -", "Div /")


def random_steps(rng: Rng) -> list[tuple[str, int]]:
    return [(rng.choice(STEPS), rng.below(4)) for _ in range(1 + rng.below(4))]


def steps_text(rng: Rng, steps: list[tuple[str, int]]) -> str:
    """Return a list of steps as text; one may divide by zero, or note that it is called."""
    some = ((rng.choice(("", "calls.append(v) or ")), *step.split(), n) for step, n in steps)
    return ", ".join(f'("{name}", lambda v: {call}v {op} {n})' for call, name, op, n in some)


def with_call_list(line: str) -> str:
    """Return a line with the list that its steps need: only an answer may call them in it."""
    return f"calls = []; {line}" if "calls" in line else line


def dynamic_program(rng: Rng) -> Program:
    steps, x = random_steps(rng), rng.below(8) - 3
    result = f"result = dynamic([{steps_text(rng, steps)}], {x})"
    return (with_call_list(result), "kind = type(result).__name__")


def static_program(rng: Rng) -> Program:
    steps, numbers = random_steps(rng), [rng.below(8) - 3 for _ in range(rng.length(3))]
    return (
        with_call_list(f"run = static([{steps_text(rng, steps)}])"),
        "count = len(EVENTS)",
        f"results = [run(x) for x in {numbers}]",
    )


ZERO = ("ZeroDivisionError",)
CORE = Property(dynamic_program, events=True, raises=ZERO)
STRETCH = Property(static_program, events=True, raises=ZERO)
