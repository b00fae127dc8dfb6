"""Uses of an operator, one after another, in processes that met nothing before.

    python tests/uses.py [--pairs] [operator …]

What an operator prepares at its first use may only serve later uses that it fits. Processes are
forked from one that has imported everything and used nothing. In each, the uses of each operator
are made in another order: each is once the first, and once right after each other. With `--pairs`
each ordered pair has its own process. Result and gradients are to be those of the use made alone,
to the bit.
"""

from __future__ import annotations

import contextlib
import gc
import io
import itertools
import os
import pickle
import sys
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.backprop.rules import Pullback
from minigrad.core import REGISTRY, Op, Sample, spec_of
from minigrad.diagnostics.errors import GraphError

# What stands for an operand: a tensor with gradient or without, a view of one with gradient (which
# is an array even where there are no axes), a Python number, a NumPy value.
GRAD, PLAIN, VIEW, NUMBER, NUMPY = "gpvn#"
Bits = list[bytes]
Tried = tuple[list["Use"], list[Any]]  # uses one after another in a process, and what each gave

PAIRS = [
    *[((), ()), ((), (3,)), ((3,), ()), ((3,), (3,)), ((1,), (3,)), ((), (1,))],
    *[((2, 3), (3,)), ((3,), (2, 3)), ((2, 1), (1, 3)), ((2, 3), ()), ((0, 3), (3,))],
]
FORMS = [
    *[("gp", pair) for pair in PAIRS[:4]],
    *[("pg", pair) for pair in PAIRS[:4]],
    *[("gn", ((), ())), ("gn", ((3,), ())), ("ng", ((), (2, 3))), ("g#", ((3,), ()))],
    *[("#g", ((3,), ())), ("vv", ((), ())), ("vg", ((), (3,))), ("vn", ((), ())), ("gv", ((), ()))],
]
ALONE = [(GRAD, ()), (GRAD, (3,)), (GRAD, (2, 1)), (GRAD, (0, 3)), (VIEW, ()), (VIEW, (2, 3))]


@dataclass(frozen=True, eq=False)
class Use:
    """One call of an operator, and the backward pass behind it."""

    op: Op
    sample: Sample
    forms: str
    dtype: Any = np.float32

    def __str__(self) -> str:
        attrs = "".join(f", {key}={value}" for key, value in self.sample.attrs.items())
        shapes = zip(self.forms, self.sample.shapes, strict=True)
        operands = ", ".join(f"{form}{shape}" for form, shape in shapes)
        return f"{self.op}({operands}{attrs}) on {np.dtype(self.dtype)}"

    def fits(self) -> bool:
        """Whether the operator is for such operands: its kernel and its shape rule say so."""
        arrays = [self._array(i) for i in range(len(self.forms))]
        try:
            result = self.op.run(None, *arrays, **self.sample.attrs)
            spec = self.op.spec([spec_of(a) for a in arrays], self.sample.attrs)
        except (GraphError, ValueError, IndexError, TypeError):
            return False
        return bool(result.shape == spec.shape)

    def made(self) -> Bits:
        """The bits of the result and of the gradients."""
        leaves: list[Any] = []
        operands = [self._operand(i, leaves) for i in range(len(self.forms))]
        y = self.op(*operands, **self.sample.attrs)
        if y.creator is not None:
            y.backward(np.cos(np.arange(y.data.size)).reshape(y.shape).astype(y.dtype))
        grads = [None if x.grad is None else x.grad.data for x in leaves]
        return [np.asarray(a).tobytes() for a in (y.data, *grads) if a is not None]

    def _operand(self, i: int, leaves: list[Any]) -> Any:
        form, array = self.forms[i], self._array(i)
        if form in (NUMBER, NUMPY):
            return array.item() if form == NUMBER else array
        wants = form != PLAIN and array.dtype.kind == "f"
        leaf = mg.tensor(array[None] if form == VIEW else array, requires_grad=wants)
        leaves.append(leaf)
        return mg.reshape(leaf, shape=array.shape) if form == VIEW else leaf

    def _array(self, i: int) -> Any:
        sample, shape = self.sample, self.sample.shapes[i]
        random = np.random.default_rng(i)
        if i in sample.integers:
            return random.integers(0, 3, shape)
        if i in sample.bools:
            return random.random(shape) < 0.5
        return random.uniform(sample.low, sample.high, shape)[()].astype(self.dtype)


def uses(op: Op) -> dict[str, Use]:
    """Uses of an operator that differ in what it may prepare for, by how they read."""
    first = op.samples[0]
    wide = Use(op, first, GRAD * len(first.shapes), np.float64)
    found = [wide, *(_elementwise(op) if op.elementwise else _others(op))]
    return {str(use): use for use in found if op.elementwise or use.fits()}


def _elementwise(op: Op) -> Iterator[Use]:
    first = op.samples[0]
    if len(first.shapes) == 2:
        for forms, shapes in [*((GRAD * 2, pair) for pair in PAIRS), *FORMS]:
            yield Use(op, replace(first, shapes=shapes), forms)
    elif len(first.shapes) == 1:
        for sample, (form, shape) in itertools.product(op.samples, ALONE):
            yield Use(op, replace(sample, shapes=[shape]), form)
    else:
        yield from _others(op)


