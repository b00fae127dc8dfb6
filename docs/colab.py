"""The lessons as Colab opens them: python docs/colab.py FOLDER

Learners' copies, as `python tasks.py student` writes them, with the cell that installs the course,
and with pictures by address, since Colab fetches one notebook and no folder. The folder becomes the
branch `colab`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from address import ROOT, hosted_at

sys.path.insert(0, str(ROOT))

from minigrad_lessons.opening import copy_pictures, student_versions
from minigrad_lessons.student import write_notebook

NOTEBOOKS = ROOT / "notebooks"


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pictures = f"](https://raw.githubusercontent.com/{hosted_at()}/colab/pictures/"
    site = f"https://{hosted_at().replace('/', '.github.io/')}/"  # pages of a branch don't run
    for name, notebook in student_versions(str(NOTEBOOKS)).items():
        stored = json.loads((NOTEBOOKS / name).read_text("utf-8"))["cells"]
        notebook["cells"][1:1] = [cell for cell in stored if cell["id"] == "install"]
        for cell in notebook["cells"]:
            lines = [line.replace("](pictures/digit.html", f"]({site}") for line in cell["source"]]
            cell["source"] = [line.replace("](pictures/", pictures) for line in lines]
        write_notebook(str(folder / name), notebook)
    copy_pictures(str(NOTEBOOKS), str(folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
