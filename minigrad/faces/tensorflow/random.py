"""TensorFlow 2's random numbers, which a traced function draws again at each call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import minigrad as mg
from minigrad.faces.face import Compat, random_in_body_error
from minigrad.faces.tensorflow.errors import is_tracing
from minigrad.faces.tensorflow.tensors import NOW, as_tf, constant

__all__ = ["normal", "set_seed", "uniform"]

USES: Counter[int] = Counter()  # how often a seed of an operator has been used


def set_seed(seed: int) -> None:
    """Restart all random numbers from this seed."""
    mg.manual_seed(seed)
    USES.clear()


def normal(
    shape: Sequence[int],
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: Any = mg.float32,
    seed: int | None = None,
) -> Any:
    """Draw numbers from a normal distribution."""
    return redraw_each_call(
        lambda: mg.randn(*shape, seed=next_seed(seed), dtype=dtype).data * stddev + mean
    )


def uniform(
    shape: Sequence[int],
    minval: float = 0,
    maxval: float = 1,
    dtype: Any = mg.float32,
    seed: int | None = None,
) -> Any:
    """Draw numbers from [minval, maxval); integers if `dtype` is an integer type."""
    if dtype in (mg.int32, mg.int64):
        low, high = int(minval), int(maxval)
        return redraw_each_call(
            lambda: mg.randint(low, high, *shape, seed=next_seed(seed), dtype=dtype).data
        )
    spread = maxval - minval
    return redraw_each_call(
        lambda: mg.rand(*shape, seed=next_seed(seed), dtype=dtype).data * spread + minval
    )


def next_seed(seed: int | None) -> int | None:
    """Return the seed for one use of `seed`; the next use gets a different one."""
    if seed is None:
        return None
    USES[seed] += 1
    return seed + (USES[seed] << 32)


def redraw_each_call(draw: Callable[[], Any]) -> Any:
    """Return random values; a traced function draws them again before each of its calls."""
    if not is_tracing():
        return constant(draw())
    graph: Any = mg.get_default_graph()
    if graph.outer is not None:
        raise random_in_body_error("tf.random")
    held = NOW.now_and_later(draw)
    return as_tf(held * 1)


__getattr__ = face = Compat(
    "tf.random", lacks={"tf.random.normal(shape, stddev=0.1)": "truncated_normal"}
)
__dir__ = face.names
