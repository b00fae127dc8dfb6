"""The share of the gradient that one operand gets: upstream × local, or by a rule, and in words."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from minigrad.backprop.rules import pull_back
from minigrad.core import BaseNode
from minigrad.dynamic.tensor import Tensor
from viz.film.facts import spec_of
from viz.film.film import Flow, operand
from viz.picture import formula
from viz.picture.summary import Summary, summarize
from viz.words.text import Pair, row

LONG = 80  # characters of a sum; of one with more, only what it comes to is told


class BackwardPasses:
    """Which nodes have a gradient in the current backward pass.

    In one pass a node sends each operand its share once. When it does so again, another pass has
    begun: with the last seed, if that came since, else just now.
    """

    def __init__(self) -> None:
        self.recent: set[Hashable] = set()  # since the last seed: nodes; shares as (node, index)
        self.earlier: set[Hashable] = set()

    def __contains__(self, node: str) -> bool:
        return node in self.recent or node in self.earlier

    def add(self, *known: Hashable) -> None:
        self.recent.update(known)

    def seeded(self, node: str) -> None:
        self.earlier |= self.recent
        self.recent = {node}

    def before(self, share: Hashable) -> None:
        """Note that a share is about to be sent; a repeated one begins a new pass."""
        again = share in self.recent
        if again or share in self.earlier:
            self.earlier = set()
        if again:
            self.recent = set()


def share(
    source: BaseNode,
    index: int,
    known: Sequence[Any],
    names: Sequence[str],
    passed: tuple[Any, Any],
    summed: Summary | None = None,
) -> Flow:
    """Return the gradient from `source` to its operand `index`, and how it was computed.

    known: the result and the operands, empty where these did not run; names: what they are called;
    passed: the upstream gradient and the share, None where they were not recorded; summed: how the
    share is shown, if it's a sum over rounds
    """
    upstream, part = passed
    value, above = summed or summarize(part), operand(summarize(upstream, seen=False).text)
    if part is None:
        return Flow(value, back=True)
    local = _derivative(source, index, known, names)
    said = {"rule": local} if formula.UPSTREAM in local else {"upstream": above, "local": local}
    return Flow(value, back=True, **said)


def _derivative(source: BaseNode, index: int, known: Sequence[Any], names: Sequence[str]) -> str:
    """Return the local derivative: a number if elementwise, else a formula; "" for a graph."""
    op = source.op
    if op.elementwise and known:
        data = [x._array if isinstance(x, Tensor) else x for x in known]
        ones = np.broadcast_to(np.ones_like(data[0], shape=()), np.shape(data[0]))[()]
        with np.errstate(all="ignore"):  # as in the run itself
            (local,) = pull_back(op, [index], ones, data, source.attrs)
        local_text = operand(summarize(local, seen=False).text)
        if not formula.stretched(spec_of(data[0]), spec_of(data[index + 1])):
            return local_text
        one = np.all(np.equal(local, 1))
        return formula.summed(formula.UPSTREAM if one else f"{formula.UPSTREAM} × {local_text}")
    specs = [spec_of(x) for x in known or (source, *source.inputs)]
    return formula.local(op, index, specs, source.attrs, names)


def share_caption(flow: Flow, part: Any, **names: str) -> Pair:
    """Describe a share; `names` are those of its source and of the operand."""
    text = flow.value.text
    if flow.before:
        sum_ = {"before": flow.before, "part": operand(text), "total": flow.after}
        return row("step_accumulated" if len(flow.sum) < LONG else "step_added", **names, **sum_)
    if part is None:
        return row("step_returned", **names)
    if flow.rule:
        return row("step_rule", **names, local=flow.rule, part=text)
    if not flow.local:
        return row("step_passed", **names, upstream=flow.upstream, part=text)
    return row("step_contributed", **names, upstream=flow.upstream, local=flow.local, part=text)
