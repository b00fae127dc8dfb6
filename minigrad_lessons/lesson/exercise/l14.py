"""L14: a step with a memory, and what three ways of running cost."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from minigrad_lessons.lesson.exercise.property import Names, Property
from minigrad_lessons.lesson.exercise.shrinking import Program, Rng


def momentum_program(rng: Rng) -> Program:
    w, rate = float(rng.below(9) - 4), (1 + rng.below(4)) / 8
    return momentum_lines(w, rate, rng.below(5) / 4, rng.below(2) == 1, 2.0 + rng.below(3))


def momentum_lines(w: float, rate: float, share: float, nodes: bool, slope: float = 2.0) -> Program:
    """Return three descent steps on slope / 2 * w * w, with arrays or with a graph's updates."""
    rest = f"{rate}, {share})"
    if nodes:
        return (
            *(f'w, speed = variable({w}, "w"), variable(0.0, "speed")',),
            f"new_w, new_speed = momentum(w, {slope} * w, speed, {rest}",
            "session, updates = Session(w, speed), [(w, new_w), (speed, new_speed)]",
            "steps = [session.run([new_w, new_speed], {}, updates) for _ in range(3)]",
        )
    return (
        f"w0, speed0 = np.array([{w}]), np.array([0.0])",
        *(
            f"w{i}, speed{i} = momentum(w{i - 1}, {slope} * w{i - 1}, speed{i - 1}, {rest}"
            for i in (1, 2, 3)
        ),
    )


def momentum_facts(made: Names, engine: ModuleType) -> Names:
    names = ("w1", "speed1", "w2", "speed2", "w3", "speed3", "steps")
    return {name: made[name] for name in names if name in made}


CORE = Property(momentum_program, look=momentum_facts, examples=60)


def bill_program(rng: Rng) -> Program:
    lengths = [1 + rng.below(8) for _ in range(rng.length(6, 1))]
    costs = [1 + rng.below(20), 1 + rng.below(4), 1 + rng.below(6)]
    return (f"costs = bill({lengths}, {', '.join(map(str, costs))})",)


def bill(
    lengths: Sequence[int], build: float, static_run: float, dynamic_run: float
) -> dict[str, Any]:
    """Compute the expected costs: each row pays for its numbers, each new length for a graph."""
    bills = dict.fromkeys(("dynamic", "static", "padded"), 0.0)
    bills["padded"] += build
    for i, length in enumerate(lengths):
        bills["dynamic"] += length * dynamic_run
        bills["static"] += length * static_run + (length not in lengths[:i]) * build
        bills["padded"] += max(lengths) * static_run
    return bills


STRETCH = Property(bill_program, spec={"bill": bill})
