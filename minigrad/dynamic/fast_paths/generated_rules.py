"""Gradient rules written out as Python: calls of kernels, or at least of the rules themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.backprop.rules import DATA, FREED, SHAPE, Retained, freed, shape_of, unbroadcast
from minigrad.backprop.saved_for_backward import Probe, build
from minigrad.core import Array, Attrs, Dim, Op, Spec, ancestors
from minigrad.diagnostics.errors import GraphError

# The data type of arrays or the class of NumPy scalars; a pair of both; None: neither.
Kind = Any
# What written functions may call.
HELPERS = {"unbroadcast": unbroadcast, "shape_of": shape_of, "FREED": FREED, "freed": freed}

NAMES = ("g", "y", "a", "b")
PLACES = ("", "node._result", "node._operand", "node._operand2")  # where a node saved them
SOURCES = ("", "node", "node._source", "node._source2")


@dataclass(frozen=True, slots=True)
class GeneratedRules:
    """The source of rules and what it calls; `ranked`: it holds for operands of these ranks."""

    source: str = ""
    scope: dict[str, Any] = field(default_factory=dict)
    ranked: bool = False


def _matmul_source(a: int, b: int, transpose_a: bool = False, transpose_b: bool = False) -> str:
    if (a, b) != (2, 2):
        return ""
    return f"{{0}}{'.T' * transpose_a}.dot({{1}}{'.T' * transpose_b})"


# For ranks and attributes for which a line of Python is faster than the kernel: that line, with
# {0} and {1} for the operands; else an empty one.
KERNEL_SOURCES: dict[Op, Callable[..., str]] = {
    ops.matmul: _matmul_source,
    ops.transpose: lambda rank, axes=None: "{0}.T" if axes is None else "",
}


def kernel_source(op: Op, ranks: Sequence[int], attrs: Attrs) -> str:
    """Return the kernel as a line of Python; empty where the kernel is as fast."""
    return KERNEL_SOURCES[op](*ranks, **attrs) if op in KERNEL_SOURCES else ""


def quick_kernel(op: Op) -> Callable[..., Array] | None:
    """Return the kernel as a function of the operands alone, if NumPy or Python has one."""
    return op.symbol or op.ufunc


def from_kernels(
    op: Op,
    needs: Retained,
    specs: Sequence[Spec],
    kind: Kind,
    attrs: Attrs | None,
    fit: Container[int],
) -> GeneratedRules | None:
    """Write the rules out as calls of kernels, for one data type and choice of attributes.

    They are built with open lengths. None: a rule needs to know the lengths, or is not made of
    kernels alone.
    """
    if kind is None or attrs is None:
        return None
    any_rank = op.elementwise and not needs.ranked  # operands only differ in being repeated
    try:
        probes, results = build(op, needs.wrt, _with_open_lengths(specs, any_rank, fit), attrs)
    except (GraphError, TypeError, ValueError):
        return None
    if not all(isinstance(x, Probe) for x in results):
        return None
    nodes = ancestors(results)
    text = _RuleWriter(needs, probes, isinstance(kind, type))
    read = [x for node in nodes for x in node.inputs if isinstance(x, Probe)]
    text.uses = Counter(read + results)
    for node in nodes:
        if node not in text.names:
            text.add(node)
    given = [text.operand(x) for x in results]
    if text.stray:
        return None
    with_axes = any_rank and text.overwrites
    source = _pull_and_push(text.loads(), text.lines, needs, given, fit, with_axes)
    return GeneratedRules(source, text.scope, ranked=text.overwrites and not any_rank)


def _with_open_lengths(specs: Sequence[Spec], any_rank: bool, fit: Container[int]) -> list[Spec]:
    """Return the specs of result and operands with open lengths.

    For any rank, one axis stands for all axes of the result and of the operands that have its
    shape. Those that are repeated have none: what is computed of them alone is smaller than the
    result, by an unknown factor, and must not be overwritten with it.
    """
    if not any_rank:
        return [Spec(tuple(Dim() for _ in s.shape or ()), s.dtype) for s in specs]
    whole = (Dim(),)
    return [Spec(() if i - 1 in fit else whole, s.dtype) for i, s in enumerate(specs)]


def from_rules(op: Op, needs: Retained, fit: Container[int]) -> GeneratedRules:
    """Write calls of the rules themselves; nothing if one rule serves all operands."""
    if not isinstance(op.vjp, tuple):
        return GeneratedRules()
    count = len(needs.usage) - 1
    words, loads = [], []
    for i, part in enumerate(needs.usage, 1):
        words.append({DATA: NAMES[i], SHAPE: f"shape_of({SOURCES[i]})"}.get(part, "None"))
        if part == DATA:
            loads.append(f"{NAMES[i]} = {PLACES[i]}")
    scope: dict[str, Any] = {f"rule{i}": op.vjp[i] for i in needs.wrt}
    given = [f"rule{i}(g, {', '.join(words[: count + 1])}, **node._attrs)" for i in needs.wrt]
    return GeneratedRules(_pull_and_push(loads, [], needs, given, fit), scope | HELPERS)


def _pull_and_push(
    loads: Sequence[str],
    lines: Sequence[str],
    needs: Retained,
    given: Sequence[str],
    fit: Container[int],
    with_axes: bool = False,
) -> str:
    """Write two functions, `pull` and `push`, that end with the shares of the operands at `wrt`.

    With `with_axes`, they leave a result without axes to the plain form of the rules: kernels
    give single numbers then, which nothing can be written over.
    """
    if DATA in needs.usage:  # another thread's pass may have taken it since `reachable` looked
        loads = [*loads, "if node._result is FREED: raise freed(node)"]
    lines = [*loads, *lines]
    shares, pushes = [], []
    for i, part in zip(needs.wrt, given, strict=True):
        target = SOURCES[i + 2]
        part = f"unbroadcast({part}, {target})" if i in fit else part
        shares.append(f"({target}, {part}, {i}),")
        pushes += [f"t = {target}", f"if t in found: add(t, {part})", f"else: found[t] = {part}"]

    def leave(call: str) -> list[str]:
        return [f"if not node._shape: return {call}"] if with_axes else []

    first = leave("pull_plainly(g, node)")
    pull = ["def pull(g, node):", *first, *lines, f"return ({' '.join(shares)})"]
    if DATA in needs.usage:  # what TapeNode.release does
        forget = ["node._result = FREED", "node._operand = node._operand2 = None"]
        pushes += ["if drop:", *(f"    {line}" for line in forget)]
    first = leave("push_plainly(g, node, found, add, drop)")
    push = ["def push(g, node, found, add, drop):", *first, *lines, *pushes]
    return "\n    ".join(pull) + "\n\n" + "\n    ".join(push)


class _RuleWriter:
    """Writes the nodes that rules made of stand-ins as lines of Python: each a call of a kernel."""

    def __init__(self, needs: Retained, probes: Sequence[Probe], scalars: bool) -> None:
        self.needs, self.scalars = needs, scalars
        self.names: dict[Probe, str] = dict(zip(probes, NAMES, strict=False))
        self.place = {probe: i for i, probe in enumerate(probes)}
        self.scope: dict[str, Any] = dict(HELPERS)
        self.lines: list[str] = []
        self.read: set[int] = set()
        self.stray = False  # something was met that cannot be written
        self.overwrites = False  # an array is used twice
        self.uses: Counter[Probe] = Counter()  # how often each node is read
        self.fresh: set[Probe] = set()  # arrays that nothing else holds

    def add(self, node: Probe) -> None:
        """Write one line for one node."""
        op = node.op
        self.stray |= op.effect or op.impure
        words = [self.operand(x, i in op.shape_only) for i, x in enumerate(node.inputs)]
        name = self.names[node] = f"v{len(self.lines)}"
        ranks = [len((x.spec if isinstance(x, Probe) else x).shape or ()) for x in node.inputs]
        source = kernel_source(op, ranks, node.attrs)
        if source:
            self.lines.append(f"{name} = {source.format(*words)}")
            return
        words += [f"{key}={self._constant(value)}" for key, value in node.attrs.items()]
        over = self._may_be_overwritten(node)
        quick = op.ufunc if over else quick_kernel(op)
        self.overwrites |= bool(over)
        called = op.name + "Into" * bool(over)
        self.scope[called] = quick or op.run
        words = [*words, *over] if quick else ["None", *words]
        self.lines.append(f"{name} = {called}({', '.join(words)})")
        if quick is not None and node.spec.shape:
            self.fresh.add(node)

    def _may_be_overwritten(self, node: Probe) -> list[str]:
        """Return the name of an operand that only this node reads: its result may go there."""
        if node.op.ufunc is None or self.scalars:
            return []
        return [
            self.names[x]
            for x in dict.fromkeys([x for x in node.inputs if isinstance(x, Probe)])
            if x in self.fresh and self.uses[x] == 1 and x.spec == node.spec
        ][:1]

    def _constant(self, value: Any) -> str:
        name = f"c{len(self.scope)}"
        self.scope[name] = value
        return name

    def operand(self, x: Any, shape_only: bool = False) -> str:
        """Return the name of a value; for a stand-in, of what the tape saved in its place."""
        if not isinstance(x, Probe):  # an array without axes is quicker beside arrays
            return self._constant(x if self.scalars else np.asarray(x))
        i = self.place.get(x, 0)
        if i and self.needs.usage[i - 1] != DATA:
            self.stray |= not shape_only
            return "node" if i == 1 else f"shape_of({SOURCES[i]})"
        if i:
            self.read.add(i)
        return self.names[x]

    def loads(self) -> list[str]:
        return [f"{NAMES[i]} = {PLACES[i]}" for i in sorted(self.read)]
