"""Set-up: the lists of dependencies agree, and every way it can fail says what to do."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
import types
from pathlib import Path

import pytest

from minigrad_lessons.opening import choose_lesson, folder_and_notebooks
from minigrad_lessons.student import fingerprint
from minigrad_lessons.terminal import Problem
from viz.picture.layout import layout_problem

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

spec = importlib.util.spec_from_file_location("tasks", ROOT / "tasks.py")
tasks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tasks)


# ---- The lists agree ------------------------------------------------------------------------

TO_CONDA = {"graphviz": "python-graphviz", "matplotlib": "matplotlib-base"}
ONLY_CONDA = {"python", "pip", "graphviz"}  # what pip cannot bring
NOT_IN_CONDA = {
    "graphviz-pure": "the project's own installation brings its wheel",
    "pygraphviz": "the layout program itself is there",
    "playwright": "only the browser tests need it",
    "axe-playwright-python": "only the browser tests need it",
}


def requirement(text: str) -> tuple[str, str]:
    """Return the name and the version part of `name>=1.0; marker`."""
    name, version = re.match(r"([A-Za-z0-9_.-]+)\s*([^;]*)", text).groups()
    return name.lower(), version.replace(" ", "")


def wanted(*extras: str) -> dict[str, str]:
    """Return what pyproject.toml asks for, with these extras."""
    optional = PROJECT["optional-dependencies"]
    return dict(map(requirement, sum((optional[e] for e in extras), PROJECT["dependencies"])))


def conda_lists() -> tuple[dict[str, str], list[str]]:
    """Return the conda and the pip specs of environment.yml: the two depths of its dashes."""
    text = (ROOT / "environment.yml").read_text("utf-8")
    block = text.partition("\ndependencies:\n")[2]
    rows = re.findall(r"^( *)- (.+?)(?: +#.*)?$", block, re.MULTILINE)
    assert len(rows) == len(block.splitlines()), "a line that this test does not read"
    top = [spec for indent, spec in rows if len(indent) == 2 and spec != "pip:"]
    return dict(map(requirement, top)), [spec for indent, spec in rows if len(indent) == 6]


def pinned() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


def test_conda_asks_for_what_pyproject_asks_for():
    conda, _ = conda_lists()
    pip = {
        TO_CONDA.get(name, name): version
        for name, version in wanted("lab", "test").items()
        if name not in NOT_IN_CONDA
    }
    assert {n: v for n, v in conda.items() if n not in ONLY_CONDA} == pip
    assert set(conda) >= ONLY_CONDA


def test_conda_takes_one_of_the_same_pythons_and_the_project_itself():
    conda, pip = conda_lists()
    known = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    assert conda["python"].removeprefix("=") in known
    assert pip == ["-e ."]


def test_binder_reads_the_python_of_the_environment():
    """As repo2docker does, which takes no range: without a version it would build on its own."""
    lines = (ROOT / "environment.yml").read_text("utf-8").splitlines()
    specs = [line.strip(" -").partition("#")[0].strip() for line in lines]
    found = [m[1] for m in (re.match(r"python\s*=+\s*([\d.]*)", spec) for spec in specs) if m]
    assert len(found) == 1
    assert tasks.OLDEST <= tuple(map(int, found[0].split("."))) <= tasks.NEWEST_TESTED


def workflow(name: str) -> str:
    return (ROOT / ".github" / "workflows" / f"{name}.yml").read_text("utf-8")


def test_a_change_is_tested_quickly_on_every_system_and_wholly_on_one():
    text = workflow("tests")
    for system in ("ubuntu", "windows", "macos"):
        assert f"system: {system}-latest" in text
    commands = re.findall(r"run: python tasks\.py (.+?)(?: #.*)?$", text, re.MULTILINE)
    assert commands == ["lab --version", "test --quick", "check"]


def test_a_night_tests_everything_on_every_system_and_python():
    text = workflow("nightly")
    pythons = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    assert json.loads(re.search(r"python: (\[.+\])", text)[1]) == pythons
    for system in ("ubuntu", "windows", "macos"):
        assert f"{system}-latest" in re.search(r"system: \[.+\]", text)[0]
    assert re.findall(r"run: python tasks\.py (.+)", text) == ["test --all"]
    for file in re.findall(r"run: python3 .*?(tests/\w+\.py)", text):
        assert (ROOT / file).exists()


def test_tasks_names_the_same_pythons():
    versions = re.findall(r"Python :: (\d)\.(\d+)", " ".join(PROJECT["classifiers"]))
    oldest, *_, newest = (tuple(map(int, version)) for version in versions)
    assert (oldest, newest) == (tasks.OLDEST, tasks.NEWEST_TESTED)


def test_constraints_hold_one_exact_version_of_every_dependency():
    versions = pinned()
    assert set(wanted(*PROJECT["optional-dependencies"])) <= set(versions)
    assert all(re.fullmatch(r"\d+(\.\d+)*", version) for version in versions.values())
    assert list(versions) == sorted(versions)


def test_constraints_satisfy_the_lower_bounds():
    def number(version: str) -> list[int]:
        return [int(part) for part in version.split(".")]

    versions = pinned()
    for name, bound in wanted(*PROJECT["optional-dependencies"]).items():
        assert bound.startswith(">="), name
        assert number(versions[name]) >= number(bound[2:]), name


def test_every_dependency_has_its_reason():
    block = (ROOT / "pyproject.toml").read_text("utf-8").partition("[tool.")[0]
    named = re.findall(r'^ +"([a-z-]+)>=(.*)$', block, re.MULTILINE)
    assert {name for name, _ in named} == set(wanted(*PROJECT["optional-dependencies"]))
    above = {"graphviz-pure", "pygraphviz"}  # their lines are full
    assert [name for name, rest in named if "  # " not in rest and name not in above] == []


@pytest.mark.parametrize("package", ["minigrad", "viz"])
def test_a_wheel_brings_every_file_beside_the_modules(package):
    """Tables of sentences and questions, fonts, scripts: each is named by its ending."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    brought = tomllib.loads(text)["tool"]["setuptools"]["package-data"]["*"]
    files = [p for p in (ROOT / package).rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    beside = [p for p in files if p.suffix != ".py" and p.name != "glossary.csv"]
    assert {"messages.toml", "text.toml"} & {p.name for p in beside}
    assert [p.name for p in beside if not any(p.match(pattern) for pattern in brought)] == []
    assert all((p.parent / "__init__.py").exists() for p in beside)  # or no package has it


def test_no_list_holds_an_address():
    for name in ("constraints.txt", "environment.yml"):
        text = (ROOT / name).read_text("utf-8")
        assert not re.search(r"://|^\s*-?-(i|f|index|extra|find)\b|@|\bhash\b", text, re.M), name


# ---- tasks.py says what went wrong ----------------------------------------------------------


@pytest.mark.parametrize("path", [ROOT / "tasks.py", *(ROOT / "minigrad_lessons").glob("*.py")])
def test_an_old_python_can_read_it(path):
    ast.parse(path.read_text("utf-8"), feature_version=(3, 6))


@pytest.mark.parametrize("version", [(3, 6, 9), (3, 10, 13)])
def test_an_old_python_is_told_which_one_it_needs(version):
    text = tasks.python_problem(version)
    assert f"This is Python 3.{version[1]}" in text
    assert "3.11 or newer" in text


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 14, 2), sys.version_info])
def test_a_supported_python_is_no_problem(version):
    assert tasks.python_problem(version) is None


