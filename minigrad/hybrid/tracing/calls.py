"""A finished body made ready to be called: run as one operation, differentiated as one operation.

The tape keeps one node for a whole call. Its forward program also returns the values inside that
the gradients read; the backward program takes them, so nothing is computed twice. The gradient of
a gradient is a call of another body: the gradients as a function of operands and seeds.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad import control
from minigrad.backprop.rules import DATA, NOTHING, Pullback, Retained, plain
from minigrad.core import Array, Op, Spec, TupleSpec, context, events, float32, silently, spec_of
from minigrad.core.locks import Lock
from minigrad.diagnostics.errors import VerifyError
from minigrad.diagnostics.source import caller
from minigrad.dynamic.changes import changes
from minigrad.dynamic.recorder import NONE, operand_stub
from minigrad.dynamic.recording import recording
from minigrad.dynamic.tape import TapeNode
from minigrad.dynamic.tensor import Tensor
from minigrad.ops import state
from minigrad.ops.parts import Parts, output
from minigrad.static import Body, Node, ancestors, without_listeners
from minigrad.static.gradients import gradients
from minigrad.static.handlers import RunState
from minigrad.static.run import Interpreter, owned_copy

building = Lock()  # bodies are shared by all threads: one at a time builds on them

Positions = tuple[int, ...]


@dataclass(frozen=True)
class PullbackGraph:
    """The gradients of some outputs with respect to some inputs, on top of the body.

    given: the nodes of the body that they read; for each, whether its shape is all that is read
    seeds: stand-ins for the gradients of the outputs
    connected: the positions of the inputs that some output depends on
    """

    given: dict[Node, bool]
    seeds: list[Node]
    connected: Positions
    program: Interpreter


@dataclass(frozen=True)
class Derivative:
    """How a call runs when gradients are wanted.

    outputs: the positions of the outputs through which a gradient flows
    loops: nodes with several values, of which gradients for some outputs alone read the shapes
    forward: computes the outputs, and behind them what `pull` is given, and the loops
    needed: for each operand, whether gradients of higher order need its value
    """

    outputs: Positions
    loops: list[Node]
    pull: PullbackGraph
    forward: Interpreter
    kept: Pullback
    needed: tuple[bool, ...]


class SavedValues:
    """The values that a call's tape node saves: inner ones by node, operands for higher orders."""

    __slots__ = ("arrays", "derivative", "operands", "values")

    def __init__(self, derivative: Derivative, values: list[Any], operands: list[Any]) -> None:
        given = derivative.pull.given
        self.values = {
            _node_key(n): spec_of(x) if only else x
            for (n, only), x in zip(given.items(), values[: len(given)], strict=True)
        }
        self.arrays = tuple(self.values.values())  # none of them may change before backward
        for node, parts in zip(derivative.loops, values[len(given) :], strict=True):
            for i, part in enumerate(parts):
                self.values.setdefault((output, node, i), spec_of(part))
        self.operands = [
            x if needed else spec_of(x)
            for x, needed in zip(operands, derivative.needed, strict=True)
        ]
        self.derivative = derivative


@dataclass(frozen=True, eq=False, repr=False)
class CallOp(Op):
    """The operator of a call, as the tape or another reader sees it."""

    call: Any = None

    def __call__(self, *operands: Any, **attrs: Any) -> Any:
        results = self.call(operands)
        return results[0] if len(results) == 1 else tuple(results)


