"""L05: branches and loops that are decided now, or kept in a node."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from minigrad_lessons.lesson.exercise.cases import Draw, Program
from minigrad_lessons.lesson.exercise.property import Names, Property

SIDES = ("a * a", "a + b", "a - b", "-b", "b * b")
TESTS = ("x > 0.0", "x > 2.0", "x * x > 4.0", "3.0 - x > 0.0", "x")
NUMBERS = (1.0, 3.0, -1.0, 0.0, -3.0)
LOOPS = (
    ("x > 1.0", "x / 2.0"),
    ("x * x > 9.0", "x - 2.0"),
    ("x > 0.0", "x - 1.0"),
    ("10.0 - x > 0.0", "x + 3.0"),
)


def tried(numbers: list[float] | str, tensor: bool) -> Program:
    """Return lines that call f with tensors, or that build its graph and run it."""
    if tensor:
        return (
            f"given = [Tensor(n) for n in {numbers}]",
            "results = [f(x).value for x in given]",
            "afterwards = [x.value for x in given]",
        )
    return (
        *('x = placeholder("x")', "y = f(x)"),
        f"results = [Session().run([y], {{x: n}})[0] for n in {numbers}]",
    )


def branches(draw: Draw) -> Program:
    test, yes, no = draw.one(TESTS), draw.one(SIDES), draw.one(SIDES)
    more = draw.below(4)
    return (
        f"f = lambda x: cond({test}, lambda a, b: {yes}, lambda a, b: {no}, x, x + {more}.0)",
        *tried(draw.some(NUMBERS, 3, 1), draw.below(2) == 1),
    )


def events(made: Names, engine: ModuleType) -> Names:
    """Return the results, the counts of what was built, and what ran, in order."""
    noted: Any = vars(engine)["EVENTS"]
    facts: Names = {name: made[name] for name in ("results", "afterwards") if name in made}
    ops = {kind: [what.op for k, what, _ in noted if k == kind] for kind in ("built", "run")}
    for op in sorted({*ops["built"], "Mul", "Sub", "Neg", "Add", "Greater", "Div"}):
        facts[f"built.count({op!r})"] = ops["built"].count(op)
    return facts | {"run": ops["run"]}


CORE = Property(
    branches,
    always=tuple(
        (f"f = lambda x: cond(x > 2 / x, {sides})", *tried([3.3, 1.0, -0.5], tensor))
        for sides in (
            "lambda a, b: a * b, lambda a, b: a - b, x, x + [1, 2]",
            *("lambda a: a * a, lambda a: -a, x", "lambda a, b, c: a, lambda a, b, c: c, x, x, -x"),
        )
        for tensor in (False, True)
    )
    + tuple(
        (
            "f = lambda x: cond(x, lambda a: a + 1.0, lambda a: a - 1.0, x)",
            *tried([1e-7, -1e-9, 0.0], tensor),
        )
        for tensor in (False, True)
    ),
    look=events,
)


def loop(test: str, step: str, numbers: list[float] | str, tensor: bool) -> Program:
    first = f"f = lambda x: while_loop(lambda x: {test}, lambda x: {step}, x)"
    return (first, *tried(numbers, tensor))


def loops(draw: Draw) -> Program:
    test, step = draw.one(LOOPS)
    return loop(test, step, draw.some((0.0, 1.0, 3.0, 7.0, 20.0), 3, 1), draw.below(2) == 1)


STRETCH = Property(
    loops,
    always=tuple(
        loop(*lines, f"[{number}]", tensor)
        for lines, number in (
            *((LOOPS[0], "1e+45"), (LOOPS[2], "1100.0"), (("x", "x + 1.0"), "-3.0")),
            (LOOPS[0], "np.array([3.3])"),
        )
        for tensor in (False, True)
    ),
    look=events,
)
