"""L15: launches that are recorded and replayed, and when the last kernel of a step ends."""

from __future__ import annotations

from minigrad_lessons.lesson.exercise.property import Property
from minigrad_lessons.lesson.exercise.shrinking import Program, Rng

KERNELS = ("add, x, 1.0, y", "multiply, y, 2.0, y", "subtract, y, x, z", "maximum, x, z, y")


def graphed_program(rng: Rng) -> Program:
    """Return a program that is captured, and replayed with other numbers in its input."""
    launched = "; ".join(f"launch(np.{rng.choice(KERNELS)})" for _ in range(rng.length(4, 1)))
    return (
        "x, y, z, says = np.ones(2), np.zeros(2), np.zeros(2), []",
        f"def program(launch):\n    says.append('Python ran')\n    {launched}",
        "replay = graphed(program, x)",
        "captured, ys = y.copy(), []",
        *(f"replay(np.full(2, {rng.below(9)}.)); ys += [y.copy()]" for _ in range(rng.length(3))),
    )


def finish_program(rng: Rng) -> Program:
    lengths = [1 + rng.below(9) for _ in range(rng.length(5))]
    return (f"end = finish({1 + rng.below(6)}, {lengths})",)


def finish(launch: float, kernels: list[float]) -> float:
    """Return when the last kernel ends: each waits for its launch and for the one before."""
    return max([(n + 1) * launch + sum(kernels[n:]) for n in range(len(kernels))], default=0)


CORE, STRETCH = Property(graphed_program), Property(finish_program, spec={"finish": finish})