def test_a_missing_venv_module_names_the_package():
    assert tasks.venv_problem([]) is None
    text = tasks.venv_problem(["venv", "ensurepip"])
    assert "module venv and ensurepip is missing" in text
    assert "apt install python3-venv" in text


# The decisive lines of real logs, by pip and by uv.
LOGS = {
    "network": [
        "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError("
        "'Failed to establish a new connection: [Errno -2] Name or service not known')'\n"
        "ERROR: Could not find a version that satisfies the requirement numpy>=2.0\n"
        "ERROR: No matching distribution found for numpy>=2.0",
        "WARNING: Retrying (Retry(total=0)) after connection broken by 'ProxyError("
        "'Cannot connect to proxy.')'\nERROR: ResolutionImpossible",
        "error: Request failed after 3 retries in 4.9s\n  cause: Failed to fetch: `numpy`\n"
        "  cause: tcp connect error\n  cause: Connection refused (os error 111)",
        "error: No solution found when resolving dependencies\n"
        "hint: Packages were unavailable because the network was disabled.",
        "OSError: [WinError 10060] getaddrinfo failed",
    ],
    "disk": ["ERROR: Could not install packages: [Errno 28] No space left on device"],
    "certificate": ["SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]'))"],
    "written": ["ERROR: Could not install: [WinError 5] Access is denied: 'numpy.pyd'"],
    "does not fit": [
        "ERROR: No matching distribution found for numpy==2.4.6",
        "× No solution found when resolving dependencies",
        "error: subprocess-exited-with-error",
    ],
    "could not be installed": ["Segmentation fault"],
}


