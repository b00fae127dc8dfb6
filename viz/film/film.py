"""A film as plain data: frozen frames, and the life of every node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from viz.picture.boxes import Picture
from viz.picture.summary import Summary
from viz.words.text import ROWS, Pair, row


@dataclass(frozen=True)
class Frame:
    """One step: what happened, in words, and what lights up.

    edges: what flows along an arrow, by its id; with a text it flows backward
    notes: what is written above a node, by its id: the sum where gradients meet
    code: place, and the line before, inside and after the expression that made the node
    lines: the same as (file name, first line, last line)
    failed: the node that the run stopped at
    marks: ticks of the clocks, as (clock, node id)
    """

    caption: Pair
    active: tuple[str, ...] = ()
    edges: Mapping[str, str] = field(default_factory=dict)
    code: tuple[str, str, str, str] | None = None
    marks: tuple[tuple[str, str], ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    lines: tuple[str, int, int] | None = None
    failed: str = ""


@dataclass
class Track:
    """The life of one node: the frames it was born and freed in, its values and gradients."""

    born: int | None = None
    freed: int | None = None
    values: list[tuple[int, Summary]] = field(default_factory=list)
    gradients: list[tuple[int, Summary]] = field(default_factory=list)
    facts: list[tuple[str, str | Pair]] = field(
        default_factory=list
    )  # (key of the text table, text)
    filled: list[tuple[int, str]] = field(default_factory=list)  # the formula with its numbers


@dataclass(frozen=True)
class Film:
    """All frames of one picture, and the life of each of its nodes.

    A film of one frame is a still: no clock, no values.
    results: outputs and gradients of leaves, as arrays
    title: what is written above the drawing; else the kind of graph, where there are several
    opened: the groups that are open at first; else as many as can be surveyed
    tensors: whether the results of operators are boxes, too
    error: what stopped the run that is shown; None where it came to its end
    """

    picture: Picture
    frames: tuple[Frame, ...]
    tracks: Mapping[str, Track]
    results: Mapping[tuple[str, ...], Any] = field(default_factory=dict)
    title: Pair | None = None
    opened: frozenset[str] | None = None
    tensors: bool = False
    error: Exception | None = None

    @property
    def still(self) -> bool:
        return len(self.frames) == 1

    def view(self, opened: Collection[str]) -> Picture:
        """The picture with these groups open."""
        drawn = self.picture.fold(opened)
        return drawn.with_tensors() if self.tensors else drawn

    def giving(self, outputs: Iterable[Any]) -> Film:
        """The film with the outputs of its run among its results, by their places."""
        given: dict[tuple[str, ...], Any] = {
            ("output", str(i)): np.asarray(y) for i, y in enumerate(outputs)
        }
        return replace(self, results={**given, **self.results})

    def ticking(self) -> Film:
        """The film whose captions say the tick of its clocks: for one that runs beside another."""
        counts: Counter[str] = Counter()
        frames = []
        for frame in self.frames:
            clocks = list(dict.fromkeys(clock for clock, _ in frame.marks))
            counts.update(clocks)
            told = [row("tick", clock=ROWS[clock], number=counts[clock]) for clock in clocks]
            english, chinese = (", ".join(pair[i] for pair in told) for i in (0, 1))
            ticks = row("step_tick", ticks=(english, chinese), what=frame.caption)
            frames.append(replace(frame, caption=ticks) if clocks else frame)
        return replace(self, frames=tuple(frames))

    def text(self) -> Pair:
        """The captions, numbered: the same content for those without a browser."""
        english = [f"{i}. {f.caption[0]}" for i, f in enumerate(self.frames)]
        chinese = [f"{i}. {f.caption[1]}" for i, f in enumerate(self.frames)]
        return "\n".join(english), "\n".join(chinese)