class CallableBody:
    """A body that can be called with tensors and arrays, one for each of its inputs."""

    def __init__(self, body: Body, name: str) -> None:
        self.body = body
        operands = ", ".join(f"{{{i}}}" for i in range(len(body.inputs)))
        self.op = CallOp(
            name,
            call=self,
            shape=lambda *shapes, **attrs: None,
            run=self._kernel,
            vjp=self._vjp,
            inputs=None,
            effect=True,
            title=(f"call of {name}", f"调用 {name}"),
            formula=name.replace("{", "").replace("}", "") + f"({operands})",
        )
        self._derivatives: dict[Positions, Derivative | None] = {}
        self._pulls: dict[tuple[Positions, Positions], PullbackGraph] = {}
        self._gradients: dict[tuple[Positions, Positions], tuple[CallableBody, Positions]] = {}

    @functools.cached_property
    def forward(self) -> Interpreter:
        """The program that runs when no gradient is wanted."""
        return Interpreter(self.body.outputs, self.body.inputs, self.body.effects)

    def __call__(self, operands: Sequence[Any]) -> list[Tensor]:
        """Run the call; record the results as one operation if a gradient may flow through it."""
        active_reader = context.now.active_reader
        waits = active_reader is not None and not active_reader.builds
        if waits and len(self.body.outputs) == 1 and not self.body.updates:
            return [active_reader.apply(self.op, operands, NONE)]
        arrays = [x._array if isinstance(x, Tensor) else x for x in operands]
        if context.now.recording:
            wants = [i for i, x in enumerate(operands) if isinstance(x, Tensor) and x.requires_grad]
            derivative = self._derivative(tuple(wants)) if wants else None
            if derivative is not None:
                return self._recorded(derivative, operands, arrays)
        return [Tensor._around(y) for y in self._run(self.forward, arrays)]

    def _run(self, program: Interpreter, arrays: Sequence[Array]) -> list[Array]:
        """Run a program; return all results, first the outputs, which belong to the caller."""
        results: list[Array] = silently(program.compute, RunState({}, {}, None), arrays)
        for i, node in enumerate(self.body.outputs):
            results[i] = owned_copy(node.op, results[i])
        return results

    def _kernel(self, out: None, *arrays: Array) -> Any:
        results = self._run(self.forward, arrays)
        return results[0] if len(results) == 1 else tuple(results)

    # ---- The tape: one node for the call, and one for each of several results ------------------

    def _recorded(
        self, derivative: Derivative, operands: Sequence[Any], arrays: list[Array]
    ) -> list[Tensor]:
        results = self._run(derivative.forward, arrays)
        count = len(self.body.outputs)
        saved = SavedValues(derivative, results[count:], arrays)
        wrt = derivative.kept.wrt
        inputs = [(x.creator or x) if i in wrt else operand_stub(x) for i, x in enumerate(operands)]
        place = caller(sys._getframe(1))
        first, *more = derivative.outputs
        about = results[first] if not more else float32.type(0)
        kept = (saved, *[None] * len(inputs))
        node = TapeNode.of(derivative.kept, inputs, kept, about, NONE, place)
        creators: dict[int, TapeNode] = {first: node}
        if more:
            creators = {i: _result_node(node, i, results[i], place) for i in derivative.outputs}
        if events.listeners:
            _emit_built(node, tuple(results[:count]) if more else results[first], operands, arrays)
            for i, choice in creators.items() if more else ():
                _emit_built(choice, results[i], (), (tuple(results[:count]),))
        return [Tensor._around(y, creators.get(i)) for i, y in enumerate(results[:count])]

    def _vjp(self, g: Any, y: Any, *operands: Any, wrt: Positions, **attrs: Any) -> list[Any]:
        saved = y._array if isinstance(y, Tensor) else y
        if not isinstance(saved, SavedValues):  # a call is a thing of the tape; a graph inlines it
            raise VerifyError("no_kernel")
        parts = g.parts if isinstance(g, Parts) else {saved.derivative.outputs[0]: g}
        present = tuple(sorted(parts))
        seeds = [parts[i] for i in present]
        found: list[Any] = [None] * len(self.body.inputs)
        if isinstance(y, Tensor):
            call, connected = self._gradient(wrt, present)
            results: list[Any] = call([*_with_history(y, saved), *seeds])
        else:
            pull = self._pullback(wrt, present)
            given = [saved.values[_node_key(x)] for x in pull.given]
            arrays = [*given, *map(plain, seeds)]
            values = silently(pull.program.compute, RunState({}, {}, None), arrays)
            nodes, connected = pull.program.outputs, pull.connected
            pairs = zip(nodes, values, strict=True)
            results = [np.copy(x)[()] if node in pull.given else x for node, x in pairs]
        for i, result in zip(connected, results, strict=True):
            found[i] = result
        return found

    # ---- What is made once: programs for gradients, and the gradient as a call -----------------

    def _derivative(self, wants: Positions) -> Derivative | None:
        if wants not in self._derivatives:
            with building:
                self._derivatives[wants] = self._derive(wants)
        return self._derivatives[wants]

    def _derive(self, wants: Positions) -> Derivative | None:
        """Work out how to run if gradients are wanted at these positions; None if none can flow."""
        body, live = self.body, {self.body.inputs[i] for i in wants}
        for node in body.nodes:
            if any(x in live and node.op.has_rule(i) for i, x in enumerate(node.inputs)):
                live.add(node)
        outputs = [i for i, y in enumerate(body.outputs) if y in live and y.dtype.kind == "f"]
        pull = self._pullback(wants, tuple(outputs))
        if not pull.connected:
            return None
        whole = [only for only in pull.given.values() if not only]
        parts = (DATA if whole else NOTHING, *[NOTHING] * len(body.inputs))
        kept = Pullback.interpreting(self.op, Retained(parts, pull.connected))
        loops = [n for n in body.nodes if isinstance(n.spec, TupleSpec) and n in live]
        loops = loops if len(outputs) > 1 else []
        forward = Interpreter([*body.outputs, *pull.given, *loops], body.inputs, body.effects)
        inside = set(ancestors(pull.given))
        needed = tuple(x in inside for x in body.inputs)
        return Derivative(tuple(outputs), loops, pull, forward, kept, needed)

    def _pullback(self, wrt: Positions, present: Positions) -> PullbackGraph:
        """Build the gradients at `wrt` from gradients of the outputs at `present`."""
        if (wrt, present) not in self._pulls:
            with building, without_listeners(), recording(True):
                self._pulls[wrt, present] = self._build_pullback(wrt, present)
        return self._pulls[wrt, present]

    def _build_pullback(self, wrt: Positions, present: Positions) -> PullbackGraph:
        body = self.body
        inside = set(body.nodes)
        with body.extended():
            seeds = [_input_like(body, body.outputs[i]) for i in present]
            ys, xs = [body.outputs[i] for i in present], [body.inputs[i] for i in wrt]
            found = gradients(ys, xs, seeds) if ys else [None] * len(xs)
            inside.update(n for n in body.nodes if n.op in OF_LOOPS and n.inputs[0] in inside)
        results = [g for g in found if g is not None]
        given = {g: False for g in results if g in inside}
        for node in ancestors(results, inside):
            for i, x in enumerate(() if node in inside else node.inputs):
                if x in inside and x.op is not state.constant:
                    given[x] = given.get(x, True) and i in node.op.shape_only
        connected = tuple(i for i, g in zip(wrt, found, strict=True) if g is not None)
        return PullbackGraph(given, seeds, connected, Interpreter(results, [*given, *seeds]))

    def _gradient(self, wrt: Positions, present: Positions) -> tuple[CallableBody, Positions]:
        """Return the gradients as a differentiable function of operands and seeds.

        It computes the body once more.
        """
        if (wrt, present) not in self._gradients:
            with building, without_listeners(), recording(True):
                self._gradients[wrt, present] = self._build_gradient(wrt, present)
        return self._gradients[wrt, present]

    def _build_gradient(self, wrt: Positions, present: Positions) -> tuple[CallableBody, Positions]:
        with Body(None, self.body.function) as body:
            inputs = [_input_like(body, x) for x in self.body.inputs]
            seeds = [_input_like(body, self.body.outputs[i]) for i in present]
            outputs = body.inline(self.body, inputs, effects=False)
            ys, xs = [outputs[i] for i in present], [inputs[i] for i in wrt]
            found = gradients(ys, xs, seeds)
        connected = tuple(i for i, g in zip(wrt, found, strict=True) if g is not None)
        body.finish([*inputs, *seeds], [g for g in found if g is not None])
        return CallableBody(body, f"∂{self.op.name}"), connected


