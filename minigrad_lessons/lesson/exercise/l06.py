"""L06: rows of different lengths in one array, and their means."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from minigrad_lessons.lesson.exercise.cases import Draw, Program
from minigrad_lessons.lesson.exercise.property import Names, Property
from minigrad_lessons.lesson.exercise.trial import Name

FILLERS = ("0.0", "0", "9.0", "-2.5", "np.inf")


def rows(draw: Draw) -> list[list[float]]:
    lengths = [draw.count(4, 1) for _ in range(draw.count(4, 1))]
    return [[(draw.below(9) - 2) / 2 for _ in range(n)] for n in lengths]


def padding(draw: Draw) -> Program:
    filler = draw.one(("", *(f", {filler}" for filler in FILLERS)))
    return (f"rows = {rows(draw)}", f"array, mask = pad(rows{filler})")


def padded(made: Names, engine: ModuleType) -> Names:
    kinds = {f"type({n}).__name__": Name(type(made[n]).__name__) for n in ("array", "mask")}
    arrays = {n: np.asarray(made[n]) for n in ("array", "mask", "before") if n in made}
    kinds["mask.dtype"] = Name(arrays["mask"].dtype)
    return kinds | arrays | {"array.dtype.kind": Name(arrays["array"].dtype.kind)}


CORE = Property(
    padding,
    always=(
        ("rows = [[9.0], [1.0, 9.0]]", "before, _ = pad(rows)", "array, mask = pad(rows, 9.0)"),
        ("rows = [[1], [2.5, 3.0]]", "array, mask = pad(rows)"),
        ("rows = [[1, 2], [3]]", "array, mask = pad(rows, 0.5)"),
        ("rows = [[0.1], [2.0, np.nan, 2.0, 2.0]]", "array, mask = pad(rows, np.inf)"),
        ("rows = [[0.5] * n for n in (1, 2, 0, 3, 1, 4, 2, 5, 1, 7)]", "array, mask = pad(rows)"),
    ),
    look=padded,
)


def mean(some: list[list[float]], filler: str, tensor: bool) -> Program:
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


def means(draw: Draw) -> Program:
    return mean(rows(draw), draw.one((*FILLERS, "-np.inf", "1e30")), draw.below(2) == 1)


def found(made: Names, engine: ModuleType) -> Names:
    facts: Names = {"means": np.ravel(made["means"])}
    return facts | ({"gradient": made["gradient"]} if "gradient" in made else {})


STRETCH = Property(
    means,
    always=tuple(mean([[1.0, 2.0, 6.0], [5.0], [0.0, 4.0]], "np.inf", t) for t in (True, False)),
    look=found,
)
