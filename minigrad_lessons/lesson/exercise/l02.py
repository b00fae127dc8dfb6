"""L02: gradients of all nodes behind a result, and their shapes."""

from __future__ import annotations

from math import prod
from types import ModuleType

from minigrad_lessons.lesson.exercise.graphs import names_of, random_graph
from minigrad_lessons.lesson.exercise.property import Names, Property
from minigrad_lessons.lesson.exercise.running import Unquoted, variables
from minigrad_lessons.lesson.exercise.shrinking import Program, Rng

FORMULAS = ("{a} * {b}", "{a} + {b}", "{a} - {b}", "-{a}", "{a} * ({b} > 0.0)")
VALUES = "values = run_in_order(topological_order([{y}]), {{}})"


def backward_program(rng: Rng) -> Program:
    lines = random_graph(rng, ("x = constant(3.0)", "w = constant(-2.0)"), FORMULAS)
    y, seed = names_of(lines)[-1], rng.choice((1.0, 0.3))
    return (*lines, VALUES.format(y=y), f"gradients = backward({y}, {seed}, values)")


CORE = Property(backward_program, examples=200, lines=300_000)


def fit_program(rng: Rng) -> Program:
    """Return a gradient and an operand whose shapes are equal, or differ by broadcasting."""
    whole = [1 + rng.below(3) for _ in range(rng.length(3))]
    few = [1 if rng.below(2) else n for n in whole][rng.below(len(whole) + 1) :]
    g, x = (whole, few) if rng.below(4) else (few, whole)
    size = prod(g)
    return (
        f"g = (0.3 * np.arange({(least := -rng.below(3))}, {least + size})).reshape({tuple(g)})",
        f"x = np.zeros({tuple(x)})",
        "result = fit(g, x)",
    )


def fit_facts(made: Names, engine: ModuleType) -> Names:
    return {"result.dtype": Unquoted(made["result"].dtype)} | variables(made, engine)


STRETCH = Property(fit_program, look=fit_facts)
