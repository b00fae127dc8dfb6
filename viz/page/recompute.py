"""What a saved page computes: the program for a position of its sliders, and what changes there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minigrad as mg
from minigrad.diagnostics.errors import GraphError
from minigrad.static import Graph
from viz.words.text import ROWS

LARGEST = 1_000_000  # bytes of all programs
NONE = "null"  # the program of what no page can compute
SAID = ("summary_array", "summary_same", "summary_bad", "summary_empty")


def program_at(numbers: Callable[[list[float]], Graph] | None, inputs: list[float]) -> str:
    """Return the JavaScript of all numbers that are shown for these inputs, decisions included."""
    try:
        graph = numbers and numbers(inputs)
        return mg.compile(graph, False, "js").source.strip() if graph else NONE
    except GraphError:
        return NONE


def computing(programs: list[str], room: int) -> dict[str, Any] | None:
    """Return what lets a page compute between the positions that it keeps, if there is room."""
    if NONE in programs or sum(map(len, programs)) > min(LARGEST, room):
        return None
    made = f"() => [{', '.join(f'{program}()' for program in programs)}]"
    return {"said": {key: ROWS[key] for key in SAID}, "program": made}


def changes(old: Any, new: Any) -> Any:
    """Return how to change an old content into the new one: a list with what is in its place, or
    the changes of its parts, by their names or numbers.

    >>> changes({"a": [1, 2], "b": 3}, {"a": [1, 4], "b": 3})
    {'a': {'1': [4]}}
    """
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        pairs = [(key, old[key], new[key]) for key in new]
    elif type(old) is type(new) in (list, tuple) and len(old) == len(new):
        pairs = [(str(i), *both) for i, both in enumerate(zip(old, new, strict=True))]
    else:
        return [new]
    return {key: changes(before, after) for key, before, after in pairs if before != after}
