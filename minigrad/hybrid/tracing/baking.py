"""`trace`: a graph made by running a function on examples, and what the examples decided.

(PyTorch: torch.jit.trace.) Where Python asks for a value (if, while, float(), len(), a loop over
rows) it gets that of the example, and the graph keeps what followed. Each such decision is noted
with its line, so that `check` can say which one was wrong for other inputs.
"""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.core import Array, in_body, silently
from minigrad.core.structure import flatten, transform
from minigrad.diagnostics import arguments, foreign
from minigrad.diagnostics.errors import FeedError, TraceError
from minigrad.diagnostics.messages import Pair, choose, fill
from minigrad.diagnostics.source import Location, function_name, here
from minigrad.dynamic.recording import recording
from minigrad.dynamic.tensor import Tensor
from minigrad.hybrid.tracing.body import TracedBody, clean_context, replace_tensors, stand_ins
from minigrad.hybrid.tracing.concrete import ConcreteFunction
from minigrad.hybrid.tracing.guards import python_function
from minigrad.hybrid.tracing.keys import (
    Operands,
    TensorSpec,
    brief_repr,
    is_array,
    is_value,
    leaves_of,
)
from minigrad.hybrid.tracing.parameters import TRACED, Parameters, check_argument
from minigrad.ops import state
from minigrad.static import Body, Graph, Node, ancestors
from minigrad.static.handlers import RunState
from minigrad.static.run import Interpreter
from minigrad.static.traced_length import TracedLength

__all__ = ["TraceWarning", "trace"]


class TraceWarning(UserWarning):
    """Python decided something by the value of an example, and the graph keeps that decision."""


@dataclass(frozen=True)
class Baked:
    """One decision that an example made.

    use: the row of messages that says what Python wanted; where: the user's line.
    """

    use: str
    where: Location
    outcome: Any

    @property
    def line(self) -> int:
        return self.where.lineno

    @property
    def place(self) -> tuple[Any, ...]:
        """The key of a decision, as compiled code may hold an expression twice."""
        return self.use, self.where.filename, self.where.span

    @property
    def text(self) -> str:
        """The decision's source: a whole `if` or `while`, or the expression."""
        line, expression = self.where.text, self.where.parts[1]
        heads = [f"{word} {expression}" for word in ("if", "elif", "while")]
        return next((head for head in heads if line == f"{head}:"), expression or line)

    @property
    def pair(self) -> Pair:
        return fill("baked", line=self.line, text=self.text, outcome=brief_repr(self.outcome))

    def __str__(self) -> str:
        return choose(self.pair)


class ExampleBody(TracedBody):
    """The graph of a function that is run on examples, where nodes have values for Python."""

    def __init__(self, function: str, code: Any, warn: bool, open_lengths: bool = False) -> None:
        super().__init__(function, code)
        self.open_lengths = open_lengths
        self.values: dict[Node, Any] = {}
        self.baked: list[Baked] = []
        self._warn = warn
        self._warned: set[Any] = set()

    def shape_of(self, node: Node) -> Any:
        shape = super().shape_of(node)
        if not self.open_lengths or shape is None or self.frozen:
            return shape
        return tuple(
            n if n is None else TracedLength.of(n, (node, axis)) for axis, n in enumerate(shape)
        )

    def python_value(self, node: Node, use: str) -> Any:
        if node.graph is not self:  # inside a branch or a loop
            return super().python_value(node, use)
        value = self.value(node)
        baked = Baked(use, here(), OUTCOMES[use](value))
        if self._warn and baked.place not in self._warned:
            self._warned.add(baked.place)
            text = choose(fill("baked_warning", function=self.function, baked=baked.pair))
            warnings.warn_explicit(text, TraceWarning, baked.where.filename, baked.line)
        self.baked.append(baked)
        return value

    def value(self, node: Node) -> Any:
        """Compute a node for the example inputs; nothing is printed or counted."""
        for x in ancestors([node], self.values.keys()):
            if x not in self.values:
                self.values[x] = self._compute(x)
        return self.values[node]

    def _compute(self, node: Node) -> Any:
        if node in self.captures:
            captured = self.captures[node]
            if isinstance(captured, Tensor):
                return captured._array
            super().python_value(node, "use_array")  # a node from around: there is no value
        if node.op is state.placeholder:  # the counter of runs
            return np.int64(0)
        operands = [self.values[x] for x in node.inputs]
        if node.op.impure:
            return operands[0]
        program = Interpreter([node], node.inputs)
        return silently(program.compute, RunState({}, {}, None), operands)[0]


OUTCOMES: dict[str, Callable[[Array], Any]] = {
    "use_bool": bool,
    "use_number": lambda value: np.asarray(value).item(),
    "use_loop": len,
    "use_array": lambda value: np.asarray(value).tolist(),
}


