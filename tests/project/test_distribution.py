"""What is installed: under a name of its own, with lessons and what opens them, and all tests."""

from __future__ import annotations

import fnmatch
import importlib
import importlib.metadata
import os
import re
import signal
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import forks
import pytest

from minigrad_lessons import __main__ as command
from minigrad_lessons.words import SENTENCES

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LEFT_OUT = (".git/*", ".venv/*", "build/*", "*.egg-info/*", "*/__pycache__/*", ".*_cache/*")
LEFT_OUT += (
    ".hypothesis/*",
    "notebooks/yours/*",
    "notebooks/my_engine/*",
    "*/node_modules/*",
    "shared/*",
)
LEFT_OUT += ("PKG-INFO", "setup.cfg")  # of an sdist, made with it


LESSONS = """
import runpy
runpy.run_module("minigrad_lessons", run_name="__main__", alter_sys=True)
"""


def spoken(program: str, before: Path, **settings: str) -> tuple[int, str]:
    """How a new Python ends, and what it says, with a folder before ours."""
    place = f"import os, sys; os.chdir({str(before)!r}); sys.path.insert(0, os.getcwd())"
    code, printed, told = forks.bare().run(f"{place}\n{program}", **settings)
    return code, printed + told


# ---- Others by the same names -----------------------------------------------------------------


def test_its_name_is_none_of_those_that_others_have() -> None:
    assert PROJECT["name"] not in ("minigrad", "viz")
    (script, target) = next(iter(PROJECT["scripts"].items()))
    assert script == PROJECT["name"]
    module, function = target.split(":")
    assert getattr(importlib.import_module(module), function) is command.main


@pytest.mark.cases(2)
@pytest.mark.parametrize("name", ["minigrad", "viz"])
@pytest.mark.parametrize(("language", "said"), [("en", "Another project's"), ("zh", "另一个也叫")])
def test_the_lessons_do_not_begin_beside_another_project_of_that_name(
    tmp_path: Path, name: str, language: str, said: str
) -> None:
    place = tmp_path / "site-packages" / name
    place.mkdir(parents=True)
    (place / "__init__.py").write_text("class Value: ...\n")
    code, told = spoken(LESSONS, place.parent, MINIGRAD_LANGUAGE=language)
    assert code == 1
    assert said in told
    assert str(place) in told
    assert f"pip uninstall {name}" in told
    assert "--force-reinstall" in told


