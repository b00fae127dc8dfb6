"""An honest comparison of two or more programs: in turn, many times, with what they compute."""

from __future__ import annotations

import contextlib
import gc
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

import minigrad as mg
from minigrad.core.events import Counts
from minigrad.diagnostics.source import function_name
from minigrad.dynamic.tensor import Tensor
from viz.charts import Chart, curves
from viz.views.tables import Table
from viz.words.text import Pair, distinct, row, row_text

__all__ = ["Bench", "bench"]

FEWEST = 5  # rounds, below which a spread says nothing
WARM_UP = 3  # calls of each side before the clock counts
# Seconds that one reading of the clock takes at least: much more than the clock itself needs, and
# less than the turn of another program on the machine, which then spoils few readings, not all. A
# browser's clock goes in steps of up to 0.1 ms, so that no page can spy on others by it.
SAMPLE = 0.004 if sys.platform == "emscripten" else 0.0002
# A clock that shows no time after so many calls, or seconds of another clock, never will.
MOST_CALLS = 1 << 20
PATIENCE = 2.0
RETRIES = 10  # of a reading that took no time
HEAD = ("bench_side", "bench_median", "bench_middle", "bench_slow", "bench_ratio")

Work = Callable[..., Any]


class Ratio(NamedTuple):
    """One side's time to another's, round by round: the median, and the middle half of the rounds.

    `low` and `high` are the first and the third quartile.
    """

    middle: float
    low: float
    high: float


class Bench(Table):
    """What was measured: `times` has for each side seconds per call, a number for each round.

    `first` has the seconds of each side's very first call, which may have traced or compiled.
    """

    def __init__(self, times: Mapping[str, Sequence[float]], first: Mapping[str, float]) -> None:
        self.times = {name: tuple(values) for name, values in times.items()}
        self.first = dict(first)
        base, rounds = next(iter(self.times)), len(next(iter(self.times.values())))
        caption = row("bench_caption", rounds=rounds)
        head = [row(key, base=base) for key in HEAD]
        super().__init__(caption, head, [self._line(name, base) for name in self.times])

    def median(self, side: str) -> float:
        """Return the median of the seconds per call."""
        return float(np.median(self.times[side]))

    def slow(self, side: str) -> float:
        """Return the 95th percentile of the seconds per call."""
        return float(np.percentile(self.times[side], 95))

    def ratio(self, side: str, against: str) -> Ratio:
        """Return how many times as long one side took as another; below 1 it was quicker."""
        each = np.divide(self.times[side], self.times[against])
        low, middle, high = np.percentile(each, [25, 50, 75])
        return Ratio(float(middle), float(low), float(high))

    def break_even(self, cost: float, side: str, against: str) -> int | None:
        """Return after how many calls a one-time cost of `side`, in seconds, pays off; None: never.

        >>> Bench({"eager": [5.0] * 5, "static": [3.0] * 5}, {}).break_even(9.0, "static", "eager")
        5
        """
        won = self.median(against) - self.median(side)
        return math.ceil(cost / won) if won > 0 else None

    def bill(self, cost: float, side: str, unit: Pair) -> Chart:
        """Chart the total of 0 to 20 calls for each side, with a one-time cost for `side`.

        unit: the label of the axis, as a pair (English, Chinese). The cheaper side is the lower
        line.

        >>> known = Bench({"eager": [5.0] * 5, "static": [3.0] * 5}, {})
        >>> print(known.bill(12, "static", ("ms", "ms")).rows[1][0][2:4])
        ('12', '72')
        """
        paid = dict.fromkeys(self.times, 0.0) | {side: cost}
        lines = {name: [paid[name] + n * self.median(name) for n in range(21)] for name in paid}
        return curves(lines, title=row("bench_bill"), x=row("bench_calls"), y=unit)

    def _line(self, name: str, base: str) -> tuple[Pair, ...]:
        low, high = np.percentile(self.times[name], [25, 75])
        cells = [seconds(self.median(name)), f"{seconds(low)} – {seconds(high)}"]
        cells.append(seconds(self.slow(name)))
        own = self.ratio(name, base)
        spread = row("chart_span", **{key: f"{x:.2f}" for key, x in own._asdict().items()})
        texts: list[Pair] = [(text, text) for text in (name, *cells)]
        return (*texts, ("1", "1") if name == base else spread)

    def __float__(self) -> NoReturn:
        raise TypeError(row_text("bench_number"))

    __int__ = __round__ = __float__


