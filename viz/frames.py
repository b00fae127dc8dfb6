"""A recording as a film: frozen frames that say what lights up, what it is worth, and why.

Nothing is computed here that the engine did not compute: frames are made from recorded events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minigrad.core import BaseNode, Spec, TupleSpec, show_shape
from minigrad.eager import Tensor
from minigrad.events import Event
from minigrad.graph import Node
from minigrad.ops.parts import Parts
from minigrad.rules import pull_back
from minigrad.tape import TapeNode
from viz import formula
from viz.picture import Picture, number
from viz.text import Pair, row

BUILT, RUN, GRADIENT = "clock_built", "clock_run", "clock_gradient"
GRID = 24  # cells along each side of a heat map; larger arrays are thinned out


@dataclass(frozen=True)
class Summary:
    """A value of any size, in a few characters, in a sentence, and as a small heat map."""

    short: str
    long: Pair
    grid: tuple[tuple[float | None, ...], ...] = ()


@dataclass(frozen=True)
class Frame:
    """One step: what happened, in words, and what lights up."""

    caption: Pair
    active: tuple[str, ...] = ()
    edges: Mapping[str, str] = field(default_factory=dict)  # edge id -> what flows there
    code: tuple[str, str, str, str] | None = None  # place, before, the expression, after
    marks: tuple[tuple[str, str], ...] = ()  # (clock, node id)


@dataclass
class Track:
    """The life of one node: the frame it was born in, its values and its gradients by frame."""

    born: int | None = None
    values: list[tuple[int, Summary]] = field(default_factory=list)
    gradients: list[tuple[int, Summary]] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)  # (key of the text table, text)


@dataclass(frozen=True)
class Film:
    """All frames of one picture, and the life of each of its nodes."""

    picture: Picture
    frames: tuple[Frame, ...]
    tracks: Mapping[str, Track]
    results: Mapping[tuple[str, ...], Any]  # outputs and gradients of leaves, as arrays

    def text(self) -> Pair:
        """The captions, numbered: the same content for those without a browser."""
        english = [f"{i}. {f.caption[0]}" for i, f in enumerate(self.frames)]
        chinese = [f"{i}. {f.caption[1]}" for i, f in enumerate(self.frames)]
        return "\n".join(english), "\n".join(chinese)


def summarize(value: Any) -> Summary:
    """A value of any size, or several; huge arrays cost no more than a pass over them."""
    if isinstance(value, Parts):
        value = tuple(value.parts.values())
    if isinstance(value, tuple):
        parts = [summarize(x) for x in value]
        english, chinese = (", ".join(part.long[i] for part in parts) for i in (0, 1))
        short = ", ".join(part.short for part in parts)
        return Summary(f"({short})", (f"({english})", f"({chinese})"))
    array = np.asarray(getattr(value, "data", value))
    short = number(array)
    if array.size == 1 or short != "…":
        return Summary(short, (short, short), _grid(array))
    shape = show_shape(array.shape)
    if array.size == 0:
        return Summary("∅", row("summary_empty", shape=shape))
    finite = np.isfinite(array) if array.dtype.kind == "f" else np.ones(array.shape, bool)
    if not finite.all():
        bad = int(array.size - finite.sum())
        return Summary("NaN/∞", row("summary_bad", shape=shape, bad=bad), _grid(array))
    if array.min() == array.max():
        same = number(array.reshape(-1)[0])
        return Summary(f"≡ {same}", row("summary_same", shape=shape, value=same), _grid(array))
    with np.errstate(over="ignore"):
        average = array.mean(dtype=float)
    low, high, mean = (f"{x:.3g}" for x in (array.min(), array.max(), average))
    long = row("summary_array", shape=shape, mean=mean, low=low, high=high)
    return Summary(f"{array.min():.2g} … {array.max():.2g}", long, _grid(array))


def _grid(array: np.ndarray[Any, Any]) -> tuple[tuple[float | None, ...], ...]:
    """At most GRID × GRID numbers of a vector or matrix; None where there is no finite number."""
    if array.ndim not in (1, 2) or array.size < 2:
        return ()
    matrix = np.atleast_2d(array)
    rows, columns = (-(-n // GRID) for n in matrix.shape)
    thin = matrix[::rows, ::columns].astype(float)
    return tuple(
        tuple(float(f"{x:.3g}") if np.isfinite(x) else None for x in line) for line in thin
    )


class Director:
    """Turns events into frames, one kind of event at a time."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.nodes = {n.id: n for n in picture.nodes}
        self.edge_ids = {(e.target, e.index): e.id for e in picture.edges}
        self.tracks = {n.id: Track() for n in picture.nodes}
        self.frames: list[Frame] = [Frame(row("step_start"))]
        self.values: dict[Any, Any] = {}  # engine node -> its value
        self.operands: dict[Any, tuple[Any, ...]] = {}  # engine node -> what it read
        self.results: dict[tuple[str, ...], Any] = {}
        self.counts = {"run": 0, "parts": 0}

    def add(self, frame: Frame) -> int:
        self.frames.append(frame)
        return len(self.frames) - 1

    def label(self, key: Any) -> str:
        return self.nodes[self.picture.ids[key]].label

    def film(self) -> Film:
        """The finished film, with a last frame that counts."""
        nodes = len(self.picture.nodes)
        key = "step_done" if self.counts["parts"] else "step_done_forward"
        self.add(Frame(row(key, nodes=nodes, **self.counts)))
        return Film(self.picture, tuple(self.frames), self.tracks, self.results)

    # what was there before

    def show_leaves(self, keys: Iterable[tuple[Any, Any]]) -> None:
        """Leaves of a tape exist, with their values, before the first step."""
        for key, value in keys:
            track = self.tracks[self.picture.ids[key]]
            track.born = 0
            track.values.append((0, summarize(value)))

    # one method for each kind of step

    def built(self, node: Node) -> None:
        """A node of a static graph was born."""
        i = self.picture.ids[node]
        track = self.tracks[i]
        operands = [self.label(x) for x in node.inputs if x in self.picture.ids]
        text = formula.forward(node.op, operands, node.attrs) if operands else node.op.name
        key = "step_built" if node.shape is not None else "step_built_open"
        caption = row(key, name=self.label(node), formula=text)
        track.born = self.add(Frame(caption, (i,), {}, _code(node), ((BUILT, i),)))
        track.facts = _facts(node, [x.spec for x in node.inputs], node.spec, operands)

    def read(self, node: Node, value: Any) -> None:
        """A value entered the run: fed, or read from a variable or a constant."""
        i = self.picture.ids[node]
        summary = summarize(value)
        self.values[node] = value
        caption = row("step_read", name=self.label(node), value=summary.long)
        frame = self.add(Frame(caption, (i,), {}, _code(node), ((RUN, i),)))
        self.tracks[i].values.append((frame, summary))

    def run(self, node: BaseNode, value: Any, operands: Sequence[Any]) -> None:
        """A kernel ran; on the tape, that is the moment when the node is born, too."""
        i = self.picture.ids[node]
        at_once = isinstance(node, TapeNode)
        self.values[node], self.operands[node] = value, tuple(operands)
        summary = summarize(value)
        box = self.nodes[i]
        names = [self.nodes[x].label for x in box.inputs]
        caption = row(
            "step_both" if at_once else "step_run",
            name=box.label,
            formula=_filled(node, names, operands),
            value=summary.long,
        )
        edges = {self.edge_ids[i, k]: "" for k in range(len(operands)) if (i, k) in self.edge_ids}
        marks = ((BUILT, i), (RUN, i)) if at_once else ((RUN, i),)
        track = self.tracks[i]
        frame = self.add(Frame(caption, (i,), edges, _code(node), marks))
        track.values.append((frame, summary))
        self.counts["run"] += 1
        if box.is_output and not isinstance(value, tuple):
            self.results["output", box.label] = np.asarray(value)
        if at_once:
            track.born = frame
            specs = [_spec(x) for x in operands]
            track.facts = _facts(node, specs, _spec(value), names)

    def seed(self, key: Any, value: Any) -> None:
        """Backward begins: the gradient of the output with respect to itself."""
        i = self.picture.ids[key]
        summary = summarize(value)
        caption = row("step_seed", name=self.nodes[i].label, value=summary.short)
        frame = self.add(Frame(caption, (i,), {}, None, ((GRADIENT, i),)))
        self.tracks[i].gradients.append((frame, summary))

    def contributed(
        self, source: BaseNode, target: Any, index: int, upstream: Any, part: Any, total: Any
    ) -> None:
        """One operand got its share: upstream × local = contribution, added to what was there."""
        i, s = self.picture.ids[target], self.picture.ids[source]
        track = self.tracks[i]
        shown = summarize(part)
        local = self._local(source, index)
        names = {"source": self.nodes[s].label, "name": self.nodes[i].label}
        if track.gradients and total is not part:  # else it is the first of this pass
            before, sum_ = track.gradients[-1][1].short, summarize(total).short
            caption = row("step_accumulated", **names, before=before, part=shown.short, total=sum_)
        elif formula.UPSTREAM in local:
            caption = row("step_rule", **names, local=local, part=shown.short)
        else:
            product = {"upstream": summarize(upstream).short, "local": local}
            caption = row("step_contributed", **names, **product, part=shown.short)
        edge = self.edge_ids.get((s, index))
        product_text = (
            local if formula.UPSTREAM in local else f"∂ {summarize(upstream).short} × {local}"
        )
        edges = {edge: f"{product_text} = {shown.short}"} if edge else {}
        frame = self.add(Frame(caption, (i,), edges, _code(source), ((GRADIENT, i),)))
        track.gradients.append((frame, summarize(total)))
        self.counts["parts"] += 1
        box = self.nodes[i]
        if not box.inputs:
            self.results["gradient", box.group, box.label] = np.asarray(
                getattr(total, "data", total)
            )

    def _local(self, source: BaseNode, index: int) -> str:
        """The local derivative: a number where it acts on each element, else its formula."""
        op, operands = source.op, self.operands[source]
        if op.elementwise:
            y = np.asarray(self.values[source])
            data = [getattr(x, "data", x) for x in operands]
            (local,) = pull_back(op, [index], np.ones_like(y), [y, *data], source.attrs)
            return summarize(local).short
        box = self.nodes[self.picture.ids[source]]
        names = [box.label, *(self.nodes[x].label for x in box.inputs)]
        specs = [_spec(self.values[source]), *(_spec(x) for x in operands)]
        return formula.local(op, index, specs, source.attrs, names) or "?"


