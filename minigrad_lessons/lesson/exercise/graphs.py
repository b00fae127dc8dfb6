"""Programs that build a graph line by line, as several exercises need them."""

from __future__ import annotations

from collections.abc import Sequence

from minigrad_lessons.lesson.exercise.shrinking import Program, Rng

LETTERS = "spdmqrkhtuvw"  # in no alphabetical order
DIAMONDS = 25  # in a row: 2 ** 25 paths from one end to the other


def random_graph(rng: Rng, first: Sequence[str], menu: Sequence[str], most: int = 6) -> list[str]:
    """Return these first lines and new ones, whose {a} and {b} become names of earlier lines."""
    lines = [*first]
    names = names_of(lines)
    for letter in LETTERS[: rng.length(most)]:
        line = rng.choice(menu)
        a = names[-1 - rng.below(len(names))]
        b = names[rng.below(len(names))]
        lines.append(
            f"{letter} = " + line.format(a=a, b=b, t=f"{a}.sum()", name=letter, k=len(lines))
        )
        names.append(letter)
    return lines


def names_of(lines: Sequence[str]) -> list[str]:
    """Return the names that these lines assign to nodes."""
    return [line.partition(" = ")[0] for line in lines]


def diamonds(start: str, rung: str, *last: str) -> Program:
    """Return a row of diamonds, in which the number of paths doubles with each one."""
    return (start, f"for _ in range({DIAMONDS}):", f"    {rung}", *last)
