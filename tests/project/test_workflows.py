"""What hosted machines run: each step is one that works here, with no more rights than it needs."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from lessons import ROOT

import tasks

WORKFLOWS = {path.stem: path for path in (ROOT / ".github" / "workflows").glob("*.yml")}
# All that may do more than read the repository, and what it may do.
RIGHTS = {
    "site publish": {"pages": "write", "id-token": "write"},
    "site colab": {"contents": "write"},
    "release index": {"id-token": "write"},
    "release attach": {"contents": "write"},
}


def load(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load(WORKFLOWS[name].read_text("utf-8")))


def steps(name: str) -> list[dict[str, Any]]:
    return [step for job in load(name)["jobs"].values() for step in job["steps"]]


def script(name: str, part: str) -> str:
    """The step that says this."""
    (found,) = [step["run"] for step in steps(name) if part in step.get("run", "")]
    return str(found)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_reads_and_no_job_may_do_more_than_it_needs(name: str) -> None:
    workflow = load(name)
    assert workflow["name"] == name
    assert workflow["permissions"] == {"contents": "read"}
    assert True in workflow, "YAML reads the key `on` as true"
    for job, told in workflow["jobs"].items():
        assert told["timeout-minutes"] <= 90
        assert told.get("permissions", {}) == RIGHTS.get(f"{name} {job}", {})
        needed = told.get("needs", [])
        assert set([needed] if isinstance(needed, str) else needed) <= set(workflow["jobs"])


@pytest.mark.parametrize("name", WORKFLOWS)
def test_actions_are_pinned_and_find_what_was_left_for_them(name: str) -> None:
    """GitHub's own by their major version, others by the commit that somebody has read."""
    for step in (step for step in steps(name) if "uses" in step):
        assert re.fullmatch(r"actions/[\w-]+@v\d+|[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"])
        assert "run" not in step
    left, taken = (
        {step["with"].get("name") for step in steps(name) if f"/{kind}-artifact@" in str(step)}
        for kind in ("upload", "download")
    )
    assert taken - {None} <= left


@pytest.mark.parametrize("name", WORKFLOWS)
def test_what_a_step_runs_is_there(name: str) -> None:
    said = "\n".join(step.get("run", "") for step in steps(name))
    for command, option in re.findall(r"python3? tasks\.py (\w+)((?: --\w+)*)", said):
        assert command in tasks.COMMANDS
        assert all(word in (ROOT / "tasks.py").read_text("utf-8") for word in option.split())
    for file in re.findall(r"(?:tests|docs)/[\w/]+(?:\.py)?", said):
        assert (ROOT / file).exists(), file
    assert "password" not in said


# ---- The cheap steps, run -----------------------------------------------------------------------

posix = pytest.mark.skipif(os.name != "posix", reason="the machines that run them have Linux")


def run(source: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a step as a hosted machine does: bash, which stops at the first failure."""
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", source],
        cwd=folder,
        env={**os.environ, "GITHUB_REPOSITORY": "ada/course", "GITHUB_ACTOR": "ada", **settings},
        capture_output=True,
        text=True,
    )


@posix
def test_only_a_tag_with_the_version_of_the_package_is_released() -> None:
    check = script("release", 'GITHUB_REF_NAME"\ngrep')
    version = re.findall(r"(?m)^version: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"))[0]
    assert run(check, ROOT, GITHUB_REF_NAME=f"v{version}").returncode == 0
    assert run(check, ROOT, GITHUB_REF_NAME="v0.0.9").returncode != 0


@posix
def test_the_branch_of_colab_has_the_copies_and_no_history(tmp_path: Path) -> None:
    course, there = tmp_path / "course", tmp_path / "there"
    copies = course / "build" / "colab" / "pictures"
    copies.mkdir(parents=True)
    (copies / "a.svg").touch()
    (copies.parent / "00.ipynb").touch()
    (course / ".gitignore").write_text("build\n")
    begin = f"git init -q --bare {there}; git init -q; git remote add origin {there}"
    assert run(begin, course).returncode == 0
    for _ in range(2):  # it is replaced each time
        done = run(script("site", "refs/heads/colab"), course, GITHUB_SHA="abc")
        assert done.returncode == 0, done.stderr
    shown = run("git ls-tree -r --name-only colab; git rev-list --count colab", there).stdout
    assert shown.split() == ["00.ipynb", "pictures/a.svg", "1"]


@posix
def test_a_host_is_told_of_an_address_that_is_not_committed(tmp_path: Path) -> None:
    remind = script("site", "::warning::")
    commit = "git init -q; touch a; git add a; git -c user.name=a -c user.email=a commit -qm a"
    assert run(commit, tmp_path).returncode == 0
    assert run(remind, tmp_path).stdout == ""
    (tmp_path / "a").write_text("b")
    assert "docs/address.py ada/course" in run(remind, tmp_path).stdout


@posix
def test_what_is_attached_is_packed_under_the_name_of_the_tag(tmp_path: Path) -> None:
    for part in ("release", "kit-en", "kit-zh", "handouts", "pages"):
        (tmp_path / "build" / part).mkdir(parents=True)
    (tmp_path / "build" / "pages" / "index.html").touch()
    done = run(script("release", "zipfile"), tmp_path, GITHUB_REF_NAME="v1.0.0")
    assert done.returncode == 0, done.stderr
    packed = {path.name for path in (tmp_path / "build" / "release").iterdir()}
    assert packed == {f"{part}-v1.0.0.zip" for part in ("kit-en", "kit-zh", "handouts", "pages")}
