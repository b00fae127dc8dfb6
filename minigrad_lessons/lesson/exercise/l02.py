"""L02: gradients of all nodes behind a result, and their shapes."""

from __future__ import annotations

from types import ModuleType

from minigrad_lessons.lesson.exercise.cases import Draw, Program
from minigrad_lessons.lesson.exercise.graphs import graph, ladder, names_of
from minigrad_lessons.lesson.exercise.property import Names, Property
from minigrad_lessons.lesson.exercise.trial import values

FORMULAS = ("{a} * {b}", "{a} + {b}", "{a} - {b}", "-{a}", "{a} * ({b} > 0.0)")
VALUES = "values = run_in_order(topological_order([{y}]), {{}})"


def walk(draw: Draw) -> Program:
    lines = graph(draw, ("x = constant(3.0)", "w = constant(-2.0)"), FORMULAS)
    y, seed = names_of(lines)[-1], draw.one((1.0, 0.3))
    return (*lines, VALUES.format(y=y), f"gradients = backward({y}, {seed}, values)")


CORE = Property(
    walk,
    always=(
        ladder(
            *("y = constant(3.0)", "y = 0.5 * y + 0.5 * y"),
            *(VALUES.format(y="y"), "gradients = backward(y, 1.0, values)"),
        ),
    ),
    examples=200,
    lines=100_000,
)


def shapes(draw: Draw) -> Program:
    """Return a gradient and an operand whose shapes are equal, or differ by broadcasting."""
    whole = [1 + draw.below(3) for _ in range(draw.count(3))]
    few = [1 if draw.below(2) else n for n in whole][draw.below(len(whole) + 1) :]
    g, x = (whole, few) if draw.below(4) else (few, whole)
    size = 1
    for n in g:
        size *= n
    return (
        f"g = (0.3 * np.arange({size}) - {draw.below(3)}).reshape({tuple(g)})",
        f"x = np.zeros({tuple(x)})",
        "result = fit(g, x)",
    )


def shaped(g: tuple[int, ...], x: tuple[int, ...]) -> Program:
    return (f"g = np.full({g}, 2.0)", f"x = np.zeros({x})", "result = fit(g, x)")


def fitted(made: Names, engine: ModuleType) -> Names:
    return {"isinstance(result, list)": isinstance(made["result"], list)} | values(made, engine)


STRETCH = Property(
    shapes,
    always=(
        *(shaped((2, 3, 3), x) for x in ((3, 3), (3,), (1, 3), (1, 3, 1), (2, 3, 1), (2, 1, 3))),
        *(shaped((3, 1, 2, 2), x) for x in ((1, 2, 1), (3, 1, 1, 2), (2, 2), ())),
        *(shaped(*two) for two in (((3, 1), (3, 4)), ((), (5,)), ((1, 1), (2, 3)))),
    ),
    look=fitted,
)
