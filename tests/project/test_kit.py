"""`python tasks.py kit OUT`: a class gets no answer, its teacher gets all of them."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib
import io
import json
import os
import re
import runpy
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path
from typing import Any

import nbformat
import pytest
from lessons import LESSONS, NOTEBOOKS, ROOT, TOUR

import tasks
from minigrad_lessons.lesson.learner_engine import template
from minigrad_lessons.questions import all_lessons
from minigrad_lessons.terminal import Problem

GRADED = [*LESSONS, TOUR]
SLIDES = ("L08",)
QTI = "{http://www.imsglobal.org/xsd/imsqti_v2p1}"


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """All that the script writes; the slides, which take longest, of one lesson."""
    folder, script = tmp_path_factory.mktemp("kit"), ROOT / "docs" / "kit"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(script)
        slides = importlib.import_module("slides")
        write = slides.write

        def some(path: Path, *told: Any) -> None:
            if request.config.getoption("--all") or path.stem in SLIDES:
                write(path, *told)

        patch.setattr(slides, "write", some)
        # What is stored is shown as well as what would run; that it plays is for test_pages.
        patch.setattr(slides.pages, "ran", lambda path, _: nbformat.read(path, as_version=4))
        patch.setattr(sys, "argv", [str(script), str(folder), "zh"])
        runpy.run_path(str(script), run_name="__main__")
    return folder


@pytest.fixture(scope="module")
def engine(kit: Path) -> dict[str, bytes]:
    """The files of the wheel."""
    (path,) = (kit / "class").glob("*.whl")
    with zipfile.ZipFile(path) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist()}


def test_a_class_gets_every_notebook_in_its_language_and_no_answer(kit: Path) -> None:
    paths = sorted((kit / "class").glob("*.ipynb"))
    assert [path.name for path in paths] == sorted(path.name for path in NOTEBOOKS)
    for path in paths:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        text = path.read_text("utf-8")
        assert not re.search(r"BEGIN SOLUTION|HIDDEN|lessons\.solution\(|lesson\.marks", text), path
        assert not any(cell.get("outputs") for cell in notebook.cells)
        assert re.findall(r"viz\.language\(\\?[\"'](\w+)", text.replace("\\", "")) == ["zh"]


def test_one_line_of_pip_installs_the_wheel_of_the_class(kit: Path) -> None:
    """Both READMEs name the same list; the teacher's from another folder, where pip starts here.

    As far as pip goes without the network.
    """
    for part in ("class", "teacher"):
        told = (kit / part / "README.md").read_text("utf-8")
        (name,) = re.findall(r"(?m)^    pip install -r (\S+)", told)
        assert (kit / part / name).resolve() == (kit / "class" / "requirements.txt").resolve()
    offline = ["--no-index", "--no-deps", "--dry-run", "--ignore-installed", "--report", "-"]
    pip = [sys.executable, "-m", "pip", "--quiet", "install", *offline, "-r", name]
    done = subprocess.run(pip, cwd=kit / "teacher", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["install"]
    (wheel,) = (kit / "class").glob("*.whl")
    assert found["download_info"]["url"].endswith(f"/class/{wheel.name.replace('+', '%2B')}")
    assert found["requested_extras"] == ["lab"]
    text = (kit / "class" / "requirements.txt").read_text("utf-8")
    assert text.startswith("--constraint constraints.txt\n"), "the versions that were tested"


def test_the_wheel_holds_what_it_records(engine: dict[str, bytes]) -> None:
    (record,) = (name for name in engine if name.endswith("/RECORD"))
    rows = {name: told for name, *told in csv.reader(io.StringIO(engine[record].decode()))}
    assert rows.keys() == engine.keys()
    for name, (digest, size) in rows.items():
        if name != record:
            assert int(size) == len(engine[name])
            found = base64.urlsafe_b64encode(hashlib.sha256(engine[name]).digest())
            assert digest == f"sha256={found.rstrip(b'=').decode()}"


def test_no_answer_stands_in_the_wheel_as_text(engine: dict[str, bytes]) -> None:
    texts = "\n".join(data.decode("utf-8", "replace") for data in engine.values())
    for path in GRADED:
        for cell in nbformat.read(path, as_version=4).cells:
            for answer in re.findall(r"(?s)### BEGIN SOLUTION\n(.*?)### END", cell.source):
                for function in re.split(r"(?m)^(?=def )", answer):
                    body = function.partition("\n")[2].strip()
                    assert not body or body not in texts, path
    parsed = {name: data.decode() for name, data in engine.items() if "questions/" in name}
    checks = [
        c for n, t in parsed.items() if n[-4:] == "toml" for c in tomllib.loads(t).get("check", [])
    ]
    assert checks
    assert not any("ours" in check for check in checks)


def test_the_wheel_runs_a_lesson_without_us(kit: Path, tmp_path: Path) -> None:
    """The packed engine is the same, and `lessons.solution` shows none of it."""
    (path,) = (kit / "class").glob("*.whl")
    program = (
        "import viz, minigrad_lessons as lessons\n"
        "from minigrad_lessons.lesson import learner_engine as e\n"
        "lessons.check('L00.core', 1, 1);"
        "print(lessons.solution('L00.core', 'dynamic')); mine = lessons.engine('L02');"
        "x = mine.Node('Placeholder', name='x'); text, _ = e.template()\n"
        "print(len(text), viz.__file__)"
    )
    with zipfile.ZipFile(path) as wheel:
        wheel.extractall(tmp_path / "site")
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site"), "MINIGRAD_LEARNER": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "In a class our answer comes from your teacher." in run.stdout
    assert f"{len(template()[0])} {tmp_path}" in run.stdout
    assert "def topological_order" in (tmp_path / "my_engine" / "engine.py").read_text("utf-8")


def test_a_teacher_gets_the_course_the_key_and_a_sheet(kit: Path) -> None:
    teacher = kit / "teacher"
    assert {p.name for p in (teacher / "source").iterdir()} == set(all_lessons()) - {"examples"}
    for path in (teacher / "source").rglob("*.ipynb"):
        nbformat.validate(nbformat.read(path, as_version=4))
    key = (teacher / "answers.md").read_text("utf-8")
    rows = list(csv.reader((teacher / "marks.csv").read_text("utf-8-sig").splitlines()))
    exercises = rows[0][2:-1]
    assert int(rows[1][-1]) == sum(map(int, rows[1][2:-1])) > 40
    assert all(f"**{name}**" in key for name in exercises)
    assert key.count("```python") == len(exercises)
    assert (teacher / "nbgrader_config.py").is_file()
    assert (teacher / "notes" / "zh" / "L14.md").is_file()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_bank_can_be_read_back(kit: Path, language: str) -> None:
    side = ["en", "zh"].index(language)
    wanted = {
        q.id: q for each in all_lessons().values() for q in each.questions.values() if q.options
    }
    tree = ET.parse(kit / "teacher" / "questions" / f"moodle-{language}.xml")
    entries = tree.findall("question[@type='multichoice']")
    assert {entry.findtext("name/text") for entry in entries} == set(wanted)
    for entry in entries:
        question = wanted[entry.findtext("name/text") or ""]
        shares = [answer.get("fraction") for answer in entry.findall("answer")]
        assert shares == ["100" if option.right else "0" for option in question.options]
        said = entry.findtext("answer/feedback/text") or ""
        assert re.sub(r"\W", "", question.options[0].feedback[side])[:9] in re.sub(
            r"<.*?>|&#?\w+;|\W", "", said
        )
    with zipfile.ZipFile(kit / "teacher" / "questions" / f"qti-{language}.zip") as package:
        items = [ET.fromstring(package.read(n)) for n in package.namelist() if n[0] == "Q"]
        manifest = package.read("imsmanifest.xml").decode()
    assert {item.get("title") for item in items} == set(wanted)
    for item in items:
        right = item.findtext(f"{QTI}responseDeclaration/{QTI}correctResponse/{QTI}value")
        question = wanted[item.get("title") or ""]
        assert [o.right for o in question.options].index(True) == question.letters.index(right)
        assert f"{item.get('identifier')}.xml" in manifest


def test_slides_need_nothing_else(kit: Path) -> None:
    made = [*(kit / "teacher" / "slides").iterdir()]
    assert {path.stem for path in made} >= {*SLIDES}
    for path in made:
        page = path.read_text("utf-8")
        assert 'data-mg-only="zh"' in page
        assert "one screenful after another" in page
        assert not re.search(r'<(?:script|link|img)[^>]+(?:src|href)="http', page)
        assert not re.search(r"BEGIN SOLUTION|viz\.language\(|find_spec", page)


@pytest.mark.parametrize("arguments", [[], ["--language", "zh"], ["OUT", "zh"], ["a", "b", "c"]])
def test_one_folder_must_be_named(arguments: list[str]) -> None:
    with pytest.raises(Problem, match="Name one folder"):
        tasks.kit(arguments)


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(Problem, match="not empty"):
        tasks.kit([str(tmp_path)])
