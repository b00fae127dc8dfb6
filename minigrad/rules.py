"""The gradient rule of an operator made ready: what it needs, and one function that applies it.

Both are derived, not declared. The rule is built once from nodes: what these read is what the tape
must keep. Written down as calls of kernels they are the function that the sweep calls, without the
detour through operators that look at their operands first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from minigrad import events, ops
from minigrad.core import (
    Array,
    Attrs,
    BaseNode,
    Dim,
    Dtype,
    Op,
    PublicShape,
    Shape,
    Spec,
    context,
    quick_kernel,
)
from minigrad.errors import GraphError
from minigrad.graph import Graph, Node, ancestors
from minigrad.ops import state
from minigrad.ops.shape import single_axes_first


class _Freed:
    """Stands where a node saved something that a backward pass has used and dropped."""

    def __repr__(self) -> str:
        return "freed"


FREED = _Freed()
NOTHING, SHAPE, DATA = 0, 1, 2
ndarray = np.ndarray

Share = tuple[Any, Any, int]  # where to, how much, and for which operand
Pull = Callable[[Any, Any], Iterable[Share]]
Push = Callable[[Any, Any, dict[Any, Any], Callable[[Any, Any], None], bool], None]
# The data type of arrays or the class of NumPy scalars; a pair (out of MIXED); None: neither.
Kind = Any
# Attributes that take few values: rules are written out for each choice of them.
FEW = frozenset({"axis", "keepdims", "transpose_a", "transpose_b"})


@dataclass(frozen=True, slots=True)
class Retained:
    """What the gradient rules of one operator read, for one choice of operands with gradients.

    `parts` says for the result and each operand: NOTHING, SHAPE or DATA. `wanted` are the
    positions of the operands that get a gradient. `ranked`: a rule asked for the number of axes.
    """

    parts: tuple[int, ...]
    wanted: tuple[int, ...]
    ranked: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Pullback:
    """How the gradient of a result becomes gradients of the operands, for one kind of operands.

    `pull(g, node)` gives (where to, how much, position) for each wanted operand, in their order; it
    reads what the node saved. `push(g, node, found, add, drop)` puts them into `found` instead,
    or calls `add(where, how much)` where there is a gradient already; with `drop` the node forgets
    what it saved. `kind`, `ranks` and `attrs` (None: any) say what it serves; `stretched` holds the
    same for operands that were repeated, by their positions (None: that does not happen); `keeps`
    says which of result and operands the node must save, `source` how it reads as Python, if it was
    written; `kernel` is the operator's, the quickest for such operands.
    """

    op: Op
    parts: tuple[int, ...]
    wanted: tuple[int, ...]
    pull: Pull
    push: Push
    keeps: tuple[bool, ...]
    has_data: bool
    count: int
    kernel: Callable[..., Array]
    kind: Kind = None
    ranks: tuple[int, ...] | None = None
    attrs: Attrs | None = None
    dtype: Dtype | None = None
    stretched: Mapping[tuple[int, ...], Pullback] | None = None
    source: str = ""

    @classmethod
    def interpreting(cls, op: Op, needs: Retained) -> Pullback:
        """The rules as they stand, for an operator that is recorded by hand."""
        parts = needs.parts
        pull = interpreted(op, needs, range(len(parts)) if op.broadcasts else ())
        keeps = tuple(part == DATA for part in parts)
        has_data, count = DATA in parts, len(parts) - 1
        push, kernel = pushing(pull), kernel_of(op)
        return cls(op, parts, needs.wanted, pull, push, keeps, has_data, count, kernel)


def retained(op: Op, mask: tuple[bool, ...], specs: Sequence[Spec], attrs: Attrs) -> Retained:
    """What must be kept for the backward pass: derived by building the rules once, symbolically.

    `specs` are those of the result and the operands; `mask` says which operands want a gradient.
    Nothing is wanted of an operand that has no rule.
    """
    wanted = tuple(i for i, want in enumerate(mask) if want and op.has_rule(i))
    probes, results = _build(op, wanted, specs, attrs)
    values = probes[1:]
    position: dict[Node, int] = {node: i for i, node in enumerate(values)}
    parts = [SHAPE if x.looked_at else NOTHING for x in values]
    for result in results:
        for reader in ancestors([result]) if isinstance(result, Node) else ():
            for i, x in enumerate(reader.inputs):
                if x in position:
                    part = SHAPE if i in reader.op.shape_only else DATA
                    parts[position[x]] = max(parts[position[x]], part)
        if isinstance(result, Node) and result in position:
            parts[position[result]] = DATA
    return Retained(tuple(parts), wanted, any(x.ranked for x in probes))


def _build(
    op: Op, wanted: Sequence[int], specs: Sequence[Spec], attrs: Attrs
) -> tuple[list[_Probe], list[Any]]:
    """Stand-ins for gradient, result and operands, and what the rules make of them."""
    with listen_to_nobody():
        scratch = Graph()
        probes = [_Probe.of(scratch, spec) for spec in (specs[0], *specs)]
        return probes, pull_back(op, wanted, probes[0], probes[1:], attrs)


def pull_back(op: Op, wanted: Iterable[int], g: Any, values: Sequence[Any], attrs: Attrs) -> Any:
    """The gradients of the operands at the positions `wanted`, by the operator's rules."""
    if not isinstance(op.vjp, tuple):
        parts = op.vjp(g, *values, wanted=tuple(wanted), **attrs)
        return [parts[i] for i in wanted]
    rules = [op.vjp[i] for i in wanted]
    return [None if rule is None else rule(g, *values, **attrs) for rule in rules]


