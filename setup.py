"""What pyproject.toml cannot say: the wheel brings the lessons as learners start them.

And an index gets a README whose links and pictures have addresses, since it has no files beside it.
"""

import re
import sys
import tomllib
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


def readme_for_an_index():
    """Return README.md with the addresses of this version's files in place of their paths."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    repository, version = project["urls"]["Repository"], project["version"]
    text = (ROOT / "README.md").read_text("utf-8")
    for path, view in [
        (r'((?:src|srcset)=")(?!https?://)', "raw"),
        (r"(!\[[^\]]*\]\()(?!https?://)", "raw"),
        (r"((?<!!)\[[^\]]*\]\()(?!https?://|#)", "blob"),
    ]:
        text = re.sub(path, rf"\1{repository}/{view}/v{version}/", text)
    return text


setup(
    cmdclass={"build_py": BuildWithLessons},
    long_description=readme_for_an_index(),
    long_description_content_type="text/markdown",
)
