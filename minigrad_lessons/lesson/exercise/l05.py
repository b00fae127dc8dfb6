"""L05: branches and loops that are decided now, or kept in a node."""

from __future__ import annotations

from types import ModuleType

from minigrad_lessons.lesson.exercise.property import Names, Property
from minigrad_lessons.lesson.exercise.shrinking import Program, Rng

SIDES = ("a * a", "a + b", "a - b", "-b", "b * b")
TESTS = ("x > 0.0", "x > 2.0", "x * x > 4.0", "3.0 - x > 0.0", "x")
NUMBERS = (1.0, 3.0, -1.0, 0.0, -3.0)
LOOPS = (
    ("x > 1.0", "x / 2.0"),
    ("x * x > 9.0", "x - 2.0"),
    ("x > 0.0", "x - 1.0"),
    ("10.0 - x > 0.0", "x + 3.0"),
)


def call_lines(numbers: list[float] | str, tensor: bool) -> Program:
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


def cond_program(rng: Rng) -> Program:
    test, yes, no = rng.choice(TESTS), rng.choice(SIDES), rng.choice(SIDES)
    more = rng.below(4)
    return (
        f"f = lambda x: cond({test}, lambda a, b: {yes}, lambda a, b: {no}, x, x + {more}.0)",
        *call_lines(rng.choices(NUMBERS, 3, 1), rng.below(2) == 1),
    )


def event_facts(made: Names, engine: ModuleType) -> Names:
    """Return the results, the counts of what was built, and what ran, in order."""
    facts: Names = {name: made[name] for name in ("results", "afterwards") if name in made}
    kinds, events = ("built", "run"), vars(engine)["EVENTS"]
    built, ran = ([what.op for k, what, _ in events if k == kind] for kind in kinds)
    for op in sorted({*built, "Mul", "Sub", "Neg", "Add", "Greater", "Div", "Cond", "While"}):
        facts[f"built.count({op!r})"] = built.count(op)
    return facts | {"run": ran}


CORE = Property(cond_program, look=event_facts)


def while_lines(test: str, step: str, numbers: list[float] | str, tensor: bool) -> Program:
    first = f"f = lambda x: while_loop(lambda x: {test}, lambda x: {step}, x)"
    return (first, *call_lines(numbers, tensor))


def while_program(rng: Rng) -> Program:
    test, step = rng.choice(LOOPS)
    return while_lines(test, step, rng.choices((0.0, 1.0, 3.0, 7.0, 20.0), 3, 1), rng.below(2) == 1)


STRETCH = Property(
    while_program,
    always=tuple(
        while_lines(*lines, f"[{number}]", tensor)
        for lines, number in (
            *((LOOPS[0], "1e+45"), (("x", "x - 1.0"), "1200.0"), (("x", "x + 1.0"), "-3.0")),
            (LOOPS[0], "np.array([3.3])"),
        )
        for tensor in (False, True)
    ),
    look=event_facts,
    lines=500_000,
)