def _emit_built(node: TapeNode, value: Any, operands: Sequence[Any], arrays: Sequence[Any]) -> None:
    events.emit("built", node.op, node, None, tuple(operands))
    events.emit("called", node.op, node, value, tuple(arrays))


OF_LOOPS = (control.HISTORY, output)


def _node_key(node: Node) -> Any:
    """Return a key for a node that is equal in each gradient graph."""
    return (node.op, node.inputs[0], node.attrs["index"]) if node.op in OF_LOOPS else node


def _input_like(body: Body, x: Node) -> Node:
    """Add an input to the body for values like those of x."""
    return body.input({"shape": x.spec.shape, "dtype": x.dtype}, x.name)


def _with_history(y: Tensor, saved: SavedValues) -> list[Any]:
    """Return the operands of a recorded call as tensors with their history."""
    node: Any = y.creator
    changes.check(node, saved.operands)
    operands: list[Any] = []
    for x, source in zip(saved.operands, node.inputs, strict=True):
        if isinstance(x, Spec):  # it isn't read
            x = np.broadcast_to(x.dtype.type(0), x.shape)  # type: ignore[arg-type]
        known = isinstance(source, TapeNode)
        operands.append(
            source if isinstance(source, Tensor) else Tensor._around(x, source) if known else x
        )
    return operands


def _result_node(call: TapeNode, index: int, value: Array, place: Any) -> TapeNode:
    """Make the tape node of one of several results."""
    return TapeNode.of(_CHOICE, [call], (None, None), value, {"index": index}, place)


_CHOICE = Pullback.interpreting(output, Retained((NOTHING, NOTHING), (0,)))
