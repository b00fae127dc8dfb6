"""More questions to a learner's function than its cell shows: `probe`.

An answer that was fitted to the example of a cell fails here. The expected facts come from the same
program on our engine, so none of them has to be written down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from viz.lesson.keep import engine, reference
from viz.lesson.observe import decided, replayed, served

__all__ = ["probe"]


def probe(id: str, *functions: FunctionType) -> dict[str, Any]:
    """Run the further cases of a check and return what came of each, by its name.

    id: of a check, as "L10.core". functions: the learner's, which take the place of ours in an
    engine that nothing keeps; without any, our engine answers. KeyError for a check that has no
    further cases.

    >>> probe("L10.core")["a 0.5"]
    {'a': 0.5}
    """
    lesson = id.partition(".")[0]
    return CASES[id](engine(lesson, *functions) if functions else reference(lesson))


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


# ---- Schedules --------------------------------------------------------------------


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


CASES: Mapping[str, Callable[[ModuleType], dict[str, Any]]] = {
    "L07.core": _told,
    "L10.core": _ranked,
    "L12.core": _traced,
    "L12.if": _of_an_if,
    "L12.stretch": _of_a_cache,
}
