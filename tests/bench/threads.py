"""What a user gets who says nothing of threads, against one BLAS thread and against two.

Who says nothing must not be slower than with one. The number of threads is read when NumPy starts,
so each side is a process of its own, which makes a batch of steps whenever it is asked to and says
how much processor time they took: threads that spin while they wait for each other take it as well,
those of a neighbour that spin on after its last step do not count.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import machine
import mine
from measure import Make, Side, Target, Workload, processor_time
from models import Model

STEPS = 40


def collect(model: Model) -> Iterable[Workload]:
    """The step by our executor and by our tape: as a user gets it, and with two threads.

    Two rows, so that threads that spin on after their last step are no neighbours of the first.
    """
    if machine.cores() < 2:
        return
    kinds = {mine.EAGER: "eager", mine.static("numpy"): "numpy"}
    for count, words, most in ((None, "nothing set", 1.0), (2, "2 threads", None)):
        sides: dict[str, Make] = {}
        for name, kind in kinds.items():
            sides |= {f"{name}, {words}": worker(kind, count), f"{name}, 1 thread": worker(kind, 1)}
        targets = [Target(f"{name}, {words}", most, f"{name}, 1 thread") for name in kinds if most]
        title = f"MLP training step, BLAS threads: {words}, and 1"
        yield Workload(title, sides, tuple(targets), timed=False, cores=True)


def worker(kind: str, count: int | None) -> Make:
    """A process with so many threads, or in which nobody has said how many."""

    def make() -> Side:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__)), kind],
            env=environment(count),
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


def environment(count: int | None) -> dict[str, str]:
    return machine.without_threads(os.environ) if count is None else machine.environment(count)


def serve(kind: str) -> None:
    from models import MLP

    side = mine.training(MLP) if kind == "eager" else mine.training_compiled(MLP, kind)
    for _ in sys.stdin:
        start = processor_time()
        for _ in range(STEPS):
            side.work()
        print((processor_time() - start) / STEPS, flush=True)


if __name__ == "__main__":
    serve(sys.argv[1])
