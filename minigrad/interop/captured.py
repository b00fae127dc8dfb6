"""A model of another system as a minigrad graph: how it is built and checked."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import CodeType, FrameType
from typing import Any

import numpy as np

from minigrad.core import Array, as_array, context, in_body
from minigrad.diagnostics.messages import Pair, one_line
from minigrad.diagnostics.source import LIBRARIES, SavedLine, is_user_code
from minigrad.ops import state
from minigrad.static import Graph, Node, ancestors, get_default_graph
from minigrad.static.gradients import gradients
from minigrad.static.run import Interpreter

Line = tuple[CodeType | SavedLine, int]  # a user's line, as nodes keep it
Rule = tuple[str, Line | None]  # a function with a gradient rule of its own, and who calls it
TOLERANCE = 1e-5  # how far a value or a gradient may be from the original, of the largest one


@dataclass(frozen=True)
class Refused:
    """Why another system does not differentiate a model: its message, the operator, the line."""

    reason: str
    operator: str = ""
    line: Line | None = None


@dataclass(frozen=True)
class Captured:
    """A model of another system whose operators are in a minigrad graph.

    outputs: the nodes of its results; feeds: what it was called with, by placeholder; leaves: the
    parameters and inputs that have a gradient, by name; values, gradients: what the original
    computes for these inputs, gradients of its results with `seed` (None: nothing flows there);
    boxes: operators without a counterpart, which call the original; about: what else is known.
    """

    system: str
    graph: Graph
    outputs: Sequence[Node]
    feeds: Mapping[Node, Array]
    leaves: Mapping[str, Node]
    values: Sequence[Array]
    gradients: Mapping[str, Array | None]
    boxes: Sequence[str]
    about: About = field(default_factory=lambda: About())

    @cached_property
    def gradients_here(self) -> Sequence[Node | None]:
        """The nodes of the gradients that are checked; None if there is no gradient."""
        real = [y for y in self.outputs if y.dtype.kind == "f"]
        leaves = [self.leaves[name] for name in self.gradients]
        if not real or not leaves or self.about.refused is not None:
            return [None] * len(leaves)
        with self.graph:
            return gradients(real, leaves, [self.graph.constant(seed(y)) for y in real])

    def gaps(self) -> tuple[float, float]:
        """Return the relative gaps of values and of gradients to the original's."""
        values, ours = self._computed
        return relative_gap(values, self.values), relative_gap(
            [*ours.values()], [*self.gradients.values()]
        )

    @cached_property
    def _computed(self) -> tuple[list[Array], dict[str, Array | None]]:
        """The values and the gradients of the graph."""
        found = self.gradients_here
        ends = [*self.outputs, *(g for g in found if g is not None)]
        results = self._run(ends)
        rest = iter(results[len(self.outputs) :])
        ours = [None if g is None else next(rest) for g in found]
        return results[: len(self.outputs)], dict(zip(self.gradients, ours, strict=True))

    def keep(self) -> None:
        """Copy the parameters, so that training the model doesn't change this graph."""
        for v in self.graph.variables:
            v.attrs = {**v.attrs, "value": np.array(v.attrs["value"])[()]}

    def play_again(self, rebuilt: bool = True) -> None:
        """Recompute all values for the engine's listeners; rebuilt: with gradients built anew."""
        for found in ("_computed", "gradients_here")[: 1 + rebuilt]:
            self.__dict__.pop(found, None)
        self.gaps()

    def _run(self, ends: Sequence[Node]) -> list[Array]:
        firsts = {v: v.attrs["value"] for v in self.graph.variables}
        return Interpreter(ends)(dict(self.feeds), firsts)

    def first_value_apart(self) -> Node | None:
        """Return the first node whose value differs from the original's, if known, or None."""
        known = self.about.originals
        nodes = [n for n in ancestors(self.outputs) if n in known]
        pairs = zip(nodes, self._run(nodes), strict=True)
        return next((n for n, v in pairs if relative_gap([v], [known[n]]) > TOLERANCE), None)

    def first_gradient_apart(self) -> str | None:
        """Return the parameter or input whose gradient differs from the original's, or None.

        Of several the one that is used last: a backward pass comes to it first.
        """
        ours, nodes = self._computed[1], ancestors(self.outputs)
        used = {x: i for i, node in enumerate(nodes) for x in node.inputs}
        sizes = (np.max(np.abs(g), initial=0.0) for g in self.gradients.values() if g is not None)
        largest = max(map(float, sizes), default=0.0) or 1.0
        wrong = [
            name
            for name, g in self.gradients.items()
            if absolute_gap(ours[name], g) > TOLERANCE * largest
        ]
        return max(wrong, key=lambda name: used.get(self.leaves[name], -1), default=None)


