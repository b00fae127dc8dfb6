"""LSTM, GRU and RNN of ONNX: one scan along the time for each direction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.control import scan
from minigrad.interop.onnx.call import OnnxCall, operator
from minigrad.interop.onnx.picking import reverse_sequences
from minigrad.ops import corners

FULL = (None, None, None)
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "Sigmoid": lambda x, a, b: ops.sigmoid(x),
    "Tanh": lambda x, a, b: ops.tanh(x),
    "Relu": lambda x, a, b: ops.relu(x),
    "Affine": lambda x, a, b: x * a + b,
    "LeakyRelu": lambda x, a, b: ops.where(x > 0, x, x * a),
    "HardSigmoid": lambda x, a, b: corners.hardtanh(x * a + b, 0.0, 1.0),
    "Softplus": lambda x, a, b: ops.softplus(x),
    "Softsign": lambda x, a, b: x / (1 + ops.abs(x)),
    "Elu": lambda x, a, b: corners.elu(x, a),
    "ThresholdedRelu": lambda x, a, b: ops.where(x > a, x, 0),
    "ScaledTanh": lambda x, a, b: a * ops.tanh(x * b),
}
DEFAULTS = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}
ALPHA = {"HardSigmoid": 0.2, "LeakyRelu": 0.01, "Elu": 1.0, "ThresholdedRelu": 1.0}
BETA = {"HardSigmoid": 0.5}


@operator("LSTM", "GRU", "RNN")
def _recurrent(call: OnnxCall) -> Any:
    way = call.attr("direction", "forward")
    batch_first = bool(call.attr("layout", 0))
    x = call.ranked()
    x = ops.transpose(x, axes=(1, 0, 2)) if batch_first else x
    count = 2 if way == "bidirectional" else 1
    backwards = [way == "reverse"] if count == 1 else [False, True]
    runs = [_run_direction(call, x, d, back, batch_first) for d, back in enumerate(backwards)]
    ys = ops.stack(*(y for y, _ in runs), axis=1)  # (time, directions, batch, hidden)
    lasts = [ops.stack(*parts, axis=0) for parts in zip(*(s for _, s in runs), strict=True)]
    if batch_first:
        ys = ops.transpose(ys, axes=(2, 0, 1, 3))
        lasts = [ops.transpose(s, axes=(1, 0, 2)) for s in lasts]
    return (ys, *lasts)


def _activations(call: OnnxCall, d: int) -> list[Callable[[Any], Any]]:
    usual = DEFAULTS[call.name]
    names = call.attr("activations", list(usual) * 2)[d * len(usual) : (d + 1) * len(usual)]
    alphas, betas = list(call.attr("activation_alpha", [])), list(call.attr("activation_beta", []))
    limit = call.attr("clip")
    found: list[Callable[[Any], Any]] = []
    for name in names:
        call.expect(name in ACTIVATIONS, name)
        i = d * len(usual) + len(found)
        a = alphas[i] if i < len(alphas) else ALPHA.get(name, 1.0)
        b = betas[i] if i < len(betas) else BETA.get(name, 0.0)

        def f(x: Any, name: str = name, a: float = a, b: float = b) -> Any:
            x = x if limit is None else ops.clip(x, low=-limit, high=limit)
            return ACTIVATIONS[name](x, a, b)

        found.append(f)
    return found


def _direction_slice(call: OnnxCall, i: int, d: int) -> Any:
    """Return the part of an operand for one direction, or None."""
    return ops.slice_(call[i], key=(d,)) if call.given(i) else None


def _run_direction(call: OnnxCall, x: Any, d: int, back: bool, batch_first: bool) -> Any:
    """Build one direction of a layer; return all outputs, and the last states."""
    w, r, b = (_direction_slice(call, i, d) for i in (1, 2, 3))
    gates, size = GATES[call.name], int(call.attr("hidden_size", call.shape(2)[-1]))
    own = [None, None] if b is None else [
        ops.slice_(b, key=((i * gates * size, (i + 1) * gates * size, None),)) for i in (0, 1)
    ]  # fmt: skip
    sums = ops.matmul(x, w, transpose_b=True)
    sums = sums if own[0] is None else sums + own[0]
    places = [5, 6] if call.name == "LSTM" else [5]
    nothing = ops.sum(ops.slice_(x, key=(0,)), axis=-1, keepdims=True) * 0
    zeros = nothing + np.zeros(size, x.dtype)
    start = []
    for i in places:
        s = None
        if call.given(i):
            s = ops.slice_(call[i], key=(FULL, d) if batch_first else (d,))
        start.append(call.reader.lift(zeros if s is None else s))
    cell = CELLS[call.name](call, r, own[1], size, d)
    return _run_over_time(call, cell, sums, start, back)


def _run_over_time(call: OnnxCall, cell: Any, sums: Any, start: list[Any], back: bool) -> Any:
    """Run the cell over time; samples that have ended keep their state and output 0."""
    if not call.given(4):
        return _scan_states(lambda s, x: cell(s, x), start, call.reader.lift(sums), back)
    lengths, steps = call[4], call.known_shape()[1 if call.attr("layout", 0) else 0]
    shape = tuple(sums.shape)
    if back:
        sums = reverse_sequences(sums, lengths, shape, 1, 0)
    index = call.reader.lift(np.arange(steps))

    def step(state: Any, xs: Any) -> Any:
        part, i = xs
        goes = ops.expand_dims(ops.less(i, lengths), axis=-1)
        new, y = cell(state, part)
        kept = tuple(ops.where(goes, a, b) for a, b in zip(new, state, strict=True))
        return kept, ops.where(goes, y, 0)

    ys, last = _scan_states(step, start, (call.reader.lift(sums), index), False)
    if back:
        full = (steps, shape[1], int(ys.shape[-1]))
        ys = reverse_sequences(ys, lengths, full, 1, 0)
    return ys, last


def _scan_states(step: Any, start: Sequence[Any], xs: Any, back: bool) -> Any:
    last, ys = scan(step, tuple(start), xs, **({"reverse": True} if back else {}))
    return ys, last


def _gate(values: Any, i: int, size: int) -> Any:
    return ops.slice_(values, key=("...", (i * size, (i + 1) * size, None)))


def _rnn(call: OnnxCall, r: Any, b: Any, size: int, d: int) -> Any:
    (f,) = _activations(call, d)

    def cell(state: Any, x: Any) -> Any:
        y = x + ops.matmul(state[0], r, transpose_b=True)
        h = f(y if b is None else y + b)
        return (h,), h

    return cell


def _gru(call: OnnxCall, r: Any, b: Any, size: int, d: int) -> Any:
    f, g = _activations(call, d)
    rows = [ops.slice_(r, key=((i * size, (i + 1) * size, None),)) for i in range(3)]
    before = bool(call.attr("linear_before_reset", 0))

    def cell(state: Any, x: Any) -> Any:
        h = state[0]
        inner = [ops.matmul(h, rows[i], transpose_b=True) for i in (0, 1)]
        if b is not None:
            inner = [s + _gate(b, i, size) for i, s in enumerate(inner)]
        z, reset = f(_gate(x, 0, size) + inner[0]), f(_gate(x, 1, size) + inner[1])
        last = ops.matmul(h if before else reset * h, rows[2], transpose_b=True)
        last = last if b is None else last + _gate(b, 2, size)
        n = g(_gate(x, 2, size) + (reset * last if before else last))
        h = (1 - z) * n + z * h
        return (h,), h

    return cell


def _lstm(call: OnnxCall, r: Any, b: Any, size: int, d: int) -> Any:
    f, g, h_of = _activations(call, d)
    peepholes = _direction_slice(call, 7, d)
    coupled = bool(call.attr("input_forget", 0))

    def cell(state: Any, x: Any) -> Any:
        h, c = state
        s = x + ops.matmul(h, r, transpose_b=True)
        s = s if b is None else s + b
        i, o, forget, new = (_gate(s, k, size) for k in range(4))
        if peepholes is not None:
            i, forget = i + _gate(peepholes, 0, size) * c, forget + _gate(peepholes, 2, size) * c
        i = f(i)
        forget = 1 - i if coupled else f(forget)
        c = forget * c + i * g(new)
        o = f(o if peepholes is None else o + _gate(peepholes, 1, size) * c)
        h = o * h_of(c)
        return (h, c), h

    return cell


CELLS = {"LSTM": _lstm, "GRU": _gru, "RNN": _rnn}
