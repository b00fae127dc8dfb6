"""Models as they are captured from other systems, made here: no other system is needed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import minigrad as mg
from minigrad.core import Array
from minigrad.diagnostics.errors import TraceError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import SavedLine
from minigrad.interop.captured import About, Builder, Captured, Stopped
from minigrad.static import Node


def _line(number: int, text: str) -> tuple[SavedLine, int]:
    return SavedLine("theirs.py", number, text), 0


def torch_like(blocks: int = 3, broken: bool = False, projected: bool = False) -> Captured:
    """Modules in modules, as PyTorch has them; with `broken` the second block divides by zero.

    projected: what a block adds goes through a layer of its own.
    """
    build, rng = Builder(), np.random.default_rng(0)
    x = build.placeholder("x", rng.normal(size=(4, 8)).astype(np.float32))

    def layer(path: list[str], x: Node, out: int) -> Node:
        name = ".".join(part.partition(":")[0] for part in path)
        scope = "/".join(path)
        first = (rng.normal(size=(x.shape[-1], out)) / 3).astype(np.float32)
        w = build.variable(f"{name}.weight", first, scope, trained=True)
        b = build.variable(f"{name}.bias", np.zeros(out, np.float32), scope, trained=True)
        with build.at(build.entered(path), _line(3, "y = x @ w + b")):
            return x @ w + b

    h = layer(["stem: Linear"], x, 8)
    for i in range(blocks):
        path = ["blocks: Sequential", f"{i}: Block"]
        y = layer([*path, "up: Linear"], h, 16)
        with build.at(build.entered([*path, "act: ReLU"]), _line(7, "y = relu(y)")):
            y = mg.relu(y)
        y = layer([*path, "down: Linear"], y, 8)
        h = layer([*path, "shortcut: Linear"], h, 8) if projected else h
        with build.at(build.entered(path), _line(8, "return x + y")):
            if broken and i == 1:
                y = y / (y - y)
            h = h + y
    return _captured(build, "PyTorch", layer(["head: Linear"], h, 3))


def numbered(second: str = "Tanh") -> Captured:
    """Layers that have numbers for names, as those of PyTorch's Sequential have."""
    build, rng = Builder(), np.random.default_rng(2)
    x = build.placeholder("x", rng.normal(size=(4, 8)).astype(np.float32))
    for number, kind in enumerate(("Linear", second, "Linear")):
        scope = f"{number}: {kind}"
        with build.at(build.entered([scope]), _line(3, "x = layer(x)")):
            if kind != "Linear":
                x = mg.tanh(x)
                continue
            first = rng.normal(size=(8, 8)).astype(np.float32)
            w = build.variable(f"{number}.weight", first, scope, trained=True)
            b = build.variable(f"{number}.bias", first[0], scope, trained=True)
            x = x @ w + b
    return _captured(build, "PyTorch", x)


def recurrent(state: bool = True, shared: bool = True) -> Captured:
    """A cell that is called for each row, with its last result if it has a state."""
    build, rng = Builder(), np.random.default_rng(3)
    xs = build.placeholder("xs", rng.normal(size=(6, 4)).astype(np.float32))
    rows = [xs[i : i + 1] for i in range(6)]
    scope, own = "cell: RNNCell", list[Node]()
    h, every = rows[0], list[Node]()
    for i, x in enumerate(rows):
        if not own or not shared:
            w = rng.normal(size=(4, 4)).astype(np.float32)
            own = [build.variable(f"cell.weight{i}", w, scope, trained=True)]
        with build.at(build.entered([scope]), _line(3, "h = self.cell(x, h)")):
            h = mg.tanh(x @ own[0] + (h if state else rows[0]))
            every.append(h)
    y = h if state else sum(every[1:], every[0])
    return _captured(build, "PyTorch", y @ np.ones((4, 1), np.float32))


def differing(ran: Captured) -> Captured:
    """A model of which one parameter is frozen, in half precision, and played in full."""
    name = next(name for name in ran.leaves if name != "x")
    leaves, found = (
        {k: x for k, x in of.items() if k != name} for of in (ran.leaves, ran.gradients)
    )
    notes = [fill("model_widened", dtype="float16")]
    about = replace(ran.about, frozen=[name], notes=notes)
    return replace(ran, leaves=leaves, gradients=found, about=about)


def stopped(ran: Captured) -> TraceError:
    """The error of a model that is refused behind what ran, with the modules that were to come."""
    before = replace(ran, outputs=list(ran.outputs), gradients={}, about=About(recorded=True))
    call = Stopped(
        before,
        "linear",
        [ran.outputs[0]],
        "tail: Sequential/0: Linear",
        _line(12, "return self.tail(y)"),
        ["tail: Sequential/1: ReLU", "end: Linear"],
    )
    error = TraceError("capture_nothing", system="PyTorch", function="net")
    error.before = lambda: call
    return error


def jax_like() -> Captured:
    """Functions without modules, four in a loop and two beside each other, as JAX has them."""
    build, rng = Builder(), np.random.default_rng(1)
    x = build.placeholder("x", rng.normal(size=(5, 6)).astype(np.float32))
    h = x
    for i in range(4):
        first = rng.normal(size=(6, 6)).astype(np.float32)
        w = build.variable(f"params.{i}", first, "", trained=True)
        with build.at(build.entered(["layer"]), _line(4, "h = tanh(h @ w + b)")):
            h = mg.tanh(h @ w)
    with build.at(build.entered(["left"]), _line(7, "left = relu(h + 1)")):
        left = mg.relu(h + 1)
    with build.at(build.entered(["right"]), _line(8, "right = tanh(2 * h)")):
        right = mg.tanh(h * 2)
    with build.at(build.entered([]), _line(9, "loss = mean(left * right)")):
        loss = mg.mean(left * right)
    return _captured(build, "JAX", loss)


def _captured(build: Builder, system: str, y: Node) -> Captured:
    """The model with what it computes here as what the original computes."""
    first = build.captured(system, [y], [np.zeros(y.shape, np.float32)], {})
    values, found = first._computed
    theirs: dict[str, Array | None] = dict(found)
    return build.captured(system, [y], values, theirs)