class _Probe(Node):
    """A placeholder that notices when a rule looks at its shape or data type."""

    __slots__ = ("looked_at", "ranked")
    looked_at: bool
    ranked: bool

    @classmethod
    def of(cls, graph: Graph, spec: Spec) -> _Probe:
        probe = cls()
        probe.op, probe.inputs, probe.attrs, probe.spec = state.placeholder, (), {}, spec
        probe.order, probe.graph, probe.name, probe.controls = 0, graph, "?", ()
        probe.looked_at = probe.ranked = False
        return probe

    @property
    def shape(self) -> PublicShape | None:
        self.looked_at = self.ranked = True
        return super().shape

    @property
    def ndim(self) -> int:
        self.looked_at = self.ranked = True
        return super().ndim

    @property
    def dtype(self) -> Dtype:
        self.looked_at = True
        return super().dtype


class listen_to_nobody:
    """Keep the building of scratch nodes out of recordings, scopes and graphs of the user."""

    def __enter__(self) -> None:
        self.kept, self.scope = list(events.listeners), context.scope
        events.listeners.clear()
        context.scope = ""
        self.graph = Graph().__enter__()

    def __exit__(self, *exc: object) -> None:
        self.graph.__exit__()
        events.listeners.extend(self.kept)
        context.scope = self.scope


# ---- One function for all wanted operands -------------------------------------------------------


def pullback(
    op: Op,
    mask: tuple[bool, ...],
    result: Array,
    arrays: Sequence[Any],
    attrs: Attrs,
    kind: Kind = None,
) -> Pullback:
    """The pullback for such operands, made at their first meeting.

    `kind` is the data type (or NumPy's scalar class) that result and operands have in common, if
    they have one; the rule is then written out, unless attributes may take too many values.
    """
    ranks = tuple([len(getattr(x, "shape", ())) for x in arrays])
    fixed = _fixed(attrs)
    for key in ((mask, kind, None, fixed), (mask, kind, ranks, fixed)):
        if key in op.kept:
            found: Pullback = op.kept[key]
            return found
    values = [x if hasattr(x, "shape") else result.dtype.type(x) for x in (result, *arrays)]
    specs = [Spec(x.shape, x.dtype) for x in values]
    needs = retained(op, mask, specs, attrs)
    make = functools.partial(_made, op, needs, specs, kind, ranks, None if fixed is None else attrs)
    made = make(())
    if op.broadcasts and len(ranks) > 1 and (op.elementwise or max(ranks) > 2):
        made = replace(made, stretched=_Stretched(make))
    op.kept[mask, kind, made.ranks, fixed] = made
    return made


def _fixed(attrs: Attrs) -> Hashable:
    """Attributes for which a rule may be written out; None: they could take too many values."""
    items = tuple(attrs.items())
    try:
        return items if attrs.keys() <= FEW and hash(items) is not None else None
    except TypeError:  # a list of axes, say
        return None


class _Stretched(dict[tuple[int, ...], Pullback]):
    """Pullbacks for repeated operands, made when such are met."""

    def __init__(self, make: Callable[[tuple[int, ...]], Pullback]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, repeated: tuple[int, ...]) -> Pullback:
        made = self[repeated] = self._make(repeated)
        return made


def _made(
    op: Op,
    needs: Retained,
    specs: Sequence[Spec],
    kind: Kind,
    ranks: tuple[int, ...],
    attrs: Attrs | None,
    fit: tuple[int, ...],
) -> Pullback:
    """Gradients of the operands `fit` are summed over the axes along which they were repeated."""
    pull = interpreted(op, needs, fit)
    push, source = pushing(pull), ""
    if len(ranks) <= 2 and needs.wanted:
        source, scope = _as_kernels(op, needs, specs, kind, attrs, fit) or _as_rules(op, needs, fit)
    if source:
        exec(compile(source, f"{__file__}: {op.name}", "exec"), scope)  # see source.caller
        pull, push = scope["pull"], scope["push"]
    return Pullback(
        op=op,
        parts=needs.parts,
        wanted=needs.wanted,
        pull=pull,
        push=push,
        keeps=tuple(part == DATA for part in needs.parts),
        has_data=DATA in needs.parts,
        count=len(ranks),
        kernel=kernel_of(op, ranks, attrs),
        kind=kind,
        attrs=attrs,
        ranks=ranks if needs.ranked or (op.broadcasts and not op.elementwise) else None,
        dtype=specs[0].dtype,
        source=source,
    )


