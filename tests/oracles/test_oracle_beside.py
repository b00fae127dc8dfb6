"""What the boxes of the lessons say that other systems print is what they print."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from minigrad_lessons.lesson.beside import SYSTEMS
from minigrad_lessons.questions import PeerCode, all_lessons

pytestmark = pytest.mark.oracle
BOXES = [(n, box) for n, lesson in all_lessons().items() for box in lesson.beside if box.version]
PRELUDE = {"tensorflow1": "; tf.disable_eager_execution()"}  # the real one of today starts eager
STOPPED = (
    "import sys; sys.excepthook = lambda kind, error, _: "
    "print(f'{kind.__name__}: ' + ''.join(str(error).strip().splitlines()[:1]))"
)
# The Python of another environment, for systems that do not fit into this one: MindSpore 2.10 needs
# NumPy 1, for example after: python -m venv OTHER; OTHER/bin/pip install paddlepaddle mindspore
# "numpy<2".
OTHER = os.environ.get("MINIGRAD_OTHER_PYTHON")


@functools.cache
def python_with(package: str) -> str | None:
    """The Python that has a package installed, this one first."""
    found = f"from importlib.metadata import version; version({package!r})"
    pythons = filter(None, (sys.executable, OTHER))
    return next(
        (p for p in pythons if not subprocess.call([p, "-c", found], stderr=subprocess.DEVNULL)),
        None,
    )


@pytest.mark.parametrize(("lesson", "box"), BOXES, ids=[f"{n}-{b.system}" for n, b in BOXES])
def test_the_real_system_prints_what_the_box_says(
    lesson: str, box: PeerCode, tmp_path: Path
) -> None:
    package = box.version.split()[0].rstrip(",")
    python = python_with(package)
    if python is None:
        pytest.skip(f"{package} is not installed")
    first = f"{STOPPED}; {SYSTEMS[box.system][1]}{PRELUDE.get(box.system, '')}"  # a single line
    file = tmp_path / "box.py"  # as in a notebook, its source can be read
    file.write_text(f"{first}\n{box.code}\n", "utf-8")
    command = [python, "-u", str(file)]
    done = subprocess.run(
        command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.rstrip("\n") == box.prints
