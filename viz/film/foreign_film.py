"""Films of other engines, made from their own event logs; ours computes nothing here.

An event is (kind, node, what): ("built", node, the nodes that it reads), ("run", node, (its value,
the values that it read)), and ("passed back", node, (the node that it came through, the share, the
sum so far)). A seed other than 1 is one that comes through the node itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from viz.film.film import BUILT, GRADIENT, RUN, Facts, Film, Flow, Frame, Mark, Track, operand
from viz.picture import formula
from viz.picture.foreign_engines import ancestors_of, is_foreign, other_picture
from viz.picture.summary import summarize
from viz.words.text import Pair, row

OtherEvent = tuple[str, Any, Any]
COUNTED = {BUILT: "done_built", RUN: "done_run", GRADIENT: "done_parts"}


def other_film(
    outputs: Sequence[Any], names: Mapping[int, str], recorded: Sequence[OtherEvent] | None = None
) -> Film:
    """Return the film of these nodes, and of those they depended on when they were built.

    Without `recorded`, `EVENTS` of the module that defines the class is used. A dynamic graph
    reports the run of a node just after it was built; one that ran unrecorded has a value from the
    start, as a leaf has.
    """
    recorded = vars_of(outputs[0]).get("EVENTS", ()) if recorded is None else recorded
    events = [e for e in recorded if is_foreign(e[1])]
    read = {node: tuple(what) for kind, node, what in events if kind == "built"}
    nodes = ancestors_of(outputs, read)
    return _ForeignDirector(nodes, outputs, names).film([e for e in events if e[1] in nodes])


def vars_of(node: Any) -> Mapping[str, Any]:
    """Return the global names of the module that defines the class of a node."""
    found: Mapping[str, Any] = getattr(type(node).__init__, "__globals__", {})
    return found


class _ForeignDirector:
    """Frames, one for each thing that happened."""

    def __init__(
        self, nodes: Mapping[Any, tuple[Any, ...]], outputs: Sequence[Any], names: Mapping[int, str]
    ) -> None:
        self.nodes, self.picture = nodes, other_picture(nodes, outputs, names)
        self.ends = [id(node) for node in outputs]
        self.ids = self.picture.ids
        self.labels = {n.id: n.label for n in self.picture.nodes}
        self.edges = {(e.target, e.index): e.id for e in self.picture.edges}
        self.tracks = {n.id: Track() for n in self.picture.nodes}
        leaves = (Mark(BUILT, self.ids[x], "input") for x in nodes if not nodes[x])
        self.frames = [Frame(row("step_start"), marks=tuple(leaves))]
        self.sent: Counter[tuple[Any, Any]] = Counter()  # shares from one node to another
        self.totals: dict[Any, Any] = {}  # the gradient of a node so far
        for node in nodes:
            if not nodes[node]:
                self.tracks[self.ids[node]].born = 0
                self._show_value(node, 0, getattr(node, "value", None))

    def film(self, events: Sequence[OtherEvent]) -> Film:
        at_once = False  # in a dynamic graph, a node is recorded just before it runs
        for (kind, node, what), after in zip(events, [*events, ("", None, None)][1:], strict=True):
            if kind == "built":
                at_once = self.picture.kind == "dynamic" and after[:2] == ("run", node)
                if not at_once:
                    self._built(node)
            elif kind == "run" and self.nodes.get(node):
                self._ran(node, at_once, *what)
                at_once = False
            elif kind == "passed back" and not is_foreign(what[1]):
                if what[0] in self.nodes:
                    self._pass_gradient(node, *what)
                elif id(node) in self.ends:  # from what was computed of it, which is not drawn
                    self._seed(node, what[2], "step_seeded")
        marks = [mark for frame in self.frames for mark in frame.marks if mark.sort == "operator"]
        counted = Counter(mark.clock for mark in marks)
        parts = [row(key, count=counted[clock]) for clock, key in COUNTED.items() if counted[clock]]
        counts = ", ".join(pair[0] for pair in parts), "，".join(pair[1] for pair in parts)
        self.frames.append(Frame(row("step_done", counts=counts) if parts else row("step_nothing")))
        return Film(self.picture, tuple(self.frames), self.tracks)

    def _add_frame(
        self, node: Any, caption: Pair, flows: Mapping[str, Flow], marks: Sequence[Mark]
    ) -> int:
        self.frames.append(Frame(caption, (self.ids[node],), flows, marks=tuple(marks)))
        return len(self.frames) - 1

    def _show_value(self, node: Any, frame: int, value: Any) -> None:
        """Show a value at a node from this frame on, unless it was shown before."""
        known = self.tracks[self.ids[node]].values
        summary = summarize(value)
        if value is not None and (not known or known[-1][1] != summary):
            known.append((frame, summary))

    def _facts(self, node: Any) -> Facts:
        names = [self.labels[self.ids[x]] for x in self.nodes[node]]
        return Facts(formula.forward(node.op, names, {}), tuple(names))

    def _built(self, node: Any) -> None:
        i, facts = self.ids[node], self._facts(node)
        caption = row("step_built_open", name=self.labels[i], formula=facts.formula)
        self.tracks[i].born = self._add_frame(node, caption, {}, [Mark(BUILT, i)])
        self.tracks[i].facts = facts

    def _ran(self, node: Any, at_once: bool, value: Any, operands: Sequence[Any]) -> None:
        i, facts = self.ids[node], self._facts(node)
        track, told = self.tracks[i], {"formula": facts.formula, "value": summarize(value).text}
        caption = row("step_both" if at_once else "step_run", name=self.labels[i], **told)
        flows = {self.edges[i, k]: Flow(summarize(x)) for k, x in enumerate(operands)}
        marks = [Mark(BUILT, i), Mark(RUN, i)][not at_once :]
        frame = self._add_frame(node, caption, flows, marks)
        track.born, track.facts = frame if at_once else track.born, facts
        track.read.append((frame, tuple(summarize(x).text for x in operands)))
        self._show_value(node, frame, value)
        for x, given in zip(self.nodes[node], operands, strict=True):
            self._show_value(x, frame, given)  # one that was fed shows its value when it is read

    def _seed(self, node: Any, value: Any, key: str) -> None:
        i, summary = self.ids[node], summarize(value)
        caption = row(key, name=self.labels[i], value=summary.text)
        frame = self._add_frame(node, caption, {}, [Mark(GRADIENT, i, "seed")])
        self.tracks[i].gradients.append((frame, summary))
        self.totals[node] = value

    def _pass_gradient(self, node: Any, source: Any, share: Any, total: Any) -> None:
        i, s = self.ids[node], self.ids[source]
        if source is node:
            return self._seed(node, share, "step_seeded")
        if not self.tracks[s].gradients:
            self._seed(source, np.ones_like(source.value), "step_seed")
        before = self.tracks[i].gradients[-1:]
        part, whole = summarize(share), summarize(total)
        about = {"source": self.labels[s], "name": self.labels[i]}
        flow = Flow(part, back=True)
        if before and not np.array_equal(share, total):
            flow = replace(flow, before=operand(before[0][1].text), after=whole.text)
            sums = {"before": flow.before, "part": operand(part.text), "total": whole.text}
            added = np.allclose(np.add(self.totals[node], share), total)  # a learner's may do else
            caption = row("step_accumulated" if added else "step_not_added", **about, **sums)
        else:
            caption = row("step_share", **about, part=part.text)
        places = [k for k, x in enumerate(self.nodes[source]) if x is node]
        edge = self.edges[s, places[self.sent[source, node] % len(places)]]
        self.sent[source, node] += 1
        frame = self._add_frame(node, caption, {edge: flow}, [Mark(GRADIENT, i)])
        self.tracks[i].gradients.append((frame, whole))
        self.totals[node] = total