@dataclass
class About:
    """Further facts about a captured model, besides what it computes.

    tied: the names of each parameter that has several; hooks: where the model changes gradients by
    hooks, which are not captured; lost: operators that have no derivative in their system; refused:
    why the original has no gradients at all, so that there is no backward pass here; own_rules:
    functions whose gradient is not that of their parts, which call the original, too; recorded:
    whether the graph is that of one run, since the system could not capture the model; beside:
    what the model returns that is no tensor; originals: what some nodes hold in the original;
    precise: gives the same model in float64, None if it cannot be had; frozen: the names of the
    parameters that are not trained; places: the line of the model's own code behind nodes, in a
    library, too; notes: what was changed so that it can be played, and how it was.
    """

    tied: Sequence[Sequence[str]] = ()
    hooks: Sequence[str] = ()
    lost: Sequence[str] = ()
    refused: Refused | None = None
    own_rules: Sequence[Rule] = ()
    recorded: bool = False
    beside: Sequence[str] = ()
    originals: Mapping[Node, Any] = field(default_factory=dict)
    precise: Callable[[], Captured | None] = lambda: None
    frozen: Sequence[str] = ()
    places: Mapping[Node, SavedLine] = field(default_factory=dict)
    notes: Sequence[Pair] = ()


def seed(y: Any) -> Array:
    """Return the weights of a result's elements in the check: 1, or distinct numbers.

    With equal weights all gradients behind a softmax would be 0, and the check would be void.
    """
    size = int(np.prod(y.shape))
    weights = np.linspace(0.5, 1.5, size) if size > 1 else np.ones(size)
    return weights.astype(y.dtype).reshape(y.shape)[()]


def relative_gap(ours: Sequence[Any], theirs: Sequence[Any]) -> float:
    """Return the largest difference of any element, relative to the largest magnitude of all.

    Where one side has no gradient it counts as 0. Infinite where shapes differ.
    """
    largest, scale = 0.0, 0.0
    for a, b in zip(ours, theirs, strict=True):
        largest = max(largest, absolute_gap(a, b))
        other = np.zeros(()) if b is None else np.asarray(b)
        if (quick := _largest(other)) is not None:
            scale = max(scale, quick)
            continue
        wide = complex if other.dtype.kind == "c" else float
        finite = np.abs(other[np.isfinite(other)].astype(wide))
        scale = max(scale, float(np.max(finite, initial=0.0)))
    return largest / scale if scale else largest


def _largest(x: Array) -> float | None:
    """Return the largest magnitude of real numbers; None if one of them is not finite."""
    if x.dtype.kind != "f" or not x.size:
        return None
    ends = float(x.min()), float(x.max())
    return max(map(abs, ends)) if np.isfinite(ends).all() else None


def absolute_gap(a: Any, b: Any) -> float:
    """Return the largest difference of any element; None counts as 0; inf if shapes differ."""
    if a is None and b is None:
        return 0.0
    one = np.zeros_like(b) if a is None else np.asarray(a)
    other = np.zeros_like(one) if b is None else np.asarray(b)
    if one.shape != other.shape:
        return np.inf
    if one.dtype == other.dtype and one.dtype.kind == "f":
        with np.errstate(all="ignore"):
            quick = _largest(one - other)  # as exact as its operands: what is near cancels
        if quick is not None:
            return quick
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    wide = complex if "c" in (one.dtype.kind, other.dtype.kind) else float
    with np.errstate(all="ignore"):
        apart = np.where(same, 0.0, np.abs(np.subtract(one, other, dtype=wide)))
    return float(np.max(np.nan_to_num(apart, nan=np.inf), initial=0.0))


@dataclass(frozen=True)
class Stopped:
    """A model that raised while it ran: what ran before, and the call that was refused.

    model: the graph of what ran; operator, operands: the call, with those of its operands that are
    nodes; scope, line: where it is; rest: the scopes of the modules that come after it in the
    order in which they are declared, none of which ran.
    """

    model: Captured
    operator: str
    operands: Sequence[Node]
    scope: str
    line: Line | None
    rest: Sequence[str] = ()


