"""L13: after how many calls a cost is won back, and the ratios of a measurement."""

from __future__ import annotations

from minigrad_lessons.lesson.exercise.property import Property
from minigrad_lessons.lesson.exercise.shrinking import Program, Rng


def break_even_program(rng: Rng) -> Program:
    """Return a cost and two times; it is won back after a known number of calls, or never."""
    unit, saved = rng.choice((1, 1, 1, 2**-30, 2**30)), (rng.below(21) - 8) / 4
    fast = max((8 + rng.below(13)) / 4 * (rng.below(8) < 7), -saved)  # a call may be free
    cost = (abs((1 + rng.below(20)) * saved) or 1.0) + rng.choice((0, 0.5, 0.0001))
    return (f"calls = break_even({cost * unit}, {(fast + saved) * unit}, {fast * unit})",)


CORE = Property(break_even_program, lines=1_000_000)  # who counts call by call is right, too


def ratio_program(rng: Rng) -> Program:
    """Return an odd number of rounds; each ratio may be large or small, and some are zero."""
    e, s = rng.choices((1, 0.25, 1e-3, 1e3), 2, 2)
    numbers = [((1 + rng.below(9)) * e, rng.below(10) * s) for _ in range(1 + 2 * rng.length(3))]
    return (f"rounds = {numbers}", "median, lowest, highest = median_ratio(rounds)")


STRETCH = Property(ratio_program)
