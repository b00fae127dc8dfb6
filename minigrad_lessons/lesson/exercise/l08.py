"""L08: which nodes do the same work, and a pass that leaves one of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from minigrad_lessons.lesson.exercise.graphs import diamonds, random_graph
from minigrad_lessons.lesson.exercise.property import Names, Property
from minigrad_lessons.lesson.exercise.shrinking import Program, Rng

OPERATORS = (
    *("{a}.exp()", "{a}.relu()", "-{a}", "{a}.sum()", "{a}.sum(axis=0)", "{a} + {b}"),
    *("{a} - {b}", "{a} / {b}"),
)
# Two lines that are easily taken for one another, or not for the same; {k} is never the same.
CONSTANTS = (
    *(("2.0", "2.0"), ("2.0", "-2.0"), ("2.0", "[2.0]"), ("0.0", "-0.0"), ("2", "1e-323")),
    *(("[1.0]", "[1.0 + 2**-28]"), ("float('nan')", "float('nan')")),
)
VARIABLE = 'Node("Variable", name="v", first=0.0)'
COND = "cond({t}, lambda z: z * {k}.0, lambda z: -z, {a})"
LOOP = "while_loop(lambda z: z > -{k}.0, lambda z: z - 4.0, {t})"
PAIRS: tuple[tuple[str, str], ...] = (
    ("{a}.sum(axis=0)", "{a}.sum(axis=1)"),
    ('Node("Exp", [{a}], name="p")', 'Node("Exp", [{a}], name="q")'),
    *((f"constant({a})", f"constant({b})") for a, b in CONSTANTS),
    *((new, new) for new in ('placeholder("x")', VARIABLE, 'variable([1.0, 2.0], "v")')),
    (COND, COND),
    (LOOP, LOOP),
)
NAMED = (("a", "yes=1, no=2"), ("b", "no=1, yes=2"))  # the same values, exchanged
X, Y, T = 'x = placeholder("x")', 'y = placeholder("y")', "t = x.sum()"


def two_nodes(first: str, second: str, swapped: bool = False) -> Program:
    """Return nodes a and b on the same inputs, or on exchanged ones."""
    x, y = "yx" if swapped else "xy"
    a, b = first.format(a="x", b="y", t="t", k=2), second.format(a=x, b=y, t="t", k=3)
    lines = (*([T] if "{t}" in first else []), f"a = {a}", f"b = {b}")
    used = [line for line in (X, Y) if re.search(rf"\b{line[0]}\b(?!\")", "; ".join(lines))]
    return (*used, *lines)


def same_program(rng: Rng) -> Program:
    kind, line = rng.below(3), rng.choice(OPERATORS)
    a, b = [(line, line), (line, rng.choice(OPERATORS)), rng.choice(PAIRS)][kind]
    return (*two_nodes(a, b, swapped=rng.below(2) == 1), "same = same_work(a, b)")


CORE = Property(
    same_program,
    always=(
        *((*two_nodes(a, b), "same = same_work(a, b)") for a, b in PAIRS),
        (X, Y, 'a = Node("Max", [x])', 'b = Node("Max", [x, y])', "same = same_work(a, b)"),
        (X, *(f'{n} = Node("Cond", [x], {k})' for n, k in NAMED), "same = same_work(a, b)"),
        diamonds(X, "x = x + x", "same = same_work(x + x, x + x)"),
        *((f"v = {v}", "same = same_work(v * v, v * v)") for v in ("constant(2)", VARIABLE)),
        *((*two_nodes(line, line), "same = same_work(a, b)") for line in OPERATORS),
        *((*two_nodes(line, line, True), "same = same_work(a, b)") for line in OPERATORS),
    ),
)


FED = "[[0.5, 2.0], [3.0, -1.0]]"
GIVEN = re.compile(r'(\w) = (?:placeholder|variable|Node\("Variable")')


def merge_lines(lines: Sequence[str], outputs: str) -> Program:
    """Return a program that merges equal work, counts what is left and runs it."""
    given = [found[1] for line in lines if (found := GIVEN.match(line))]
    feed = ", ".join(f"{name}: {i}.0 * square" for i, name in enumerate(given, 1))
    return (
        *lines,
        f"outputs = [{outputs}]",
        "new = merge_common(outputs)",
        "ops = [node.op for node in topological_order(new)]",
        *([f"square = np.array({FED})"] if given else []),
        f"results = Session().run(new, {{{feed}}})",
    )


def merge_program(rng: Rng) -> Program:
    lines = random_graph(rng, [X], [*rng.choices(OPERATORS, 3, 1), *rng.choice(PAIRS)])
    names = [line[0] for line in lines]
    return merge_lines(lines, ", ".join(rng.choices(names[::-1], 3, 1)))


def merge_facts(made: Names, engine: ModuleType) -> Names:
    """Return how many nodes of each operator are left, their lines, and their values."""
    e: Any = engine
    new, old = list(made["new"]), e.topological_order(made["outputs"])
    facts: Names = {"len(new)": len(new)}
    for op in dict.fromkeys(node.op for node in old if "ops" in made):
        facts[f'ops.count("{op}")'] = made["ops"].count(op)
    for i, node in enumerate(new):  # of several equal nodes any line will do
        lines = [other.line for other in old if other.op == node.op]
        facts[f"new[{i}].line"] = lines[0] if node.line in lines else node.line
    for i, result in enumerate(made.get("results", ())):
        facts[f"results[{i}]"] = np.asarray(result)
    return facts


STRETCH = Property(
    merge_program,
    always=(
        *(merge_lines(two_nodes(a, b), "a, b") for a, b in PAIRS),
        merge_lines((X, "a = x.exp()", "b = x.exp()", "c = a.relu()", "d = b.relu()"), "c, d"),
        merge_lines((X, Y), "x + y, y + x, x, x"),
        diamonds(X, "x = x.exp() + x.exp()", *merge_lines((), "x")[:3]),
    ),
    look=merge_facts,
    examples=120,
)
