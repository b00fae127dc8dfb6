"""Pullbacks prepared for a kind of operands when it is first met, and kept.

Written out as calls of kernels they are the function that the sweep calls, without the detour
through operators that look at their operands first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from minigrad.backprop.rules import DATA, Pull, Pullback, Retained, apply_rules
from minigrad.backprop.saved_for_backward import retained
from minigrad.core import Array, Attrs, Dtype, Op, Spec
from minigrad.dynamic.fast_paths.generated_rules import (
    GeneratedRules,
    Kind,
    from_kernels,
    from_rules,
    kernel_source,
    quick_kernel,
)
from minigrad.dynamic.recorder import FEW

Push = Callable[[Any, Any, dict[Any, Any], Callable[[Any, Any], None], bool], None]


@dataclass(frozen=True, slots=True, eq=False)
class PreparedPullback(Pullback):
    """A pullback for one kind of operands, found once and kept.

    `push(g, node, found, add, drop)` is `pull` that puts gradients into `found`, or calls
    `add(where, how much)` where there is one already; with `drop` the node forgets what it saved.
    `kind`, `ranks` and `attrs` (None: any) say what it serves; `stretched` holds the same for
    operands that were repeated, by their positions (None: that does not happen); `source` is how it
    reads as Python, if it was written; `kernel` is the operator's, the quickest for such operands.
    """

    push: Push
    kernel: Callable[..., Array]
    kind: Kind = None
    ranks: tuple[int, ...] | None = None
    attrs: Attrs | None = None
    dtype: Dtype | None = None
    stretched: Mapping[tuple[int, ...], PreparedPullback] | None = None
    source: str = ""


def prepared(
    op: Op,
    mask: tuple[bool, ...],
    result: Array,
    arrays: Sequence[Any],
    attrs: Attrs,
    kind: Kind = None,
) -> PreparedPullback:
    """Return the pullback for such operands, made when they are first met.

    `kind` is the data type (or NumPy's scalar class) that result and operands have in common, if
    they have one; the rule is then written out, unless attributes may take too many values.
    """
    ranks = tuple([len(getattr(x, "shape", ())) for x in arrays])
    fixed = _fixed_attrs(attrs)
    for key in ((mask, kind, None, fixed), (mask, kind, ranks, fixed)):
        if key in op.memo:
            found: PreparedPullback = op.memo[key]
            return found
    values = [x if hasattr(x, "shape") else result.dtype.type(x) for x in (result, *arrays)]
    specs = [Spec(x.shape, x.dtype) for x in values]
    needs = retained(op, mask, specs, attrs)
    known = None if fixed is None else attrs
    make = functools.partial(_make_pullback, op, needs, specs, kind, ranks, known)
    made = make(())
    if op.broadcasts and len(ranks) > 1 and (op.elementwise or max(ranks) > 2):
        made = replace(made, stretched=_BroadcastPullbacks(make))
    op.memo[mask, kind, made.ranks, fixed] = made
    return made


def _fixed_attrs(attrs: Attrs) -> Hashable:
    """Return attributes for which a rule may be written out; None: they could take many values."""
    items = tuple(attrs.items())
    try:
        return items if attrs.keys() <= FEW and hash(items) is not None else None
    except TypeError:  # a list of axes, say
        return None


class _BroadcastPullbacks(dict[tuple[int, ...], PreparedPullback]):
    """Pullbacks for repeated operands, made when such are met."""

    def __init__(self, make: Callable[[tuple[int, ...]], PreparedPullback]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, repeated: tuple[int, ...]) -> PreparedPullback:
        made = self[repeated] = self._make(repeated)
        return made


def _make_pullback(
    op: Op,
    needs: Retained,
    specs: Sequence[Spec],
    kind: Kind,
    ranks: tuple[int, ...],
    attrs: Attrs | None,
    fit: tuple[int, ...],
) -> PreparedPullback:
    """Make a pullback; it sums the gradients of the operands `fit` over the repeated axes."""
    pull: Pull = functools.partial(apply_rules, op, needs, fit)
    push, rules = make_push(pull), GeneratedRules()
    if len(ranks) <= 2 and needs.wrt:
        rules = from_kernels(op, needs, specs, kind, attrs, fit) or from_rules(op, needs, fit)
    if rules.source:
        scope = rules.scope | {"pull_plainly": pull, "push_plainly": push}
        exec(compile(rules.source, f"{__file__}: {op.name}", "exec"), scope)  # see source.caller
        pull, push = scope["pull"], scope["push"]
    ranked = needs.ranked or rules.ranked or (op.broadcasts and not op.elementwise)
    return PreparedPullback(
        op=op,
        usage=needs.usage,
        wrt=needs.wrt,
        pull=pull,
        push=push,
        keeps=tuple(part == DATA for part in needs.usage),
        has_data=DATA in needs.usage,
        count=len(ranks),
        kernel=kernel_of(op, ranks, attrs),
        kind=kind,
        attrs=attrs,
        ranks=ranks if ranked else None,
        dtype=specs[0].dtype,
        source=rules.source,
    )


def kernel_of(
    op: Op, ranks: tuple[int, ...] = (), attrs: Attrs | None = None
) -> Callable[..., Array]:
    """Return the kernel without a place to write to; the fastest for operands of these ranks."""
    source = kernel_source(op, ranks, attrs) if ranks and attrs is not None else ""
    if source:
        found: Callable[..., Array] = eval(f"lambda a, b=None, **_: {source.format('a', 'b')}")
        return found
    return quick_kernel(op) or functools.partial(op.run, None)


def make_push(pull: Pull) -> Push:
    """Turn `pull` into `push`, see `PreparedPullback`."""

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


@functools.cache
def interned_pair(one: Dtype, other: Dtype) -> tuple[Dtype, Dtype]:
    """Return two data types as the same pair each time, so that `is` tells whether they are."""
    return one, other
