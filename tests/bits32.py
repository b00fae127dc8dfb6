"""Python of 32 bits: a Debian for i386 with its own NumPy, in which the engine's tests run.

    python tests/bits32.py FOLDER [SUITE]

The suite must have NumPy 2: trixie or a newer one. It takes about as long as the tests do here.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import bare

SUITE = "forky"
PACKAGES = "python3-numpy,python3-matplotlib,python3-fonttools,python3-ipywidgets,python3-graphviz"
PACKAGES += ",python3-threadpoolctl,python3-nbformat,python3-nbclient,python3-ipykernel,python3-pip"
PACKAGES += ",python3-pytest,python3-pytest-xdist,python3-hypothesis,graphviz"
NAMES = (
    *("backprop", "compiled", "control", "conv", "core", "counts", "depth", "eager", "fast_paths"),
    *("errors", "every_op", "execute", "extremes", "function", "functions", "gradients", "graph"),
    *("images", "indexing", "inner", "inplace", "subclasses", "lengths", "losses", "marking", "nn"),
    *("optim", "passes", "passes_fusing", "passes_loops", "passes_shapes", "plan", "properties"),
    *("recompute", "recurrent", "schedule", "script", "session", "special_values", "storage"),
    *("sweep", "trace"),
)


def obstacle() -> str | None:
    """What would have to be done before these tests run here; None when they can."""
    if os.environ.get("MINIGRAD_REQUIRE_BITS") != "1":
        return "set MINIGRAD_REQUIRE_BITS=1, as it takes half an hour"
    if platform.machine() not in ("x86_64", "i686"):
        return "take a machine with an x86 processor, which runs both"
    return bare.obstacle()


def files() -> list[str]:
    """Return the paths of these tests, relative to the project."""
    root = Path(__file__).parents[1]
    found = [path for name in NAMES for path in root.glob(f"tests/*/test_{name}.py")]
    return [path.relative_to(root).as_posix() for path in found]


def run_tests(folder: Path, suite: str = SUITE) -> tuple[int, str]:
    """Run the engine's tests on 32 bits; their exit code and what they said."""
    machine = bare.Machine(folder, suite, PACKAGES, "--arch=i386")
    code, said = machine.run("pip", "install", "--break-system-packages", "--quiet", "anywidget")
    if code:
        return code, said
    wide = "import numpy, sys; sys.exit(numpy.intp is not numpy.int32)"
    tests = f"PYTHONPATH=. python3 -m pytest -q -n 2 --dist loadfile {' '.join(files())}"
    return machine.run("sh", "-c", f'python3 -c "{wide}" && {tests}')


if __name__ == "__main__":
    code, said = run_tests(Path(sys.argv[1]).resolve(), *sys.argv[2:])
    print(said)
    sys.exit(code)