def _others(op: Op) -> Iterator[Use]:
    first = op.samples[0]
    count = len(first.shapes)
    for sample in op.samples:
        yield Use(op, sample, GRAD * len(sample.shapes))
    for wanted in range(count):
        forms = "".join(GRAD if i == wanted else PLAIN for i in range(count))
        yield Use(op, first, forms)
    for change in () if first.integers else (_deeper, _flatter, _shorter):
        yield Use(op, replace(first, shapes=[change(s) for s in first.shapes]), GRAD * count)


def _deeper(shape: tuple[int, ...]) -> tuple[int, ...]:
    return 2, *shape


def _flatter(shape: tuple[int, ...]) -> tuple[int, ...]:
    return shape[1:]


def _shorter(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(1 if n in (2, 4) else n for n in shape)


# ---- Processes ------------------------------------------------------------------------------


def forked(function: Callable[[], Any]) -> Any:
    """What the function returns in a process of its own, or how it failed there."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        answer = _told(function)
        with open(writing, "wb") as pipe:
            pickle.dump(answer, pipe)
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(data)


def rows(count: int) -> Iterator[list[int]]:
    """Orders of so many things: each is the first of one, and follows each other once.

    (E. J. Williams 1949: a Latin square balanced for what comes before. Of an odd number, one more
    is put in and left out again.)
    """
    even = count + count % 2
    steps = [(i + 1) // 2 * (-1) ** (i + 1) for i in range(even)]  # 0, 1, −1, 2, −2 …
    for start in range(even):
        yield [i for i in ((start + step) % even for step in steps) if i < count]


def in_rows(names: Sequence[str]) -> dict[str, list[Tried]]:
    """Rows of uses of each operator, and what each gives in the process of its row.

    A process has one row of every operator, since to copy it takes longer than all its uses; the
    operators come in another order in each one.
    """
    every = {name: list(uses(REGISTRY[name]).values()) for name in names}
    orders = {name: list(rows(len(known))) for name, known in every.items()}
    count, found = max(map(len, orders.values())), defaultdict[str, list[Tried]](list)
    for number in range(count):
        first = number * len(names) // count
        row = {
            name: [every[name][i] for i in orders[name][number]]
            for name in [*names[first:], *names[:first]]
            if number < len(orders[name])
        }
        told = forked(lambda row=row: {n: [_told(u.made) for u in us] for n, us in row.items()})
        for name, answers in told.items():
            found[name].append((row[name], answers))
    return found


def in_pairs(every: Sequence[Use]) -> Iterator[Tried]:
    """The same of each ordered pair: a process for the first use, and its own for each second."""
    for first in every:
        rest = [use for use in every if use is not first]

        def after(first: Use = first, rest: list[Use] = rest) -> tuple[Any, list[Any]]:
            return _told(first.made), [forked(lambda use=use: _told(use.made)) for use in rest]

        alone, answers = forked(after)
        yield [first], [alone]
        yield from (
            ([first, use], [alone, answer]) for use, answer in zip(rest, answers, strict=True)
        )


def _told(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except Exception:  # noqa: BLE001 - whatever it is, the test tells it
        return traceback.format_exc()


def wrong(found: Sequence[Tried]) -> Iterator[str]:
    """Lines about the uses of one operator that are wrong, alone or after others."""
    alone = {row[0]: answers[0] for row, answers in found}
    for use, answer in alone.items():
        if isinstance(answer, str):
            yield f"{use}: {answer.splitlines()[-1]}"
    for row, answers in found:
        for i, (use, answer) in enumerate(zip(row, answers, strict=True)):
            if answer != alone[use]:
                reason = answer.splitlines()[-1] if isinstance(answer, str) else "other numbers"
                yield f"{row[0]}, …, {row[i - 1]}, then {use}: {reason}"


DIFFERENTIABLE = {
    op.name
    for op in REGISTRY.values()
    if op.samples
    and not op.effect
    and any(op.has_rule(i) for i in range(len(op.samples[0].shapes)))
}


def main(arguments: list[str]) -> None:
    """Walk the operators; a line for each thing that is wrong, one for each operator at its end."""
    met = [
        op.name
        for op in REGISTRY.values()
        if any(isinstance(x, Pullback) for x in op.memo.values())
    ]
    if met:
        sys.exit(f"used before the first fork: {', '.join(met)}")
    gc.freeze()
    names = [name for name in arguments if name != "--pairs"] or sorted(DIFFERENTIABLE)
    told = sys.stdout
    with contextlib.redirect_stdout(io.StringIO()):  # what `Print` writes
        if "--pairs" in arguments:
            found = {name: [*in_pairs([*uses(REGISTRY[name]).values()])] for name in names}
        else:
            found = in_rows(names)
        for name in names:
            for line in [*wrong(found[name]), "walked"]:
                print(f"{name}\t{line}", file=told, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