def kernel_of(
    op: Op, ranks: tuple[int, ...] = (), attrs: Attrs | None = None
) -> Callable[..., Array]:
    """The kernel without a place to write to; the quickest for operands of these ranks."""
    written = op.written(*ranks, **attrs) if op.written and ranks and attrs is not None else None
    if written:
        found: Callable[..., Array] = eval(f"lambda a, b=None, **_: {written.format('a', 'b')}")
        return found
    return quick_kernel(op) or functools.partial(op.run, None)


def shares(
    op: Op,
    wanted: Sequence[int],
    g: Any,
    values: Sequence[Any],
    attrs: Attrs,
    targets: Sequence[Any],
    fit: Container[int],
) -> list[Share]:
    """What the rules give to each wanted operand; nothing is said of one to which nothing flows."""
    found = []
    for i, part in zip(wanted, pull_back(op, wanted, g, values, attrs), strict=True):
        if part is not None:
            target = targets[i]
            found.append((target, unbroadcast(part, target) if i in fit else part, i))
    return found


def interpreted(op: Op, needs: Retained, fit: Container[int]) -> Pull:
    """Apply the rules as they stand: for any number of operands, and with attributes."""
    parts, wanted = needs.parts, needs.wanted

    def pull(g: Any, node: Any) -> list[Share]:
        sources = node.sources
        values = [
            shape_of(source) if part == SHAPE else value
            for value, part, source in zip(node.saved, parts, (node, *sources), strict=True)
        ]
        return shares(op, wanted, g, values, node.attrs, sources, fit)

    return pull


class _Same(dict[Any, Any]):
    """The first of all equal keys, so that `is` tells whether two are equal."""

    def __missing__(self, key: Any) -> Any:
        self[key] = key
        return key


MIXED = _Same()  # pairs of data types


def pushing(pull: Pull) -> Push:
    """The other form of a pullback, see there."""

    def push(
        g: Any, node: Any, found: dict[Any, Any], add: Callable[[Any, Any], None], drop: bool
    ) -> None:
        shares = pull(g, node)
        if drop:
            node.release()
        for target, part, _ in shares:
            if target in found:
                add(target, part)
            else:
                found[target] = part

    return push


NAMES = ("g", "y", "a", "b")
PLACES = ("", "node._result", "node._operand", "node._operand2")  # where a node saved them
SOURCES = ("", "node", "node._source", "node._source2")


def _as_kernels(
    op: Op,
    needs: Retained,
    specs: Sequence[Spec],
    kind: Kind,
    attrs: Attrs | None,
    fit: Container[int],
) -> tuple[str, dict[str, Any]] | None:
    """The rules written out as calls of kernels, for one data type and choice of attributes.

    They are built with open lengths, so they serve all shapes of these ranks. None: a rule needs
    to know the lengths, or is not made of kernels alone.
    """
    if kind is None or attrs is None:
        return None
    open_specs = [Spec(tuple(Dim() for _ in s.shape or ()), s.dtype) for s in specs]
    try:
        probes, results = _build(op, needs.wanted, open_specs, attrs)
    except (GraphError, TypeError, ValueError):
        return None
    if not all(isinstance(x, Node) for x in results):
        return None
    text = _Text(needs, probes, isinstance(kind, type))
    for node in ancestors(results):
        if node not in text.names:
            text.add(node)
    given = [text.operand(x) for x in results]
    if text.stray:
        return None
    return _function([*text.loads(), *text.lines], needs, given, fit), text.scope


def _as_rules(op: Op, needs: Retained, fit: Container[int]) -> tuple[str, dict[str, Any]]:
    """The rules called as they stand; "" where one rule serves all operands."""
    if not isinstance(op.vjp, tuple):
        return "", {}
    count = len(needs.parts) - 1
    words = [
        f"shape_of({SOURCES[i + 1]})" if part == SHAPE else PLACES[i + 1]
        for i, part in enumerate(needs.parts)
    ]
    scope: dict[str, Any] = {f"rule{i}": op.vjp[i] for i in needs.wanted}
    given = [f"rule{i}(g, {', '.join(words[: count + 1])}, **node._attrs)" for i in needs.wanted]
    return _function([], needs, given, fit), scope | HELPERS


