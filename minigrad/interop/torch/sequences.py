"""PyTorch's layers of sequences: recurrent ones step by step, attention, bags of words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import functions as f
from minigrad.core import name_scope
from minigrad.interop.torch.numbers import Table

Step = Callable[..., Any]  # (what the input adds, states, w, b) -> the new states, h first


def _gates(states: Any, w: Any, b: Any) -> Any:
    y = f.matmul(states, w, transpose_b=True)
    return y if b is None else y + b


def _lstm_step(given: Any, states: list[Any], w: Any, b: Any) -> list[Any]:
    h, c = states
    i, forget, g, o = f.chunk(given + _gates(h, w, b), 4, -1)
    c = f.sigmoid(forget) * c + f.sigmoid(i) * f.tanh(g)
    return [f.sigmoid(o) * f.tanh(c), c]


def _gru_step(given: Any, states: list[Any], w: Any, b: Any) -> list[Any]:
    (h,) = states
    reset_x, update_x, new_x = f.chunk(given, 3, -1)
    reset_h, update_h, new_h = f.chunk(_gates(h, w, b), 3, -1)
    update = f.sigmoid(update_x + update_h)
    new = f.tanh(new_x + f.sigmoid(reset_x + reset_h) * new_h)
    return [new + update * (h - new)]


def _plain_step(activation: Any) -> Step:
    def step(given: Any, states: list[Any], w: Any, b: Any) -> list[Any]:
        return [activation(given + _gates(states[0], w, b))]

    return step


def _layer(
    step: Step, xs: list[Any], states: list[Any], weights: Sequence[Any], back: bool
) -> tuple[list[Any], list[Any]]:
    """Build one layer in one direction; return the outputs of all steps and the last states."""
    w_x, w_h, b_x, b_h = (*weights, None, None)[:4]
    outputs = []
    for t, x in sorted(enumerate(xs), reverse=back):
        with name_scope(f"t={t}"):
            states = step(_gates(x, w_x, b_x), states, w_h, b_h)
        outputs.append(states[0])
    return outputs[::-1] if back else outputs, states


def _recurrent(step: Step, several: bool) -> Any:
    def layer(
        x: Any,
        first: Any,
        weights: Sequence[Any],
        biases: bool,
        layers: int,
        dropout: float,
        train: bool,
        both: bool,
        batch_first: bool,
    ) -> Any:
        per = len(weights) // (layers * (1 + both))
        if (dropout and train and layers > 1) or not isinstance(layers, int) or per not in (2, 4):
            return NotImplemented
        axis = 1 if batch_first and len(x.shape) == 3 else 0
        xs = [x[(slice(None),) * axis + (t,)] for t in range(x.shape[axis])]
        begin = list(first) if several else [first]
        last = []
        for number in range(layers):
            found = []
            for back in (False, True)[: 1 + both]:
                place = number * (1 + both) + back
                own = weights[place * per : (place + 1) * per]
                with name_scope(f"layer {number}{' backwards' if back else ''}"):
                    result = _layer(step, xs, [s[place] for s in begin], own, back)
                found.append(result[0])
                last.append(result[1])
            pairs = zip(*found, strict=True)
            xs = [p[0] if len(p) == 1 else f.concatenate(p, -1) for p in pairs]
        states = [f.stack([s[i] for s in last], 0) for i in range(len(begin))]
        return (f.stack(xs, axis), *states)

    return layer


# ---- Attention, and bags of words -------------------------------------------------------------


def _attention(
    q: Any,
    k: Any,
    v: Any,
    mask: Any = None,
    dropout: float = 0.0,
    causal: bool = False,
    scale: Any = None,
    enable_gqa: bool = False,
) -> Any:
    if dropout or enable_gqa:
        return NotImplemented
    scores = f.matmul(q, f.swapaxes(k, -2, -1)) * (scale or 1.0 / math.sqrt(q.shape[-1]))
    if causal:
        scores = f.where(np.tril(np.ones(tuple(scores.shape[-2:]), bool)), scores, -np.inf)
    if mask is not None:
        bools = mask.dtype.kind == "b"
        scores = f.where(mask, scores, -np.inf) if bools else scores + mask
    return f.matmul(f.softmax(scores, -1), v)


def _attention_on_cpu(
    q: Any,
    k: Any,
    v: Any,
    dropout: float = 0.0,
    causal: bool = False,
    *,
    attn_mask: Any = None,
    scale: Any = None,
) -> Any:
    y = _attention(q, k, v, attn_mask, dropout, causal, scale)
    return y if y is NotImplemented else (y, None)


def _bag(
    weight: Any,
    ids: Any,
    starts: Any,
    by_frequency: bool = False,
    mode: int = 0,
    sparse: bool = False,
    shares: Any = None,
    last: bool = False,
    padding: Any = None,
) -> Any:
    """Build sums or means of rows by a matrix of 0 and 1 that maps rows to bags."""
    if mode == 2 or last or by_frequency or (padding is not None and padding >= 0):
        return NotImplemented
    places = np.arange(ids.shape[0])
    begun = f.expand_dims(starts, 1) <= places  # bag i has begun at this place
    bag = f.sum(f.cast(begun, np.int64), 0) - 1
    inside = f.cast(f.equal(bag, np.arange(starts.shape[0])[:, None]), weight.dtype)
    rows = f.take(weight, ids, axis=0)
    total = f.matmul(inside, rows if shares is None else rows * f.expand_dims(shares, 1))
    if mode == 1:
        total = total / f.maximum(f.sum(inside, 1, True), 1.0)
    return total, None, None, None


SEQUENCES: Table = {
    "lstm": _recurrent(_lstm_step, True),
    "gru": _recurrent(_gru_step, False),
    "rnn_tanh": _recurrent(_plain_step(f.tanh), False),
    "rnn_relu": _recurrent(_plain_step(f.relu), False),
    "scaled_dot_product_attention": _attention,
    "_scaled_dot_product_flash_attention_for_cpu": _attention_on_cpu,
    "embedding_bag": _bag,
    "_embedding_bag": _bag,
}