@foreign.answer_names(foreign.BAKED)
class Traced:
    """A function as the graph that it built for some examples. Made by `trace`.

    graph: the frozen graph; baked: the decisions that the examples made, in order.
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        examples: Sequence[Any],
        open_lengths: bool = False,
    ) -> None:
        self.__name__ = function_name(python_function)
        self.python_function = python_function
        self._parameters = Parameters(python_function)
        self._calls = itertools.count()
        values = self._bind(examples)
        self._open = open_lengths
        self._declared = transform(values, _open_spec if open_lengths else _as_spec)
        body, result = self._run_on_stand_ins(values, warn=True)
        self.baked = tuple(body.baked)
        self._concrete = ConcreteFunction(body, result, {})
        self._shapes = {tuple(x.spec.shape for x in body.arguments): self._concrete}

    def __repr__(self) -> str:
        return (
            f"<traced {self.__name__}: {len(self.graph.nodes)} nodes, {len(self.baked)} baked in>"
        )

    @property
    def graph(self) -> Graph:
        return self._concrete.body

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the graph, as `graph.save` does. (torch.jit.save.)"""
        self.graph.save(path)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph; FeedError for shapes, types or constants other than the examples'."""
        return self._call(self._parameters.bind(args, kwargs))

    def _call(self, values: tuple[Any, ...]) -> Any:
        operands = Operands()
        rows = zip(self._parameters.names, self._declared, values, strict=True)
        for name, spec, x in rows:
            check_argument(spec, x, name, operands, TRACED)
        if operands.symbolic or self._concrete.symbolic or in_body():
            return self._concrete.inline(operands)
        return self._concrete_for(values, operands).run(operands, next(self._calls))

    def _concrete_for(self, values: tuple[Any, ...], operands: Sequence[Any]) -> ConcreteFunction:
        """Return the graph for inputs of these shapes."""
        shapes = tuple([x.shape for x in operands])
        if not self._open:
            return self._concrete
        if shapes not in self._shapes:
            loops = any(isinstance(x, Body) for n in self.graph.nodes for x in n.attrs.values())
            self._shapes[shapes] = self._retrace(values) if loops else self._rebuild(operands)
        return self._shapes[shapes]

    def _rebuild(self, operands: Sequence[Any]) -> ConcreteFunction:
        """Rebuild the same operators for other input shapes, without running Python again."""
        example = self._concrete.body
        body = TracedBody(self.__name__, example.code)
        placed: dict[Node, Node] = {}
        with clean_context(), body:
            pairs = [*zip(example.arguments.values(), operands, strict=True)]
            result = self._concrete.inline(stand_ins(body, pairs), placed)
        for length, holds in example.expected:
            if not holds(length.evaluated(placed)):
                about = {"before": int(length), "now": length.evaluated(placed)}
                raise FeedError("traced_length", function=self.__name__, **about, ran=here())
        return ConcreteFunction(body, result, {})

    def _retrace(self, values: tuple[Any, ...]) -> ConcreteFunction:
        """Trace again, because loops or branches of the graph contain shapes."""
        body, result = self._run_on_stand_ins(values, warn=False)
        turn = self._first_difference(body.baked)
        if turn is not None:
            raise FeedError(
                "traced_turn", baked=turn[0].pair, now=brief_repr(turn[1].outcome), ran=here()
            )
        return ConcreteFunction(body, result, {})

    def check(self, *inputs: Any, tolerance: float = 1e-5) -> Check:
        """Run the function and the graph on other inputs, and compare.

        tolerance: relative to the larger of 1 and the right value. The report is true when both
        gave the same; otherwise it names the first decision that went the other way.
        """
        values = self._bind(inputs)
        with recording(False):
            actual = self._call(values)
            expected = self._parameters.call(self.python_function, values)
        body, _ = self._run_on_stand_ins(values, warn=False)
        difference = _max_difference(expected, actual)
        turn = self._first_difference(body.baked)
        return Check(self.__name__, expected, actual, difference, difference <= tolerance, turn)

    def _first_difference(self, now: Sequence[Baked]) -> tuple[Baked, Baked] | None:
        """Return the first decision that differs from the trace; a branch before a number."""
        pairs = list(itertools.takewhile(_same_place, zip(self.baked, now, strict=False)))
        turned = [(a, b) for a, b in pairs if repr(a.outcome) != repr(b.outcome)]
        branches = [pair for pair in turned if pair[0].use == "use_bool"]
        return next(iter([*branches, *turned]), None)

    def _bind(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """Bind one value to each parameter; numbers and arrays become tensors."""
        return self._parameters.bind(tuple(transform(x, _as_tensor) for x in inputs), {})

    def _run_on_stand_ins(self, values: tuple[Any, ...], warn: bool) -> tuple[ExampleBody, Any]:
        """Run the Python function on nodes that know the values of the examples."""
        named = zip(self._parameters.names, values, strict=True)
        arrays = [leaf for name, x in named for leaf in leaves_of(name, x) if is_array(leaf[1])]
        code = python_function(self.python_function)[0]
        body = ExampleBody(self.__name__, code and code.__code__, warn, self._open)
        with clean_context(), body:
            nodes = stand_ins(body, arrays)
            body.values.update((n, x._array) for n, (_, x) in zip(nodes, arrays, strict=True))
            return body, self._parameters.call(self.python_function, replace_tensors(values, nodes))


@dataclass(frozen=True, repr=False)
class Check:
    """The result of `Traced.check`; true if Python and the graph gave the same.

    expected, actual: what Python and the graph returned; difference: the largest, relative to the
    larger of 1 and the right value; turn: the first decision that went the other way, when it was
    traced and now.
    """

    function: str
    expected: Any
    actual: Any
    difference: float
    equal: bool
    turn: tuple[Baked, Baked] | None

    def __bool__(self) -> bool:
        return self.equal

    def __repr__(self) -> str:
        about: dict[str, Any] = {"function": self.function, "difference": f"{self.difference:.3g}"}
        about |= {"expected": _format_value(self.expected), "actual": _format_value(self.actual)}
        pairs = [fill("check_equal" if self.equal else "check_differs", **about)]
        if self.turn is not None:
            before, now = self.turn
            pairs.append(fill("check_turn", baked=before.pair, now=brief_repr(now.outcome)))
        english, chinese = zip(*pairs, strict=True)
        return choose((" ".join(english), "".join(chinese)))


def _same_place(pair: tuple[Baked, Baked]) -> bool:
    return pair[0].place == pair[1].place


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float, np.generic)) and not isinstance(x, (bool, np.bool_))


