"""What the boxes of the lessons say that other systems print is what they print."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from viz.lesson.beside import SYSTEMS
from viz.questions import Beside, lessons

pytestmark = pytest.mark.oracle
BOXES = [(n, box) for n, lesson in lessons().items() for box in lesson.beside if box.version]
PRELUDE = {"tensorflow1": "; tf.disable_eager_execution()"}  # the real one of today starts eager
STOPPED = (
    "import sys; sys.excepthook = lambda kind, error, _: "
    "print(f'{kind.__name__}: ' + ''.join(str(error).strip().splitlines()[:1]))"
)


@pytest.mark.parametrize(("lesson", "box"), BOXES, ids=[f"{n}-{b.system}" for n, b in BOXES])
def test_the_real_system_prints_what_the_box_says(lesson: str, box: Beside, tmp_path: Path) -> None:
    package = box.version.split()[0].rstrip(",")
    try:
        version(package)
    except PackageNotFoundError:
        pytest.skip(f"{package} is not installed")
    first = f"{STOPPED}; {SYSTEMS[box.system][1]}{PRELUDE.get(box.system, '')}"  # a single line
    file = tmp_path / "box.py"  # as in a notebook, its source can be read
    file.write_text(f"{first}\n{box.code}\n", "utf-8")
    command = [sys.executable, "-u", str(file)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.rstrip("\n") == box.prints
