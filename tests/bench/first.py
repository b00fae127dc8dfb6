"""How long it takes until a compiled training step has run once, and when that has paid."""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable
from typing import Any

import mine
from measure import CLOCK, Side
from models import MLP


def compiled(executor: str) -> Side:
    """From the Python model to the first loss: graph, gradients, passes, plan, run."""
    return Side(lambda: first_step(executor))


def first_step(executor: str) -> Any:
    side = mine.training_compiled(MLP, executor)
    side.work()
    return side


def cold(executor: str) -> Side:
    """The same with an empty folder of compiled kernels each time."""

    def work() -> None:
        with tempfile.TemporaryDirectory() as folder:
            before = os.environ.get("XDG_CACHE_HOME")
            os.environ["XDG_CACHE_HOME"] = folder
            try:
                first_step(executor)
            finally:
                if before is None:
                    del os.environ["XDG_CACHE_HOME"]
                else:
                    os.environ["XDG_CACHE_HOME"] = before

    return Side(work)


def jitted() -> Side:
    """JAX's step, traced and compiled anew each time."""
    import jax
    import jax_peers

    parameters, x, t = jax_peers.arrays(MLP)

    def work() -> None:
        jax.clear_caches()
        mine_alone = [p.copy() for p in parameters]  # the step overwrites them
        jax.block_until_ready(jax_peers.stepper(MLP)(mine_alone, x, t))

    return Side(work)


def break_even(executor: str) -> Side:
    """After how many steps the compiled one, with all its preparation, has caught up with eager."""
    eager = mine.training(MLP)

    def work() -> float:
        start = CLOCK()
        side = first_step(executor)
        first = CLOCK() - start
        return caught_up(first, step_time(side.work), step_time(eager.work))

    return Side(work)


def caught_up(first: float, step: float, other: float) -> float:
    """The n for which first + (n − 1) · step = n · other; infinite where steps save nothing."""
    return (first - step) / (other - step) if other > step else float("inf")


def step_time(work: Callable[[], Any]) -> float:
    work()
    times = []
    for _ in range(20):
        start = CLOCK()
        work()
        times.append(CLOCK() - start)
    return statistics.median(times)