def _spec(x: Any) -> Spec:
    if isinstance(x, tuple):
        return TupleSpec.of([_spec(part) for part in x])
    data = np.asarray(getattr(x, "data", x))
    return Spec(data.shape, data.dtype)


def _filled(node: BaseNode, names: Sequence[str], operands: Sequence[Any]) -> str:
    """The formula with names, and with numbers where they are short: x × x = 2 × 2."""
    text = formula.forward(node.op, names, node.attrs)
    values = [number(getattr(x, "data", x)) for x in operands]
    if "…" in values or list(values) == list(names):
        return text
    return f"{text} = {formula.forward(node.op, values, node.attrs)}"


def _facts(
    node: BaseNode, specs: Sequence[Spec], spec: Spec, names: Sequence[str]
) -> list[tuple[str, str]]:
    """What the inspector says of a node, apart from its values."""
    facts = [("formula", formula.forward(node.op, names, node.attrs))] if names else []
    all_specs = (spec, *specs)
    for i, name in enumerate(names):
        derivative = formula.local(node.op, i, all_specs, node.attrs, (node.op.name, *names))
        if derivative:
            facts.append(("local", f"∂/∂{name}: {derivative}"))
    if isinstance(node, TapeNode):
        parts = zip((node.op.name, *names), node.kept.parts, strict=False)
        facts.append(("saved", ", ".join(dict.fromkeys(n for n, part in parts if part == 2))))
    facts.append(("line", node.where.label))
    return facts


