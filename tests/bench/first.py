"""How long it takes to import, from nothing to a first gradient, and to a compiled training
step's first result; and when that has paid.

As a program, `first.py EXECUTOR`, it prints that time for a process where no kernel is loaded yet.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mine
from measure import Side, processor_time
from models import MLP

# From the start of Python: the import, and the slope of x·x + 3 at 2.
GRADIENTS = {
    "minigrad": "import minigrad as mg; x = mg.tensor(2.0, requires_grad=True);"
    " (x * x + 3).backward(); print(float(x.grad))",
    "numpy": "import numpy as np; x = np.float32(2.0); y = x * x + 3; print(float(2 * x))",
    "torch": "import torch; x = torch.tensor(2.0, requires_grad=True);"
    " (x * x + 3).backward(); print(float(x.grad))",
    "jax": "import jax; print(float(jax.grad(lambda x: x * x + 3)(2.0)))",
}


def gradient(library: str) -> Side:
    """A Python that starts, imports a library, and finds one gradient."""
    said: list[str] = []

    def work() -> None:
        command = [sys.executable, "-c", GRADIENTS[library]]
        found = subprocess.run(command, capture_output=True, text=True)
        if found.returncode:
            raise ImportError(found.stderr.strip().splitlines()[-1])
        said[:] = [found.stdout]

    return Side(work, lambda: [float(said[0])])


def imported(module: str, *before: str, then: str = "") -> Side:
    """What an import takes on top of those before it: the median of ten fresh Pythons."""
    time = "from time import process_time; begun = process_time()"
    program = f"import {', '.join(before)}; {time}; import {module}; {then}"
    program += "\nprint(process_time() - begun)"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

    def once() -> float:
        command = [sys.executable, "-c", program]
        said = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        return float(said.stdout)

    once()  # writes the bytecode
    return Side(lambda: statistics.median(once() for _ in range(10)))


DRAWING = "viz.draw(minigrad.tensor(2.0, requires_grad=True) * 3)._repr_mimebundle_()"


def compiled(executor: str) -> Side:
    """From the Python model to the first loss: graph, gradients, passes, plan, run."""
    return Side(lambda: first_step(executor))


def first_step(executor: str) -> Any:
    side = mine.training_compiled(MLP, executor)
    side.work()
    return side


def fresh(executor: str, cached: bool) -> Side:
    """The same in a fresh process, with an empty folder of compiled kernels or with a full one."""
    kept = tempfile.TemporaryDirectory()

    def measured(folder: str) -> float:
        command = [sys.executable, str(Path(__file__)), executor]
        said = subprocess.run(
            command,
            env={**os.environ, "XDG_CACHE_HOME": folder, "LOCALAPPDATA": folder, "HOME": folder},
            check=True,
            capture_output=True,
            text=True,
        )
        return float(said.stdout)

    def work() -> float:
        if cached:
            return measured(kept.name)
        with tempfile.TemporaryDirectory() as folder:
            return measured(folder)

    if cached:
        work()
    return Side(work, close=kept.cleanup)


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
        start = processor_time()
        side = first_step(executor)
        first = processor_time() - start
        return caught_up(first, step_time(side.work), step_time(eager.work))

    return Side(work)


def caught_up(first: float, step: float, other: float) -> float:
    """The n for which first + (n − 1) · step = n · other; infinite where steps save nothing."""
    return (first - step) / (other - step) if other > step else float("inf")


def step_time(work: Callable[[], Any]) -> float:
    work()
    times = []
    for _ in range(20):
        start = processor_time()
        work()
        times.append(processor_time() - start)
    return statistics.median(times)


if __name__ == "__main__":
    first_step("numpy")  # so that Python's own code is warm
    begun = processor_time()
    first_step(sys.argv[1])
    print(processor_time() - begun)