@pytest.mark.parametrize(("remedy", "log"), [(r, log) for r, logs in LOGS.items() for log in logs])
def test_a_failed_installation_says_why_and_shows_the_log(remedy, log):
    text = tasks.install_problem("Collecting numpy\n" + log, "install.log")
    assert remedy in text.partition(". Then run")[0]
    assert "run the same command again" in text
    assert "install.log" in text
    assert "    " + log.splitlines()[-1].strip() in text


def test_the_excerpt_drops_progress_and_repetition():
    log = "Collecting numpy\n" * 50 + "ERROR: try 1\nERROR: try 2\n" + "Downloading\n" * 50
    assert tasks.excerpt(log) == "    ERROR: try 2"
    assert tasks.excerpt("one\ntwo\n") == "    one\n    two"


# ---- Which lesson ---------------------------------------------------------------------------

NAMES = ["00_one_formula.ipynb", "03_loops.ipynb", "10_memory.ipynb", "tour.ipynb"]


@pytest.mark.parametrize(
    ("which", "name"),
    [
        ("00", "00_one_formula.ipynb"),
        ("0", "00_one_formula.ipynb"),
        ("L03", "03_loops.ipynb"),
        ("l3", "03_loops.ipynb"),
        ("L10_mem", "10_memory.ipynb"),
        ("tour", "tour.ipynb"),
        ("Memory", "10_memory.ipynb"),
        ("notebooks/03_loops.ipynb", "03_loops.ipynb"),
    ],
)
def test_a_lesson_is_found_by_number_or_part_of_its_name(which, name):
    assert choose_lesson(which, NAMES, "here") == name


@pytest.mark.parametrize(
    ("which", "shown"),
    [("L07", NAMES), ("nothing", NAMES), ("m", ["00_one_formula.ipynb", "10_memory.ipynb"])],
)
def test_a_lesson_that_is_not_clear_lists_the_choice(which, shown):
    with pytest.raises(Problem) as problem:
        choose_lesson(which, NAMES, "here")
    assert re.findall(r"\S+\.ipynb", str(problem.value)) == shown


def test_without_notebooks_the_folder_is_named():
    with pytest.raises(Problem, match="no notebook in here"):
        choose_lesson("00", [], "here")


