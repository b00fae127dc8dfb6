"""`lessons.granularity`: what it costs to hand out a program in many tasks, or in few."""

from __future__ import annotations

import functools
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.compiler import Program
from minigrad.interop.dask import group_nodes, to_dask
from viz.picture.picture import brief
from viz.views.tables import Table
from viz.words.text import ROWS, Pair, row, row_text

__all__ = ["granularity"]

REPEATS = 5  # timed runs, of which the quickest counts; one before them warms up


def granularity(
    program: Program,
    feed_dict: Mapping[Any, Any] | None = None,
    shards: int = 1,
    reduce: str | None = None,
    scheduler: Any = "threads",
) -> Table:
    """Compare what a run costs here and with Dask, in tasks of several sizes, as a table.

    For each row the number of tasks that compute, milliseconds (the least of a few runs), how many
    times the run here that is, and how far the results are apart, largest difference by largest
    number. shards, reduce: one more row, for a batch that is split, see `Program.to_dask`.
    scheduler: what `compute` of Dask takes, "threads", "processes" or a client.

    Raises TypeError for what is no program, ValueError if the clock does not advance, and what
    `to_dask` and a run raise.

    >>> import minigrad as mg, minigrad_lessons as lessons
    >>> x = mg.placeholder("x", shape=(3,))
    >>> program = mg.build_graph(x, mg.tanh(x)).compile()
    >>> print(lessons.granularity(program, {x: [0, 1, 2]}))  # doctest: +SKIP
    """
    if not isinstance(program, Program):
        raise TypeError(row_text("granularity_program", value=brief(program)))
    here, seconds = result_and_best_time([lambda: program(feed_dict)] * (1 + REPEATS))
    rows: list[tuple[Pair, ...]] = [
        (ROWS["granularity_here"], _both("1"), _both(_ms(seconds)), _both("1"), _both("0"))
    ]
    ways: list[tuple[Pair, str, int]] = [
        (ROWS[f"granularity_{tasks}"], tasks, 1) for tasks in ("whole", "regions", "kernels")
    ]
    if shards > 1:
        ways.insert(1, (row("granularity_shards", shards=shards), "whole", shards))
    for words, tasks, split in ways:
        how = (feed_dict, tasks, split, reduce)
        # Dask takes equal keys for equal results, and would not run them again.
        laters = [to_dask(program, *how, token=secrets.token_hex(6)) for _ in range(1 + REPEATS)]
        runs = [functools.partial(later.compute, scheduler=scheduler) for later in laters]
        found, took = result_and_best_time(runs)
        count = split * len(group_nodes(program.graph, tasks))
        cells = (str(count), _ms(took), f"{took / seconds:.3g}", f"{_distance(here, found):.1g}")
        rows.append((words, *map(_both, cells)))
    names = ("way", "tasks", "time", "times", "apart")
    head = [ROWS[f"granularity_head_{name}"] for name in names]
    return Table(ROWS["granularity_caption"], head, rows)


def result_and_best_time(runs: Sequence[Callable[[], Any]]) -> tuple[Any, float]:
    """Return the first run's result, and the seconds of the quickest of the others."""
    first, *others = runs
    result, spans = first(), []
    for run in others:
        start = time.perf_counter()
        run()
        spans.append(time.perf_counter() - start)
    if min(spans) <= 0:
        raise ValueError(row_text("clock_stands"))
    return result, min(spans)


def _distance(one: Any, other: Any) -> float:
    """Return the largest difference between results, relative to their largest number."""
    pairs = zip(one, other, strict=True) if isinstance(one, list) else [(one, other)]
    found = [0.0]
    for a, b in pairs:
        a, b = np.asarray(a, float), np.asarray(b, float)
        if a.size and not np.array_equal(a, b, equal_nan=True):
            found.append(float(np.max(np.abs(a - b)) / max(np.max(np.abs(a)), 1e-30)))
    return max(found)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3g}"


def _both(text: str) -> Pair:
    return text, text
