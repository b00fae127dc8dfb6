"""Theano's loops: `theano.scan`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

import minigrad as mg
from minigrad.faces.face import Compat
from minigrad.faces.theano.tensor.basic import (
    Length,
    TensorVariable,
    as_variable,
    to_nodes,
    to_variables,
)

__all__ = ["scan"]


class ScanOutput(NamedTuple):
    """An output of a loop: its initial value, and which past values (taps) each step reads."""

    initial: Any = None
    taps: tuple[int, ...] = ()

    def window(self) -> list[mg.Node]:
        """Return the initial past values, the newest last."""
        if self.taps == (-1,):
            return [to_nodes(as_variable(self.initial))]
        return [to_nodes(self.initial[i]) for i in range(-min(self.taps))]


class LastOutput(TensorVariable):
    """The output of a loop of unknown length: only its last value, `[-1]`, is available."""

    @property
    def node(self) -> Any:
        raise face.error_for("n_steps")

    def __init__(self, node: Any) -> None:
        super().__init__(None)
        self._last = node

    def __getitem__(self, key: Any) -> TensorVariable:
        return TensorVariable(self._last if key == -1 else self.node)


def scan(
    fn: Callable[..., Any],
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    n_steps: Any = None,
    go_backwards: bool = False,
    name: str | None = None,
    strict: bool = False,
) -> tuple[Any, dict[Any, Any]]:
    """Return the outputs of all steps, along a new first axis, and an empty dict of updates.

    fn takes an element of each sequence, those outputs of earlier steps that `outputs_info` gives
    a beginning for, and the non-sequences. Where the number of steps is known only when it runs,
    and there is no sequence, the last outputs are all there is.
    """
    along = [to_nodes(as_variable(x)) for x in as_list(sequences)]
    outputs, others = [parse_output(x) for x in as_list(outputs_info)], as_list(non_sequences)
    past = [i for i, x in enumerate(outputs) if x.taps]

    def step(windows: Any, xs: Any) -> Any:
        pairs = zip(past, windows, strict=True)
        before = [window[tap] for i, window in pairs for tap in outputs[i].taps]
        found = result_nodes(fn(*to_variables([*xs[: len(along)], *before]), *others))
        kept = zip(past, windows, strict=True)
        return [[*window[1:], found[i]] for i, window in kept], found

    start = [outputs[i].window() for i in past]
    if isinstance(n_steps, TensorVariable) and not isinstance(n_steps, Length):
        found = [LastOutput(window[-1]) for window in repeat_step(step, start, n_steps.node)]
    else:
        _, ys = mg.scan(step, start, scan_inputs(along, n_steps, go_backwards))
        found = to_variables(ys)
    return found[0] if len(found) == 1 else found, {}


def repeat_step(step: Callable[..., Any], start: Any, times: mg.Node) -> Any:
    """Return the state after `times` steps, a number known only at run time."""
    first = mg.cast(times, mg.int64) * 0
    _, windows = mg.while_loop(
        lambda i, state: i < times, lambda i, state: (i + 1, step(state, [])[0]), (first, start)
    )
    return windows


def scan_inputs(along: list[Any], n_steps: Any, backwards: bool) -> list[Any]:
    """Return what a loop runs along: its sequences, or as many numbers as it has steps."""
    if isinstance(n_steps, Length):
        along = [*along, n_steps.ones if n_steps.ones is not None else np.ones(n_steps.known)]
    elif n_steps is not None:
        along = [x[:n_steps] for x in along] or [mg.constant(np.arange(n_steps))]
    return [x[::-1] for x in along] if backwards else along


def parse_output(info: Any) -> ScanOutput:
    """Make an Output from an item of `outputs_info`: None, an initial value, or a dict with one."""
    if isinstance(info, Mapping):
        taps = info.get("taps", [-1] if "initial" in info else [])
        return ScanOutput(info.get("initial"), tuple(taps))
    return ScanOutput() if info is None else ScanOutput(info, (-1,))


def result_nodes(found: Any) -> list[mg.Node]:
    """Return the results of a loop's function as nodes."""
    pair = isinstance(found, (list, tuple)) and len(found) == 2
    given = found[0] if pair and isinstance(found[1], Mapping) else found
    if isinstance(given, Mapping) or (given is not found and found[1]):
        raise face.error_for("updates")
    return [to_nodes(as_variable(x)) for x in as_list(given)]


def as_list(x: Any) -> list[Any]:
    """Return None, one item or several as a list."""
    return [] if x is None else [*x] if isinstance(x, (list, tuple)) else [x]


def _last_step(found: Any) -> Any:
    ys, updates = found
    return ([y[-1] for y in ys] if isinstance(ys, list) else ys[-1]), updates


FOLD = "fn, sequences, outputs_info, non_sequences=None"

__getattr__ = face = Compat(
    "theano.scan_module",
    calls={
        f"foldl({FOLD})": "last(scan(fn, sequences, outputs_info, non_sequences))",
        f"foldr({FOLD})": (
            "last(scan(fn, sequences, outputs_info, non_sequences, go_backwards=True))"
        ),
        "map(fn, sequences, non_sequences=None)": "scan(fn, sequences, None, non_sequences)",
        f"reduce({FOLD})": "last(scan(fn, sequences, outputs_info, non_sequences))",
    },
    lacks={
        ("outputs[-1]", "sequences=T.arange(x.shape[0])"): "n_steps",
        "theano.function([], [], updates=[(w, w + 1)])": "updates",
        "theano.scan(f, n_steps=10)": "until",
    },
    last=_last_step,
    scan=scan,
)
__dir__ = face.names
