"""What the boxes of the lessons say that other systems print is what they print."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

import pytest

from viz.lesson.beside import SYSTEMS
from viz.questions import Beside, lessons

pytestmark = pytest.mark.oracle
BOXES = [(name, box) for name, lesson in lessons().items() for box in lesson.beside]
PRELUDE = {"tensorflow1": "tf.disable_eager_execution()"}  # the real one of today starts eager
RUN = """
import sys
try:
    exec(compile(sys.argv[1], "<box>", "exec"), {"__name__": "__main__"})
except Exception as error:
    print(f"{type(error).__name__}: {''.join(str(error).strip().splitlines()[:1])}")
"""


@pytest.mark.parametrize(("lesson", "box"), BOXES, ids=[f"{n}-{b.system}" for n, b in BOXES])
def test_the_real_system_prints_what_the_box_says(lesson: str, box: Beside) -> None:
    package = box.version.split()[0].rstrip(",")
    try:
        version(package)
    except PackageNotFoundError:
        pytest.skip(f"{package} is not installed")
    code = "\n".join([SYSTEMS[box.system][1], PRELUDE.get(box.system, ""), box.code])
    done = subprocess.run(
        [sys.executable, "-c", RUN, code], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.rstrip("\n") == box.prints
