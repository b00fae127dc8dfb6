"""Measure and compare: `python tasks.py bench`.

Each workload runs on all its sides in turn, round by round, on one core: this engine's dynamic
graph and its executors, NumPy written by hand, and those of PyTorch, JAX and ONNX Runtime that are
installed, each as those write it who know it, and where that differs much as its tutorials do, too.
Before that, all of them must have computed the same. The program starts itself several times,
because where arrays happen to lie changes some rows. Printed are medians, and of the starts'
medians the lowest and the highest; the ratio to the fastest peer is the claim, times are not.

Times are processor time, so that other programs on the machine count little.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import machine
import measure
import report

# In the order of the columns. Their modules are not imported here.
PEERS = (
    *("NumPy by hand", "PyTorch eager", "torch.compile", "TorchScript", "JAX jit", "ONNX Runtime"),
    *("PyTorch, tutorial", "JAX jit, tutorial"),
)


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=3, help="fresh starts (default: 3)")
    parser.add_argument("--rounds", type=int, default=15, help="rounds in each (default: 15)")
    parser.add_argument("--minutes", type=float, default=10, help="no start ends after these")
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    parser.add_argument("--quick", action="store_true", help="one start, few rounds, little time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures here")
    parser.add_argument(
        "--chart", type=Path, metavar="FILE", help="draw the ratios here: .png, .svg or .pdf"
    )
    parser.add_argument("--start", type=Path, help=argparse.SUPPRESS)  # one start: its rows go here
    given = parser.parse_args(arguments)
    if given.quick:
        given.starts, given.rounds = 1, measure.FEWEST
    return given


def main(arguments: Sequence[str] | None = None) -> int:
    given = options(arguments)
    if given.start:
        rows = list(once(given))
        given.start.write_text(json.dumps([measure.as_json(r) for r in rows]), encoding="utf-8")
        return 0
    facts = machine.describe()
    for name, value in facts.items():
        print(f"{name + ':':14} {value}")
    print(f"Starts: {given.starts}, rounds in each: {given.rounds}.", flush=True)
    rows = measure.merge(list(starts(given)))
    for row in rows:
        print("", *report.describe(row), sep="\n")
    tables = (report.fastest(rows), report.matrix(rows, PEERS), report.summary(rows))
    for table in tables:
        print("", *table, sep="\n")
    write(given, {"machine": facts, "rows": [measure.as_json(row) for row in rows]})
    return 1 if any(row.failed for row in rows) else 0


def write(given: argparse.Namespace, found: dict[str, Any]) -> None:
    """The figures as JSON, and their ratios as a chart, where these were asked for."""
    if given.json:
        given.json.write_text(json.dumps(found, indent=1, ensure_ascii=False), encoding="utf-8")
    if given.chart:
        from viz.charts.ratios import ratios

        try:
            ratios(found).save(given.chart)
        except ValueError as reason:  # no ratio among these workloads
            print(f"No chart. {reason}")


def starts(given: argparse.Namespace) -> Iterator[list[measure.Row]]:
    """Fresh starts, as many as are wanted and as fit into the time."""
    begun, longest = time.monotonic(), 0.0
    for number in range(given.starts):
        now = time.monotonic()
        if number and now - begun + longest > given.minutes * 60:
            print(f"No time for start {number + 1}: the limit is {given.minutes} minutes.")
            return
        yield start(given, number)
        longest = max(longest, time.monotonic() - now)


def start(given: argparse.Namespace, number: int) -> list[measure.Row]:
    """One fresh start, with the threads that it may use."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "rows.json"
        words = ["--rounds", str(given.rounds), "--only", given.only, "--start", str(target)]
        words += ["--quick"] if given.quick else []
        print(f"start {number + 1} of {given.starts}:", end=" ", file=sys.stderr, flush=True)
        subprocess.run(
            [sys.executable, __file__, *words],
            env=machine.environment(1),
            check=True,
        )
        print(file=sys.stderr)
        return [measure.from_json(row) for row in json.loads(target.read_text("utf-8"))]


def once(given: argparse.Namespace) -> Sequence[measure.Row]:
    """All workloads in this process; a dot for each."""
    import workloads  # now, because this starts NumPy

    rows = []
    for workload in workloads.collect(workloads.Sizes()):
        if given.only in workload.name:
            limit = min(workload.seconds, 0.5) if given.quick else workload.seconds
            rows.append(measure.measured(replace(workload, seconds=limit), given.rounds))
            print(".", end="", file=sys.stderr, flush=True)
    return rows


if __name__ == "__main__":
    sys.exit(main())