def _function(
    lines: Sequence[str], needs: Retained, given: Sequence[str], fit: Container[int]
) -> str:
    """The text of two functions that end with the shares of the wanted operands."""
    shares, pushes = [], []
    for i, part in zip(needs.wanted, given, strict=True):
        target = SOURCES[i + 2]
        part = f"unbroadcast({part}, {target})" if i in fit else part
        shares.append(f"({target}, {part}, {i}),")
        pushes += [f"t = {target}", f"if t in found: add(t, {part})", f"else: found[t] = {part}"]
    pull = ["def pull(g, node):", *lines, f"return ({' '.join(shares)})"]
    if DATA in needs.parts:  # what TapeNode.release does
        forget = ["node._result = FREED", "node._operand = node._operand2 = None"]
        pushes += ["if drop:", *(f"    {line}" for line in forget)]
    push = ["def push(g, node, found, add, drop):", *lines, *pushes]
    return "\n    ".join(pull) + "\n\n" + "\n    ".join(push)


class _Text:
    """Nodes as lines of Python: each a call of a kernel."""

    def __init__(self, needs: Retained, probes: Sequence[Node], scalars: bool) -> None:
        self.needs, self.scalars = needs, scalars
        self.names: dict[Node, str] = dict(zip(probes, NAMES, strict=False))
        self.place = {probe: i for i, probe in enumerate(probes)}
        self.scope: dict[str, Any] = dict(HELPERS)
        self.lines: list[str] = []
        self.read: set[int] = set()
        self.stray = False  # something was met that cannot be written

    def add(self, node: Node) -> None:
        """One line for one node."""
        op = node.op
        if op is state.constant:
            value = node.attrs["value"]  # an array without axes is quicker beside arrays
            self.names[node] = self._constant(value if self.scalars else np.asarray(value))
            return
        self.stray |= op.effect or op.impure
        words = [self.operand(x, i in op.shape_only) for i, x in enumerate(node.inputs)]
        name = self.names[node] = f"v{len(self.lines)}"
        ranks = [len(x.spec.shape or ()) for x in node.inputs]
        written = op.written and op.written(*ranks, **node.attrs)
        if written:
            self.lines.append(f"{name} = {written.format(*words)}")
            return
        words += [f"{key}={self._constant(value)}" for key, value in node.attrs.items()]
        quick = quick_kernel(op)
        self.scope[op.name] = quick or op.run
        self.lines.append(f"{name} = {op.name}({', '.join(words if quick else ['None', *words])})")

    def _constant(self, value: Any) -> str:
        name = f"c{len(self.scope)}"
        self.scope[name] = value
        return name

    def operand(self, x: Node, shape_only: bool = False) -> str:
        """What a node is called; a stand-in is fetched from where the tape saved its value."""
        i = self.place.get(x, 0)
        if i and self.needs.parts[i - 1] != DATA:
            self.stray |= not shape_only
            return "node" if i == 1 else f"shape_of({SOURCES[i]})"
        if i:
            self.read.add(i)
        return self.names[x]

    def loads(self) -> list[str]:
        return [f"{NAMES[i]} = {PLACES[i]}" for i in sorted(self.read)]


def shape_of(source: Any) -> Any:
    """What stands for an operand of which only shape and data type are read."""
    if isinstance(source, BaseNode):
        return source
    if type(source) is tuple:
        return Spec(*source[:2])
    return Spec(source.shape, source.dtype) if hasattr(source, "shape") else source


def unbroadcast(part: Any, target: Any) -> Any:
    """Sum a gradient over the axes along which its operand had been repeated."""
    if type(part) is ndarray:
        mine, wanted = part.shape, target.shape
        lead = len(mine) - len(wanted)
        if lead > 0 and mine[lead:] == wanted:  # as for a bias
            if single_axes_first(mine, lead):
                return part.reshape(wanted)  # what the sum would give
            return ops.sum.run(None, part, axis=tuple(range(lead)))
    elif isinstance(target, Node):
        mine, wanted = part.spec.shape, target.spec.shape  # tells unknown lengths apart
    else:
        mine, wanted = part.shape, target.shape
    if mine == wanted and mine is not None:
        return part
    lead = 0 if mine is None or wanted is None else len(mine) - len(wanted)
    if mine is None or wanted is None or _may_stretch(mine[lead:], wanted):
        return ops.sum_like(part, target if isinstance(target, Node) else shape_of(target))
    return ops.sum(part, axis=tuple(range(lead)))


def _may_stretch(mine: Shape, wanted: Shape) -> bool:
    pairs = zip(mine, wanted, strict=True)
    return any(m != n and (n == 1 or isinstance(n, Dim)) for m, n in pairs)


HELPERS = {
    "unbroadcast": unbroadcast,
    "shape_of": shape_of,
    "FREED": FREED,
}  # what written functions may call
