"""The call of a traced function as one operation: recorded once, run on all calls' rows.

What the function computes for one sample is known from its trace, so it is done for all of them,
step by step, as if each step had been noted by itself. (Cavs: Xu et al., Cavs: An efficient runtime
system for dynamic neural networks, 2018, which calls such a function a vertex function.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from minigrad.batching.groups import GroupKey
from minigrad.batching.rules import Operands, has_rule, run_batched
from minigrad.core import Dtype, Op, Spec, context
from minigrad.diagnostics.errors import GraphError
from minigrad.dynamic.tensor import Tensor
from minigrad.ops import state
from minigrad.static import Body, Node


@dataclass(frozen=True, slots=True)
class SharedSpec:
    """An operand that all samples share, as far as a routine depends on it."""

    shape: tuple[int, ...]
    dtype: Dtype
    requires_grad: bool
    creator: ClassVar[Any] = ()  # which a parameter does not have

    @classmethod
    def like(cls, x: Any) -> SharedSpec:
        return cls(x.shape, x.dtype, x.requires_grad)


def as_call(form: tuple[Any, ...]) -> tuple[tuple[Any, ...], Routine | None]:
    """Return the form that equal calls share (see `GroupKey`), and their routine.

    Arguments vary that are not trained, whether they require a gradient or not. There is no routine
    for what must run at once: only what computes one value may wait, by operators that have a rule.
    """
    op, grad, kinds, parts = form
    call = getattr(op, "call", None)
    if call is None or any(isinstance(x, type) for x in kinds):  # a number counts the calls
        return form, None
    arguments = len(call.body.arguments)
    kinds = [_without_grad(x) if i < arguments else x for i, x in enumerate(kinds)]
    routine = find_routine(op, kinds, grad)
    if routine:
        kinds = [(*x[:2], routine.wants, *x[3:]) if type(x) is tuple else x for x in kinds]
    return (op, grad, tuple(kinds), parts), routine


def _without_grad(x: Any) -> Any:
    trained = type(x) is tuple or (x.requires_grad and x.creator is None)
    return x if trained else (x.shape, x.dtype, x.requires_grad)


def find_routine(op: Any, kinds: Sequence[Any], grad: bool) -> Routine | None:
    """Return the routine of a call for such operands, made once; None if it must run now."""
    looks = tuple([x[:3] if type(x) is tuple else SharedSpec.like(x) for x in kinds])
    if (looks, grad) not in op.memo:
        op.memo[looks, grad] = _make_routine(op, op.call.body, looks, grad)
    found: Routine | None = op.memo[looks, grad]
    return found


def _make_routine(op: Op, body: Body, kinds: Sequence[Any], grad: bool) -> Routine | None:
    computed = {node for node in body.nodes if node.op not in (state.placeholder, state.constant)}
    plain = all(has_rule(node.op) and not node.op.impure for node in computed)
    if not plain or body.effects or len(body.outputs) != 1 or not computed.issuperset(body.outputs):
        return None
    try:
        routine = Routine(op, body, kinds, grad)
    except (GraphError, TypeError):  # a length is not known, or does not fit: the call will say it
        return None
    return routine if routine.steps else None


class Routine:
    """The steps of a call for operands of these kinds, see `GroupKey`; the last is the result.

    `once` are the steps that depend on shared operands alone, `steps` the others. Of each it is
    known what would be noted of it: its signature, where its operands are, and its line.
    """

    def __init__(self, op: Op, body: Body, kinds: Sequence[Any], grad: bool) -> None:
        self.op, self.grad = op, grad
        given = [node for node in body.nodes if node.op is state.constant]
        self.constants = [Tensor(node.attrs["value"]) for node in given]
        known = dict(zip(body.inputs, kinds, strict=True))
        known |= zip(given, map(SharedSpec.like, self.constants), strict=True)
        slots = {node: i for i, node in enumerate(known)}
        signatures = []
        for node in body.nodes:
            if node not in known:
                signature = _signature(node, [known[x] for x in node.inputs], grad)
                shared = all(type(known[x]) is SharedSpec for x in node.inputs)
                known[node] = SharedSpec.like(signature) if shared else signature.kind
                signatures.append((node, signature))
        signatures.sort(key=lambda x: type(known[x[0]]) is not SharedSpec)
        self.spec = Spec(signature.shape, signature.dtype)
        self.wants = signature.requires_grad
        self.once: list[Step] = []
        self.steps: list[Step] = []
        for node, signature in signatures:
            to = self.once if type(known[node]) is SharedSpec else self.steps
            to.append((signature, [slots[x] for x in node.inputs], (node.code, node.lasti)))
            slots[node] = len(slots)
        self._plans: dict[tuple[bool, ...], list[Any] | None] = {}

    def loosened(self, kinds: Sequence[Any]) -> Routine | None:
        return find_routine(self.op, kinds, self.grad)

    def __call__(self, operands: Operands) -> Any:
        """Compute all samples as one tensor, a row for each; None if a rule declines."""
        now, count, signature = context.now, operands.count, operands.signature
        plan = self._plan_steps(tuple(operands.batched))
        if plan is None:
            return None
        if signature.once is None:
            signature.once = self._shared(operands.rows)
        values: list[Any] = [*operands.rows, *signature.once]
        for step, sources, now.place, own, fits in plan:
            rows = [values[i] for i in sources]
            if fits:
                value = step.op(*rows, **step.attrs)
            else:
                value = run_batched(Operands(rows, own, step, count))
                if value is None:
                    return None
            values.append(value)
        return values[-1]

    def _shared(self, operands: Sequence[Any]) -> list[Any]:
        """Compute what depends on shared operands alone, after the constants."""
        values = [*operands, *self.constants]
        for step, sources, context.now.place in self.once:
            values.append(step.op(*[values[i] for i in sources], **step.attrs))
        return values[len(operands) :]

    def _plan_steps(self, batched: tuple[bool, ...]) -> list[Any] | None:
        """Find once for each step which operands are batches, and whether its rule takes them.

        None where the result does not depend on what is batched.
        """
        if batched not in self._plans:
            known = [*batched, *[False] * (len(self.constants) + len(self.once))]
            plan = []
            for signature, sources, place in self.steps:
                own = [known[i] for i in sources]
                known.append(True in own)
                plan.append((signature, sources, place, own, signature.fits(own)))
            self._plans[batched] = plan if known[-1] else None
        return self._plans[batched]


Step = tuple[GroupKey, list[int], tuple[Any, int]]


def _signature(node: Node, kinds: list[Any], grad: bool) -> GroupKey:
    specs = [Spec(*x[:2]) if type(x) is tuple else Spec(x.shape, x.dtype) for x in kinds]
    result = node.op.spec(specs, node.attrs)
    return GroupKey((node.op, grad), tuple(kinds), specs, node.attrs, result)
