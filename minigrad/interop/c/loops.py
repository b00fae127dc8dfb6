"""Loops over elements: fused regions and single operators as one C function.

Axes along which all arrays go on alike become one. An operand that stays the same along an axis is
not moved on there: that is broadcasting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from minigrad.interop.c.blocks import CArray, CArrays, CFunction, CWriter
from minigrad.interop.c.scalars import c_type, expression, literal
from minigrad.ops import state
from minigrad.static import Node


@dataclass(frozen=True)
class Body:
    """The computation for each element: inputs by position, steps in order, outputs."""

    inputs: tuple[Node, ...]
    steps: tuple[Node, ...]
    outputs: tuple[Node, ...]

    @classmethod
    def of(cls, node: Node) -> Body:
        """Return the body of a fused region, or of one operator."""
        body = node.attrs.get("body")
        if body is None:
            return cls(node.inputs, (node,), (node,))
        given = set(body.inputs)
        steps = tuple(n for n in body.nodes if n not in given)
        return cls(tuple(body.inputs), steps, tuple(body.outputs))

    def write(self, writer: CWriter, values: Mapping[Node, str]) -> dict[Node, str] | None:
        """Write one line for each step; `values` are the inputs' C names. None: impossible."""
        names = dict(values)
        for node in self.steps:
            if node in names:
                continue
            if node.op is state.constant:
                text: str | None = literal(np.asarray(node.attrs["value"]).reshape(()), node.dtype)
            else:
                operands = [names[x] for x in node.inputs]
                text = expression(node, operands, [x.dtype for x in node.inputs])
            if text is None:
                return None
            names[node] = f"v{len(names)}"
            writer.line(f"const {c_type(node.dtype)} {names[node]} = {text};", node)
        return names


def advances(form: CArray, like: CArray) -> tuple[bool, ...]:
    """Return for each axis of `like` whether an array of this form advances along it."""
    lead = len(like.declared) - len(form.declared)
    found = [False] * lead
    for i, (a, b) in enumerate(zip(form.declared, like.declared[lead:], strict=True)):
        if a is b or a == b:
            found.append(True)
        else:
            found.append(a != 1 and form.shape[i] == like.shape[lead + i])
    return tuple(found)


@dataclass(frozen=True)
class Nest:
    """The loops over one shape: groups of axes, and along which of them each array goes on."""

    groups: tuple[tuple[int, ...], ...]
    moving: tuple[tuple[bool, ...], ...]  # for each array, for each group

    @classmethod
    def over(cls, forms: CArrays, like: CArray, apart: bool = False) -> Nest:
        """Plan the loops over these forms; with `apart`, axes aren't merged."""
        rows = [advances(form, like) for form in forms]
        axes = [i for i, n in enumerate(like.declared) if n != 1 or apart]
        groups: list[list[int]] = []
        for i in axes:
            last = groups[-1][-1] if groups else None
            if last is not None and not apart and all(r[last] == r[i] for r in rows):
                groups[-1].append(i)
            else:
                groups.append([i])
        moving = tuple(tuple(row[g[0]] for g in groups) for row in rows)
        return cls(tuple(map(tuple, groups)), moving)

    def index(self, array: int) -> str:
        """Return the position of an array's element, from the loop indices i0, i1, …."""
        text = ""
        for k, moving in enumerate(self.moving[array]):
            if moving:
                text = f"({text}) * m{k} + i{k}" if text else f"i{k}"
        return text or "0"

    def depth(self, array: int) -> int:
        """Return how many loops are open when an element of the array is first known."""
        return max((k + 1 for k, moving in enumerate(self.moving[array]) if moving), default=0)


def elementwise(
    stem: str,
    body: Body,
    results: CArrays,
    operands: CArrays,
    summed: Sequence[int] = (),
    unwritten: Sequence[int] = (),
) -> CFunction | None:
    """Write one function for a body whose results all have one shape.

    The sums of the results at the positions `summed` are further results, in double, one after the
    other behind the others; those at the positions `unwritten` are not stored. Sums can be had
    where all arrays go on alike along all axes, or stay the same along all.
    """
    like = results[0]
    nest = Nest.over(operands, like)
    last = len(nest.groups)
    if any(form.shape != like.shape for form in results) or (summed and last != 1):
        return None
    sums = [CArray(np.dtype(np.float64), (), ())] * len(summed)
    writer = CWriter(stem, [*results, *sums], operands, (), unwritten)
    for k, group in enumerate(nest.groups):
        writer.line(f"const int64_t m{k} = {writer.size(0, group)};")
    names: dict[Node, str] = {}
    for depth in range(last + 1):
        if depth == last and summed:
            _open_pieces(writer, [results[i] for i in summed])
        elif depth:
            writer.loop(f"i{depth - 1}", f"m{depth - 1}", independent=depth == last)
        for i, x in enumerate(body.inputs):
            if nest.depth(i) == depth and x not in names:
                names[x] = f"v{len(names)}"
                read = f"x{i}[{nest.index(i)}]"
                writer.line(f"const {operands[i].type} {names[x]} = {read};", i)
    found = body.write(writer, names)
    if found is None:
        return None
    everywhere = Nest(nest.groups, ((True,) * last,))
    for i, y in enumerate(body.outputs):
        if i not in unwritten:
            writer.line(f"y{i}[{everywhere.index(0)}] = {found[y]};")
    if summed:
        _close_pieces(writer, [(found[body.outputs[i]], results[i]) for i in summed], len(results))
    else:
        writer.close(last)
    return writer.block()


PIECE = 1024  # elements that are summed up at a time, while they are in the fastest cache


def _open_pieces(writer: CWriter, summed: CArrays) -> None:
    for k, form in enumerate(summed):
        writer.line(f"{form.type} piece{k}[{PIECE}];")
        writer.line(f"double sum{k} = m0 ? -0.0 : 0.0;")
    writer.open(f"for (int64_t start = 0; start < m0; start += {PIECE})")
    writer.line(f"const int64_t stop = m0 - start < {PIECE} ? m0 : start + {PIECE};")
    writer.line("INDEPENDENT")
    writer.open("for (int64_t i0 = start; i0 < stop; i0++)")


def _close_pieces(writer: CWriter, summed: Sequence[tuple[str, CArray]], first: int) -> None:
    for k, (value, _) in enumerate(summed):
        writer.line(f"piece{k}[i0 - start] = {value};")
    writer.close()
    for k, (_, form) in enumerate(summed):
        writer.line(f"sum{k} += sum_{form.type}(piece{k}, stop - start);")
    writer.close()
    for k in range(len(summed)):
        writer.line(f"y{first + k}[0] = sum{k};")
