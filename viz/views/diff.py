"""`viz.diff`: two graphs laid over each other, what differs, and the values of both."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.compiler import Program
from minigrad.core import BaseNode
from minigrad.diagnostics.errors import GraphError
from minigrad.dynamic.tensor import Tensor
from minigrad.hybrid.tracing import Function, Traced
from minigrad.interop.onnx.reader import from_onnx
from minigrad.ops import state
from minigrad.static import Graph, Node, without_listeners
from minigrad.static.run import Interpreter
from viz.film.replay import values as tape_values
from viz.page.board import Board
from viz.page.scenes import Panel, Scene
from viz.picture.aligning import alignment
from viz.picture.picture import Picture, picture
from viz.picture.summary import Summary, change, difference_text, summarize
from viz.picture.theme import KINDS
from viz.picture.union import renamed, union
from viz.views.passes import MOST, drawn_at_random, fates, first
from viz.words.text import ROWS, Pair, row

__all__ = ["diff"]


def diff(a: Any, b: Any, feed_dict: Mapping[str, Any] | None = None) -> Board:
    """Show two graphs on a board, and their difference: what is removed, added and changed.

    a, b: graphs, nodes, tensors, programs, traced functions, or the path of a file that
    `graph.save` or an ONNX exporter wrote. Both are run on the same inputs, and the values laid
    over them: a tape with its own, a static graph with `feed_dict` (by name), or with numbers drawn
    at random; variables have their first values. Raises TypeError for other things.

    >>> import minigrad as mg, viz
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", shape=())
    ...     mine, solution = mg.tanh(x * 2), mg.sigmoid(x * 3)
    >>> print(viz.diff(mine, solution, {"x": 1}).scenes[-1].caption[0])
    Difference: 1 removed, 1 new, 1 changed, 1 with another value, 1 the same
    """
    left, right = _GraphSide.of(a, feed_dict), _GraphSide.of(b, feed_dict)
    pairs = alignment(left.picture, right.picture)
    names = {n.id: n.id for n in left.picture.nodes}
    fresh = (f"n{i}" for i in range(len(names) + 1, len(names) + len(right.picture.nodes) + 1))
    called = {n.id: pairs.get(n.id) or next(fresh) for n in right.picture.nodes}
    before, after = renamed(left.picture, names), renamed(right.picture, called)
    whole = union(before, after)
    changes = _changes(left, right, pairs)
    marks = fates(before, after, {called[i]: "changed" for i in changes})
    values = {called[i]: value for i, value in right.values.items()}
    own, other = ({i: summarize(x) for i, x in v.items()} for v in (left.values, values))
    scenes = [_panel_of("first", before, own, whole), _panel_of("second", after, other, whole)]
    differ = [i for i, value in values.items() if not _same(left.values.get(i), value)]
    held = {**own, **other, **{i: change(own[i], other[i]) for i in differ}}
    notes = {i: value.short for i, value in held.items()}
    panel = Panel(ROWS["diff_both"], whole, marks, notes, held)
    kinds = [marks.get(n.id, "value" if n.id in differ else "same") for n in whole.nodes]
    follow = [f"{n.label} {held[n.id].short}" for n in whole.nodes if n.id in {*differ} - {*marks}]
    others = [n for n in whole.nodes if marks.get(n.id) in ("gone", "new")]
    named = [row("diff_change", name=ROWS[f"mark_{marks[n.id]}"], what=n.label) for n in others]
    facts = [*first(named), *_change_lines(right.picture, changes), _verdict(left, right)]
    if follow:
        facts.insert(-1, row("diff_follow", what=", ".join(follow[:MOST])))
    caption = _kind_counts(kinds) if {*kinds} - {"same", "value"} else ROWS["diff_equal"]
    scenes.append(Scene(caption, (panel,), tuple(facts)))
    return Board(scenes, slider=ROWS["diff_slider"], heading=ROWS["page_diff"], moves=True)


def _kind_counts(kinds: Sequence[str]) -> Pair:
    """Count the nodes of each kind that there is, in the words of the legend."""
    words = ("mark_gone", "mark_new", "mark_changed", "mark_moved", "diff_value", "diff_same")
    told = [(kinds.count(key[5:]), ROWS[key]) for key in words if key[5:] in kinds]
    english = ", ".join(f"{count} {word[0]}" for count, word in told)
    return row("diff_step", all=(english, "，".join(f"{word[1]} {n} 个" for n, word in told)))


def _panel_of(which: str, side: Picture, held: Mapping[str, Summary], whole: Picture) -> Scene:
    """Return a panel with one graph and its results; constants are labelled with their values."""
    shown = {n.id: held[n.id] for n in side.nodes if n.id in held and held[n.id].text != n.label}
    ends = [n for n in side.nodes if n.is_output and n.id in held]
    facts = tuple(row("diff_output", name=n.label, value=held[n.id].text) for n in ends)
    panel = Panel(ROWS[f"diff_{which}_panel"], side, held=shown, among=whole)
    return Scene(row(f"diff_{which}", nodes=len(side.nodes)), (panel,), facts)


@dataclass
class _GraphSide:
    """One of the two graphs: its picture, what its nodes hold, what they are made with."""

    picture: Picture
    values: dict[str, Any] = field(default_factory=dict)
    attrs: dict[str, dict[str, Any]] = field(default_factory=dict)
    inputs: tuple[Any, ...] = ()
    outputs: list[Any] = field(default_factory=list)

    @classmethod
    def of(cls, obj: Any, feed: Mapping[str, Any] | None) -> _GraphSide:
        obj = _loaded(obj)
        side = cls(picture(obj))
        for key, i in side.picture.ids.items():
            if isinstance(key, BaseNode):
                side.attrs[i] = {k: v for k, v in key.attrs.items() if k not in ("value", "role")}
        nodes = [x for x in side.picture.ids if isinstance(x, Node)]
        side._run(nodes, feed or {}) if nodes else side._replay(obj)
        return side

    def _replay(self, obj: Any) -> None:
        tensors = list(obj) if isinstance(obj, (list, tuple)) else [obj]
        ids = self.picture.ids
        held: dict[Any, Any] = dict(tape_values(tensors))
        held.update((t, t._array) for t in ids if isinstance(t, Tensor))
        self.values = {ids[x]: value for x, value in held.items() if x in ids}
        self.inputs = tuple(np.asarray(t._array).tobytes() for t in ids if isinstance(t, Tensor))
        self.outputs = [np.asarray(t._array) for t in tensors]

    def _run(self, nodes: list[Node], feed: Mapping[str, Any]) -> None:
        """Run a static graph on inputs that depend on their places and shapes alone."""
        random = np.random.default_rng(0)
        feeds = {}
        for n in nodes:
            if n.op is state.placeholder:
                feeds[n] = np.asarray(feed.get(n.name, drawn_at_random(n, random)), n.dtype)[()]
        kept = {n: n.attrs["value"] for n in nodes if n.op is state.variable}
        outputs = {n.id for n in self.picture.nodes if n.is_output}
        ends = [n for n in nodes if self.picture.ids[n] in outputs]
        with without_listeners(), mg.record(values=True) as log:
            try:
                self.outputs = [np.asarray(y) for y in Interpreter(ends)(feeds, kept)]
            except GraphError:  # it is shown without values
                self.outputs = []
        events = [e for e in log.events if e.kind in ("run", "read") and e.node in self.picture.ids]
        self.values = {self.picture.ids[e.node]: e.value for e in events}
        constants = {self.picture.ids[n]: n for n in nodes if n.op is state.constant}
        self.values |= {i: n.attrs["value"] for i, n in constants.items()}
        self.inputs = tuple(np.asarray(x).tobytes() for x in feeds.values())


def _loaded(obj: Any) -> Any:
    """Load the graph from a file or an object; return other things as they are."""
    if isinstance(obj, (str, os.PathLike)):
        path = Path(obj)
        obj = from_onnx(path) if path.suffix == ".onnx" else mg.load_graph(path)
    if isinstance(obj, (Function, Traced, Program)):
        obj = obj.graph
    return list(obj.nodes) if isinstance(obj, Graph) and not obj.outputs else obj


def _changes(left: _GraphSide, right: _GraphSide, pairs: Mapping[str, str]) -> dict[str, str]:
    """Return what differs for each box of the second graph that the first has in another form."""
    one, other = ({n.id: n for n in side.picture.nodes} for side in (left, right))
    found = {}
    for b, a in pairs.items():
        old, new = left.attrs.get(a, {}), right.attrs.get(b, {})
        said = [
            f"{k} {old.get(k)!r} → {new.get(k)!r}"
            for k in dict.fromkeys([*old, *new])
            if repr(old.get(k)) != repr(new.get(k)) and k != "shape"
        ]
        if one[a].shape != other[b].shape:
            said.append(f"{one[a].shape} → {other[b].shape}")
        if one[a].dtype != other[b].dtype:
            said.append(f"{one[a].dtype} → {other[b].dtype}")
        leaf = not one[a].inputs and one[a].kind in ("constant", "parameter", "variable")
        if leaf and not said and not _same(left.values.get(a), right.values.get(b)):
            said.append(change(*map(summarize, (left.values.get(a), right.values.get(b)))).short)
        if said:
            found[b] = ", ".join(said)
    return found


def _same(one: Any, other: Any) -> bool:
    real = all(np.asarray(x).dtype.kind == "f" for x in (one, other))
    return one is None or other is None or np.array_equal(one, other, equal_nan=real)


def _change_lines(drawn: Picture, changes: Mapping[str, str]) -> list[Pair]:
    labels = {n.id: KINDS[n.kind].label if n.kind == "constant" else n.label for n in drawn.nodes}
    return first([row("diff_change", name=labels[i], what=what) for i, what in changes.items()])


def _verdict(left: _GraphSide, right: _GraphSide) -> Pair:
    alike = len(left.outputs) == len(right.outputs) and left.inputs == right.inputs
    if not alike or not left.outputs:
        return ROWS["diff_inputs"]
    outputs = [*zip(left.outputs, right.outputs, strict=True)]
    if any(a.shape != b.shape for a, b in outputs):
        return ROWS["diff_shapes"]
    return row("diff_outputs", outputs=len(outputs), first=difference_text(outputs))
