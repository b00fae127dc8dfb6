"""A film as plain data: frozen frames, and the life of every node."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np

from viz.picture.boxes import Picture
from viz.picture.summary import Summary
from viz.picture.swatch import scale
from viz.words.text import ROWS, Pair, row

T = TypeVar("T")
CLOCKS = BUILT, RUN, GRADIENT = "clock_built", "clock_run", "clock_gradient"
PLANNED = "clock_planned"  # gradient nodes that were built


class Scales(NamedTuple):
    """How far from zero the colours of values and of gradients are full."""

    value: float
    gradient: float


class Mark(NamedTuple):
    """What a clock notes of a node.

    Only marks of sort "operator" are counted: operators that were built or ran, and contributions
    to gradients. An "input" is declared or gets its value, a "gradient" node is built for the way
    back or runs on it, the "seed" is the gradient that the way back begins with.
    """

    clock: str
    node: str
    sort: str = "operator"


@dataclass(frozen=True)
class Flow:
    """What travels along an arrow in one step: an operand on its way to an operator, or its share
    of the gradient on the way back.

    upstream, local: what a share is the product of; both "" where the rule is no product
    rule: then the rule as a formula, where it is short enough
    before, after: the gradient of the operand without and with this share, where there was one
    """

    value: Summary
    back: bool = False
    upstream: str = ""
    local: str = ""
    rule: str = ""
    before: str = ""
    after: str = ""

    @property
    def text(self) -> str:
        """How the value came about: "1 × 2 = 2"; forward and unexplained only the value."""
        if self.rule:
            return f"{self.rule} = {self.value.told}"
        if self.local:
            return f"{self.upstream} × {self.local} = {self.value.told}"
        return f"{self.upstream} → {self.value.told}" if self.upstream else self.value.told

    @property
    def sum(self) -> str:
        """The share added to what was there: "2 + 2 = 4"; "" for the first share."""
        return f"{self.before} + {operand(self.value.told)} = {self.after}" if self.before else ""


def operand(told: str) -> str:
    """A value as an operand of a product or a sum: (-1 … 1) where several words say it."""
    return f"({told})" if " " in told and told[0] not in "[(" else told


@dataclass(frozen=True)
class Frame:
    """One step: what happened, in words, and what lights up.

    flows: what travels along an arrow, by its id
    notes: what is written above a node, by its id: the sign of a failure
    code: place, and the line before, inside and after the expression that made the node
    lines: the same as (file name, first line, last line)
    failed: the node that the run stopped at
    marks: what the clocks note
    ticks: where the clocks stand that counted something in this step
    alone: the caption without the ticks, where it tells them
    planned: gradient nodes that were built in this step, where there are more than it marks
    """

    caption: Pair
    active: tuple[str, ...] = ()
    flows: Mapping[str, Flow] = field(default_factory=dict)
    code: tuple[str, str, str, str] | None = None
    marks: tuple[Mark, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    lines: tuple[str, int, int] | None = None
    failed: str = ""
    ticks: Mapping[str, int] = field(default_factory=dict)
    alone: Pair | None = None
    planned: int = 0

    @property
    def plain(self) -> Pair:
        """What happened, without the ticks."""
        return self.alone or self.caption


@dataclass(frozen=True)
class Facts:
    """What is known of an operator before it has any value.

    operands: what it reads, by their names
    rules: for each operand with a gradient its name and the formula of its share
    kept: what stays for the way back, each with the operands whose gradient needs it; None: there
        is no way back
    line: where the user wrote it
    maker: of a result with a box of its own, the operator that made it
    """

    formula: str = ""
    operands: tuple[str, ...] = ()
    rules: tuple[tuple[str, str], ...] = ()
    kept: tuple[tuple[str, tuple[str, ...]], ...] | None = None
    line: str = ""
    maker: str = ""


@dataclass
class Track:
    """The life of one node: the frames it was born and freed in, its values and gradients.

    asked: the frame in which gradient nodes were built for it, if that was a step of its own
    """

    born: int | None = None
    freed: int | None = None
    asked: int = 0
    values: list[tuple[int, Summary]] = field(default_factory=list)
    gradients: list[tuple[int, Summary]] = field(default_factory=list)
    facts: Facts = Facts()
    filled: list[tuple[int, str]] = field(default_factory=list)  # the formula with its numbers
    read: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)  # the operands' values
    shares: list[tuple[int, tuple[tuple[str, str], ...]]] = field(
        default_factory=list
    )  # what its gradient is the sum of: from whom, how much; of a seed nothing


@dataclass(frozen=True)
class Film:
    """All frames of one picture, and the life of each of its nodes.

    A film of one frame is a still: no clock, no values.
    results: outputs and gradients of leaves, as arrays
    title: what is written above the drawing; else the kind of graph, where there are several
    opened: the groups that are open at first; else as many as can be surveyed
    tensors: whether the results of operators are boxes, too
    error: what stopped the run that is shown; None where it came to its end
    shared: the scales of films that are shown beside each other
    """

    picture: Picture
    frames: tuple[Frame, ...]
    tracks: Mapping[str, Track]
    results: Mapping[tuple[str, ...], Any] = field(default_factory=dict)
    title: Pair | None = None
    opened: frozenset[str] | None = None
    tensors: bool = False
    error: Exception | None = None
    shared: Scales | None = None

    @property
    def still(self) -> bool:
        return len(self.frames) == 1

    @cached_property
    def scales(self) -> Scales:
        """Where the colours of its tensors are full: `shared`, if it is beside others."""
        return self.shared or scales([self])

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
        return replace(self, frames=tuple(map(_ticking, self.frames)))

    def text(self) -> Pair:
        """The captions, numbered: the same content for those without a browser."""
        english = [f"{i}. {f.caption[0]}" for i, f in enumerate(self.frames)]
        chinese = [f"{i}. {f.caption[1]}" for i, f in enumerate(self.frames)]
        return "\n".join(english), "\n".join(chinese)


def scales(films: Iterable[Film]) -> Scales:
    """Return the scales that films beside each other share."""
    tracks = [track for film in films for track in film.tracks.values()]
    values = (s.raster for t in tracks for _, s in t.values if s.raster)
    gradients = (s.raster for t in tracks for _, s in t.gradients if s.raster)
    return Scales(scale(values), scale(gradients))


def _ticking(frame: Frame) -> Frame:
    told = [row("tick", clock=ROWS[clock], number=n) for clock, n in frame.ticks.items()]
    english, chinese = (", ".join(pair[i] for pair in told) for i in (0, 1))
    ticks = row("step_tick", ticks=(english, chinese), what=frame.caption)
    return replace(frame, caption=ticks, alone=frame.caption) if told else frame


def latest(entries: Sequence[tuple[int, T]], step: int) -> T | None:
    """The last of [(frame, what), …], in their order, that had happened by this step."""
    count = bisect_right(entries, step, key=itemgetter(0))
    return entries[count - 1][1] if count else None