def bench(
    *functions: Work, args: Sequence[Any] = (), rounds: int = 21, same: bool = True, **named: Work
) -> Bench:
    """Compare the times of programs fairly: all in turn, in one run, many times.

    functions: called with `args`, under their own names, of which equal ones are numbered; or named
    as keywords (`static=run_it`).
    Each is warmed up first. In each of the `rounds` every side has its turn, and a reading lasts at
    least about 0.2 ms, in a browser 4 ms, as many calls as that takes; the side that begins
    changes. Ratios are taken within a round, as a machine that grows slow does so for all. The
    collector of garbage waits meanwhile, as in `timeit`. With `same` the sides must give the same
    numbers: to compare the times of programs that compute different things says nothing.

    The result is a table of medians and spreads, and no number: `float` of it is a TypeError,
    as one figure without its spread is a slogan. ValueError for fewer than two sides or five
    rounds, for sides that give different numbers, and for a clock that does not go on.

    >>> found = bench(loop=lambda: sum(range(9)), formula=lambda: 9 * 8 // 2, rounds=5)
    >>> list(found.times), len(found.times["loop"])
    (['loop', 'formula'], 5)
    >>> bench(len, args=["abc"])
    Traceback (most recent call last):
    ValueError: bench: 1 program is nothing to compare; give two or more.
    """
    names = distinct(map(function_name, functions), named)
    sides = dict(zip(names, functions, strict=True)) | named
    if len(sides) < 2:
        raise ValueError(row_text("bench_sides", count=len(sides)))
    if rounds < FEWEST:
        raise ValueError(row_text("bench_rounds", given=rounds, fewest=FEWEST))
    calls, first, results = {}, {}, {}
    for name, work in sides.items():
        first[name] = max(_time_per_call(work, args, 1), 0.0)
        results[name] = work(*args)
        calls[name] = _calls(work, args)
    if same:
        _refuse_different(results)
    order = list(sides)
    times: dict[str, list[float]] = {name: [] for name in sides}
    with _collector_waits():
        for turn in range(rounds):
            begin = turn % len(order)
            for name in order[begin:] + order[:begin]:
                times[name].append(_positive_reading(sides[name], args, calls[name]))
    return Bench(times, first)


def _calls(work: Work, args: Sequence[Any]) -> int:
    """Return how many calls one reading needs; more if the clock is too coarse to time one."""
    calls, begin = 1, time.monotonic()
    while (quickest := min(_time_per_call(work, args, calls) for _ in range(WARM_UP))) <= 0:
        calls *= 2
        if calls > MOST_CALLS or time.monotonic() - begin > PATIENCE:
            raise ValueError(row_text("clock_stands"))
    return math.ceil(SAMPLE / quickest)


def _positive_reading(work: Work, args: Sequence[Any], calls: int) -> float:
    """Return the seconds per call; measure again if the clock was set back or did not advance."""
    readings = (_time_per_call(work, args, calls) for _ in range(RETRIES))
    found = next((seconds for seconds in readings if seconds > 0), None)
    if found is None:
        raise ValueError(row_text("clock_stands"))
    return found


def _time_per_call(work: Work, args: Sequence[Any], calls: int) -> float:
    """Return the seconds per call."""
    start = time.perf_counter()
    for _ in range(calls):
        work(*args)
    return (time.perf_counter() - start) / calls


@contextlib.contextmanager
def _collector_waits() -> Iterator[None]:
    gc.collect()
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _refuse_different(results: Mapping[str, Any]) -> None:
    """Raise ValueError unless all sides gave the numbers of the first one."""
    (base, expected), *others = ((name, _numbers(result)) for name, result in results.items())
    for name, found in others:
        alike = found.shape == expected.shape and np.allclose(found, expected, rtol=1e-4, atol=1e-6)
        if not alike:
            raise ValueError(row_text("bench_different", side=name, base=base))


def _numbers(result: Any) -> NDArray[Any]:
    """Return a program's result as an array; several are concatenated, None is 0."""
    if isinstance(result, list | tuple):
        return np.concatenate([np.ravel(_numbers(part)) for part in result])
    plain = result._array if isinstance(result, Tensor) else result
    return np.asarray(0 if plain is None else plain)


def seconds(value: float) -> str:
    """Format a time with a suitable unit.

    >>> seconds(0.000012)
    '12 µs'
    """
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


# ---- What is compared, read and counted ----------------------------------------------------------


def both(f: Callable[[Any], Any], x: NDArray[Any]) -> dict[str, Callable[[], Any]]:
    """Prepare a function on an array for two kinds of calls: `eager` and `static`.

    eager: `f` on a tensor of x. static: the program compiled from the graph of `f`, fed with x. A
    block of `mg.no_grad` holds for eager alone: the program has no way back to record.

    >>> sides = both(lambda x: x * x + 3, np.array(2.0))
    >>> [side().item() for side in sides.values()]
    [7.0, 7.0]
    """
    with mg.Graph(), mg.enable_grad():  # or each node would get one that stops gradients
        p = mg.placeholder("p", shape=x.shape, dtype=x.dtype)
        program = mg.build_graph(p, f(p)).compile()
    t = mg.tensor(x)
    return {"eager": lambda: f(t), "static": lambda: program({"p": x})}


def won_back(f: Callable[[Any], Any], x: NDArray[Any]) -> int | None:
    """Return after how many calls with x building the static graph of `f` pays off; None: never.

    Building and compiling are timed, once; then the two ways of `both` are compared.

    >>> isinstance(won_back(mg.sum, np.ones(3)), int | None)
    True
    """
    start = time.perf_counter()
    eager, static = both(f, x).values()
    cost = time.perf_counter() - start
    return bench(eager=eager, static=static).break_even(cost, "static", "eager")


def counts(f: Work, *args: Any) -> Counts:
    """Count what is built and run while `f` is called once, as `mg.record` does.

    >>> counts(lambda x: x * x + 3, mg.tensor(2.0)).run
    2
    """
    with mg.record() as log:
        f(*args)
    return log.counts


def readings(f: Work, *args: Any, count: int) -> Chart:
    """Read a clock before and after each of several calls, from the very first; draw the times.

    >>> print(readings(sum, [1, 2], count=60).rows[0][0][1])
    60
    """
    times = [max(1e6 * _time_per_call(f, args, 1), 1e-3) for _ in range(count)]
    about = {"x": row("bench_reading"), "y": row("bench_microseconds")}
    return curves({function_name(f): times}, logy=True, title=row("bench_once"), **about)
