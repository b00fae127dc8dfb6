"""Random graphs for property tests: recipes that build the same computation in either mode.

A `Recipe` is plain data. `compute` runs it on whatever it is given: on tensors it is a dynamic
graph, on placeholders a static one. `recipes()` is the hypothesis strategy that draws them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import minigrad as mg
from minigrad.core import REGISTRY

Shape = tuple[int, ...]
Draw = Any  # what hypothesis hands to a composite strategy
SMOOTH = ("Neg", "Tanh", "Sigmoid", "ReLU", "Abs", "Softmax", "LogSoftmax")
PAIRS = ("Add", "Sub", "Mul", "Maximum", "Minimum")
LENGTHS = (1, 2, 3, 4)


def chosen(x: Any, a: Any, b: Any) -> Any:
    """Element by element; the condition is read off an input, which no pass rounds otherwise."""
    return mg.where(x > 0, a * 2, b)


def branched(x: Any, a: Any, b: Any) -> Any:
    return mg.cond(x.sum() > 0, lambda: mg.tanh(a) * b, lambda: a - b * 1)


def looped(x: Any, a: Any, b: Any) -> Any:
    """Two steps (none if the input begins with a number below 0), with something to hoist."""
    count = mg.where(x.reshape(-1)[0] < 0, 0, 2)

    def step(k: Any, v: Any) -> Any:
        return k + 1, mg.tanh(v * 0.5 + mg.sigmoid(b) * 2)

    return mg.while_loop(lambda k, v: k < count, step, (0, a))[1]


def counted(x: Any) -> Any:
    """Integers, and what is done with them."""
    whole = mg.cast(mg.floor(x * 4), mg.int64)
    return (whole * 3 - whole // 2) % 7


def compared(x: Any) -> Any:
    """Truth values."""
    return mg.logical_and(x * 1 > -1, mg.logical_or(x < 1, counted(x) > 3))


COMPOSED = {f.__name__: f for f in (chosen, branched, looped, counted, compared)}

# What an optimiser is tempted to shorten. Some of it may be, bit for bit; the rest differs where a
# value is NaN, infinite, −0, or too large or small for what is computed of it on the way.
TEMPTING = {
    "times one": lambda x: x * 1,
    "plus zero": lambda x: x + 0,
    "times zero": lambda x: x * 0,
    "minus itself": lambda x: x - x,
    "over itself": lambda x: x / x,
    "negated twice": lambda x: REGISTRY["Neg"](-x),
    "log of exp": lambda x: mg.log(mg.exp(x)),
    "exp of log": lambda x: mg.exp(mg.log(x)),
    "root of square": lambda x: mg.sqrt(x * x),
    "square": lambda x: x**2,
    "quarter": lambda x: x / 4,
    "third": lambda x: x / 3,
    "there and back": lambda x: (x + 1) - 1,
    "clipped twice": lambda x: mg.relu(mg.relu(x)),
    "larger of the same": lambda x: mg.maximum(x, x),
    "minus a negation": lambda x: x - (-mg.exp(x)),
    "added twice": lambda x: mg.exp(x) + mg.exp(x),
}
COMPOSED |= TEMPTING

# What the inputs of a recipe hold, by kind.
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 3e38, -3e38, 1.0, -1.0, 88.0, -104.0)


@dataclass(frozen=True)
class Step:
    """One operator on earlier values (numbered from the inputs on) or on numbers."""

    op: str
    operands: tuple[int | float, ...]  # a float is a number, an int the position of a value
    attrs: tuple[tuple[str, Any], ...] = ()

    def apply(self, values: Sequence[Any]) -> Any:
        taken = [values[x] if type(x) is int else x for x in self.operands]
        if self.op in COMPOSED:
            return COMPOSED[self.op](*taken)
        if self.op == "[]":
            return taken[0][dict(self.attrs)["index"]]
        return REGISTRY[self.op](*taken, **dict(self.attrs))


@dataclass(frozen=True)
class Recipe:
    """A computation: inputs by shape, steps, and which values are its outputs.

    `exact` are further outputs, integers and truth values, for which there is no tolerance.
    """

    shapes: tuple[Shape, ...]
    open: bool  # placeholders do not know the length of their first axis
    dtype: str
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]
    seed: int
    exact: tuple[Step, ...] = ()

    def arrays(self, values: str = "small") -> list[Any]:
        """Draw the inputs: "small" from -2 to 2, "wide" from -100 to 100, "special" values."""
        random = np.random.default_rng(self.seed)
        draw = {
            "small": lambda shape: random.uniform(-2, 2, shape),
            "wide": lambda shape: random.uniform(-100, 100, shape),
            "special": lambda shape: random.choice(SPECIAL, shape),
        }[values]
        with np.errstate(over="ignore", under="ignore"):
            return [np.asarray(draw(s)).astype(self.dtype)[()] for s in self.shapes]

    def compute(self, inputs: Sequence[Any]) -> list[Any]:
        """The outputs for these inputs, be they tensors or nodes."""
        values = list(inputs)
        for step in self.steps:
            values.append(step.apply(values))
        return [values[i] for i in self.outputs] + [step.apply(values) for step in self.exact]

    def loss(self, outputs: Sequence[Any]) -> Any:
        """One number made of all outputs that have a gradient."""
        total = outputs[0].sum()
        for y in outputs[1 : len(self.outputs)]:
            total = total + y.sum()
        return total

    def placeholders(self) -> list[mg.Node]:
        def known(shape: Shape) -> Any:
            return (None, *shape[1:]) if self.open and shape else shape

        return [
            mg.placeholder(f"x{i}", known(shape), self.dtype) for i, shape in enumerate(self.shapes)
        ]

    def graph(self, gradients: bool = False) -> mg.Graph:
        """A frozen graph of the outputs, and with `gradients` those of all inputs they reach."""
        with mg.Graph():
            xs = self.placeholders()
            ys = self.compute(xs)
            if gradients:
                found = mg.gradients(self.loss(ys), xs)
                ys = ys + [g for g in found if g is not None]
            return mg.build_graph(xs, ys)

    def feeds(self, values: str = "small") -> dict[Any, Any]:
        return {f"x{i}": value for i, value in enumerate(self.arrays(values))}


@st.composite
def recipes(
    draw: Draw, most_steps: int = 12, everything: bool = False, tempting: bool = False
) -> Recipe:
    """Draw recipes of element-wise operators, products, reductions and rearrangements.

    With `everything`, also of branches and loops, integers and truth values; with `tempting`, of
    what an optimiser might shorten. Operands are drawn from all earlier values, so sub-expressions
    are shared; shapes are chosen so that every step is possible.
    """
    kinds = (*KINDS, *[_tempting] * 4) if tempting else KINDS
    length = st.sampled_from(LENGTHS)
    shapes = draw(st.lists(st.lists(length, max_size=3).map(tuple), min_size=1, max_size=3))
    steps: list[Step] = []
    known: list[Shape] = list(shapes)
    for _ in range(draw(st.integers(1, most_steps))):
        kind = draw(st.sampled_from((*kinds, *[_control] * 4) if everything else kinds))
        step, shape = kind(draw, known) if kind is not _control else kind(draw, known, len(shapes))
        steps.append(step)
        known.append(shape)
    last = len(known) - 1
    others = draw(st.lists(st.integers(0, last), max_size=2, unique=True))
    return Recipe(
        tuple(shapes),
        draw(st.booleans()),
        draw(st.sampled_from(("float32", "float64"))),
        tuple(steps),
        tuple(dict.fromkeys([last, *others])),
        draw(st.integers(0, 999)),
        tuple(Step(name, (0,)) for name in ("counted", "compared") if everything),
    )


def _any(draw: Draw, known: list[Shape]) -> int:
    """Some value; the newest ones more often, so that graphs are deep as well as wide."""
    last = len(known) - 1
    return int(draw(st.integers(0, last) | st.integers(max(0, last - 2), last)))


def _unary(draw: Draw, known: list[Shape]) -> tuple[Step, Shape]:
    i = _any(draw, known)
    names = [n for n in SMOOTH if known[i] or not n.endswith("oftmax")]
    return Step(draw(st.sampled_from(names)), (i,)), known[i]


def _tempting(draw: Draw, known: list[Shape]) -> tuple[Step, Shape]:
    i = _any(draw, known)
    return Step(draw(st.sampled_from(sorted(TEMPTING))), (i,)), known[i]


def _number(draw: Draw, known: list[Shape]) -> tuple[Step, Shape]:
    i, number = _any(draw, known), draw(st.sampled_from((-1.5, 0.0, 0.5, 2.0)))
    operands = draw(st.permutations((i, number)))
    return Step(draw(st.sampled_from(PAIRS)), tuple(operands)), known[i]


def _pair(draw: Draw, known: list[Shape]) -> tuple[Step, Shape]:
    i = _any(draw, known)
    j = draw(st.sampled_from([k for k, s in enumerate(known) if _together(s, known[i])]))
    shape = np.broadcast_shapes(known[i], known[j])
    return Step(draw(st.sampled_from(PAIRS)), (i, j)), shape


def _together(a: Shape, b: Shape) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1], strict=False))


def _control(draw: Draw, known: list[Shape], inputs: int) -> tuple[Step, Shape]:
    """A choice, a branch or a loop on two values of one shape; an input decides."""
    i = _any(draw, known)
    j = draw(st.sampled_from([k for k, s in enumerate(known) if s == known[i]]))
    x = draw(st.integers(0, inputs - 1))
    names = ["branched", "looped"]
    if known[x] == known[i]:
        names.append("chosen")
    return Step(draw(st.sampled_from(names)), (x, i, j)), known[i]


def _product(draw: Draw, known: list[Shape]) -> tuple[Step, Shape]:
    """A matrix product with itself or another matrix, either of them turned."""
    found = [
        (i, j, a, b)
        for i, s in enumerate(known)
        for j, t in enumerate(known)
        for a in (False, True)
        for b in (False, True)
        if len(s) == len(t) == 2 and s[0 if a else 1] == t[1 if b else 0]
    ]
    if not found:
        return _unary(draw, known)
    i, j, a, b = draw(st.sampled_from(found))
    shape = (known[i][1 if a else 0], known[j][0 if b else 1])
    return Step("MatMul", (i, j), (("transpose_a", a), ("transpose_b", b))), shape


def _reduction(draw: Draw, known: list[Shape]) -> tuple[Step, Shape]:
    i = _any(draw, known)
    axes = range(-len(known[i]), len(known[i]))
    axis = draw(st.none() | st.sampled_from(axes)) if known[i] else None
    keepdims = draw(st.booleans())
    shape = np.zeros(known[i]).sum(axis, keepdims=keepdims).shape
    name = draw(st.sampled_from(("Sum", "Mean", "Max")))
    return Step(name, (i,), (("axis", axis), ("keepdims", keepdims))), shape


def _reshape(draw: Draw, known: list[Shape]) -> tuple[Step, Shape]:
    i = _any(draw, known)
    size = int(np.prod(known[i], dtype=int))
    columns = draw(st.sampled_from([n for n in range(1, size + 1) if size % n == 0]))
    target = draw(st.sampled_from([(-1,), (-1, columns), (size // columns, columns)]))
    return Step("Reshape", (i,), (("shape", target),)), np.zeros(known[i]).reshape(target).shape


def _transpose(draw: Draw, known: list[Shape]) -> tuple[Step, Shape]:
    i = _any(draw, known)
    axes = tuple(draw(st.permutations(range(len(known[i])))))
    return Step("Transpose", (i,), (("axes", axes),)), tuple(known[i][a] for a in axes)


def _slice(draw: Draw, known: list[Shape]) -> tuple[Step, Shape]:
    i = _any(draw, known)
    if not known[i]:
        return _unary(draw, known)
    n = known[i][0]
    some = [s for s in (slice(1, None), slice(None, -1), slice(0, n, 2)) if range(n)[s]]
    index = draw(st.integers(-n, n - 1) | st.sampled_from(some))
    return Step("[]", (i,), (("index", index),)), np.zeros(known[i])[index].shape


def _join(draw: Draw, known: list[Shape]) -> tuple[Step, Shape]:
    """Two values end to end, or side by side along a new axis."""
    i = _any(draw, known)
    j = draw(st.sampled_from([k for k, s in enumerate(known) if s == known[i]]))
    name = draw(st.sampled_from(("Concatenate", "Stack") if known[i] else ("Stack",)))
    axis = draw(st.integers(0, len(known[i]) - (name == "Concatenate")))
    both = [np.zeros(known[i])] * 2
    joined = np.stack(both, axis) if name == "Stack" else np.concatenate(both, axis)
    return Step(name, (i, j), (("axis", axis),)), joined.shape


KINDS = (
    *(_unary, _number, _pair, _pair, _product),
    *(_reduction, _reshape, _transpose, _slice, _join),
)