def test_a_folder_or_a_file_may_be_opened_as_well(tmp_path, monkeypatch):
    file = tmp_path / "03_loops.ipynb"
    assert folder_and_notebooks(str(tmp_path), "yours") == ("yours", str(tmp_path)), "it is empty"
    file.write_text("")
    assert folder_and_notebooks(str(tmp_path), "yours") == (str(tmp_path), "00")
    assert folder_and_notebooks(str(file), "yours") == (str(tmp_path), str(file))
    (tmp_path / "index.ipynb").write_text("")
    assert folder_and_notebooks(str(tmp_path), "yours") == (str(tmp_path), "index")
    monkeypatch.chdir(tmp_path)
    assert folder_and_notebooks("L03", "yours") == ("yours", "L03")
    assert folder_and_notebooks("03_loops.ipynb", "yours")[0] == str(tmp_path)


# ---- The environment ------------------------------------------------------------------------


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """tasks.py with another .venv, so that the real one is left alone."""
    venv = tmp_path / ".venv"
    paths = {"VENV": venv, "PYTHON": venv / "python", "STAMP": venv / "stamp.json"}
    for name, path in paths.items():
        monkeypatch.setattr(tasks, name, str(path))
    return venv


def test_a_venv_is_taken_or_made_anew_for_a_reason(elsewhere):
    assert tasks.venv_fault() is None  # there is none
    elsewhere.mkdir()
    assert "incomplete" in tasks.venv_fault()
    (elsewhere / "pyvenv.cfg").write_text("version = 3.9.1\n")
    assert "its Python is gone" in tasks.venv_fault()
    (elsewhere / "python").write_text("")
    assert "it belongs to Python 3.9" in tasks.venv_fault()
    (elsewhere / "pyvenv.cfg").write_text("version_info = {}.{}.0\n".format(*sys.version_info))
    assert "does not start" in tasks.venv_fault()


def test_a_ready_venv_is_not_touched_and_extras_add_up(elsewhere, monkeypatch):
    done = []
    monkeypatch.setattr(tasks, "make_venv", lambda uv, progress: elsewhere.mkdir(exist_ok=True))
    monkeypatch.setattr(tasks, "install", lambda uv, extras, progress: done.append(extras))
    monkeypatch.setattr(tasks, "drawing_fault", lambda: None)
    tasks.prepare(["lab"])
    (elsewhere / "python").write_text("")
    monkeypatch.setattr(tasks, "venv_fault", lambda: None)
    monkeypatch.setattr(tasks, "bring_pip", lambda: True)
    tasks.prepare(["lab"])
    tasks.prepare(["test"])
    tasks.prepare(["lab", "test"])
    assert done == [["lab"], ["lab", "test"]]
    monkeypatch.setattr(tasks, "current_key", lambda: "another")
    tasks.prepare([])
    assert done[2:] == [["lab", "test"]]


def test_a_failed_installation_leaves_no_stamp(elsewhere, monkeypatch):
    def fail(uv, extras, progress):
        raise Problem("no network")

    monkeypatch.setattr(tasks, "make_venv", lambda uv, progress: elsewhere.mkdir())
    monkeypatch.setattr(tasks, "install", fail)
    with pytest.raises(Problem):
        tasks.prepare([])
    assert tasks.installed() == {}


def test_the_key_depends_on_every_text():
    keys = {fingerprint(texts) for texts in (["a", "b"], ["ab", ""], ["a", "c"], ["b", "a"])}
    assert len(keys) == 4


def test_the_news_question_is_switched_off(elsewhere):
    tasks.settle_jupyter()
    [file] = elsewhere.rglob("overrides.json")
    assert json.loads(file.read_text())["@jupyterlab/apputils-extension:notification"] == {
        "fetchNews": "false",
        "checkForUpdates": False,
    }


