"""A model of another system as a graph of ours: how it is built, and how it is held against it."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import CodeType
from typing import Any

import numpy as np

from minigrad.core import Array, as_array, context, in_body
from minigrad.diagnostics.source import INSIDE, LIBRARIES, SavedLine
from minigrad.ops import state
from minigrad.static import Graph, Node, ancestors, get_default_graph
from minigrad.static.gradients import gradients
from minigrad.static.run import Interpreter

Line = tuple[CodeType | SavedLine, int]  # a user's line, as nodes keep it
Rule = tuple[str, Line | None]  # a function with a gradient rule of its own, and who calls it
TOLERANCE = 1e-5  # how far a value or a gradient may be from the original, of the largest one


@dataclass(frozen=True)
class Refused:
    """Why another system does not differentiate a model: its own words, the operator, the line."""

    reason: str
    operator: str = ""
    line: Line | None = None


@dataclass(frozen=True)
class Captured:
    """A model of another system, once its operators stand in a graph of ours.

    outputs: the nodes of its results; feeds: what it was called with, by placeholder; leaves: the
    parameters and inputs that have a gradient, by name; values, gradients: what the original
    computes for these inputs, gradients of its results with `seed` (None: nothing flows there);
    boxes: operators without a counterpart, which call the original; refused: why the original has
    no backward pass, where it refuses to differentiate; then nothing is played backward here;
    own_rules: functions whose gradient is not that of their parts, which call the original, too.
    """

    system: str
    graph: Graph
    outputs: Sequence[Node]
    feeds: Mapping[Node, Array]
    leaves: Mapping[str, Node]
    values: Sequence[Array]
    gradients: Mapping[str, Array | None]
    boxes: Sequence[str]
    refused: Refused | None = None
    own_rules: Sequence[Rule] = ()

    @cached_property
    def gradients_here(self) -> Sequence[Node | None]:
        """The nodes of the gradients that the check is about; None: nothing flows there."""
        real = [y for y in self.outputs if y.dtype.kind == "f"]
        wanted = [self.leaves[name] for name in self.gradients]
        if not real or not wanted or self.refused is not None:
            return [None] * len(wanted)
        with self.graph:
            return gradients(real, wanted, [self.graph.constant(seed(y)) for y in real])

    def gaps(self) -> tuple[float, float]:
        """How far values and gradients are from the original, each of the largest magnitude."""
        return self._gaps

    @cached_property
    def _gaps(self) -> tuple[float, float]:
        found = self.gradients_here
        ends = [*self.outputs, *(g for g in found if g is not None)]
        firsts = {v: v.attrs["value"] for v in self.graph.variables}
        results = Interpreter(ends)(dict(self.feeds), firsts)
        values = results[: len(self.outputs)]
        rest = iter(results[len(self.outputs) :])
        ours = [None if g is None else next(rest) for g in found]
        return gap(values, self.values), gap(ours, [*self.gradients.values()])


def seed(y: Any) -> Array:
    """What the elements of a result weigh in the check: one number 1, several differently.

    With equal weights all gradients behind a softmax would be 0, and nothing were checked.
    """
    size = int(np.prod(y.shape))
    weights = np.linspace(0.5, 1.5, size) if size > 1 else np.ones(size)
    return weights.astype(y.dtype).reshape(y.shape)[()]


def gap(ours: Sequence[Any], theirs: Sequence[Any]) -> float:
    """The largest difference of any element, relative to the largest magnitude of all.

    Where one side has no gradient it counts as 0. Infinite where shapes differ.
    """
    largest, scale = 0.0, 0.0
    for a, b in zip(ours, theirs, strict=True):
        if a is None and b is None:
            continue
        one = np.zeros_like(b) if a is None else np.asarray(a)
        other = np.zeros_like(one) if b is None else np.asarray(b)
        if one.shape != other.shape:
            return np.inf
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        wide = complex if "c" in (one.dtype.kind, other.dtype.kind) else float
        with np.errstate(all="ignore"):
            apart = np.where(same, 0.0, np.abs(np.subtract(one, other, dtype=wide)))
        largest = max(largest, float(np.max(np.nan_to_num(apart, nan=np.inf), initial=0.0)))
        finite = np.abs(other[np.isfinite(other)].astype(wide))
        scale = max(scale, float(np.max(finite, initial=0.0)))
    return largest / scale if scale else largest


@dataclass
class Builder:
    """Builds a graph while the operators of another system are read, one after the other."""

    graph: Graph = field(default_factory=Graph)
    feeds: dict[Node, Array] = field(default_factory=dict)
    leaves: dict[str, Node] = field(default_factory=dict)
    boxes: list[str] = field(default_factory=list)
    own_rules: list[Rule] = field(default_factory=list)
    path: tuple[str, ...] = ()  # the layers or functions that are being read
    labels: list[str] = field(default_factory=list)  # what each of them is called
    steps: tuple[str, ...] = ()  # of loops that are unrolled here, the innermost last
    visits: Counter[str] = field(default_factory=Counter)

    def entered(self, path: Sequence[str]) -> str:
        """The scope of this path of layers; one that was left before gets a number behind it.

        Otherwise what is folded into one box would be read by what it reads.
        """
        pairs = zip(path, self.path, strict=False)
        same = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(path), len(self.path)))
        self.labels = self.labels[:same]
        for part in path[same:]:
            full = "/".join((*self.labels, part))
            self.visits[full] += 1
            times = self.visits[full]
            self.labels.append(part if times == 1 else f"{part} ({times})")
        self.path = tuple(path)
        return "/".join(self.labels)

    @contextlib.contextmanager
    def at(self, scope: str, line: Line | None) -> Iterator[None]:
        """What is built inside belongs to this scope, and to this line of the user's."""
        graph = get_default_graph() if in_body() else self.graph
        before = len(graph.nodes)
        outer = context.scope
        context.scope = "/".join(filter(None, (scope, *self.steps)))
        try:
            with graph:
                yield
        finally:
            context.scope = outer
        for node in graph.nodes[before:]:
            if line is not None:
                node.code, node.lasti = line

    def placeholder(self, name: str, value: Array) -> Node:
        """An input that is fed this value."""
        attrs = {"shape": value.shape, "dtype": value.dtype}
        node = self.graph.add(state.placeholder, (), attrs, name)
        self.feeds[node] = value
        return self._leaf(name, node)

    def variable(self, name: str, value: Array, scope: str, trained: bool) -> Node:
        """A parameter, or a buffer that is not trained, of the layer with this scope."""
        node = self.graph.variable(value, name, None if trained else "buffer")
        node.scope = scope
        return self._leaf(name, node) if trained else node

    def _leaf(self, name: str, node: Node) -> Node:
        if node.dtype.kind == "f":
            self.leaves[name] = node
        return node

    def node(self, x: Any, system: str) -> Node:
        """A node as it is, an array as a constant."""
        return x if isinstance(x, Node) else self.graph.constant(as_array(x, None, system))

    def captured(
        self,
        system: str,
        outputs: Sequence[Any],
        values: Sequence[Array],
        found: Mapping[str, Array | None],
        refused: Refused | None = None,
    ) -> Captured:
        """The end: what the original computed belongs to it."""
        with self.graph:
            nodes = [self.node(y, system) for y in outputs]
        used = set(ancestors(nodes))
        feeds = {x: value for x, value in self.feeds.items() if x in used}
        theirs = {name: found.get(name) for name in self.leaves}
        boxes, rules = tuple(dict.fromkeys(self.boxes)), tuple(dict.fromkeys(self.own_rules))
        return Captured(
            system, self.graph, nodes, feeds, self.leaves, values, theirs, boxes, refused, rules
        )


def users(filename: str, library: str) -> bool:
    """Whether a file is the user's: it belongs to no library, and not to this package.

    library: the folder of the system itself, which may lie anywhere.
    """
    return not filename.startswith((library, *LIBRARIES)) and not INSIDE[filename]
