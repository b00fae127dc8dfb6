"""How a workload is measured: all its sides in turn, round by round, so that a drifting machine
moves all of them; ratios are taken within a round, and the median of many rounds is what counts.

The clock is the processor time of this program and of those that it started and saw end, such as a
compiler. On one thread and an idle machine it is the time on the wall; on a busy one it leaves out
the time of others.
"""

from __future__ import annotations

import contextlib
import gc
import math
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import machine
import numpy as np

Clock = Callable[[], float]
Array = np.ndarray[Any, Any]
FEWEST = 3  # rounds; a row that is out of time stops after these
CHECKED = 2  # how often a side works before what it computed is compared
REFUSALS = (ImportError, OSError, RuntimeError)  # a peer is absent, or cannot compile here


def processor_time() -> float:
    """Seconds that the processor worked for this program and for its children that ended."""
    if sys.platform == "win32":  # its processor time moves on in steps that are far too long
        return time.perf_counter()
    import resource

    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


@dataclass(frozen=True)
class Side:
    """One way to do a workload.

    work: what is timed (or, where that is not `timed`, what returns the figure).
    values: what it has computed after it worked, to be compared with the other sides.
    per: how many units, such as nodes, one call of `work` handles; figures are for one of them.
    close: ends what `make` began.
    """

    work: Callable[[], Any]
    values: Callable[[], Sequence[Any]] | None = None
    per: int = 1
    close: Callable[[], None] = lambda: None


Make = Callable[[], Side]


@dataclass(frozen=True)
class Target:
    """What was aimed at: `side` at most `most`, or at most `most` times `against`."""

    side: str
    most: float
    against: str = ""

    @property
    def label(self) -> str:
        return f"{self.side} / {self.against}" if self.against else self.side


@dataclass(frozen=True)
class Workload:
    """One row of the table: what is done, by whom, and what was aimed at.

    sides: a function for each side that makes it ready; those whose name begins with `mine` may
    not be left out. unit: of the figures. timed: no where `work` returns the figure itself.
    once: so long that it is neither warmed up nor repeated. rtol: how far two sides may differ.
    seconds: after these no further round begins. cores: all that there are, for sides that are
    compared with themselves only, or that say themselves how many threads they take.
    """

    name: str
    sides: Mapping[str, Make]
    targets: tuple[Target, ...] = ()
    unit: str = "s"
    timed: bool = True
    clock: Clock = processor_time
    once: bool = False
    rtol: float = 1e-4
    seconds: float = 4.0
    mine: str = "minigrad"
    cores: bool = False


@dataclass
class Row:
    """What was measured: for each start of the program, the figures of each side in each round."""

    name: str
    unit: str
    targets: tuple[Target, ...]
    starts: list[dict[str, list[float]]] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)
    failed: str = ""

    @property
    def sides(self) -> list[str]:
        return list(dict.fromkeys(side for start in self.starts for side in start))

    def figure(self, side: str) -> Spread:
        """What one side took."""
        return spread([start[side] for start in self.starts if side in start])

    def ratio(self, side: str, against: str) -> Spread:
        """Of one side's figures to another's, round by round."""
        return spread(
            [
                [a / b for a, b in zip(start[side], start[against], strict=True)]
                for start in self.starts
                if side in start and against in start
            ]
        )

    def fastest(self, mine: tuple[str, ...]) -> str | None:
        """The side of somebody else that took least; None if there is none."""
        others = [side for side in self.sides if not side.startswith(mine)]
        return min(others, key=lambda side: self.figure(side).middle, default=None)

    def verdict(self, target: Target) -> tuple[Spread, bool] | None:
        """What was measured of a target and whether it was reached; None if a side is absent."""
        if not {target.side, target.against or target.side} <= set(self.sides):
            return None
        found = (
            self.ratio(target.side, target.against) if target.against else self.figure(target.side)
        )
        return found, found.middle <= target.most


@dataclass(frozen=True)
class Spread:
    """The median of all rounds, and the lowest and highest median of one start."""

    middle: float
    low: float
    high: float


def spread(starts: Sequence[Sequence[float]]) -> Spread:
    medians = [statistics.median(rounds) for rounds in starts]
    together = [value for rounds in starts for value in rounds]
    return Spread(statistics.median(together), min(medians), max(medians))


