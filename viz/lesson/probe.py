"""More questions to a learner's function than its cell shows: `probe`.

An answer that was fitted to the example of a cell fails here. The expected facts come from the same
program on our engine, so none of them has to be written down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from viz.lesson.keep import engine, reference
from viz.lesson.observe import decided, replayed, served

__all__ = ["probe"]


def probe(id: str, *functions: FunctionType) -> dict[str, Any]:
    """Run the further cases of a check and return what came of each, by its name.

    id: of a check, as "L09.core". functions: the learner's, which take the place of ours in an
    engine that nothing keeps; without any, our engine answers. KeyError for a check that has no
    further cases.

    >>> probe("L09.core")["a b(a) c(b) → ac"]["b"]
    (1, 2)
    """
    lesson = id.partition(".")[0]
    return CASES[id](engine(lesson, *functions) if functions else reference(lesson))


# ---- Graphs ----------------------------------------------------------------------------------

DIAMONDS = 25  # in a row: 76 nodes, and 2 ** 25 paths from one end to the other


def _ladder(mine: ModuleType) -> tuple[Any, list[Any]]:
    """Return the input of a row of diamonds, and all nodes in order, the output last."""
    order = [mine.Node("Placeholder", name="x")]
    for _ in range(DIAMONDS):
        top = order[-1]
        left, right = mine.Node("Neg", [top]), mine.Node("Neg", [top])
        order += [left, right, mine.Node("Add", [left, right])]
    return order[0], order


def _written(mine: ModuleType, text: str) -> tuple[list[Any], list[Any]]:
    """Return the nodes and the outputs of a graph; in "a b(a) c(ab) → c" the node c reads a, b."""
    parts, outputs = text.split(" → ")
    nodes: dict[str, Any] = {}
    for part in parts.split():
        reads = [nodes[name] for name in part[2:-1]]
        nodes[part[0]] = mine.Node("Add" if reads else "Placeholder", reads, name=part[0])
    return [*nodes.values()], [nodes[name] for name in outputs]


def _ordered_once(mine: ModuleType) -> dict[str, Any]:
    x, order = _ladder(mine)
    found = mine.topological_order([order[-1]])
    return {"nodes": len(found), "first": found[0] is x, "last": found[-1] is order[-1]}


def _walked_once(mine: ModuleType) -> dict[str, Any]:
    x, order = _ladder(mine)
    found = mine.backward(order[-1], 1.0, dict.fromkeys(order, np.zeros(())))
    return {"gradients": len(found), "x": found.get(x)}


# ---- Errors ----------------------------------------------------------------------------------


def _told(mine: ModuleType) -> dict[str, Any]:
    x, found = mine.placeholder("x"), {}
    nodes = {"Mul": x * x, "MatMul": x @ x, "Neg": -x}  # no shape may stand in this line
    shapes: dict[str, list[tuple[int, ...]]] = {"Mul": [(3, 4), (5, 6)]}
    shapes |= {"MatMul": [(7,), (8, 9)], "Neg": [(2, 1)]}
    for op, node in nodes.items():
        words = [*map(str, shapes[op]), "mismatch"]
        text = mine.told(node, list(map(np.ones, shapes[op])), words[-1])
        found[op] = {f"the text says {word}": word in text for word in words}
    return found


# ---- Memory and schedules --------------------------------------------------------------------


def _lifetimes(mine: ModuleType) -> dict[str, Any]:
    found = {}
    graphs = ["a b(a) c(b) → ac", "a b c(ba) d(ca) e(c) f(bd) → f", "a b(a) c(a) d(aa) → db"]
    graphs += ["a b(a) c(b) d(c) e(d) f(e) g(f) h(g) i(ah) j(bi) k → j"]  # read late, or never
    for text in graphs:
        order, kept = _written(mine, text)
        lives = mine.lifetimes(order, kept)
        named = isinstance(lives, dict)
        found[text] = {n.name: lives[n] for n in order if n in lives} if named else lives
    return found


PLANS = {  # by the bytes that it takes: the first and the last step of each value, and its bytes
    216: {"u": (2, 4, 72), "v": (3, 5, 48), "w": (4, 7, 72), "x": (5, 5, 96), "y": (6, 8, 72)},
    24: {"u": (0, 1, 8), "v": (1, 2, 16), "w": (3, 4, 24), "x": (5, 6, 8)},
}


def _planned(mine: ModuleType) -> dict[str, Any]:
    return {f"{size} bytes": dict(_laid(mine, plan)) for size, plan in PLANS.items()}


def _laid(mine: ModuleType, values: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[str, Any]]:
    nodes = {name: mine.placeholder(name) for name in values}
    lives = {nodes[name]: (first, last) for name, (first, last, _) in values.items()}
    sizes = {nodes[name]: size for name, (*_, size) in values.items()}
    placed = mine.plan(dict(lives), dict(sizes))
    spans = {n: (placed[nodes[n]], placed[nodes[n]] + sizes[nodes[n]]) for n in values}
    for i, a in enumerate(values):
        for b in [*values][:i]:
            if values[b][0] <= values[a][1] and values[a][0] <= values[b][1]:
                apart = spans[a][1] <= spans[b][0] or spans[b][1] <= spans[a][0]
                yield f"{b} and {a}", "apart" if apart else "sharing bytes"
    yield "bytes of the arena", max(end for _, end in spans.values())


TASKS = {  # what each task waits for, and its seconds
    "a 2, b(a) 3, c(a) 1, d(bc) 4": ({"a": "", "b": "a", "c": "a", "d": "bc"}, (2, 3, 1, 4)),
    "a 1, b 6, c(a) 2, d(c) 3": ({"a": "", "b": "", "c": "a", "d": "c"}, (1, 6, 2, 3)),
    "a 0.5": ({"a": ""}, (0.5,)),
}


def _ranked(mine: ModuleType) -> dict[str, Any]:
    found = {}
    for text, (needs, numbers) in TASKS.items():
        waits = {name: [*before] for name, before in needs.items()}
        found[text] = mine.ranks(waits, dict(zip(waits, numbers, strict=True)))
    return found


# ---- Traces ----------------------------------------------------------------------------------


def _powers(n: int, x: Any, y: Any) -> Any:
    for _ in range(n):
        y = x - y * y
    return y / x


def _either(x: Any, negated: bool) -> Any:
    return (-x if negated else x.exp()).sum()


def _traced(mine: ModuleType) -> dict[str, Any]:
    four, one = np.array([4.0, 2.0]), np.array([1.0, 3.0])
    found = {}
    given: dict[str, tuple[Callable[..., Any], Any, Any]] = {
        "y / x": (_powers, (3, four, one), (3, one, four)),
        "-x": (_either, (four, True), (one, True)),
    }
    for name, (f, *both) in given.items():
        found[name] = replayed(mine, f, dict(zip(("x = 4, 2", "x = 1, 3"), both, strict=True)))
    return found


def _asked(x: Any) -> Any:
    large = x * x > 4.0
    if large:
        return x / 2.0
    return -x


def _of_an_if(mine: ModuleType) -> dict[str, Any]:
    return decided(mine, _asked, (4.0, -1.0, 2.0))


def _scaled(x: Any, how: Any, y: Any) -> Any:
    total = (x - y).sum() * float(x.shape[-1])
    return total if how == "as it is" else total * float(how)


def _of_a_cache(mine: ModuleType) -> dict[str, Any]:
    x, y = np.array([1.0, 2.0, 4.0]), np.array([0.5, 0.5, 1.0])
    calls: dict[str, tuple[Any, ...]] = {"x, 3, y": (x, 3, y), "y, 3, x": (y, 3, x)}
    calls |= {"x, 3.0, y": (x, 3.0, y), "x, '3', y": (x, "3", y), "x, 4, y": (x, 4, y)}
    calls |= {"x, True, y": (x, True, y), "x, 1, y": (x, 1, y)}
    calls |= {"x[:2], 3, y[:2]": (x[:2], 3, y[:2]), "x, 3, y > 0.5": (x, 3, y > 0.5)}
    return served(mine, _scaled, calls | {"x + 1, 3, y": (x + 1, 3, y)})


# ---- Measuring -------------------------------------------------------------------------------


def _won_back(mine: ModuleType) -> dict[str, Any]:
    """Ask for many calls, and often for none: whoever tries call by call must notice the latter."""
    bills = [(2_000_000.0, 5.0, 4.0), (0.0, 2.0, 1.0), (0.0, 1.0, 2.0)]
    bills += [(0.1, 1.0, 1.0 + i / 10) for i in range(10)]
    return {f"cost {c}, {slow} → {fast}": mine.break_even(c, slow, fast) for c, slow, fast in bills}


CASES: Mapping[str, Callable[[ModuleType], dict[str, Any]]] = {
    "L01.stretch.once": _ordered_once,
    "L02.core.once": _walked_once,
    "L07.core": _told,
    "L09.core": _lifetimes,
    "L09.stretch": _planned,
    "L10.core": _ranked,
    "L12.core": _traced,
    "L12.if": _of_an_if,
    "L12.stretch": _of_a_cache,
    "L13.core": _won_back,
}
