"""L09: how long each value lives, and where in memory it begins."""

from __future__ import annotations

import operator
from types import ModuleType

from minigrad_lessons.lesson.exercise.cases import Draw, Program
from minigrad_lessons.lesson.exercise.graphs import graph, names_of
from minigrad_lessons.lesson.exercise.property import Names, Property
from minigrad_lessons.lesson.exercise.trial import nodes_of
from minigrad_lessons.lesson.keep import reference


def kept(draw: Draw) -> Program:
    lines = graph(draw, ['x = placeholder("x")'], ["{a} + {b}", "-{a}", "{a} * {b}"], most=5)
    names = names_of(lines)
    some = draw.apart(names, 2)
    return (*lines, f"lives = lifetimes([{', '.join(names)}], [{', '.join(some)}])")


LATE = ('x = placeholder("x")', "s = -x", 'y = placeholder("y")', "p = s + y")
TWO = ("lives = lifetimes([x, s], [x])", "lives = lifetimes([x, s], [])")  # what is kept differs
CORE = Property(kept, always=((*LATE, "lives = lifetimes([x, s, y, p], [p])"), (*LATE[:2], *TWO)))


def memory(draw: Draw) -> Program:
    """Return a program with few sizes: equal ones are common, so placing order matters most."""
    names = "abcdef"[: draw.count(6, 1)]
    lives = [f"{name}: ({i}, {i + draw.below(4)})" for i, name in enumerate(names)]
    sizes = [f"{name}: {8 * (1 + draw.below(5))}" for name in names]
    nodes = [f'{name} = placeholder("{name}")' for name in names]
    given = f"lives = {{{', '.join(lives)}}}", f"sizes = {{{', '.join(sizes)}}}"
    return (*nodes, *given, "offsets = plan(lives, sizes)")


def laid(made: Names, engine: ModuleType) -> Names:
    """Return whether values alive at the same time share bytes, and the bytes in all."""
    lives, sizes, at = made["lives"], made["sizes"], made["offsets"]
    names = {node: name for name, node in nodes_of(made).items()}
    met = [(a, b) for a in lives for b in lives if lives[a][0] < lives[b][0] <= lives[a][1]]
    facts = Names()
    for a, b in met:
        shared = at[a] < at[b] + sizes[b] and at[b] < at[a] + sizes[a]
        facts[f"{names[a]} and {names[b]} share bytes"] = bool(shared)
    for node in lives:
        facts[f"offsets[{names[node]}] >= 0"] = operator.index(at[node]) >= 0
    ours = reference("L09").plan(lives, sizes)
    ends = [x[node] + sizes[node] for x in (at, ours) for node in lives]
    return facts | {"bytes in all": max(ends)}  # a better plan is right, too


LARGE = (
    *(f'{name} = placeholder("{name}")' for name in "uvw"),
    "lives = {u: (0, 2), v: (1, 3), w: (2, 4)}",
    "sizes = {u: 1000, v: 904, w: 800}",
    "offsets = plan(lives, sizes)",
)
INSIDE = (  # `v` begins above `s`, but `u` reaches further than `v`: `w` has to avoid both
    *(f'{name} = placeholder("{name}")' for name in "uwvs"),
    "lives = {u: (0, 1), w: (1, 2), v: (2, 3), s: (3, 4)}",
    "sizes = {u: 400, w: 80, v: 150, s: 160}",
    "offsets = plan(lives, sizes)",
)
STRETCH = Property(memory, (LARGE, INSIDE), laid, examples=200)