@pytest.mark.parametrize(("language", "locale"), [("en", None), ("zh", {"locale": "zh_CN"})])
def test_jupyterlab_begins_in_the_language_of_the_terminal(
    elsewhere, monkeypatch, language, locale
):
    monkeypatch.setenv("MINIGRAD_LANGUAGE", language)
    tasks.settle_jupyter()
    [file] = elsewhere.rglob("overrides.json")
    settings = json.loads(file.read_text())
    assert settings.get("@jupyterlab/translation-extension:plugin") == locale


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def layout_problem(): return None", ""),
        ("def layout_problem(): return '这里无法画图: type this'", "这里无法画图: type this"),
        ("raise ImportError('libfreetype.so.6: cannot open')", "libfreetype.so.6: cannot open"),
    ],
)
def test_a_machine_that_cannot_draw_hears_so_during_set_up(
    elsewhere, monkeypatch, capsys, tmp_path, code, said
):
    (tmp_path / "viz" / "picture").mkdir(parents=True)
    (tmp_path / "viz" / "__init__.py").touch()
    (tmp_path / "viz" / "picture" / "__init__.py").touch()
    (tmp_path / "viz" / "picture" / "layout.py").write_text(code, encoding="utf-8")
    monkeypatch.setattr(tasks, "ROOT", str(tmp_path))
    monkeypatch.setattr(tasks, "PYTHON", sys.executable)
    monkeypatch.setattr(tasks, "venv_fault", lambda: None)
    monkeypatch.setattr(tasks, "bring_pip", lambda: True)
    monkeypatch.setattr(tasks, "install", lambda uv, extras, progress: elsewhere.mkdir())
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    tasks.prepare([])
    tasks.prepare([])  # a second start says nothing again
    out = capsys.readouterr().out
    assert out.count("without drawings") == (1 if said else 0)
    assert said in out


def test_the_project_itself_is_asked_whether_it_can_draw(monkeypatch):
    """By the name that the function has: a false alarm would meet whoever sets up."""
    monkeypatch.setattr(tasks, "PYTHON", sys.executable)
    assert tasks.drawing_fault() == (layout_problem() or "")


# ---- The command line -----------------------------------------------------------------------


