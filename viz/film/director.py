"""The director: makes frames of what happened, one method for each kind of event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from minigrad.core import BaseNode, Spec
from minigrad.core.events import phase_of
from minigrad.diagnostics.errors import GraphError
from minigrad.dynamic.tape import TapeNode
from minigrad.dynamic.tensor import Tensor
from minigrad.ops.parts import Parts
from minigrad.static import Node
from viz.film.facts import code_of, facts_of, filled_formula, spec_of
from viz.film.film import BUILT, GRADIENT, RUN, Film, Flow, Frame, Mark, Track, operand
from viz.film.shares import BackwardPasses, share, share_caption
from viz.picture import formula
from viz.picture.boxes import GIVEN, PictureNode, paths
from viz.picture.cards import CONTROL, plain
from viz.picture.picture import Picture, number
from viz.picture.summary import Summary, summarize
from viz.picture.theme import KINDS, MARKS
from viz.words.text import ROWS, Pair, listed, row
from viz.words.user import OWN, user

# What the last sentence counts, in the order in which it is said, and whether zero is said, too.
COUNTED = {
    (BUILT, "operator"): ("done_built", True),
    (BUILT, "gradient"): ("done_gradients", False),
    (RUN, "operator"): ("done_run", True),
    (RUN, "gradient"): ("done_gradients_run", False),
    (GRADIENT, "operator"): ("done_parts", False),
}
NOTHING_KNOWN: Mapping[TapeNode, Any] = MappingProxyType({})
INSIDE = Flow(Summary("∂", ("∂", "∂"), text="∂"), back=True)  # on its way through a body
Rounds = tuple[Summary | None, Mapping[str, Summary]]  # a gradient as a sum; the first of states
INSIDE_LIMIT = 300  # frames that tell of the insides of branches, loops and functions


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
        self.known: dict[int, tuple[Any, Summary]] = {}  # a value by its id, with its summary
        self.results: dict[tuple[str, ...], Any] = {}
        self.counts: Counter[tuple[str, str]] = Counter()  # by clock and sort
        self.reached = BackwardPasses()  # nodes with a gradient of this backward pass
        self.insides: dict[str, list[tuple[Node, str]]] = {}  # node -> what its bodies hold
        for key, i in picture.ids.items():
            if i[0] == "b":
                self.insides.setdefault(self._owner(i), []).append((key, i))
        self.given: tuple[Mark, ...] = ()  # constants that are there with the next operator
        self.inside = 0  # frames inside bodies
        self.bad: Pair | None = None  # where the first NaN or infinity came from
        self.gone: tuple[str, ...] = ()  # the nodes freed in the last frame, if it tells of that
        self.rounds: Rounds = None, {}  # of a loop that passes back
        self.through: list[Pair] = []  # what got a gradient, and through which branch or loop

    def _owner(self, i: str) -> str:
        """Return the node outside all bodies that contains a node in a body."""
        owners = self.picture.owners
        while i[0] == "b":
            around = reversed(paths(self.nodes[i].group))
            i = next(owners[path] for path in around if path in owners)
        return i

    def add(self, frame: Frame) -> int:
        self.count(frame.marks)
        ticks = {m.clock: self.counts[m.clock, m.sort] for m in frame.marks if m.sort == "operator"}
        self.frames.append(replace(frame, ticks=ticks))
        self.gone = ()
        return len(self.frames) - 1

    def count(self, marks: Iterable[Mark]) -> None:
        self.counts.update((mark.clock, mark.sort) for mark in marks)

    def label(self, key: Any) -> str:
        return self.nodes[self.picture.ids[key]].label

    def failed(self, i: str, node: BaseNode | None, error: Exception) -> Film:
        """Return the film of a run that stopped, at node `i` if drawn; its last frame says why."""
        caption = row("step_failed", message=_message(error))
        where = {} if node is None else code_of(node)
        notes = {i: MARKS["failed"].sign} if i else {}
        self.add(Frame(caption, (i,) if i else (), notes=notes, failed=i, **where))
        return Film(self.picture, tuple(self.frames), self.tracks, self.results, error=error)

    def film(self) -> Film:
        """Return the finished film, with a last frame that counts what happened."""
        inside = "_inside" * any(INSIDE in frame.flows.values() for frame in self.frames)
        counts = [
            row(key + inside if key + inside in ROWS else key, count=self.counts[kind])
            for kind, (key, always) in COUNTED.items()
            if always or self.counts[kind]
        ]
        alike = len({*self.through}) == 1 and len(self.through) == self.counts[GRADIENT, "operator"]
        way = self.through[0] if alike else ("", "")
        said = listed([listed(counts, ", ", "，"), way], "")
        self.add(Frame(self.bad or row("step_done", counts=said)))
        return Film(self.picture, tuple(self.frames), self.tracks, self.results, through=way)

    # what was there before

    def describe(self, values: Mapping[TapeNode, Any] = NOTHING_KNOWN) -> None:
        """Show all nodes at once, without the steps that made them.

        `values` are what nodes of a tape hold.
        """
        for key, i in self.picture.ids.items():
            track = self.tracks[i]
            track.born = 0
            if isinstance(key, BaseNode) and key.inputs:
                names = [self.nodes[j].label for j in self.nodes[i].inputs]
                track.facts = facts_of(key, spec_of(key), [spec_of(x) for x in key.inputs], names)
                if isinstance(key, TapeNode) and key.saved is None:  # a backward pass used it
                    track.facts = replace(track.facts, kept=None)
            for value in _known_value(key, values):
                track.values.append((0, summarize(value)))
            if isinstance(key, Tensor) and key.grad is not None:
                track.gradients.append((0, summarize(key.grad._array)))
        for key, i in self.picture.ids.items():
            operands = [self.tracks[j].values for j in self.nodes[i].inputs]
            if isinstance(key, TapeNode) and all(operands):
                self.tracks[i].read.append((0, tuple(known[0][1].text for known in operands)))

    def show_leaves(self, keys: Iterable[tuple[Any, Any]]) -> None:
        """Show leaves of a tape with their values.

        Tensors exist before the first step, constants and the tensors of another graph when the
        operator that reads them is created.
        """
        for key, value in keys:
            i = self.picture.ids.get(key, "")
            track, step = self.tracks.get(i, Track()), len(self.frames)
            gone = track.freed is not None and track.life(step) is track
            if not i or (track.born is not None and not gone):
                continue
            mark = Mark(BUILT, i, "input")
            if self.nodes[i].kind == "constant" or step > 1:
                self.given = (*self.given, mark)
            else:
                step = 0
                self.frames[0] = replace(self.frames[0], marks=(*self.frames[0].marks, mark))
            track.born = step if track.born is None else track.born
            track.values.append((step, summarize(value)))

    def next_call(self) -> None:
        """Add a step in which the next call is given its tensors, once those before are freed."""
        if self.gone and self.given:
            given, self.given = self.given, ()
            self.add(Frame(row("step_given"), tuple(mark.node for mark in given), marks=given))

    def _caption(self, i: str, key: str, **fields: object) -> Pair:
        """Return the caption of a step; in a body it says where the step is."""
        what, group = row(key, **fields), self.nodes[i].group.rpartition("/")[2]
        op, _, part = group.rpartition(": ")
        key, place = (part, op) if part in ("body", "test") else ("inside", group)
        return row(f"step_{key}", place=place, what=what) if i[0] == "b" and group else what

    def _body_limit_reached(self, i: str) -> bool:
        """Return whether this is a step in a body of which enough steps were shown."""
        self.inside += i[0] == "b"
        return i[0] == "b" and self.inside > INSIDE_LIMIT

    # one method for each kind of step

    def _sort(self, node: BaseNode, box: PictureNode) -> str:
        """Return whether a node's marks are of sort "input", "gradient" or "operator"."""
        if box.kind in GIVEN:
            return "input"
        return "gradient" if isinstance(node, Node) and phase_of(node) == "backward" else "operator"

    def built(self, node: Node) -> None:
        """Add a step in which a node of a static graph is built, and what it has inside."""
        i = self.picture.ids[node]
        track, box = self.tracks[i], self.nodes[i]
        operands = [self.label(x) for x in node.inputs if x in self.picture.ids]
        back = self._sort(node, box) == "gradient"
        known = "_back" if back else "_open" * (node.shape is None)
        about = {"kind": KINDS[box.kind].label, "name": box.label}
        if box.kind == "constant":
            caption = row("step_constant", **about)
        elif box.kind in GIVEN:
            caption = row(f"step_declared{known}", **about)
        else:
            text = formula.forward(node.op, operands, node.attrs) if operands else node.op.name
            caption = row(f"step_built{known}", name=box.label, formula=text)
        born = [(node, i), *self.insides.get(i, ())]
        marks = tuple(Mark(BUILT, j, self._sort(x, self.nodes[j])) for x, j in born)
        track.born = self.add(Frame(caption, (i,), {}, marks=marks, **code_of(node)))
        track.facts = facts_of(node, node.spec, [x.spec for x in node.inputs], operands)
        for inner, j in born[1:]:
            names, specs = [self.label(x) for x in inner.inputs], [x.spec for x in inner.inputs]
            self.tracks[j].born = track.born
            self.tracks[j].facts = facts_of(inner, inner.spec, specs, names)

    def gradients(self, count: int, contributed: Iterable[Any]) -> None:
        """Add a step in which `count` gradient nodes are built for these contributions."""
        contributions: dict[BaseNode, list[int]] = {}
        shown: dict[str, None] = {}
        for event in contributed:
            ids = [self.picture.ids.get(x) for x in (event.source, event.node)]
            shown.update(dict.fromkeys(filter(None, ids)))
            if ids[0]:
                contributions.setdefault(event.source, []).append(event.position)
        marks = tuple(Mark(BUILT, i, "gradient") for i in shown)
        key = "step_gradients_more" if self.counts[RUN, "operator"] else "step_gradients"
        caption = row(key, count=count)
        step = self.add(Frame(caption, tuple(shown), marks=marks, planned=count))
        self.counts[BUILT, "gradient"] += count - len(marks)
        for node, indices in contributions.items():
            track = self.tracks[self.picture.ids[node]]
            specs, names = [spec_of(x) for x in node.inputs], track.facts.operands
            track.gradients_built = step
            if len(names) == len(specs):
                track.facts = facts_of(node, spec_of(node), specs, names, indices)

    def read(self, node: Node, value: Any) -> None:
        """Add a step in which a value enters the run: fed, or from a variable or a constant."""
        i = self.picture.ids[node]
        self.values[node] = value
        summary, known, box = summarize(value), self.tracks[i].values, self.nodes[i]
        if i[0] == "b":  # a constant in a body: there at the next step, and nothing to tell
            if not known or known[-1][1] != summary:
                known.append((len(self.frames), summary))
            return
        key = "step_read_constant" if box.label == summary.text else "step_read"
        caption = self._caption(i, key, name=box.label, value=summary.text)
        sort = self._sort(node, box)  # a result of a loop is an operator
        frame = self.add(Frame(caption, (i,), {}, marks=(Mark(RUN, i, sort),), **code_of(node)))
        known.append((frame, summary))

    def began(self, node: BaseNode, number: int) -> None:
        """Add a step in which a loop in the graph begins an iteration."""
        i = self.picture.ids[node]
        if not self._body_limit_reached("b" + i):
            caption = self._caption(i, "step_loop", name=self.label(node), number=number + 1)
            self.add(Frame(caption, (i,)))

    def run(self, node: BaseNode, value: Any, operands: Sequence[Any]) -> None:
        """Add a step in which a kernel runs; a node of the tape is created at the same moment."""
        i, ways = self.picture.ids[node], self.edge_ids
        at_once, box, track = isinstance(node, TapeNode), self.nodes[i], self.tracks[i]
        self.values[node], self.operands[node] = value, tuple(operands)
        sort = self._sort(node, box)
        marks = (Mark(BUILT, i, sort), Mark(RUN, i, sort))[not at_once :]
        if self._body_limit_reached(i):
            self.count(marks)
            return
        summary = self._summary(value)
        names = [self.nodes[x].label for x in box.inputs]
        text = filled_formula(node, names, operands)
        key = "step_both" if at_once else "step_run_back" if sort == "gradient" else "step_run"
        caption = self._caption(i, key, name=box.label, formula=text, value=summary.said)
        carried = [self._summary(x) for x in operands or [None] * len(node.inputs)]
        if summary.bad and not any(x.bad for x in carried):
            summary = replace(summary, origin=True)
            if not self.bad:
                self.bad = caption = _nan_message(node, box.label, operands, value)
        flows = {ways[i, k]: Flow(x) for k, x in enumerate(carried) if (i, k) in ways}
        marks, self.given = (*self.given, *marks), ()
        frame = self.add(Frame(caption, (i,), flows, marks=marks, **code_of(node)))
        track.values.append((frame, summary))
        track.filled.append((frame, f"{text} = {summary.text}"))
        track.read.append((frame, tuple(x.text for x in carried)))
        self._show_arguments(node, operands, frame)
        if at_once:
            track.born = frame if track.freed is None else track.born
            specs = [spec_of(x) for x in operands or node.inputs]
            track.facts = facts_of(node, spec_of(node if value is None else value), specs, names)

    def _summary(self, value: Any) -> Summary:
        """Return the summary of a value, made once; values stay alive, as in the recording."""
        if id(value) not in self.known:
            self.known[id(value)] = value, summarize(value)
        return self.known[id(value)][1]

    def _show_arguments(self, node: BaseNode, operands: Sequence[Any], frame: int) -> None:
        """Show the arguments of a body when an operator in it reads them."""
        for x, value in zip(node.inputs, operands, strict=False):
            i = self.picture.ids.get(x) if isinstance(x, Node) else None
            if i and i[0] == "b" and self.nodes[i].kind == "input":
                summary, known = summarize(value), self.tracks[i].values
                if not known or known[-1][1] != summary:
                    known.append((frame, summary))

    def freed(self, node: BaseNode) -> None:
        """Add a step in which a node is freed; nodes that are freed together share one step."""
        together = (*self.gone, self.picture.ids[node])
        if self.gone:
            self.frames.pop()
        names = plain(", ".join(dict.fromkeys(self.nodes[i].label for i in together)), 60)
        frame = self.add(Frame(row("step_freed", names=names), together))
        self.gone = together
        for i in together:
            self.tracks[i].freed = frame

    def seed(self, key: Any, value: Any) -> None:
        """Add the step in which backward begins: the gradient of the output for itself."""
        i = self.picture.ids[key]
        self.reached.seeded(i)
        summary = summarize(value)
        caption = row("step_seed", name=self.nodes[i].label, value=summary.text)
        frame = self.add(Frame(caption, (i,), {}, marks=(Mark(GRADIENT, i, "seed"),)))
        self.tracks[i].gradients.append((frame, summary))
        self.tracks[i].shares.append((frame, ()))
        self._keep(i, value)

    def _through(self, source: str, owner: str, flow: Flow, upstream: Any) -> dict[str, Flow]:
        """Note what is known in the branch that ran, or in a loop; return what flows through."""
        after, before = {source}, {owner}
        inside = [e for e in self.picture.edges if e.id[0] in "dl" and "float" in e.dtype]
        inside = [e for e in inside if self.tracks[e.target].values]
        for e in inside * 2:  # once more round a loop
            after |= {e.target} if e.source in after and self._owner(e.target) == owner else set()
        for e in reversed(inside * 2):
            before |= {e.source} if e.target in before and e.source in after else set()
        ways = [e for e in inside if e.source in before and e.target in before & after]
        given, step = Parts.of(upstream).parts, len(self.frames)
        groups = {self.nodes[e.source].group for e in ways if e.target == owner} - {""}
        for group in groups if self.nodes[owner].op in CONTROL else ():
            arm = group.partition(": ")[2].partition("/")[0]
            way = row("through", name=self.nodes[source].label, place=row(f"through_{arm}"))
            self.through.append(way)
        entered = {**self.rounds[1], **{e.target: flow.value for e in ways if e.source == source}}
        for e in ways:
            if e.target in entered:
                self.tracks[e.target].gradients.append((step, entered[e.target]))
            elif e.target == owner and -1 - e.index in given:
                self.tracks[e.source].gradients.append((step, summarize(given[-1 - e.index])))
        return {e.id: flow if e.source == source else INSIDE for e in ways}

    def _keep(self, i: str, gradient: Any) -> None:
        """Note the gradient of a leaf, one of the results."""
        box = self.nodes[i]
        if not box.inputs and gradient is not None:
            found = np.asarray(getattr(gradient, "data", gradient))
            self.results["gradient", box.group, box.label] = found

    def handed_on(self, source: BaseNode, target: Any) -> None:
        """Note that a gradient reached a node with several results through one of them."""
        if self.picture.ids[source] in self.reached:
            self.reached.add(self.picture.ids[target])

    def contributed(
        self, source: BaseNode, target: Any, index: int, upstream: Any, part: Any, total: Any
    ) -> None:
        """Add a step in which an operand gets upstream × local, added to its gradient so far."""
        i, s = self.picture.ids[target], self.picture.ids[source]
        track = self.tracks[i]
        self.reached.before((s, index))
        first = i not in self.reached if part is None else total is part  # of this pass
        if s not in self.reached:
            self.seed(source, upstream)
        if i not in self.reached and not first:  # an output that another one reads
            self.seed(target, np.subtract(*(getattr(x, "data", x) for x in (total, part))))
        self.reached.add(i, (s, index))
        known = (self.values[source], *self.operands[source]) if source in self.operands else ()
        names = [self.nodes[x].label for x in (s, *self.nodes[s].inputs)]
        flow = share(source, index, known, names, (upstream, part), self.rounds[0])
        if not first:
            before = operand(track.gradients[-1][1].text)
            flow = replace(flow, before=before, after=summarize(total).text)
        caption = share_caption(flow, part, source=self.nodes[s].label, name=self.nodes[i].label)
        edge = self.edge_ids.get((s, index))
        flows = {edge: flow} if edge else self._through(i, s, flow, upstream)
        inside = [e.target for e in self.picture.edges if e.id in flows and e.source == i]
        marks = (Mark(GRADIENT, i), *(Mark(GRADIENT, x, "inside") for x in inside if not edge))
        frame = self.add(Frame(caption, (i,), flows, marks=marks, **code_of(source)))
        now, last = summarize(total), None if first else track.gradients[-1][1]
        origin = last.origin if last and last.bad else not summarize(upstream).bad
        track.gradients.append((frame, replace(now, origin=now.bad and origin)))
        earlier = () if first or not track.shares else track.shares[-1][1]
        track.shares.append((frame, (*earlier, (self.nodes[s].label, flow.value.text))))
        self._keep(i, total)


