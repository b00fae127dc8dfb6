"""Where the course is hosted: one address, links that follow it, copies that show no answers."""

from __future__ import annotations

import importlib.util
import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from lessons import NOTEBOOKS, ROOT

from minigrad_lessons.student import student_version

ADDRESS = runpy.run_path(str(ROOT / "docs" / "address.py"))
HOST = ADDRESS["hosted_at"]()


def cells(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(path.read_text("utf-8"))["cells"])


def text(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_links_to_learners_copies_of_itself(path: Path) -> None:
    title = text(cells(path)[0])
    colab = f"(https://colab.research.google.com/github/{HOST}/blob/colab/{path.name})"
    binder = (
        f"(https://mybinder.org/v2/gh/{HOST}/HEAD?urlpath=lab/tree/notebooks/yours/{path.name})"
    )
    assert title.count(f"[Open in Colab]{colab} · [Open in Binder]{binder}\n") == 1
    assert title.count(f"[在 Colab 中打开]{colab} · [在 Binder 中打开]{binder}\n") == 1
    learners = student_version(json.loads(path.read_text("utf-8")))["cells"]
    assert "Binder" not in text(learners[0]), "who has the copy at home needs no link"
    assert [cell["id"] for cell in learners] == [
        c["id"] for c in cells(path) if c["id"] != "install"
    ]


def test_the_first_cell_installs_where_the_course_is_missing_and_nowhere_else() -> None:
    (source,) = {text(cells(path)[1]) for path in NOTEBOOKS}
    for found in (None, importlib.util.find_spec("minigrad_lessons")):
        shell = mock.Mock()
        with mock.patch("importlib.util.find_spec", return_value=found) as searched:
            exec(source, {"get_ipython": lambda shell=shell: shell})
        searched.assert_called_once_with("minigrad_lessons")
        asked = [mock.call("pip", "install --quiet minigrad-lessons")] * (found is None)
        assert shell.run_line_magic.call_args_list == asked


def test_colab_gets_copies_that_install_themselves_and_fetch_their_pictures(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "docs" / "colab.py", tmp_path], check=True)
    assert {path.name for path in tmp_path.glob("*.ipynb")} == {path.name for path in NOTEBOOKS}
    for path in NOTEBOOKS:
        copy = cells(tmp_path / path.name)
        assert copy[1]["id"] == "install"
        assert not [text(cell) for cell in copy if "END SOLUTION" in text(cell)]
        assert "](pictures/" not in str(copy)
    there = f"](https://raw.githubusercontent.com/{HOST}/colab/pictures/both_ways_en.svg)"
    assert there in text(cells(tmp_path / "index.ipynb")[0])
    assert (tmp_path / "pictures" / "both_ways_en.svg").exists()


def test_binder_makes_learners_copies_where_the_links_lead(tmp_path: Path) -> None:
    script = (ROOT / "postBuild").read_text("utf-8")
    command = script.splitlines()[-1].partition('"')[2].rstrip('"')
    (tmp_path / "notebooks").symlink_to(ROOT / "notebooks")
    command = command.replace("'notebooks/yours'", "'yours'")
    subprocess.run([sys.executable, "-c", command], cwd=tmp_path, check=True)
    assert {path.name for path in (tmp_path / "yours").glob("*.ipynb")} == {
        path.name for path in NOTEBOOKS
    }
    assert "END SOLUTION" not in str(cells(tmp_path / "yours" / "00_one_formula_two_graphs.ipynb"))


def test_one_command_changes_every_address() -> None:
    moved, name = ADDRESS["moved"], HOST.split("/")
    site = f"https://{name[0]}.github.io/{name[1]}/"
    for quoting in (*ADDRESS["QUOTING"], *(f"notebooks/{path.name}" for path in NOTEBOOKS)):
        before = (ROOT / quoting).read_text("utf-8")
        after = moved(before, HOST, "ada/course")
        assert f"/{HOST}" not in after, quoting
        assert site not in after, quoting
        assert moved(after, "ada/course", HOST) == before
    assert moved(f"github.com/{HOST}-fork", HOST, "a/b") == f"github.com/{HOST}-fork"
    assert moved(site, HOST, "ada/course") == "https://ada.github.io/course/"
