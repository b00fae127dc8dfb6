"""What a saved page computes: its texts with holes for numbers, and the program that fills them."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

import minigrad as mg
from minigrad.diagnostics.errors import GraphError
from minigrad.ops import state
from minigrad.static import Graph
from minigrad.static.run import Interpreter
from viz.page.sliders import Slider, grids

NUMBER = re.compile(
    r"-?(?:\d+(?:\.\d+)?(?:e[-+]\d+)?|∞)|NaN"
)  # as boxes, captions and tables say it
HOLE = "\x01"  # on both sides of the number of a hole
CHANGING = ("nodes", "frames", "texts", "swatches", "lanes", "verdict", "equal")
LARGEST = 1_000_000  # bytes of a program
TRIED, FEWEST = 2_000_000, 4  # bytes of content that are tried, but so many positions at least


def recomputed(
    sliders: Sequence[Slider],
    made: Callable[[list[float]], dict[str, Any]],
    graph: Callable[[], Graph],
    room: int,
) -> dict[str, Any] | None:
    """Return what lets a page compute for any position of its sliders, or None.

    made: the content for some inputs. Every number that differs in it must be one that the graph
    computes, wherever it is tried, and all else must be the same: else nothing is returned, and
    the page keeps positions.
    """
    texts: list[str] = []
    found = []
    try:
        program = graph()
        source = mg.compile(program, executor="js", optimize=False).source
        places = next((grid for _, grid in grids(sliders)), [])
        while places:
            place = places.pop()
            content = {k: v for k, v in made(list(place)).items() if k in CHANGING}
            texts.append(json.dumps(content, ensure_ascii=False, separators=(",", ":")))
            found.append(_run(program, place))
            if NUMBER.sub("", texts[-1]) != NUMBER.sub("", texts[0]):
                return None
            if len(source) + len(texts[-1]) > room:
                return None
            if len(texts) == 1:
                most = max(FEWEST, TRIED // len(texts[0]))
                places[1:] = random.Random(0).sample(places[1:], min(most, len(places) - 1))
    except GraphError:
        return None
    fill = _with_holes(texts, found) if texts else None  # some have no sliders
    if fill is None or len(source) > min(LARGEST, room - len(fill["text"])):
        return None
    return {**fill, "sizes": [_count(x) for x in program.inputs], "program": source}


def _count(x: Any) -> int:
    return int(np.prod(x.shape))


def _run(program: Graph, place: Sequence[float]) -> list[Any]:
    """Return all numbers for these inputs, as the engine computes them."""
    left, inputs = iter(place), cast(Any, program.inputs)
    feeds = {
        x: np.reshape([next(left) for _ in range(_count(x))], x.shape).astype(x.dtype)
        for x in inputs
    }
    variables = {n: n.attrs["value"] for n in program.nodes if n.op is state.variable}
    return list(Interpreter(program.outputs)(feeds, variables))


def _with_holes(texts: Sequence[str], found: Sequence[Sequence[Any]]) -> dict[str, Any] | None:
    """Return the text with holes, and which output, element and digits each has; None: unknown."""
    known: dict[tuple[str, ...], tuple[int, int, int]] = {}
    for k, arrays in enumerate(zip(*found, strict=True)):
        flat = [np.ravel(a) for a in arrays]
        for element, digits in itertools.product(range(flat[0].size), (2, 3, 4)):
            shown = tuple(_shown(a[element], digits) for a in flat)
            known[shown] = (k, element, digits if flat[0].dtype.kind == "f" else 0)
    holes: dict[tuple[int, int, int], int] = {}
    told = iter([*zip(*map(NUMBER.findall, texts), strict=True)])

    def hole(one: re.Match[str]) -> str:
        shown = next(told)
        if len({*shown}) == 1:
            return one[0]
        return f"{HOLE}{holes.setdefault(known[shown], len(holes))}{HOLE}"

    try:
        return {"text": NUMBER.sub(hole, texts[0]), "holes": list(holes)}
    except KeyError:
        return None


def _shown(value: Any, digits: int) -> str:
    text = f"{value:.{digits}g}" if value.dtype.kind == "f" else str(int(value))
    return text.replace("nan", "NaN").replace("inf", "∞")