def _as_tensor(x: Any) -> Any:
    """Convert numbers and arrays to tensors; other objects stay constants."""
    if isinstance(x, np.ndarray) or _is_number(x):
        return Tensor(x)
    if isinstance(x, (Node, TensorSpec)):
        raise TraceError("example_value", value=brief_repr(x), ran=here())
    return x


def _as_spec(x: Any) -> Any:
    return TensorSpec(x.shape, x.dtype) if is_array(x) else x


def _open_spec(x: Any) -> Any:
    return TensorSpec((None,) * x.ndim, x.dtype) if is_array(x) else x


def _max_difference(expected: Any, actual: Any) -> float:
    """Return the largest difference of two results; infinite if they can't be compared."""
    (right, skeleton), (found, other) = flatten(expected), flatten(actual)
    if skeleton != other:
        return np.inf
    return max(map(_array_difference, right, found), default=0.0)


def _array_difference(right: Any, found: Any) -> float:
    if not (is_array(right) or _is_number(right)):
        return 0.0 if right is found or (is_value(right) and right == found) else np.inf
    a, b = (np.asarray(getattr(x, "_array", x)) for x in (right, found))
    if a.shape != b.shape or a.dtype != b.dtype or a.dtype.kind not in "fiub":
        return np.inf
    a, b = a.astype(float), b.astype(float)
    with np.errstate(invalid="ignore"):
        gaps = np.abs(a - b) / np.maximum(1, np.abs(a))
    gaps = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0, gaps)
    return float(np.max(np.where(np.isnan(gaps), np.inf, gaps), initial=0))


def _format_value(x: Any) -> str:
    """Show a single number in full, anything else in brief."""
    return f"{x.item():g}" if isinstance(x, Tensor) and x.size == 1 else brief_repr(x)


def trace(function: Callable[..., Any], *examples: Any, open_lengths: bool = False) -> Traced:
    """Run `function` once on examples, and keep what it computed as a graph. (torch.jit.trace.)

    examples: tensors, arrays or numbers, also nested; anything else is a constant. Where Python
    decides by a value, the example decides, and a TraceWarning names the line: the graph keeps that
    for all inputs. The result is called as the function is, with inputs of the examples' shapes and
    types (FeedError for others); `.graph`, `.baked`, and `.check(*inputs)` against Python. With
    `open_lengths` as many axes are enough: a length that is read from a shape is read anew, and
    what Python did with it, in a loop or by int(n), stays. (As in PyTorch.)

    >>> import minigrad as mg
    >>> double = mg.trace(lambda x: 2 * x, 3.0)
    >>> double(5.0), double.check(-1.0)
    (tensor(10.), <lambda>: Python and the graph agree; the largest difference is 0.)
    """
    return Traced(arguments.function("trace", "function", function), examples, open_lengths)
