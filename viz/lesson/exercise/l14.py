"""L14: a step with a memory, and what three ways of running cost."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from viz.lesson.exercise.cases import Draw, Program
from viz.lesson.exercise.property import Names, Property


def walking(draw: Draw) -> Program:
    w, rate = float(draw.below(9) - 4), (1 + draw.below(4)) / 8
    return walk(w, rate, draw.below(5) / 4, draw.below(2) == 1)


def walk(w: float, rate: float, share: float, nodes: bool) -> Program:
    """Three steps down the hill w * w, with arrays or with updates of a graph."""
    if nodes:
        return (
            *(f'w, speed = variable({w}, "w"), variable(0.0, "speed")',),
            f"new_w, new_speed = momentum(w, 2.0 * w, speed, {rate}, {share})",
            "session, updates = Session(w, speed), [(w, new_w), (speed, new_speed)]",
            "steps = [session.run([new_w, new_speed], {}, updates) for _ in range(3)]",
        )
    return (
        f"w0, speed0 = np.array([{w}]), np.array([0.0])",
        *(
            f"w{i}, speed{i} = momentum(w{i - 1}, 2.0 * w{i - 1}, speed{i - 1}, {rate}, {share})"
            for i in (1, 2, 3)
        ),
    )


def reached(made: Names, engine: ModuleType) -> Names:
    names = ("w1", "speed1", "w2", "speed2", "w3", "speed3", "steps")
    return {name: made[name] for name in names if name in made}


CORE = Property(
    walking,
    always=tuple(
        walk(4.0, 0.125, share, nodes) for share in (0.5, 0.25) for nodes in (False, True)
    ),
    look=reached,
    examples=60,
)


def billing(draw: Draw) -> Program:
    lengths = [1 + draw.below(8) for _ in range(draw.count(6, 1))]
    costs = [1 + draw.below(20), 1 + draw.below(4), 1 + draw.below(6)]
    return (f"costs = bill({lengths}, {', '.join(map(str, costs))})",)


def bill(
    lengths: Sequence[int], build: float, static_run: float, dynamic_run: float
) -> dict[str, Any]:
    """The specification: every row pays for its numbers, every new length for a graph."""
    bills = dict.fromkeys(("dynamic", "static", "padded"), 0.0)
    bills["padded"] += build
    for i, length in enumerate(lengths):
        bills["dynamic"] += length * dynamic_run
        bills["static"] += length * static_run + (length not in lengths[:i]) * build
        bills["padded"] += max(lengths) * static_run
    return bills


STRETCH = Property(
    billing,
    always=(
        ("costs = bill([2, 5, 3, 3, 2], 10, 1, 2)",),
        ("costs = bill([7, 1, 7], 4, 2, 3)",),
        ("costs = bill([4, 1, 1, 1, 8], 6, 3, 5)",),
    ),
    spec={"bill": bill},
)
