"""Measure and compare: `python tasks.py bench`.

Each workload runs with this engine and with its peers in turn, round by round, so that a drifting
machine moves both. Printed are medians and the median of the ratios of the rounds; ratios are the
claim, times are not. Peers that are not installed are left out and named.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy starts its threads
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import workloads

Work = Callable[[], object]


@dataclass
class Row:
    """One workload: our time, the times of the peers, and the ratios ours / theirs."""

    name: str
    repeat: int
    works: dict[str, Work]
    seconds: dict[str, list[float]] = field(default_factory=dict)

    def measure(self, rounds: int) -> None:
        """Time all sides once per round, in turn; the first round warms up and is not kept."""
        self.seconds = {side: [] for side in self.works}
        for round_ in range(rounds + 1):
            for side, work in self.works.items():
                gc.collect()
                start = time.perf_counter()
                for _ in range(self.repeat):
                    work()
                elapsed = (time.perf_counter() - start) / self.repeat
                if round_:
                    self.seconds[side].append(elapsed)

    @property
    def ratios(self) -> dict[str, tuple[float, float, float]]:
        """For each peer: median, lowest and highest ratio of our time to its time."""
        ours, *peers = self.seconds
        return {
            peer: spread(
                [a / b for a, b in zip(self.seconds[ours], self.seconds[peer], strict=True)]
            )
            for peer in peers
        }


def spread(values: list[float]) -> tuple[float, float, float]:
    return statistics.median(values), min(values), max(values)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    parser.add_argument("--json", type=Path, help="write the figures here")
    arguments = parser.parse_args()
    peers = [p for p in ("torch",) if importlib.util.find_spec(p)]
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, one thread;", end=" ")
    print(f"{arguments.rounds} rounds; peers: {', '.join(peers) or 'none installed'}")
    print(f"{'workload':42} {'side':22} {'median':>10}   ours / peer (lowest to highest)")
    rows = []
    for name, repeat, works in workloads.collect(peers):
        if arguments.only not in name:
            continue
        row = Row(name, repeat, works)
        row.measure(arguments.rounds)
        report(row)
        rows.append(row)
    if arguments.json:
        figures = [{"name": r.name, "seconds": r.seconds, "ratios": r.ratios} for r in rows]
        arguments.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    return 0


def report(row: Row) -> None:
    for side, seconds in row.seconds.items():
        ratio = ""
        if side in row.ratios:
            middle, low, high = row.ratios[side]
            ratio = f"{middle:6.2f}  ({low:.2f} to {high:.2f})"
        print(f"{row.name:42} {side:22} {statistics.median(seconds) * 1e6:8.1f} µs   {ratio}")


if __name__ == "__main__":
    sys.exit(main())
