"""Two BLAS threads against one: never slower, or the engine should say how many to use.

The number of threads is fixed when NumPy starts, so each side is a process of its own, which makes
a batch of steps whenever it is asked to and says how long they took.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import machine
import mine
from measure import Make, Side, Target, Workload
from models import Model

STEPS = 20


def collect(model: Model) -> Iterable[Workload]:
    """One row: the step by our executor and by our tape, with one thread and with two."""
    if machine.cores() < 2:
        return
    kinds = {mine.EAGER: "eager", mine.static("numpy"): "numpy"}
    sides = {
        f"{name}, {words}": worker(kind, count)
        for name, kind in kinds.items()
        for count, words in ((2, "2 threads"), (1, "1 thread"))
    }
    yield Workload(
        "MLP training step, 2 BLAS threads against 1",
        sides,
        tuple(Target(f"{name}, 2 threads", 1.0, f"{name}, 1 thread") for name in kinds),
        timed=False,
    )


def worker(kind: str, count: int) -> Make:
    def make() -> Side:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__)), kind],
            env={**os.environ, **machine.threads(count)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        given, said = process.stdin, process.stdout
        assert given is not None
        assert said is not None

        def work() -> float:
            given.write("go\n")
            given.flush()
            return float(said.readline())

        def close() -> None:
            process.communicate()  # ends its input, and with it the process

        work()
        return Side(work, close=close)

    return make


def serve(kind: str) -> None:
    import time

    from models import MLP

    side = mine.training(MLP) if kind == "eager" else mine.training_compiled(MLP, kind)
    for _ in sys.stdin:
        start = time.perf_counter()
        for _ in range(STEPS):
            side.work()
        print((time.perf_counter() - start) / STEPS, flush=True)


if __name__ == "__main__":
    serve(sys.argv[1])
