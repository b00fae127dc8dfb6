"""What pyproject.toml cannot say: the wheel brings the lessons as learners start them."""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))  # a build looks elsewhere only

from minigrad_lessons.opening import copy_lessons  # noqa: E402


class BuildWithLessons(build_py):
    """Copies the packages, then the notebooks; an editable installation has the checkout's."""

    def run(self):
        super().run()
        if not self.editable_mode:
            folder = Path(self.build_lib) / "minigrad_lessons" / "notebooks"
            copy_lessons(str(ROOT / "notebooks"), str(folder))


setup(cmdclass={"build_py": BuildWithLessons})