@pytest.mark.parametrize("name", ["minigrad", "viz"])
def test_files_that_ours_lie_over_are_noticed_before_they_are_taken_away(
    tmp_path: Path, name: str
) -> None:
    """The names are still ours, but to uninstall the other project would take files of ours."""
    record = tmp_path / f"{name}-0.0.5.dist-info" / "RECORD"
    record.parent.mkdir()
    (record.parent / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.0.5")
    record.write_text(f"{name}/__init__.py,sha256=0,0\n")
    code, told = spoken(LESSONS, tmp_path)
    assert (code, f"pip uninstall {name}" in told) == (1, True)
    record.write_text(f"__editable___{name}_finder.py,sha256=0,0\n")  # an old one of ours
    ask = "from minigrad_lessons.clash import name_clash_message as f; print(f())"
    assert spoken(ask, tmp_path) == (0, "\n")


def test_viz_says_whose_minigrad_it_found(tmp_path: Path) -> None:
    place = tmp_path / "site-packages" / "minigrad" / "__init__.py"
    place.parent.mkdir(parents=True)
    place.write_text("class Value: ...\n")
    code, told = spoken("import viz", place.parents[1])
    assert code == 1
    for sentence in SENTENCES["clash"]:
        assert sentence.format(name="minigrad", place=place) in told


@pytest.mark.parametrize("file", ["minigrad.py", "minigrad/__init__.py"])
def test_a_file_of_the_learners_that_hides_minigrad_is_named(tmp_path: Path, file: str) -> None:
    place = tmp_path / file
    place.parent.mkdir(exist_ok=True)
    place.write_text("x = 1\n")
    code, told = spoken("import minigrad\nimport viz", tmp_path)
    assert code == 1
    for sentence in SENTENCES["hidden"]:
        assert sentence.format(name="minigrad", place=place) in told
    assert "pip" not in told


@pytest.mark.cases(2)
@pytest.mark.parametrize("file", ["viz.py", "viz/__init__.py"])
@pytest.mark.parametrize("order", ["import minigrad, viz", "import viz, minigrad"])
def test_a_file_of_the_learners_that_hides_viz_is_named(
    tmp_path: Path, file: str, order: str
) -> None:
    place = tmp_path / file
    place.parent.mkdir(exist_ok=True)
    place.write_text("x = 1\n")
    code, told = spoken(f"{order}\nviz.draw", tmp_path, MINIGRAD_LANGUAGE="en")
    assert code == 1
    assert f"{place} hides the package viz" in told
    assert "rename it, then restart Python" in told
    said = spoken("import minigrad", tmp_path, MINIGRAD_LANGUAGE="zh")[1]
    assert f"{place} 挡住了 minigrad 的 viz 包" in said
    place.unlink()
    assert spoken(order, tmp_path) == (0, "")


@pytest.mark.parametrize("name", ["minigrad", "viz"])
def test_a_folder_of_lessons_with_a_file_that_hides_ours_is_not_opened(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "YOURS", str(tmp_path))
    monkeypatch.setattr(command, "run_command", lambda call: 7)
    assert command.main(["L03"]) == 7
    (tmp_path / f"{name}.py").write_text("x = 1\n")
    assert command.main(["L03"]) == 1
    assert f"{tmp_path / name}.py has the name of a part" in capsys.readouterr().err
    (tmp_path / f"{name}.py").write_text("from minigrad.core import loading\n")
    assert command.main(["L03"]) == 7, "a checkout may be opened"


# ---- The command ------------------------------------------------------------------------------


def test_it_opens_copies_in_the_folder_of_the_learner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(command, "YOURS", str(tmp_path / "mine"))
    monkeypatch.setattr(command, "run_command", lambda call: started.append(call) or 7)
    assert command.main(["L03", "--no-browser"]) == 7
    ((python, *call),) = started
    assert (python, call[:2]) == (sys.executable, ["-m", "jupyterlab"])
    assert f"--ServerApp.root_dir={tmp_path / 'mine'}" in call
    assert "--LabApp.default_url=/lab/workspaces/minigrad/tree/03_dynamic_graph.ipynb" in call
    (extension,) = (x.partition("=")[2] for x in call if "extra_labextensions_path" in x)
    assert (Path(extension) / "minigrad-lessons" / "package.json").exists()
    assert call[-1] == "--no-browser"
    assert str(tmp_path / "mine") in capsys.readouterr().out
    assert "### BEGIN" not in (tmp_path / "mine" / "03_dynamic_graph.ipynb").read_text("utf-8")
    assert command.main(["L88"]) == 1
    assert "No notebook fits" in capsys.readouterr().err


@pytest.mark.parametrize(("language", "locale"), [("zh", "zh_CN"), ("en", None)])
def test_the_menus_are_in_the_language_of_the_terminal_and_no_news_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, locale: str | None
) -> None:
    from jupyterlab_server import settings_utils  # takes a second

    monkeypatch.setattr(command, "YOURS", str(tmp_path / "mine"))
    monkeypatch.setenv("MINIGRAD_LANGUAGE", language)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(tmp_path))
    monkeypatch.setattr(command, "run_command", lambda call: 7)
    assert command.main(["L03"]) == 7
    settings = settings_utils._get_overrides("")[0]
    assert settings.get("@jupyterlab/translation-extension:plugin", {}).get("locale") == locale
    news = settings["@jupyterlab/apputils-extension:notification"]
    assert news == {"fetchNews": "false", "checkForUpdates": False}
    assert os.environ["JUPYTER_CONFIG_PATH"].endswith(str(tmp_path)), "what was there stays"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process without a signal")
def test_jupyterlab_ends_with_the_command_that_started_it() -> None:
    lab = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    program = "import sys; from minigrad_lessons.__main__ import run_command as run; "
    program += f"sys.exit(run([sys.executable, '-c', {lab!r}]))"
    command_line = [sys.executable, "-c", program]
    with subprocess.Popen(command_line, stdout=subprocess.PIPE, text=True, cwd=ROOT) as ours:
        assert ours.stdout
        lab_id = int(ours.stdout.readline())
        ours.terminate()
        assert ours.wait(20) == -signal.SIGTERM % 256, "the code of JupyterLab, as an exit code"
    with pytest.raises(ProcessLookupError):
        os.kill(lab_id, 0)


