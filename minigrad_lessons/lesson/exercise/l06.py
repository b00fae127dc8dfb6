"""L06: rows of different lengths in one array, and their means."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from minigrad_lessons.lesson.exercise.property import Names, Property
from minigrad_lessons.lesson.exercise.running import Unquoted
from minigrad_lessons.lesson.exercise.shrinking import Program, Rng

FILLERS = ("0.0", "0", "9.0", "-2.5", "np.inf")


def rows(rng: Rng) -> list[list[float]]:
    lengths = [rng.length(4, 1) for _ in range(rng.length(4, 1))]
    return [[(rng.below(9) - 2) / 2 for _ in range(n)] for n in lengths]


def pad_program(rng: Rng) -> Program:
    filler = rng.choice(("", *(f", {filler}" for filler in FILLERS)))
    return (f"rows = {rows(rng)}", f"array, mask = pad(rows{filler})")


def pad_facts(made: Names, engine: ModuleType) -> Names:
    facts: Names = {n: np.asarray(made[n]) for n in ("array", "mask", "before") if n in made}
    kinds = {f"type({n}).__name__": Unquoted(type(made[n]).__name__) for n in ("array", "mask")}
    return kinds | {f"{n}.dtype": Unquoted(x.dtype) for n, x in facts.items()} | facts


CORE = Property(pad_program, look=pad_facts)


def mean_lines(some: list[list[float]], filler: str, tensor: bool) -> Program:
    """Return the means of rows of tensors with their gradient, or those of a graph."""
    longest = max(map(len, some))
    full = [", ".join([*map(str, row), *[filler] * (longest - len(row))]) for row in some]
    array = f"array = np.array([{', '.join(f'[{row}]' for row in full)}])"
    real = f"real = np.array({[[i < len(row) for i in range(longest)] for row in some]})"
    if tensor:
        return (
            *(array, real, "x = Tensor(array, requires_grad=True)"),
            *("y = masked_mean(x, Tensor(real))", "means = y.value"),
            *("y.sum().backward()", "gradient = x.grad"),
        )
    return (
        *(array, real, 'x, mask = placeholder("x"), placeholder("mask")'),
        *("y = masked_mean(x, mask)", "(means,) = Session().run([y], {x: array, mask: real})"),
    )


def mean_program(rng: Rng) -> Program:
    return mean_lines(rows(rng), rng.choice((*FILLERS, "-np.inf", "1e30")), rng.below(2) == 1)


def mean_facts(made: Names, engine: ModuleType) -> Names:
    facts: Names = {"means.size": np.size(made["means"]), "means": np.ravel(made["means"])}
    return facts | ({"gradient": made["gradient"]} if "gradient" in made else {})


STRETCH = Property(mean_program, look=mean_facts)