@dataclass
class Builder:
    """A builder of a graph from another system's operators, read one by one."""

    graph: Graph = field(default_factory=Graph)
    feeds: dict[Node, Array] = field(default_factory=dict)
    leaves: dict[str, Node] = field(default_factory=dict)
    boxes: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)  # boxes without a derivative in their system
    own_rules: list[Rule] = field(default_factory=list)
    originals: dict[Node, Any] = field(default_factory=dict)  # what nodes hold in the original
    places: dict[Node, SavedLine] = field(default_factory=dict)  # lines of the model's own code
    path: tuple[str, ...] = ()  # the layers or functions that are being read
    labels: list[str] = field(default_factory=list)  # what each of them is called
    steps: tuple[str, ...] = ()  # of loops that are unrolled here, the innermost last
    visits: Counter[str] = field(default_factory=Counter)

    def entered(self, path: Sequence[str]) -> str:
        """Return the scope for a path of layers, numbered if it is entered again.

        Otherwise a scope that is folded into one box could depend on itself.
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
    def at(self, scope: str, line: Line | None, place: SavedLine | None = None) -> Iterator[None]:
        """Assign the nodes built inside to this scope and to this line of the user's.

        place: the line of the model's own code, which may be a library's.
        """
        graph = get_default_graph() if in_body() else self.graph
        before = len(graph.nodes)
        outer = context.now.scope
        context.now.scope = "/".join(filter(None, (scope, *self.steps)))
        try:
            with graph:
                yield
        finally:
            context.now.scope = outer
        for node in graph.nodes[before:]:
            if line is not None:
                node.code, node.lasti = line
            if place is not None:
                self.places[node] = place

    def placeholder(self, name: str, value: Array) -> Node:
        """Add an input that is fed this value."""
        attrs = {"shape": value.shape, "dtype": value.dtype}
        node = self.graph.add(state.placeholder, (), attrs, label(name))
        self.feeds[node] = value
        return self._leaf(name, node)

    def variable(self, name: str, value: Array, scope: str, trained: bool) -> Node:
        """Add a parameter, or an untrained buffer, of the layer with this scope."""
        node = self.graph.variable(value, label(name), None if trained else "buffer")
        node.scope = scope
        return self._leaf(name, node) if trained else node

    def _leaf(self, name: str, node: Node) -> Node:
        if node.dtype.kind == "f":
            self.leaves[name] = node
        return node

    def boxed(self, name: str, line: Line | None, custom: bool) -> None:
        """Note an operator that calls the original; custom: its gradient is a rule of its own."""
        if custom:
            self.own_rules.append((name, line))
        else:
            self.boxes.append(name)

    def node(self, x: Any, system: str) -> Node:
        """Return a node unchanged; convert an array to a constant."""
        return x if isinstance(x, Node) else self.graph.constant(as_array(x, None, system))

    def captured(
        self,
        system: str,
        outputs: Sequence[Any],
        values: Sequence[Array],
        found: Mapping[str, Array | None],
        about: About | None = None,
    ) -> Captured:
        """Return the finished graph with what the original computed."""
        with self.graph:
            nodes = [self.node(y, system) for y in outputs]
        used = set(ancestors(nodes))
        feeds = {x: value for x, value in self.feeds.items() if x in used}
        about = about or About()
        about.places = self.places
        about.originals, about.own_rules = self.originals, tuple(dict.fromkeys(self.own_rules))
        none = about.refused is not None
        theirs = {} if none else {name: found.get(name) for name in self.leaves}
        boxes = tuple(dict.fromkeys(self.boxes))
        return Captured(system, self.graph, nodes, feeds, self.leaves, values, theirs, boxes, about)


def label(name: str) -> str:
    """Return a name for a label: on one line, and without slashes, which would open a scope."""
    return one_line(name).replace("/", "∕")


def is_user_file(filename: str, library: str) -> bool:
    """Return whether a file is the user's: it is neither a library's nor this package's.

    library: the folder of the system itself, which may be anywhere.
    """
    return not filename.startswith((library, *LIBRARIES)) and is_user_code(filename)


def frames_of(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    """Yield the frames that an error went through, outermost first, with the instruction."""
    traceback = error.__traceback__
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lasti
        traceback = traceback.tb_next
