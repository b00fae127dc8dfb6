"""Make short programs at random and find the shortest one that fails: `find_failing`.

A generator is a function of an `Rng`. Its choices are numbers, so a program is made shorter by
making it again from fewer and smaller ones.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import TypeVar

Program = tuple[str, ...]
T = TypeVar("T")
SHORTENED = 150  # programs that are tried to make a failing one shorter


class Rng:
    """The choices of a generator: from a random source, or given ones and then always the first."""

    def __init__(self, given: Sequence[int] = (), source: Random | None = None, most: int = 99):
        self.given, self.source, self.most = given, source, most
        self.made: list[int] = []

    def below(self, n: int) -> int:
        """Return a number from 0 to n - 1."""
        at = len(self.made)
        given = self.given[at] if at < len(self.given) else 0
        self.made.append(self.source.randrange(n) if self.source else min(given, n - 1))
        return self.made[-1]

    def choice(self, options: Sequence[T]) -> T:
        """Return one of the options; a shorter program has an earlier one."""
        return options[self.below(len(options))]

    def length(self, most: int, least: int = 0) -> int:
        """Return a number of lines or entries; the first programs are short."""
        return least + self.below(max(min(most, self.most), least) - least + 1)

    def choices(self, options: Sequence[T], most: int, least: int = 0) -> list[T]:
        """Return several of the options; one may come twice."""
        return [self.choice(options) for _ in range(self.length(most, least))]

    def sample(self, options: Sequence[T], most: int, least: int = 0) -> list[T]:
        """Return several of the options, each at most once."""
        return [*dict.fromkeys(self.choices(options, min(most, len(options)), least))]


def find_failing(
    programs: Callable[[Rng], Program], fails: Callable[[Program], bool], seed: int, examples: int
) -> Program | None:
    """Return the shortest failing program that was found; None if no program fails."""
    met: dict[Program, bool] = {}

    def failed(program: Program) -> bool:
        if program not in met:
            met[program] = fails(program)
        return met[program]

    for i in range(examples):
        # The seed is a text: its numbers are the same on every machine and in every process.
        rng = Rng(source=Random(f"{seed} {i}"), most=2 + 8 * i // examples)
        if failed(program := programs(rng)):
            return drop_lines(shrink(programs, failed, rng.made, program), failed)
    return None


def shrink(
    programs: Callable[[Rng], Program],
    fails: Callable[[Program], bool],
    choices: list[int],
    program: Program,
) -> Program:
    """Return a failing program from fewer and smaller choices, after a bounded number of tries."""
    left, best = SHORTENED, (program_size(program), choices)
    while True:
        for fewer in simpler_choices(best[1]):
            rng = Rng(fewer)
            found = programs(rng)
            if (program_size(found), rng.made) < best:
                left -= 1
                if fails(found):
                    program, best = found, (program_size(found), rng.made)
                    break
            if not left:
                return program
        else:
            return program


def program_size(program: Program) -> tuple[int, int]:
    return len(program), len("".join(program))


def simpler_choices(choices: list[int]) -> Iterator[list[int]]:
    """Yield lists that are shorter than this one, then lists of smaller numbers."""
    for size in (8, 4, 2, 1):
        for i in range(len(choices) - size + 1):
            yield choices[:i] + choices[i + size :]
    for i, choice in enumerate(choices):
        for less in dict.fromkeys((0, choice // 2, choice - 1)):
            if 0 <= less < choice:
                yield [*choices[:i], less, *choices[i + 1 :]]


def drop_lines(program: Program, fails: Callable[[Program], bool]) -> Program:
    """Return the program without the lines that it can do without and still fail."""
    for i in reversed(range(len(program))):
        less = program[:i] + program[i + 1 :]
        with contextlib.suppress(Exception):  # our answer cannot run it: the line is needed
            program = less if fails(less) else program
    return program
