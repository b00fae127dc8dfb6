"""L09: how long each value lives, and where in memory it begins."""

from __future__ import annotations

from types import ModuleType

from viz.lesson.exercise.cases import Draw, Program
from viz.lesson.exercise.graphs import graph, names_of
from viz.lesson.exercise.property import Names, Property
from viz.lesson.exercise.trial import nodes_of


def kept(draw: Draw) -> Program:
    lines = graph(draw, ['x = placeholder("x")'], ["{a} + {b}", "-{a}", "{a} * {b}"], most=5)
    names = names_of(lines)
    some = draw.apart(names, 2)
    return (*lines, f"lives = lifetimes([{', '.join(names)}], [{', '.join(some)}])")


CORE = Property(kept)


def memory(draw: Draw) -> Program:
    """Few sizes, so that equal ones are common: then the order of placing matters most."""
    names = "abcdef"[: draw.count(6, 1)]
    lives = [f"{name}: ({i}, {i + draw.below(4)})" for i, name in enumerate(names)]
    sizes = [f"{name}: {8 * (1 + draw.below(5))}" for name in names]
    nodes = [f'{name} = placeholder("{name}")' for name in names]
    return (
        *nodes,
        f"lives = {{{', '.join(lives)}}}",
        f"sizes = {{{', '.join(sizes)}}}",
        "offsets = plan(lives, sizes)",
    )


def laid(made: Names, engine: ModuleType) -> Names:
    """Look at whether values that live at once share bytes, and at how many bytes it takes."""
    lives, sizes, at = made["lives"], made["sizes"], made["offsets"]
    names = {node: name for name, node in nodes_of(made).items()}
    met = [(a, b) for a in lives for b in lives if lives[a][0] < lives[b][0] <= lives[a][1]]
    facts: Names = {
        f"{names[a]} and {names[b]} share bytes": bool(
            at[a] < at[b] + sizes[b] and at[b] < at[a] + sizes[a]
        )
        for a, b in met
    }
    return facts | {"bytes in all": max(at[node] + sizes[node] for node in lives)}


LARGE = (
    *(f'{name} = placeholder("{name}")' for name in "uvw"),
    "lives = {u: (0, 2), v: (1, 3), w: (2, 4)}",
    "sizes = {u: 1000, v: 904, w: 800}",
    "offsets = plan(lives, sizes)",
)
STRETCH = Property(memory, (LARGE,), laid, examples=200)