def _known_value(key: Any, values: Mapping[TapeNode, Any]) -> list[Any]:
    """Return [value] if known without a run (a tensor's, a tape's number, `values`'), else []."""
    if isinstance(key, tuple):
        node, index = key
        return [] if isinstance(node.inputs[index], Spec) else [node.inputs[index]]
    return [key._array] if isinstance(key, Tensor) else [values[key]] if key in values else []


def _nan_message(node: BaseNode, name: str, operands: Sequence[Any], value: Any) -> Pair:
    """Say which operator gave NaN or infinity, from which numbers, and in which line."""
    read = [np.asarray(getattr(x, "data", x)) for x in operands]
    result = np.asarray(getattr(value, "data", value))
    bad = np.argwhere(~np.isfinite(result))
    at = tuple(bad[0])
    what = number(result[at])
    text = f"{name} = {what}"
    if node.op.elementwise and read:
        numbers = [number(np.broadcast_to(x, result.shape)[at]) for x in read]
        text = formula.forward(node.op, numbers, node.attrs)
    code = code_of(node).get("code")
    line = plain("".join(code[1:]).partition("#")[0].strip(), 80) if code else ""
    more = row("step_bad_more", count=len(bad), of=result.size) if len(bad) > 1 else ("", "")
    key = "step_bad_line" if line else "step_bad"
    return row(key, name=name, value=what, formula=text, more=more, line=line)


def _message(error: Exception) -> Pair:
    """Return the message on one line, with the lines that defined and ran what failed."""
    if isinstance(error, GraphError) and (where := error.ran) and where.filename.startswith(OWN):
        error.ran = user()  # it was run here on behalf of the user
    pair: Pair = getattr(error, "pair", (str(error), str(error)))
    english, chinese = (" · ".join(map(str.strip, half.splitlines())) for half in pair)
    return english, chinese