def test_without_jupyterlab_it_says_what_to_type(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(command, "name_clash_message", lambda: "")
    assert command.main([]) == 1
    assert f'"{sys.executable}" -m pip install jupyterlab' in capsys.readouterr().err


# ---- The sdist and the wheel ------------------------------------------------------------------


def of_the_project() -> set[str]:
    """Every file of this checkout that is no product of the tools."""
    tools = (*LEFT_OUT, ".git", ".minigrad.json", "*/.ipynb_checkpoints/*", "*.pyc", "shared")
    found = set()
    for folder, inner, files in os.walk(ROOT):
        inner[:] = {*inner} - {".git", ".venv", "__pycache__", "node_modules"}  # 80,000 files
        found |= {Path(folder, file).relative_to(ROOT).as_posix() for file in files}
    found = {file for file in found if not any(fnmatch.fnmatch(file, kind) for kind in tools)}
    return {file for file in found if ".egg-info" not in file}


def builder() -> bool:
    """Whether setuptools is here that reads pyproject.toml as it is written today."""
    try:
        return int(importlib.metadata.version("setuptools").partition(".")[0]) >= 77
    except importlib.metadata.PackageNotFoundError:
        return False


BUILD = """
import gc, os, sys, tarfile, zlib
from importlib import metadata
import setuptools.build_meta as build
gc.disable()
alone = [metadata.distribution("setuptools")]
metadata.distributions = lambda **_: alone  # no other has a part in it, but each is asked
slow, zlib.compressobj = zlib.compressobj, lambda level, *more: slow(1, *more)
folder, quiet = sys.argv[1], {"--global-option": ["--quiet"]}
with tarfile.open(os.path.join(folder, build.build_sdist(folder, quiet))) as archive:
    archive.extractall(source := os.path.join(folder, "source"), filter="data")
zlib.compressobj = slow  # the size of a wheel is looked at
os.chdir(os.path.join(source, os.listdir(source)[0]))
build.build_wheel(folder, quiet)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The sdist, and the wheel that was built from the sdist, without a network."""
    if not builder():
        pytest.skip("to build them, install setuptools 77 or newer")
    folder = tmp_path_factory.mktemp("dist")
    call = [sys.executable, "-B", "-c", BUILD, str(folder)]
    subprocess.run(call, cwd=ROOT, check=True, capture_output=True)
    (source,) = (folder / "source").iterdir()
    (wheel,) = folder.glob("*.whl")
    return {"sdist": source, "wheel": wheel}


def test_an_sdist_has_every_file_of_the_project(built: dict[str, Path]) -> None:
    root = built["sdist"]
    found = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert of_the_project() - found == set()
    made = ("PKG-INFO", "setup.cfg", "build/*", "*.egg-info/*")
    more = {file for file in found if not any(fnmatch.fnmatch(file, kind) for kind in made)}
    assert more == of_the_project()


def test_a_wheel_brings_the_lessons_as_learners_start_them(built: dict[str, Path]) -> None:
    assert built["wheel"].name.startswith(PROJECT["name"].replace("-", "_") + "-")
    with zipfile.ZipFile(built["wheel"]) as wheel:
        names = wheel.namelist()
        lessons = {n.rpartition("/")[2]: n for n in names if n.endswith(".ipynb")}
        assert set(lessons) == {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
        for name in lessons.values():
            assert not re.search("BEGIN SOLUTION|HIDDEN", wheel.read(name).decode("utf-8"))
        shown = {n.rpartition("/")[2] for n in names if "/pictures/" in n}
        assert shown == {path.name for path in (ROOT / "notebooks" / "pictures").iterdir()}
        modules = {n for n in names if n.endswith((".py", ".toml", ".js", ".css"))}
        assert "minigrad_lessons/labextension/minigrad-lessons/package.json" in names
        for folder in ("jupyter", "jupyter/zh"):
            assert f"minigrad_lessons/{folder}/labconfig/default_setting_overrides.json" in names
        assert "minigrad_lessons/lesson/guest.npz" in names
    packages = [
        path.relative_to(ROOT).as_posix()
        for package in ("minigrad", "minigrad_lessons", "viz")
        for path in (ROOT / package).rglob("*")
        if path.suffix in (".py", ".toml", ".js", ".css")
    ]
    assert set(packages) == modules
    assert sum(info.compress_size for info in zipfile.ZipFile(built["wheel"]).infolist()) < 4e6


def test_an_index_shows_a_readme_whose_links_and_pictures_lead_somewhere(
    built: dict[str, Path],
) -> None:
    with zipfile.ZipFile(built["wheel"]) as wheel:
        (name,) = (n for n in wheel.namelist() if n.endswith("METADATA"))
        told = wheel.read(name).decode("utf-8")
    head, _, readme = told.partition("\n\n")
    assert "Description-Content-Type: text/markdown" in head
    for label, url in PROJECT["urls"].items():
        assert f"Project-URL: {label}, {url}" in head
    plain = (ROOT / "README.md").read_text("utf-8")
    found = r'(?:\]\(|src="|srcset=")(?!https?://|#)([^)"#\s]+)'
    assert len(re.findall(found, plain)) > 50
    assert re.findall(found, readme) == []
    there = f"{PROJECT['urls']['Repository']}/(?:raw|blob)/v{PROJECT['version']}/"
    for path in re.findall(there + r'([^)"#\s]+)', readme):
        assert (ROOT / path).exists(), path
    assert re.sub(there, "", readme).strip() == plain.strip()


def test_what_is_installed_opens_what_the_wheel_brought(
    built: dict[str, Path], tmp_path: Path
) -> None:
    with zipfile.ZipFile(built["wheel"]) as wheel:
        wheel.extractall(tmp_path / "site")
    program = (
        "import minigrad, viz; from minigrad_lessons import __main__ as m\n"
        f"m.YOURS = {str(tmp_path / 'mine')!r}; m.run_command = print\nm.main(['tour'])\n"
    )
    known = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=known, text=True)
    assert done.returncode == 0
    assert (tmp_path / "mine" / "tour.ipynb").exists()
    assert (tmp_path / "mine" / "pictures" / "both_ways_zh.svg").exists()
