"""A film as plain data: frozen frames, and the life of every node."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np

from viz.picture.boxes import EASY, Picture
from viz.picture.cards import CONTROL
from viz.picture.summary import Summary
from viz.picture.swatch import scale
from viz.words.text import ROWS, Pair, listed, row

T = TypeVar("T")
Arrays = dict[tuple[str, ...], Any]  # by what they are of
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
    back or runs on it, the "seed" is the gradient that the way back begins with, and "inside" is
    where it leaves a branch or a loop.
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
            return f"{self.rule} = {self.value.text}"
        if self.local:
            return f"{self.upstream} × {self.local} = {self.value.text}"
        return f"{self.upstream} → {self.value.text}" if self.upstream else self.value.text

    @property
    def sum(self) -> str:
        """The share added to what was there: "2 + 2 = 4"; "" for the first share."""
        return f"{self.before} + {operand(self.value.text)} = {self.after}" if self.before else ""


def operand(text: str) -> str:
    """Put a value's text in parentheses if it has several parts, as an operand: (-1 … 1)."""
    return f"({text})" if " " in text and text[0] not in "[(" else text


@dataclass(frozen=True)
class Frame:
    """One step: what happened, in words, and what lights up.

    flows: what travels along an arrow, by its id
    notes: what is written above a node, by its id: the sign of a failure
    code: place, and the line before, inside and after the expression that made the node
    lines: the same as (file name, first line, last line)
    failed: the node that the run stopped at
    marks: what the clocks note
    ticks: the readings of the clocks that counted something in this step
    alone: the caption of a film alone, where that beside another one says more or else
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
        """What happened, in the film alone."""
        return self.alone or self.caption


@dataclass(frozen=True)
class Facts:
    """What is known of an operator before it has any value.

    operands: what it reads, by their names
    rules: for each operand with a gradient its name and the formula of its share
    kept: what is saved for backward, each with the operands whose gradient needs it; None: there
        is no backward pass
    line: where the user wrote it
    maker: for a result with a separate box, the operator that made it
    """

    formula: str = ""
    operands: tuple[str, ...] = ()
    rules: tuple[tuple[str, str], ...] = ()
    kept: tuple[tuple[str, tuple[str, ...]], ...] | None = None
    line: str = ""
    maker: str = ""


@dataclass
class Track:
    """The lifetime of one node: the frames it was created and freed in, its values and gradients.

    Values after it was freed are those of the node that the next call puts in its place.
    gradients_built: the frame in which gradient nodes were built for it, if that was its own step
    """

    born: int | None = None
    freed: int | None = None
    gradients_built: int = 0
    values: list[tuple[int, Summary]] = field(default_factory=list)
    gradients: list[tuple[int, Summary]] = field(default_factory=list)
    facts: Facts = Facts()
    filled: list[tuple[int, str]] = field(default_factory=list)  # the formula with its numbers
    read: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)  # the operands' values
    # what its gradient is the sum of: from whom, how much; of a seed nothing
    shares: list[tuple[int, tuple[tuple[str, str], ...]]] = field(default_factory=list)

    def life(self, step: int) -> Track:
        """Return the track of the node that exists at a step."""
        gone = self.freed
        if gone is None or not any(gone < i <= step for i, _ in self.values):
            return self
        values, gradients = ([x for x in k if x[0] > gone] for k in (self.values, self.gradients))
        return replace(self, born=None, freed=None, values=values, gradients=gradients)


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
    through: to what, and through which branch or loop, all contributions were passed back
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
    through: Pair = ("", "")

    @property
    def still(self) -> bool:
        return len(self.frames) == 1

    @cached_property
    def first(self) -> frozenset[str]:
        """The groups that are open at first: in a small graph branches and loops, too."""
        whole, control = self.picture, {n.id for n in self.picture.nodes if n.op in CONTROL}
        small = control.issuperset(whole.owners.values()) and len(whole.nodes) <= EASY
        found = frozenset(whole.groups) if small and whole.owners else whole.overview()
        return found if self.opened is None else self.opened

    @cached_property
    def scales(self) -> Scales:
        """Where the colours of its tensors are full: `shared`, if it is beside others."""
        return self.shared or scales([self])

    def view(self, opened: Collection[str]) -> Picture:
        """Return the picture with these groups open."""
        drawn = self.picture.fold(opened)
        return drawn.with_tensors() if self.tensors else drawn

    def with_outputs(self, outputs: Iterable[Any]) -> Film:
        """Return the film with the outputs of its run among its results, by their positions."""
        given: Arrays = {("output", str(i)): np.asarray(y) for i, y in enumerate(outputs)}
        return replace(self, results={**given, **self.results})

    def timed(self) -> Film:
        """Return the film with clock ticks in its captions, for one that runs beside another."""
        return replace(self, frames=tuple(map(_with_ticks, self.frames)))

    def text(self) -> Pair:
        """Return the captions, numbered: the same content without a browser."""
        numbered = ((i, *frame.caption) for i, frame in enumerate(self.frames))
        return listed(((f"{i}. {en}", f"{i}. {zh}") for i, en, zh in numbered), "\n")


def scales(films: Iterable[Film]) -> Scales:
    """Return the scales that films beside each other share."""
    tracks = [track for film in films for track in film.tracks.values()]
    values = (s.raster for t in tracks for _, s in t.values if s.raster)
    gradients = (s.raster for t in tracks for _, s in t.gradients if s.raster)
    return Scales(scale(values), scale(gradients))


def _with_ticks(frame: Frame) -> Frame:
    parts = [row("tick", clock=ROWS[clock], number=n) for clock, n in frame.ticks.items()]
    ticks = row("step_tick", ticks=listed(parts, ", "), what=frame.caption)
    return replace(frame, caption=ticks, alone=frame.caption) if parts else frame


def latest(entries: Sequence[tuple[int, T]], step: int) -> T | None:
    """Return the last of [(frame, what), …], in their order, that had happened by this step."""
    count = bisect_right(entries, step, key=itemgetter(0))
    return entries[count - 1][1] if count else None
