"""Sliders for the inputs of a graph: few numbers, each moved on its own."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from minigrad.diagnostics.messages import Pair, well_formed
from viz.page.recompute import changes

MOST = 3  # sliders; a reader follows no more
FINE = 40  # steps from the value to either end
STRIDES = (1, 2, 4, 20, 40)  # of those steps a saved page keeps each, every second, fourth, …
KEPT = 50  # positions, all sliders together


@dataclass(frozen=True)
class Slider:
    """An input that the reader moves: the kernel runs again and the values change in place."""

    label: str | Pair
    value: float
    low: float
    high: float
    step: float


class Sliders:
    """The sliders of some inputs, and the inputs for the positions of the sliders.

    inputs: (key, label, array) of each; those of at most three finite floating-point numbers get a
    slider for each number, as long as three are enough for the whole input.

    >>> sliders = Sliders([("x", "x", np.array([2.0, 5.0])), ("n", "n", np.array(3))])
    >>> [(s.label, s.low, s.value, s.high, s.step) for s in sliders.shown]
    [('x[0]', -2.0, 2.0, 6.0, 0.1), ('x[1]', -5.0, 5.0, 15.0, 0.25)]
    >>> sliders.inputs([3.0, 5.0])
    {'x': array([3., 5.])}
    >>> sliders.positions({"x": np.array([3.0, 5.0])})
    (3.0, 5.0)
    """

    def __init__(self, inputs: Iterable[tuple[Any, str, Any]]) -> None:
        self.shown: list[Slider] = []
        self.given: dict[Any, Any] = {}  # the inputs that have sliders
        for key, label, value in inputs:
            array = np.asarray(value)
            fits = 0 < array.size <= MOST - len(self.shown)
            if not fits or array.dtype.kind != "f" or not np.isfinite(array).all():
                continue
            self.given[key] = array
            for index in np.ndindex(array.shape):
                place = f"[{', '.join(map(str, index))}]" if array.size > 1 else ""
                self.shown.append(slider(well_formed(f"{label}{place}"), float(array[index])))

    def positions(self, inputs: Mapping[Any, Any]) -> tuple[float, ...]:
        """Return the positions of the sliders for these inputs."""
        return tuple(float(x) for key in self.given for x in np.ravel(inputs[key]))

    def inputs(self, positions: Sequence[float]) -> dict[Any, Any]:
        """Return the array for these positions, for each input that has sliders."""
        left = iter(positions)
        return {
            key: np.array([next(left) for _ in range(old.size)], old.dtype).reshape(old.shape)
            for key, old in self.given.items()
        }


def slider(label: str, value: float) -> Slider:
    """Make a slider around a value, to beyond zero on one side and as far on the other."""
    step = max(4.0, 2 * abs(value)) / FINE
    unit = 10.0 ** np.floor(np.log10(step))
    step = float(unit * next(m for m in (1, 2, 2.5, 5, 10) if m * unit >= step * 0.999))
    return Slider(label, value, value - FINE * step, value + FINE * step, step)


def kept(
    sliders: Sequence[Slider], made: Callable[[list[float]], Any], start: Any, room: int
) -> tuple[list[Slider], list[dict[str, Any]]]:
    """Return the sliders of a page without a kernel, and what changes from position to position.

    made: what the kernel would show for some inputs; start: what is shown before the first. The
    positions are as fine as `room` bytes of JSON allow; none are kept where that is too little.
    """
    cached = functools.cache(lambda place: made(list(place)))
    for coarse, grid in grids(sliders):
        used, before, found = len("[]"), start, list[dict[str, Any]]()
        for place in grid:
            found.append({"inputs": place, "change": changes(before, cached(place))})
            used += len(json.dumps(found[-1], ensure_ascii=False).encode()) + len(", ")
            if used > room:
                break
            before = cached(place)
        else:
            return coarse, found
    return [], []


def grids(sliders: Sequence[Slider]) -> Iterator[tuple[list[Slider], list[tuple[float, ...]]]]:
    """Yield the sliders with longer and longer steps, and where all of them together can be."""
    for stride in STRIDES if sliders else ():
        coarse = [replace(s, step=s.step * stride) for s in sliders]
        grid = list(itertools.product(*map(_positions, coarse)))
        if len(grid) <= KEPT:
            yield coarse, grid


def _positions(slider: Slider) -> list[float]:
    count = round((slider.high - slider.low) / slider.step) + 1
    return [float(f"{slider.low + i * slider.step:.10g}") for i in range(count)]
