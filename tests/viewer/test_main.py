"""`python -m viz`: diagrams outside notebooks, and errors that say what to do."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import pytest
from forks import Forks

from minigrad.diagnostics.messages import set_language
from viz.__main__ import main

pytestmark = pytest.mark.usefixtures("english")

PROGRAM = """
import minigrad as mg
x = mg.tensor(2.0, requires_grad=True)
y = x * x + 3
count = 7
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "model.py"
    path.write_text(PROGRAM)
    return path


def test_without_a_file_the_graph_is_printed(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([f"{program}:y"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "n1: x = tensor ()",
        "n2: Mul(x, x) ()",
        "n3: 3 = Constant ()",
        "n4: y = Add(Mul, 3) ()  -> output",
    ]


def test_the_ending_chooses_the_form(program: Path, tmp_path: Path) -> None:
    assert main([f"{program}:y", "-o", str(tmp_path / "out.svg")]) == 0
    assert "y = (x × x) + 3" in (tmp_path / "out.svg").read_text("utf-8")


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("model.py", "model.py is not of the form FILE.py:NAME"),
        ("model.py:", "not of the form"),
        (":y", "not of the form"),
        ("model.py:a b", "not of the form"),
        ("nowhere.py:y", "There is no file"),
        ("model.py:z", "has no name z. It has: x, y."),
        ("model.py:count", "viz cannot draw int 7"),
        ("broken.py:y", "broken.py stopped: ZeroDivisionError: division by zero"),
        ("leaves.py:y", "leaves.py stopped: SystemExit: 3"),
        ("wrong.py:y", "wrong.py stopped: SyntaxError"),
    ],
)
def test_errors(
    what: str,
    says: str,
    program: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(program.parent)
    Path("broken.py").write_text("1 / 0")
    Path("leaves.py").write_text("raise SystemExit(3)")
    Path("wrong.py").write_text("def (")
    before = list(sys.path)
    assert main([what, "-o", "out.svg"]) == 2
    assert says in capsys.readouterr().err
    assert not Path("out.svg").exists()
    assert sys.path == before


def test_an_unknown_ending(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([f"{program}:y", "-o", "out.gif"]) == 2
    assert "does not end in one of .svg, .pdf, .png, .dot, .html" in capsys.readouterr().err


def test_errors_in_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    set_language("zh")
    assert main(["nowhere.py:y"]) == 2
    assert "没有文件 nowhere.py" in capsys.readouterr().err


@functools.cache
def begun() -> Forks:
    """A Python that has loaded what the command needs, which takes a second."""
    return Forks("import argparse, runpy, sys, minigrad, viz.views.draw")


def command(what: str, **environment: str) -> tuple[int, str, str]:
    """How `python -m viz` ends, what it prints, and what it says of errors."""
    program = f"import runpy, sys; sys.argv = ['viz', {what!r}]"
    run = "runpy.run_module('viz', run_name='__main__', alter_sys=True)"
    return begun().run(f"{program}; {run}", **environment)


@pytest.mark.parametrize(
    ("locale", "said"), [("zh_CN.UTF-8", "没有文件"), ("en_US.UTF-8", "There is no file")]
)
def test_as_a_command_it_speaks_the_language_of_the_terminal(
    locale: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MINIGRAD_LANGUAGE")
    assert said in command("nowhere.py:y", LC_ALL=locale)[2]


def test_as_a_command(program: Path) -> None:
    code, printed, told = command(f"{program}:z")
    assert (code, printed) == (2, "")
    assert told.startswith("viz: ")
