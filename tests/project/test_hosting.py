"""Where the course is hosted: one address, links that follow it, copies that show no answers."""

from __future__ import annotations

import importlib.util
import json
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml
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
        after = moved(before, HOST, "a-b.c/d_e")
        assert f"/{HOST}" not in after, quoting
        assert site not in after, quoting
        assert moved(after, "a-b.c/d_e", HOST) == before
    assert moved(f"github.com/{HOST}-fork", HOST, "a/b") == f"github.com/{HOST}-fork"
    assert moved(site, HOST, "a-b.c/d_e") == "https://a-b.c.github.io/d_e/"


def test_the_citation_names_the_version_its_day_and_its_address() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["version"] == project["version"]
    heading = f"## {project['version']} - {cited['date-released']}\n"
    assert heading in (ROOT / "CHANGELOG.md").read_text("utf-8")
    urls = project["urls"]
    assert (cited["url"], cited["repository-code"]) == (urls["Homepage"], urls["Repository"])
    assert {"pytorch", "tensorflow", "jax"} <= set(project["keywords"])


def words(form: Any) -> list[str]:
    """Every text of an issue form that is read."""
    if isinstance(form, list):
        return [text for part in form for text in words(part)]
    if not isinstance(form, dict):
        return [form] if isinstance(form, str) else []
    read = ("name", "description", "label", "options", "body", "attributes")
    return [text for key in read for text in words(form.get(key))]


@pytest.mark.parametrize("name", ["bug", "wrong_check", "translation"])
def test_an_issue_form_asks_in_both_languages(name: str) -> None:
    path = ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml"
    form = yaml.safe_load(path.read_text("utf-8"))
    assert len({part["id"] for part in form["body"]}) == len(form["body"]) >= 3
    assert {part["type"] for part in form["body"]} <= {"textarea", "input", "dropdown"}
    for text in words(form):
        english, _, chinese = text.partition(" · ")
        assert not re.search("[\u4e00-\u9fff]", english), text
        assert re.search("[\u4e00-\u9fff]", chinese), text


@pytest.mark.parametrize("name", ["SECURITY.md", "CODE_OF_CONDUCT.md"])
def test_a_page_for_trouble_has_both_languages_and_says_whom_to_tell(name: str) -> None:
    english, chinese = (ROOT / name).read_text("utf-8").split("\n---\n")
    for half in (english, chinese):
        assert "*Report a vulnerability*" in " ".join(half.split())
        assert half.count("**") == english.count("**")
    assert not re.search("[\u4e00-\u9fff]", english.partition("\n")[2])


def test_an_image_has_a_pinned_base_and_takes_nothing_that_was_not_handed_out() -> None:
    deploy = ROOT / "docs" / "deploy"
    assert re.search(
        r"(?m)^FROM python:3\.\d+\.\d+-slim-\w+$", (deploy / "Dockerfile").read_text("utf-8")
    )
    ignored = (deploy / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    assert {"**/.*", "**/my_engine"} <= set(ignored)
