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

from minigrad.core import Array, Attrs, Dtype, Op, Spec, quick_kernel
from minigrad.probing import DATA, SHAPE, Retained, retained
from minigrad.shares import Share, freed, shape_of, shares
from minigrad.written import Kind, Written, as_kernels, as_rules

Pull = Callable[[Any, Any], Iterable[Share]]
Push = Callable[[Any, Any, dict[Any, Any], Callable[[Any, Any], None], bool], None]
# Attributes that take few values: rules are written out for each choice of them.
FEW = frozenset({"axis", "keepdims", "transpose_a", "transpose_b"})


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
    push, written = pushing(pull), Written()
    if len(ranks) <= 2 and needs.wanted:
        written = as_kernels(op, needs, specs, kind, attrs, fit) or as_rules(op, needs, fit)
    if written.source:
        scope = written.scope | {"pull_plainly": pull, "push_plainly": push}
        exec(compile(written.source, f"{__file__}: {op.name}", "exec"), scope)  # see source.caller
        pull, push = scope["pull"], scope["push"]
    ranked = needs.ranked or written.ranked or (op.broadcasts and not op.elementwise)
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
        ranks=ranks if ranked else None,
        dtype=specs[0].dtype,
        source=written.source,
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


def interpreted(op: Op, needs: Retained, fit: Container[int]) -> Pull:
    """Apply the rules as they stand: for any number of operands, and with attributes."""
    parts, wanted = needs.parts, needs.wanted

    def pull(g: Any, node: Any) -> list[Share]:
        sources, saved = node.sources, node.saved
        if saved is None:
            raise freed(node)
        values = [
            shape_of(source) if part == SHAPE else value
            for value, part, source in zip(saved, parts, (node, *sources), strict=True)
        ]
        return shares(op, wanted, g, values, node.attrs, sources, fit)

    return pull


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


class _Same(dict[Any, Any]):
    """The first of all equal keys, so that `is` tells whether two are equal."""

    def __missing__(self, key: Any) -> Any:
        self[key] = key
        return key


MIXED = _Same()  # pairs of data types
