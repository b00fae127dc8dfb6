"""`viz.passes`: what each optimiser pass changed and why, and whether results are the same."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.core import Array
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.source import function_name
from minigrad.passes import PIPELINE, PassRecord
from minigrad.static import Graph, Node, without_listeners
from minigrad.static.feeds import check_feeds
from minigrad.static.run import Interpreter
from viz.page.board import Board
from viz.page.scenes import Panel, Scene, Sheet
from viz.picture.formula import forward
from viz.picture.picture import Picture, brief, graph_picture
from viz.picture.summary import difference_text
from viz.picture.union import renamed, union
from viz.words.progress import progress, with_progress
from viz.words.text import ROWS, Pair, in_both, row, row_text

__all__ = ["passes"]

MOST = 8  # changes of one pass listed one by one
SHORT = 24  # letters of what a node computes; of more its sign stands for it
UNKNOWN = 3  # elements along an axis of unknown length, where inputs are drawn


# What a graph computes for the inputs of the check: outputs in order, gradients by name.
Results = tuple[list[Array], dict[str, Array]]


def passes(graph: Graph, feed_dict: Mapping[Any, Any] | None = None, session: Any = None) -> Board:
    """Replay the optimiser on a board: before and after each pass, what changed, and why.

    graph: from `mg.build_graph`, or already optimised (then its own passes are shown). After each
    pass the graph before all passes and the one after it are run, and outputs and gradients
    compared: with `feed_dict`, or with inputs drawn at random where none are given; variables as in
    `session`, or with their first values. In a notebook each pass can be switched off.
    Raises TypeError for other things, and what a run raises.

    >>> import minigrad as mg, viz
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", shape=(3,))
    ...     graph = mg.build_graph(x, x * 1 + 3)
    >>> for scene in viz.passes(graph).scenes[1:]:
    ...     print(scene.caption[0])
    Use cheaper operators, same bits · simplify: 5 → 4 nodes
    Remove what no output needs · remove_dead: 4 → 3 nodes
    All passes together: nodes 5 → 3, kernels 2 → 1, bytes planned 64 → 0
    """
    if not isinstance(graph, Graph) or not graph.outputs:
        raise TypeError(row_text("passes_graph", value=brief(graph)))
    chosen = [r.function for r in graph.history] or list(PIPELINE)
    start = graph.history[0].before if graph.history else graph
    proof = ResultCheck(start, feed_dict, session)

    switches = tuple(dict.fromkeys(map(function_name, chosen)))
    look: Any = {"slider": ROWS["passes_slider"], "heading": ROWS["page_passes"], "moves": True}

    def again(off: list[str]) -> Board:
        history = start.optimize([f for f in chosen if function_name(f) not in off]).history
        return Board(*_scenes(start, history, proof), switches=switches, again=again, **look)

    with progress():
        return again([])


def _scenes(start: Graph, history: Sequence[PassRecord], proof: ResultCheck) -> tuple[Any, Sheet]:
    """Return what is seen after each pass, and a table of what each has left."""
    drawn = GraphPictures(start)
    nodes, kernels, size = proof.counts(start)
    caption = row("passes_start", nodes=nodes, kernels=kernels, bytes=size)
    scenes = [Scene(caption, (Panel(ROWS["passes_before"], drawn.of(start)),), proof.about, 0)]
    left = [(ROWS["passes_before"], start, "–")]
    idle, last = dict[str, bool](), start
    for record in with_progress(history, "progress_passes"):
        if record.after is record.before:
            idle[record.name] = True
            continue
        last = record.after
        drawn.carry_names(record)
        sizes = {"before": len(record.before.nodes), "after": len(last.nodes)}
        facts = [*_reasons(record, drawn), *proof.facts(record.before, last, start)]
        given = {x for change in record.changes for x in change.after}
        panel = _panel(record.before, last, given, drawn, record.name)
        what = ROWS.get(f"passes_{record.name}")
        about = row("passes_says", what=what) if what else ("", "")
        caption = row("passes_step", what=about, name=record.name, **sizes)
        scenes.append(Scene(caption, (panel,), tuple(facts), len(left)))
        left.append((what or in_both(record.name), last, record.name))
    counts, *facts = proof.facts(start, last, start)
    facts += first([panel.title for s in scenes[1:] for panel in s.panels])
    facts += [row("passes_idle", names=(", ".join(idle), "、".join(idle)))] if idle else []
    left.append((ROWS["passes_all"], last, "–"))
    panel = _panel(start, last, set(), drawn, ROWS["passes_all"])
    scenes.append(Scene(row("passes_end", counts=counts), (panel,), tuple(facts), len(left) - 1))
    whole = union(*(panel.picture for s in scenes for panel in s.panels if panel.picture))
    scenes = [replace(s, panels=(replace(s.panels[0], among=whole),)) for s in scenes]
    lines = ((what, *proof.counts(graph)[:2], name) for what, graph, name in left)
    rows = tuple((what, *(in_both(str(x)) for x in rest)) for what, *rest in lines)
    sheet = Sheet(tuple(ROWS[f"passes_{k}"] for k in ["what", "nodes", "kernels", "name"]), rows, 1)
    return scenes, sheet


class GraphPictures:
    """Pictures of graphs from pass to pass, in which a node that stays has the same id."""

    def __init__(self, start: Graph) -> None:
        self.names = {node: f"n{i}" for i, node in enumerate(start.nodes, 1)}
        self._drawn: dict[int, Picture] = {}

    def carry_names(self, record: PassRecord) -> None:
        """Name the nodes that a pass has made: a copy on other operands is still that node."""
        given = {x for change in record.changes for x in change.after}
        taken = {x for change in record.changes for x in change.before}
        old, new = set(record.before.nodes), set(record.after.nodes)
        left: dict[Any, list[Node]] = {}
        for x in record.before.nodes:
            if x not in new and x not in taken:
                left.setdefault(_about(x), []).append(x)
        for x in record.after.nodes:
            if x not in old:
                alike = left.get(_about(x)) if x not in given else None
                fresh = f"n{len(set(self.names.values())) + 1}"
                self.names[x] = self.names[alike.pop(0)] if alike else fresh

    def of(self, graph: Graph) -> Picture:
        """Return the picture of a graph whose nodes are named."""
        if id(graph) not in self._drawn:
            whole = graph_picture(graph.nodes, set(graph.outputs), {})
            names = {i: self.names[node] for node, i in whole.ids.items()}
            self._drawn[id(graph)] = renamed(whole, names)
        return self._drawn[id(graph)]

    def formulas(self, graph: Graph) -> dict[Node, str]:
        """Return what each node of a graph computes from its inputs, such as "2 × 3"."""
        engine = {self.names[node]: node for node in graph.nodes}
        texts: dict[str, str] = {}
        for n in self.of(graph).nodes:
            node, read = engine[n.id], [texts[i] for i in n.inputs]
            text = forward(node.op, read, node.attrs) if read and not n.name else n.label
            texts[n.id] = text if len(text) <= SHORT or n.name else n.sign or n.op
        return {node: texts[i] for i, node in engine.items()}


def _about(node: Node) -> Any:
    """Return what a copy of a node has in common with it."""
    return node.op, node.name, node.where


def _reasons(record: PassRecord, drawn: GraphPictures) -> list[Pair]:
    """List each change and why it was made; those of one kind together."""
    written = {**drawn.formulas(record.before), **drawn.formulas(record.after)}
    found: dict[tuple[str, str, Pair], list[str]] = {}
    for change in record.changes:
        old, new = (
            ", ".join(written[x] if len(nodes) == 1 and x in written else x.op.name for x in nodes)
            for nodes in (change.before, change.after)
        )
        key = "passes_change" if new else "passes_dropped"
        becomes = f" → {new}" if new not in ("", old) else ""
        found.setdefault((key, becomes, change.reason), []).append(old)
    lines = ((key, ", ".join(olds) + becomes, why) for (key, becomes, why), olds in found.items())
    return first([row(key, what=what, why=why) for key, what, why in lines])


def first(texts: list[Pair]) -> list[Pair]:
    """Return the first few texts, and how many more there are."""
    more = len(texts) - MOST
    return [*texts[:MOST], row("passes_more", count=more)] if more > 0 else texts


def _panel(
    start: Graph, end: Graph, given: Collection[Node], drawn: GraphPictures, name: str | Pair
) -> Panel:
    """Show both graphs in one drawing, and what became of their nodes and arrows.

    given: what replaces something else now. A node that is only below a change bears no mark.
    """
    before, after = drawn.of(start), drawn.of(end)
    needed = {drawn.names[x] for x in (*end.inputs, *end.outputs, *end.effects)}
    for n in reversed(after.nodes):
        needed |= {*n.inputs} if n.id in needed else set()
    marks = dict.fromkeys({n.id for n in after.nodes} - needed, "idle")
    marks |= fates(before, after, {drawn.names.get(x, ""): "heir" for x in given})
    return Panel(_sentence(name, whole := union(before, after), marks), whole, marks)


def fates(first: Picture, second: Picture, known: Mapping[str, str]) -> dict[str, str]:
    """Return what became of nodes and arrows; `known`, of nodes that both pictures have."""
    old, new = ({n.id: n for n in p.nodes} for p in (first, second))
    marks = dict.fromkeys(old.keys() - new.keys(), "gone")
    for i, n in new.items():
        if i not in old:
            marks[i] = "new"
        elif i in known or n.inputs != old[i].inputs:
            marks[i] = known.get(i, "moved")
    lost, found = ({e.id for e in p.edges} for p in (first, second))
    return marks | dict.fromkeys(lost - found, "gone") | dict.fromkeys(found - lost, "new")


def _sentence(name: str | Pair, whole: Picture, fates: Mapping[str, str]) -> Pair:
    """Say what a pass removed, and what is in its place."""
    named = [(fates.get(n.id), n.op if n.inputs else n.label) for n in whole.nodes]
    gone = [x for fate, x in named if fate == "gone"]
    put = [x for fate, x in named if fate in ("new", "heir")]
    key = "both" if not gone else "cut" if not put else "put"
    key = "once" if gone and sorted(gone) == sorted(put) else key
    many = [row("passes_many", count=len(x)) if len(x) > MOST else None for x in (gone, put)]
    few = [x or (", ".join(y), "、".join(y)) for x, y in zip(many, (gone, put), strict=True)]
    return row(f"passes_{key}", name=name, gone=few[0], put=few[1])


class ResultCheck:
    """Runs of graphs on the same inputs, and how far their results are apart."""

    def __init__(self, graph: Graph, feed_dict: Mapping[Any, Any] | None, session: Any) -> None:
        given = check_feeds(graph, feed_dict)
        random = np.random.default_rng(0)
        missing = [n for n in graph.placeholders if n not in given]
        given |= {node: drawn_at_random(node, random) for node in missing}
        names = graph.labels
        self.feeds = {names[node]: given[node] for node in graph.placeholders}
        kept = {} if session is None else session.variables
        self.variables = {names[v]: kept.get(v, v.attrs["value"]) for v in graph.variables}
        drawn = ", ".join(names[node] for node in missing)
        self.about = (row("passes_drawn", names=drawn),) if missing else ()
        self._known: dict[int, tuple[Graph, Results]] = {}

    def counts(self, graph: Graph) -> tuple[int, int, int]:
        """Return the number of nodes and of kernels, and the bytes of the planned memory."""
        program = graph.compile(optimize=False)
        program.bind({n: self.feeds[graph.labels[n]] for n in graph.placeholders})
        return len(graph.nodes), program.kernels, program.plan.bytes

    def facts(self, before: Graph, after: Graph, start: Graph) -> list[Pair]:
        """Return the counts before and after, and how far results are from the first graph's."""
        pairs = zip(self.counts(before), self.counts(after), strict=True)
        nodes, kernels, size = (f"{a} → {b}" for a, b in pairs)
        counts = row("passes_counts", nodes=nodes, kernels=kernels, bytes=size)
        return [counts, self.verdict(start, after)]

    def verdict(self, start: Graph, after: Graph) -> Pair:
        """Say how far the results of two graphs are apart."""
        (left, there), (right, here) = self.results(start), self.results(after)
        outputs = [*zip(left, right, strict=True)]
        zeros = {name: np.zeros_like(x) for name, x in {**there, **here}.items()}
        gradients = [(there.get(x, zero), here.get(x, zero)) for x, zero in zeros.items()]
        about = {"outputs": len(outputs), "gradients": len(gradients)}
        first, second = difference_text(outputs), difference_text(gradients)
        return row("passes_proof", **about, first=first, second=second)

    def results(self, graph: Graph) -> Results:
        """Return the outputs and gradients of a graph, computed once."""
        if id(graph) not in self._known:
            with without_listeners(), contextlib.redirect_stdout(io.StringIO()):
                self._known[id(graph)] = graph, self._run(graph)
        return self._known[id(graph)][1]

    def _run(self, graph: Graph) -> Results:
        fresh = Graph()
        with fresh:
            inputs = [fresh.add_copy(x, ()) for x in graph.inputs]
            twin = fresh.inlined(graph, inputs, effects=False)
            outputs = [twin[y] for y in graph.outputs]
            given = [x for x in (*graph.placeholders, *graph.variables) if x in twin]
            leaves = [twin[x] for x in given if x.dtype.kind == "f"]
            gradients = _gradients([y for y in outputs if y.dtype.kind == "f"], leaves)
        names = {twin[x]: graph.labels[x] for x in given}
        feeds = {n: self.feeds[names[n]] for n in fresh.placeholders}
        kept = {n: self.variables[names[n]] for n in fresh.variables}
        variables = {n: np.array(value)[()] for n, value in kept.items()}
        results = Interpreter([*outputs, *gradients.values()])(feeds, variables)
        arrays = [np.asarray(x) for x in results]
        named = dict(zip((names[x] for x in gradients), arrays[len(outputs) :], strict=True))
        return arrays[: len(outputs)], named


def _gradients(ends: list[Node], leaves: list[Node]) -> dict[Node, Node]:
    """Return the gradient of each leaf that has one; empty if the graph isn't differentiable."""
    if not ends or not leaves:
        return {}
    try:
        found = mg.gradients(ends, leaves)
    except GraphError:  # an operator without a gradient, such as an assignment
        return {}
    return {x: g for x, g in zip(leaves, found, strict=True) if g is not None}


def drawn_at_random(node: Node, random: np.random.Generator) -> Array:
    """Draw a random input of the right shape: normal numbers; 0 or 1 for integers and Booleans."""
    shape = [UNKNOWN if n is None else n for n in node.shape or ()]
    if node.dtype.kind == "f":
        return np.asarray(random.standard_normal(shape), node.dtype)[()]
    return np.asarray(random.integers(0, 2, shape), node.dtype)[()]