def start(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tasks.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8")


@pytest.mark.cases(3)
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("arguments", [[], ["help"], ["--help"]])
def test_help_names_every_command(monkeypatch, arguments, language):
    monkeypatch.setenv("MINIGRAD_LANGUAGE", language)
    monkeypatch.setenv("PYTHONUTF8", "1")
    done = start(*arguments)
    assert done.returncode == 0
    assert set(tasks.COMMANDS) <= set(re.findall(r"^  (\w+)", done.stdout, re.MULTILINE))
    assert ("命令" in done.stdout) is (language == "zh")


@pytest.mark.parametrize(
    ("arguments", "extras"),
    [([], ["lab", "test"]), (["--oracles"], ["lab", "test", *tasks.ORACLES])],
)
def test_only_the_option_installs_the_oracles(monkeypatch, arguments, extras):
    asked = []
    monkeypatch.setattr(tasks, "prepare", lambda extras: asked.append(extras))
    monkeypatch.setattr(
        tasks, "run", lambda *command, **_: asked.append(command[-len(arguments) :])
    )
    tasks.test(arguments)
    assert asked[0] == extras
    assert not arguments or asked[1] == ("--oracles",), "pytest must hear of it as well"


@pytest.mark.parametrize(
    ("arguments", "first", "second", "settings", "says"),
    [
        ([], 0, 0, [{}, {"MINIGRAD_PLAIN": "1"}], 0),
        ([], 0, 1, [{}, {"MINIGRAD_PLAIN": "1"}], 1),
        ([], 1, 0, [{}], 1),
        (["-k", "drawing"], 0, 5, [{}, {"MINIGRAD_PLAIN": "1"}], 0),
        (["tests/engine/test_eager.py"], 0, 0, [{}], 0),
    ],
)
def test_dynamic_mode_is_tested_with_the_door_to_its_speed_open_and_shut(
    monkeypatch, arguments, first, second, settings, says
):
    asked, codes = [], iter([first, second])

    def run(*command, **more):
        asked.append(more)
        assert not more or "tests/engine/test_eager.py" in command
        return next(codes)

    monkeypatch.delenv("MINIGRAD_PLAIN", raising=False)
    monkeypatch.setattr(tasks, "prepare", lambda extras: None)
    monkeypatch.setattr(tasks, "run", run)
    assert tasks.test(arguments) == says
    assert asked == settings


@pytest.mark.parametrize(
    ("arguments", "language", "says"),
    [
        ([], "en", "The tests took 2 min 5 s; the goal is 8 min"),
        ([], "zh", "测试用时 2 分 5 秒；目标是在双核机器上不超过 8 分钟"),
        (["--quick"], "en", "The quick tests took 2 min 5 s; the goal is 60 s"),
        (["--quick"], "zh", "快速测试用时 2 分 5 秒；目标是在双核机器上不超过 60 秒"),
        (["--all"], "en", ""),
    ],
)
def test_the_command_says_how_long_the_tests_took(monkeypatch, capsys, arguments, language, says):
    clock = iter([1000.0, 1125.0])
    monkeypatch.setenv("MINIGRAD_LANGUAGE", language)
    monkeypatch.setenv("MINIGRAD_PLAIN", "1")
    monkeypatch.setattr(tasks, "prepare", lambda extras: None)
    monkeypatch.setattr(tasks, "run", lambda *command, **more: 0)
    monkeypatch.setattr(tasks, "time", types.SimpleNamespace(time=lambda: next(clock)))
    tasks.test(arguments)
    printed = capsys.readouterr().out
    assert printed.startswith(says)
    assert bool(printed) is bool(says)


def test_the_tests_of_dynamic_mode_are_there():
    assert [name for name in tasks.DYNAMIC if not (ROOT / name).is_file()] == []


# Of those who add to pytest none has a part in it, and to load them takes half a second.
COLLECT = """
import pytest
plain = ["-p", "no:cacheprovider", "--collect-only", "-q"]
unasked = pytest.main([*plain, "tests/oracles"])
print("asked for")
asked = pytest.main([*plain, "--oracles", "tests/oracles/test_oracle_backward.py"])
print(int(unasked), int(asked))
"""


def test_the_oracles_are_read_only_when_asked_for_and_then_a_missing_one_is_an_error(tmp_path):
    """It is no skip. Here, importing torch fails."""
    (tmp_path / "torch.py").write_text("raise ImportError('there is no torch')")
    own = {"PYTHONPATH": str(tmp_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", COLLECT],
        cwd=ROOT,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    before, after = done.stdout.split("asked for\n")
    assert "torch" not in before
    assert "ImportError: there is no torch" in after
    codes = [pytest.ExitCode(int(code)) for code in after.splitlines()[-1].split()]
    assert codes == [pytest.ExitCode.NO_TESTS_COLLECTED, pytest.ExitCode.INTERRUPTED], done.stdout


def test_an_unknown_command_shows_the_help():
    done = start("tets")
    assert done.returncode == 1
    assert "no command 'tets'" in done.stderr
    assert start("help").stdout in done.stderr


def test_a_mistyped_lesson_fails_before_anything_is_installed():
    done = start("lab", "no-such-lesson")
    assert done.returncode == 1
    assert "Setting up" not in done.stdout
    assert "otebook" in done.stderr


@pytest.mark.parametrize(("before", "after"), [(None, "1"), ("2", "2")])
def test_products_run_on_one_thread_unless_more_are_asked_for(monkeypatch, before, after):
    given = {}

    class Process:
        def __init__(self, command, cwd, env):
            given.update(env)

        def wait(self):
            return 0

    monkeypatch.setattr(tasks.subprocess, "Popen", Process)
    monkeypatch.setattr(tasks.signal, "signal", lambda *_: None)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
        if before:
            monkeypatch.setenv(name, before)
    assert tasks.run("-c", "pass") == 0
    assert given["OMP_NUM_THREADS"] == given["OPENBLAS_NUM_THREADS"] == after
