"""L09: how long each value lives, and where in memory it begins."""

from __future__ import annotations

import operator
from itertools import combinations
from types import ModuleType

from minigrad_lessons.lesson.exercise.graphs import names_of, random_graph
from minigrad_lessons.lesson.exercise.property import Names, Property
from minigrad_lessons.lesson.exercise.shrinking import Program, Rng
from minigrad_lessons.lesson.learner_engine import reference_engine


def lifetime_program(rng: Rng) -> Program:
    lines = random_graph(rng, ['x = placeholder("x")'], ["{a} + {b}", "-{a}", "{a} * {b}"], most=5)
    names = names_of(lines)
    return (*lines, f"lives = lifetimes([{', '.join(names)}], [{', '.join(rng.sample(names, 2))}])")


CORE = Property(lifetime_program)


def plan_program(rng: Rng) -> Program:
    """Return a program with few sizes: equal ones are common, so placing order matters most."""
    names = "abcdef"[: rng.length(6, 1)]
    starts = [rng.below(5) if rng.below(3) == 2 else i for i, _ in enumerate(names)]
    lives = [f"{x}: ({i}, {i + rng.below(4)})" for x, i in zip(names, starts, strict=True)]
    sizes = [f"{name}: {8 * (1 + rng.below(5))}" for name in names]
    nodes = [f'{name} = placeholder("{name}")' for name in names]
    given = f"lives = {{{', '.join(lives)}}}", f"sizes = {{{', '.join(sizes)}}}"
    return (*nodes, *given, "offsets = plan(lives, sizes)")


def plan_facts(made: Names, engine: ModuleType) -> Names:
    """Return whether values alive at the same time share bytes, and how large the arena is."""
    lives, sizes = made["lives"], made["sizes"]
    at = dict.fromkeys(lives, 0) | made["offsets"]
    facts: Names = {f"{node.name} in offsets": node in made["offsets"] for node in lives}
    for a, b in combinations(lives, 2):
        at_once = lives[a][0] <= lives[b][1] and lives[b][0] <= lives[a][1]
        shared = at_once and at[a] < at[b] + sizes[b] and at[b] < at[a] + sizes[a]
        facts[f"overlap({a.name}, {b.name})"] = bool(shared and sizes[a] and sizes[b])
    facts |= {f"offsets[{node.name}] >= 0": operator.index(at[node]) >= 0 for node in lives}
    ours = reference_engine("L09").plan(lives, sizes)
    ends = [x[node] + sizes[node] for x in (at, ours) for node in lives]
    # A better plan is right, too.
    return facts | {"len(offsets)": len(at), "max(offset + size)": max(ends, default=0)}


STRETCH = Property(plan_program, look=plan_facts, examples=200)