def measure(workload: Workload, rounds: int) -> Row:
    """Make the sides ready, compare what they compute, and time (or count) them in turn."""
    row = Row(workload.name, workload.unit, workload.targets)
    sides = dict(_ready(workload, row.absent))
    if not sides:  # nothing here can do it, and the row says why
        return row
    compare({name: side for name, side in sides.items() if side.values}, workload)
    gc.collect()
    gc.freeze()  # so that nobody is slowed down by the objects of those who were imported
    repeat = {name: _repeat(side, workload) for name, side in sides.items()}
    figures: dict[str, list[float]] = {name: [] for name in sides}
    order = list(sides)
    end = workload.clock() + workload.seconds
    for done in range(1 if workload.once else rounds):
        if done >= FEWEST and workload.clock() > end:
            break
        for name in order[done % len(order) :] + order[: done % len(order)]:
            figures[name].append(_once(sides[name], repeat[name], workload))
    for side in sides.values():
        side.close()
    gc.unfreeze()
    row.starts.append(figures)
    return row


def measured(workload: Workload, rounds: int) -> Row:
    """Measure; a row that fails says so, and the others are measured all the same."""
    try:
        with contextlib.nullcontext() if workload.cores else machine.one_core():
            return measure(workload, rounds)
    except Exception as error:  # noqa: BLE001 — whatever it is, it is told, and the end is not 0
        row = Row(workload.name, workload.unit, workload.targets)
        row.failed = f"{type(error).__name__}: {error}"
        return row


def _ready(workload: Workload, absent: dict[str, str]) -> Iterator[tuple[str, Side]]:
    for name, make in workload.sides.items():
        try:
            with time_limit(90):
                side = make()
                if side.values:
                    for _ in range(CHECKED):
                        side.work()
        except REFUSALS as reason:
            if name.startswith(workload.mine):
                raise
            absent[name] = _why(reason)
        else:
            yield name, side


def _why(reason: Exception) -> str:
    if isinstance(reason, ModuleNotFoundError):
        return "not installed"
    lines = str(reason).strip().splitlines()
    return f"{type(reason).__name__}: {lines[0][:80]}" if lines else type(reason).__name__


def compare(sides: Mapping[str, Side], workload: Workload) -> None:
    """Raise AssertionError unless all sides have computed the same as the first one."""
    expected: list[Any] | None = None
    for name, side in sides.items():
        found = [np.asarray(v) for v in side.values()] if side.values else []
        if expected is None:
            expected = found
        for a, b in zip(found, expected, strict=True):
            scale = float(np.max(np.abs(b), initial=0))
            np.testing.assert_allclose(
                a, b, workload.rtol, workload.rtol * scale, err_msg=f"{workload.name}: {name}"
            )


def _repeat(side: Side, workload: Workload) -> int:
    """How often a side works within a round: about 10 ms of it."""
    if workload.once or not workload.timed:
        return 1
    start = workload.clock()
    side.work()
    return max(1, min(3000, math.floor(0.01 / max(workload.clock() - start, 1e-9))))


def _once(side: Side, repeat: int, workload: Workload) -> float:
    gc.collect()
    if not workload.timed:
        return float(side.work()) / side.per
    clock, work = workload.clock, side.work
    if repeat > 1:
        work()  # what the side before it left behind in caches and memory is not its fault
    start = clock()
    for _ in range(repeat):
        work()
    return (clock() - start) / repeat / side.per


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError (an OSError) in the block after so long, where the system can do that."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def late(*_: object) -> None:
        raise TimeoutError(f"gave up after {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# ---- From one start of the program to another ------------------------------------------------


def merge(starts: Sequence[Sequence[Row]]) -> list[Row]:
    """The rows of several starts as one row for each workload, in the order of the first."""
    rows: dict[str, Row] = {}
    for start in starts:
        for row in start:
            whole = rows.setdefault(row.name, Row(row.name, row.unit, row.targets))
            whole.starts += row.starts
            whole.absent |= row.absent
            whole.failed = whole.failed or row.failed
    return list(rows.values())


def as_json(row: Row) -> dict[str, Any]:
    """Everything that was measured, and what it comes to."""
    verdicts = []
    for target in row.targets:
        found = row.verdict(target)
        measured = {"measured": asdict(found[0]), "reached": found[1]} if found else {}
        verdicts.append({**asdict(target), **measured})
    return {
        "name": row.name,
        "unit": row.unit,
        "absent": row.absent,
        "failed": row.failed,
        "starts": row.starts,
        "targets": verdicts,
    }


def from_json(data: Mapping[str, Any]) -> Row:
    targets = tuple(Target(t["side"], t["most"], t["against"]) for t in data["targets"])
    return Row(data["name"], data["unit"], targets, data["starts"], data["absent"], data["failed"])
