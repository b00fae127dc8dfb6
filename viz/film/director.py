"""The director: makes frames of what happened, one method for each kind of event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from minigrad.backprop.rules import pull_back
from minigrad.core import BaseNode, Spec, TupleSpec
from minigrad.diagnostics.errors import GraphError
from minigrad.dynamic.tape import TapeNode
from minigrad.dynamic.tensor import Tensor
from minigrad.static import Node
from viz.film.film import Film, Frame, Track
from viz.picture import formula
from viz.picture.boxes import paths
from viz.picture.picture import Picture
from viz.picture.summary import summarize, written
from viz.picture.theme import MARKS
from viz.words.text import Pair, row
from viz.words.user import OWN, user

BUILT, RUN, GRADIENT = "clock_built", "clock_run", "clock_gradient"
UNKNOWN = "?"  # the local derivative of a branch, a loop or a call is a graph of its own
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
        self.results: dict[tuple[str, ...], Any] = {}
        self.counts = {"built": 0, "read": 0, "run": 0, "parts": 0}
        self.insides: dict[str, list[tuple[Node, str]]] = {}  # node -> what its bodies hold
        for key, i in picture.ids.items():
            if i[0] == "b":
                self.insides.setdefault(self._owner(i), []).append((key, i))
        self.inside = 0  # frames that told of a body
        self.gone: tuple[str, ...] = ()  # the nodes freed in the last frame, if it tells of that

    def _owner(self, i: str) -> str:
        """The node outside of all bodies that a node in a body belongs to."""
        owners = self.picture.owners
        while i[0] == "b":
            i = next(
                owners[path] for path in reversed(paths(self.nodes[i].group)) if path in owners
            )
        return i

    def add(self, frame: Frame) -> int:
        self.frames.append(frame)
        self.gone = ()
        return len(self.frames) - 1

    def label(self, key: Any) -> str:
        return self.nodes[self.picture.ids[key]].label

    def failed(self, i: str, node: BaseNode | None, error: Exception) -> Film:
        """The film of a run that stopped, at node `i` if that is drawn; the last frame says why."""
        caption = row("step_failed", message=_message(error))
        where = {} if node is None else _code(node)
        notes = {i: MARKS["failed"].sign} if i else {}
        self.add(Frame(caption, (i,) if i else (), notes=notes, failed=i, **where))
        return Film(self.picture, tuple(self.frames), self.tracks, self.results, error=error)

    def film(self) -> Film:
        """The finished film, with a last frame that counts what was told."""
        pairs = self.counts.items()
        told = [row(f"done_{k}", count=n) for k, n in pairs if n or k in ("built", "run")]
        english, chinese = (
            sign.join(pair[i] for pair in told) for i, sign in enumerate((", ", "，"))
        )
        self.add(Frame(row("step_done", counts=(english, chinese))))
        return Film(self.picture, tuple(self.frames), self.tracks, self.results)

    # what was there before

    def describe(self) -> None:
        """All nodes are there, and nothing is told of how they came to be."""
        for key, i in self.picture.ids.items():
            track = self.tracks[i]
            track.born = 0
            if isinstance(key, BaseNode) and key.inputs:
                names = [self.nodes[j].label for j in self.nodes[i].inputs]
                track.facts = _facts(key, [spec_of(x) for x in key.inputs], spec_of(key), names)
            elif isinstance(key, Tensor):
                track.values.append((0, summarize(key.data)))
                if key.grad is not None:
                    track.gradients.append((0, summarize(key.grad.data)))

    def show_leaves(self, keys: Iterable[tuple[Any, Any]]) -> None:
        """Leaves of a tape exist, with their values, before the first step."""
        for key, value in keys:
            track = self.tracks[self.picture.ids[key]]
            track.born = 0
            track.values.append((0, summarize(value)))

    def _caption(self, i: str, key: str, **fields: object) -> Pair:
        """The words of a step; of one in a body they say where it is."""
        what, group = row(key, **fields), self.nodes[i].group
        if i[0] != "b" or not group:
            return what
        return row("step_inside", place=group.rpartition("/")[2], what=what)

    def _told_enough(self, i: str) -> bool:
        """Whether this is one more step in a body, of which enough were shown."""
        self.inside += i[0] == "b"
        return i[0] == "b" and self.inside > INSIDE_LIMIT

    # one method for each kind of step

    def built(self, node: Node) -> None:
        """A node of a static graph was born, and with it what it has inside."""
        i = self.picture.ids[node]
        track = self.tracks[i]
        operands = [self.label(x) for x in node.inputs if x in self.picture.ids]
        text = formula.forward(node.op, operands, node.attrs) if operands else node.op.name
        key = "step_built" if node.shape is not None else "step_built_open"
        caption = row(key, name=self.label(node), formula=text)
        track.born = self.add(Frame(caption, (i,), {}, marks=((BUILT, i),), **_code(node)))
        self.counts["built"] += 1
        track.facts = _facts(node, [x.spec for x in node.inputs], node.spec, operands)
        for inner, j in self.insides.get(i, ()):
            names, specs = [self.label(x) for x in inner.inputs], [x.spec for x in inner.inputs]
            self.tracks[j].born = track.born
            self.tracks[j].facts = _facts(inner, specs, inner.spec, names)

    def read(self, node: Node, value: Any) -> None:
        """A value entered the run: fed, or read from a variable or a constant."""
        i = self.picture.ids[node]
        self.values[node] = value
        summary, known = summarize(value), self.tracks[i].values
        if i[0] == "b":  # a constant in a body: there at the next step, and nothing to tell
            if not known or known[-1][1] != summary:
                known.append((len(self.frames), summary))
            return
        self.counts["read"] += 1
        caption = self._caption(i, "step_read", name=self.label(node), value=summary.told)
        frame = self.add(Frame(caption, (i,), {}, marks=((RUN, i),), **_code(node)))
        known.append((frame, summary))

    def began(self, node: BaseNode, number: int) -> None:
        """A loop in the graph begins a step."""
        i = self.picture.ids[node]
        if not self._told_enough("b" + i):
            caption = self._caption(i, "step_loop", name=self.label(node), number=number + 1)
            self.add(Frame(caption, (i,)))

    def run(self, node: BaseNode, value: Any, operands: Sequence[Any]) -> None:
        """A kernel ran; on the tape, that is the moment when the node is born, too."""
        i = self.picture.ids[node]
        at_once = isinstance(node, TapeNode)
        self.values[node], self.operands[node] = value, tuple(operands)
        self.counts["run"] += 1
        self.counts["built"] += at_once
        if self._told_enough(i):
            return
        summary = summarize(value)
        box = self.nodes[i]
        names = [self.nodes[x].label for x in box.inputs]
        text = _filled(node, names, operands)
        shown = summary.long if summary.told == summary.short else summary.told
        key = "step_both" if at_once else "step_run"
        caption = self._caption(i, key, name=box.label, formula=text, value=shown)
        places = range(len(node.inputs))
        edges = {self.edge_ids[i, k]: "" for k in places if (i, k) in self.edge_ids}
        marks = ((BUILT, i), (RUN, i)) if at_once else ((RUN, i),)
        track = self.tracks[i]
        frame = self.add(Frame(caption, (i,), edges, marks=marks, **_code(node)))
        track.values.append((frame, summary))
        track.filled.append((frame, f"{text} = {summary.told}"))
        self._show_arguments(node, operands, frame)
        if at_once:
            track.born = frame
            specs = [spec_of(x) for x in operands or node.inputs]
            track.facts = _facts(node, specs, spec_of(node if value is None else value), names)

    def _show_arguments(self, node: BaseNode, operands: Sequence[Any], frame: int) -> None:
        """What a body was given is seen when an operator in it reads it."""
        for x, value in zip(node.inputs, operands, strict=False):
            i = self.picture.ids.get(x) if isinstance(x, Node) else None
            if i and i[0] == "b" and self.nodes[i].kind == "input":
                summary = summarize(value)
                known = self.tracks[i].values
                if not known or known[-1][1] != summary:
                    known.append((frame, summary))

    def freed(self, node: BaseNode) -> None:
        """Nothing refers to a node any more; those that go together are one step."""
        together = (*self.gone, self.picture.ids[node])
        if self.gone:
            self.frames.pop()
        names = ", ".join(self.nodes[i].label for i in together)
        frame = self.add(Frame(row("step_freed", names=names), together))
        self.gone = together
        for i in together:
            self.tracks[i].freed = frame

    def seed(self, key: Any, value: Any) -> None:
        """Backward begins: the gradient of the output with respect to itself."""
        i = self.picture.ids[key]
        summary = summarize(value)
        caption = row("step_seed", name=self.nodes[i].label, value=summary.told)
        frame = self.add(Frame(caption, (i,), {}, marks=((GRADIENT, i),)))
        self.tracks[i].gradients.append((frame, summary))

    def contributed(
        self, source: BaseNode, target: Any, index: int, upstream: Any, part: Any, total: Any
    ) -> None:
        """One operand got its share: upstream × local = contribution, added to what was there."""
        i, s = self.picture.ids[target], self.picture.ids[source]
        track = self.tracks[i]
        shown = summarize(part)
        above = _operand(summarize(upstream).told)
        local = UNKNOWN if part is None else self._local(source, index)
        names = {"source": self.nodes[s].label, "name": self.nodes[i].label}
        notes = {}
        if track.gradients and total is not part:  # else it is the first of this pass
            before, more = (_operand(x.told) for x in (track.gradients[-1][1], shown))
            sum_ = summarize(total).told
            caption = row("step_accumulated", **names, before=before, part=more, total=sum_)
            notes[i] = f"∂ = {before} + {more} = {sum_}"
        elif part is None:  # not recorded
            caption = row("step_returned", **names)
        elif formula.UPSTREAM in local:
            caption = row("step_rule", **names, local=local, part=shown.told)
        elif local == UNKNOWN:
            caption = row("step_passed", **names, upstream=above, part=shown.told)
        else:
            product = {"upstream": above, "local": local}
            caption = row("step_contributed", **names, **product, part=shown.told)
        edge = self.edge_ids.get((s, index))
        product_text = (
            "∂"
            if local == UNKNOWN
            else local
            if formula.UPSTREAM in local
            else f"∂ {above} × {local}"
        )
        edges = {edge: f"{product_text} = {shown.told}"} if edge else {}
        marks = ((GRADIENT, i),)
        frame = self.add(Frame(caption, (i,), edges, marks=marks, notes=notes, **_code(source)))
        track.gradients.append((frame, summarize(total)))
        self.counts["parts"] += 1
        box = self.nodes[i]
        if not box.inputs and total is not None:
            self.results["gradient", box.group, box.label] = np.asarray(
                getattr(total, "data", total)
            )

    def _local(self, source: BaseNode, index: int) -> str:
        """The local derivative: a number where it acts on each element, else its formula."""
        op, operands = source.op, self.operands[source]
        if op.elementwise:
            y = self.values[source]
            data = [x.data if isinstance(x, Tensor) else x for x in operands]
            ones = np.broadcast_to(np.ones_like(y, shape=()), np.shape(y))[()]  # of any size
            with np.errstate(all="ignore"):  # as in the run itself
                (local,) = pull_back(op, [index], ones, [y, *data], source.attrs)
            return _operand(summarize(local).told)
        box = self.nodes[self.picture.ids[source]]
        names = [box.label, *(self.nodes[x].label for x in box.inputs)]
        specs = [spec_of(self.values[source]), *(spec_of(x) for x in operands)]
        return formula.local(op, index, specs, source.attrs, names) or UNKNOWN


def _operand(told: str) -> str:
    """A value as an operand of a product or a sum: (-1 … 1) where several words say it."""
    return f"({told})" if " " in told and told[0] not in "[(" else told


def _message(error: Exception) -> Pair:
    """The message on one line, with the lines that defined and ran what failed."""
    if isinstance(error, GraphError) and (where := error.ran) and where.filename.startswith(OWN):
        error.ran = user()  # it was run here on behalf of the user
    pair: Pair = getattr(error, "pair", (str(error), str(error)))
    english, chinese = (" · ".join(map(str.strip, half.splitlines())) for half in pair)
    return english, chinese


def spec_of(x: Any) -> Spec:
    if isinstance(x, Spec):
        return x
    if isinstance(x, Node):
        return x.spec
    if isinstance(x, TapeNode):
        return Spec(x.shape, x.dtype)
    if isinstance(x, tuple):
        return TupleSpec.of([spec_of(part) for part in x])
    data = np.asarray(getattr(x, "data", x))
    return Spec(data.shape, data.dtype)


def _filled(node: BaseNode, names: Sequence[str], operands: Sequence[Any]) -> str:
    """The formula with names, and with numbers where they are short: x × x = 2 × 2."""
    text = formula.forward(node.op, names, node.attrs)
    values = [written(x) for x in operands]
    if not values or "" in values or values == list(names):
        return text
    filled = formula.forward(node.op, values, node.attrs)
    return f"{text} = {filled}" if filled != text else text


def _facts(
    node: BaseNode, specs: Sequence[Spec], spec: Spec, names: Sequence[str]
) -> list[tuple[str, str | Pair]]:
    """What the inspector says of a node, apart from its values."""
    facts: list[tuple[str, str | Pair]] = []
    if names:
        facts.append(("formula", formula.forward(node.op, names, node.attrs)))
    all_specs = (spec, *specs)
    for i, name in enumerate(names):
        derivative = formula.local(node.op, i, all_specs, node.attrs, (node.op.name, *names))
        if derivative:
            facts.append(("gradient_function", row("tape_to", name=name, formula=derivative)))
    if isinstance(node, TapeNode):
        parts = zip((node.op.name, *names), node.kept.parts, strict=False)
        facts.append(("saved", ", ".join(dict.fromkeys(n for n, part in parts if part == 2))))
    if not node.where.filename.startswith(OWN):
        facts.append(("line", node.where.label))
    return facts


def _code(node: BaseNode) -> dict[str, Any]:
    """The line that made the node, split around the expression itself, and where it is."""
    where = node.where
    if where.filename.startswith(OWN):  # made here on behalf of the user, who has no line for it
        return {}
    first, last, _, _ = where.span
    return {"code": (where.place, *where.parts), "lines": (where.filename, first, last)}
