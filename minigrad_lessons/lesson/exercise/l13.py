"""L13: after how many calls a cost is won back, and the ratios of a measurement."""

from __future__ import annotations

from minigrad_lessons.lesson.exercise.property import Property
from minigrad_lessons.lesson.exercise.shrinking import Program, Rng


def break_even_program(rng: Rng) -> Program:
    """Return a cost and two times; it is won back after a known number of calls, or never."""
    calls, saved = 1 + rng.below(20), (rng.below(21) - 8) / 4
    fast, rest = (8 + rng.below(13)) / 4, rng.choice((0, 0.5, 0.0001))
    cost = (abs(calls * saved) or 1.0) + rest
    return (f"calls = break_even({cost}, {fast + saved}, {fast})",)


CORE = Property(break_even_program, lines=2_300_000)  # who counts call by call is right, too


def ratio_program(rng: Rng) -> Program:
    """Return an odd number of rounds, none of whose numbers is zero."""
    numbers = [(1 + rng.below(9), 1 + rng.below(9)) for _ in range(1 + 2 * rng.length(3))]
    return (f"rounds = {numbers}", "median, lowest, highest = median_ratio(rounds)")


STRETCH = Property(ratio_program)