def _code(node: BaseNode) -> tuple[str, str, str, str]:
    """The line that made the node, split around the expression itself."""
    where = node.where
    return (where.place, *where.parts)


def event_film(picture: Picture, events: Iterable[Event]) -> Film:
    """The film of recorded events in the order in which they happened.

    A contribution that was built as a node has no value yet, so it makes no frame; its nodes do.
    """
    director = Director(picture)
    ids = picture.ids
    director.show_leaves((t, t.data) for t in ids if isinstance(t, Tensor))
    for event in events:
        node = event.node
        if node is None or node not in ids:
            continue
        if event.kind == "built" and isinstance(node, Node):
            director.built(node)
        elif event.kind == "read" and isinstance(node, Node):
            director.read(node, event.value)
        elif event.kind in ("run", "called"):
            constants = [(node, i) for i in range(len(event.operands)) if (node, i) in ids]
            director.show_leaves((key, event.operands[key[1]]) for key in constants)
            director.run(node, event.value, event.operands)
        elif (
            event.kind == "contributed"
            and event.source in ids
            and isinstance(event.source, TapeNode)
        ):
            upstream, part = event.operands
            if isinstance(part, Parts):  # handed on to the operator with several results
                continue
            if not any(t.gradients for t in director.tracks.values()):
                director.seed(event.source, upstream)
            director.contributed(event.source, node, event.position, upstream, part, event.value)
    return director.film()


def _worth(x: Any, values: Mapping[Any, Any]) -> Any:
    """The value of a gradient node, or of one for each of several results."""
    if isinstance(x, Parts):
        return Parts({key: values[part] for key, part in x.parts.items()})
    return values[x]


def static_film(
    picture: Picture,
    nodes: Sequence[Node],
    built: Sequence[Event],
    ran: Sequence[Event],
    extra: int = 0,
) -> Film:
    """The film of a static graph: every node is born, then the fed graph runs.

    `built` holds the contributions noted while the gradient nodes were built, `ran` the run of
    the forward nodes and the gradient nodes, `extra` how many gradient nodes there are.
    """
    director = Director(picture)
    for node in nodes:
        director.built(node)
    if extra:
        director.add(Frame(row("step_gradients", count=extra)))
    values: dict[Any, Any] = {}
    for event in ran:
        if event.kind in ("read", "run"):
            values[event.node] = event.value
        if event.kind == "read" and isinstance(event.node, Node) and event.node in picture.ids:
            director.read(event.node, event.value)
        elif event.kind == "run" and event.node in picture.ids:
            director.run(event.node, event.value, event.operands)
    for event in built:
        if event.node not in picture.ids or event.source is None or event.source not in picture.ids:
            continue
        if isinstance(event.operands[1], Parts):
            continue
        upstream, part, total = (_worth(x, values) for x in (*event.operands, event.value))
        if not any(t.gradients for t in director.tracks.values()):
            director.seed(event.source, upstream)
        director.contributed(event.source, event.node, event.position, upstream, part, total)
    return director.film()
