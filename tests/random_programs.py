"""Random small programs for property tests: assignments, branches, loops, jumps, helper functions.

A program is text, so that it can be shown, and the source is there to be read. Every loop ends, all
numbers are whole and stay small, so plain Python and float32 agree exactly.
"""

from __future__ import annotations

import itertools
import linecache
import random
from collections.abc import Callable
from typing import Any

import minigrad as mg

HELPERS = """\
def clamp(v):
    return max(-50.0, min(50.0, v))

def bounce(v):
    while v > 40.0:
        v = v - 7.0
        if v == 41.0:
            return 1.0
    return v if v > -40.0 else -v

"""
NUMBERS = ("1.0", "2.0", "-3.0", "0.0")
_files = itertools.count()


class Programs:
    """Draws programs `f(x, y, n, xs)`: two numbers, a small whole number, a vector of three."""

    def __init__(self, draw: random.Random, risky: bool = False, augmented: bool = True) -> None:
        """risky: read variables that may have no value; augmented: use += and -=."""
        self.draw, self.variables, self.augmented = draw, ["a", "b", "c"], augmented
        self.risky = ["p", "q"] if risky else []
        self.loops = itertools.count(1)

    def program(self) -> str:
        lines = ["a, b, c = x, 1.0, 0.0", *self.block(2, False, 4)]
        lines.append(self.draw.choice(["return a + 2.0 * b - c", "return a"]))
        return f"{HELPERS}def f(x, y, n, xs):\n" + "".join(f"    {line}\n" for line in lines)

    # ---- Expressions ------------------------------------------------------------------------

    def value(self, depth: int = 2) -> str:
        names = ["x", "y", *self.variables, *NUMBERS]
        if depth == 0:
            return self.draw.choice(names)
        a, b = self.value(depth - 1), self.value(depth - 1)
        return self.draw.choice(
            [
                a,
                f"({a} + {b})",
                f"({a} - {b})",
                f"-{a}",
                f"abs({a})",
                f"min({a}, {b})",
                f"({a} if {self.test(1)} else {b})",
                f"({a} and {b})",
                f"({a} or {b})",
            ]
        )

    def test(self, depth: int = 2) -> str:
        a, b = self.value(0), self.value(max(depth - 1, 0))
        compared = f"{a} {self.draw.choice(['<', '>', '<=', '==', '!='])} {b}"
        if depth == 0:
            return compared
        other = self.test(depth - 1)
        return self.draw.choice(
            [
                compared,
                f"{a} < {b} <= {self.value(0)}",
                f"({compared} and {other})",
                f"({compared} or {other})",
                f"(not ({other}))",
                a,
            ]
        )

    # ---- Statements -------------------------------------------------------------------------

    def block(self, depth: int, in_loop: bool, size: int = 0) -> list[str]:
        count = size or self.draw.randrange(1, 4)
        return [line for _ in range(count) for line in self.statement(depth, in_loop)]

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        kinds = [self.assignment] * 5 + [self.leaving] * (2 if in_loop else 1)
        if depth:
            kinds += [self.branch] * 4 + [self.loop] * 4 + [self.temporary]
        kind: Callable[[int, bool], list[str]] = self.draw.choice(kinds)
        return kind(depth, in_loop)

    def assignment(self, depth: int, in_loop: bool) -> list[str]:
        v, w = self.draw.sample(self.variables[:3], 2)
        if self.risky and self.draw.random() < 0.4:
            v = w = self.draw.choice(self.risky)
            read = f"{self.draw.choice('abc')} = clamp({v})"
            return [self.draw.choice([f"{v} = clamp({self.value(1)})", read])]
        return [
            self.draw.choice(
                [
                    f"{v} = clamp({self.value()})",
                    f"{v} = bounce({self.value(1)})",
                    f"{v} {self.draw.choice('+-') * self.augmented}= {self.value(0)}",
                    f"{v}, {w} = clamp({self.value(1)}), clamp({self.value(0)})",
                ]
            )
        ]

    def leaving(self, depth: int, in_loop: bool) -> list[str]:
        jumps = ["break", "continue"] * 2 if in_loop else ["pass"] * 3
        return [self.draw.choice([*jumps, f"return {self.value(1)}"])]

    def branch(self, depth: int, in_loop: bool) -> list[str]:
        lines = [f"if {self.test()}:", *indented(self.block(depth - 1, in_loop))]
        if self.draw.random() < 0.3:
            lines += [f"elif {self.test()}:", *indented(self.block(depth - 1, in_loop))]
        if self.draw.random() < 0.6:
            lines += ["else:", *indented(self.block(depth - 1, in_loop))]
        return lines

    def temporary(self, depth: int, in_loop: bool) -> list[str]:
        lines = [f"t = {self.value(1)}"]
        self.variables.append("t")
        lines += self.block(depth - 1, in_loop)
        self.variables.remove("t")
        return lines

    def loop(self, depth: int, in_loop: bool) -> list[str]:
        k, v = f"k{next(self.loops)}", self.draw.choice(self.variables[:3])
        first = self.draw.choice([f"{v} = clamp({v} + {k})", f"{v} = clamp({k} - {v})", "pass"])
        heads = {
            f"while {k} < 3 and {self.test(1)}:": [f"{k} += 1"],
            f"for {k} in range(3):": [first],
            f"for {k} in range({self.draw.choice(['n', '1, n', 'n, 0, -1', '0, n, 2'])}):": [first],
            f"for {k} in xs:": [first],
            f"for {k}, w in enumerate(xs):": [first, f"{v} = clamp({v} - w)"],
            f"for {k} in (1.0, -2.0):": [first],
        }
        head = self.draw.choice(list(heads))
        body = indented([*heads[head], *self.block(depth - 1, True)])
        return [f"{k} = 0"] * head.startswith("while") + [head, *body]


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def load(text: str) -> Callable[..., Any]:
    """The function `f` of a program, whose source can be read."""
    name = f"<random program {next(_files)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {"mg": mg}
    exec(compile(text, name, "exec"), space)
    function: Callable[..., Any] = space["f"]
    return function
