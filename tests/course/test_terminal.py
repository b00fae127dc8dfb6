"""What the terminal says: in the reader's language, all of it, and also to who breaks off."""

from __future__ import annotations

import ast
import io
import locale
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import tasks
from minigrad_lessons import terminal
from minigrad_lessons.words import SENTENCES

ROOT = Path(__file__).parents[2]
SPEAKERS = [ROOT / "tasks.py", *sorted((ROOT / "minigrad_lessons").glob("*.py"))]
LOCALE = ("MINIGRAD_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")


@pytest.mark.parametrize(
    ("chosen", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_TW.UTF-8"}, "zh"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "zh_CN.GBK"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "MINIGRAD_LANGUAGE": "en"}, "en"),
        ({"LC_ALL": "C", "MINIGRAD_LANGUAGE": "zh"}, "zh"),
    ],
)
def test_the_locale_chooses_the_language_and_a_variable_overrides_it(
    monkeypatch: pytest.MonkeyPatch, chosen: dict[str, str], language: str
) -> None:
    for name in LOCALE:
        monkeypatch.delenv(name, raising=False)
    for name, value in chosen.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(terminal, "windows_language", lambda: "")
    assert terminal.language() == language
    assert (terminal.message("and") == " 和 ") is (language == "zh")


@pytest.mark.parametrize(("number", "language"), [(0x0804, "zh"), (0x0C04, "zh"), (0x0409, "en")])
def test_windows_tells_the_language_of_its_windows(
    monkeypatch: pytest.MonkeyPatch, number: int, language: str
) -> None:
    for name in LOCALE:
        monkeypatch.delenv(name, raising=False)
    kernel = SimpleNamespace(GetUserDefaultUILanguage=lambda: number)
    monkeypatch.setattr(terminal.ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    assert terminal.windows_language() == locale.windows_locale[number]
    assert terminal.language() == language


@pytest.mark.parametrize(
    ("encoding", "language"), [("ascii", "en"), ("cp850", "en"), ("gbk", "zh")]
)
def test_who_cannot_read_chinese_characters_is_spoken_to_in_english(
    monkeypatch: pytest.MonkeyPatch, encoding: str, language: str
) -> None:
    monkeypatch.setenv("MINIGRAD_LANGUAGE", "zh")
    monkeypatch.setattr(terminal.sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding))
    assert terminal.language() == language


@pytest.mark.parametrize(
    ("encoding", "said"), [("ascii", b"no command"), ("gbk", "没有".encode("gbk"))]
)
def test_a_terminal_of_any_encoding_hears_what_is_wrong(encoding: str, said: bytes) -> None:
    known = {**os.environ, "MINIGRAD_LANGUAGE": "zh", "PYTHONIOENCODING": encoding}
    command = [sys.executable, str(ROOT / "tasks.py"), "tets"]
    done = subprocess.run(command, env=known | {"PYTHONUTF8": "0"}, capture_output=True)
    assert done.returncode == 1
    assert said in done.stderr
    assert b"Traceback" not in done.stderr


def texts(node: ast.AST) -> list[str]:
    """The texts of two words and more in an expression, those of `say` left out."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "message":
        return []
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value] if re.search("[A-Za-z]{2,}:? *\\S* [A-Za-z]", node.value) else []
    return [text for child in ast.iter_child_nodes(node) for text in texts(child)]


@pytest.mark.parametrize("path", SPEAKERS, ids=lambda path: path.name)
def test_all_that_is_printed_or_raised_stands_in_the_table(path: Path) -> None:
    calls = [n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Call)]
    said = [n for n in calls if getattr(n.func, "id", "") in ("print", "Problem", "Progress")]
    assert [text for call in said for argument in call.args for text in texts(argument)] == []


def test_every_sentence_is_said_and_none_is_missing() -> None:
    code = "".join(p.read_text("utf-8") for p in SPEAKERS if p.name != "words.py")
    asked = set(re.findall(r'\bsay\(\s*"(\w+)"', code))
    assert asked <= set(SENTENCES)
    assert {key for key in SENTENCES if f'"{key}"' not in code} == set()


def test_a_sentence_that_stands_in_the_code_would_be_found() -> None:
    assert texts(ast.parse('print("Set up: " + message("and one"), end="")')) == ["Set up: "]


@pytest.mark.parametrize(("asked", "said"), [("zh", "形状"), ("fr", "shape")])
def test_the_engine_begins_in_the_same_language(asked: str, said: str) -> None:
    program = "import minigrad as mg; mg.ones((2, 3)) @ mg.ones((2, 3))"
    known = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "MINIGRAD_LANGUAGE": asked}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=known, capture_output=True, text=True, encoding="utf-8")
    assert said in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="there, Ctrl-C cannot be sent to a single process")
def test_after_ctrl_c_in_set_up_one_line_says_how_to_go_on(tmp_path: Path) -> None:
    """And then it does: `uv`, whose place a script takes, is called once more and gets through."""
    copy = tmp_path / "checkout"
    (copy / "minigrad_lessons").mkdir(parents=True)
    for path in SPEAKERS:
        (copy / path.relative_to(ROOT)).write_bytes(path.read_bytes())
    (copy / "tests" / "bench").mkdir(parents=True)
    (copy / "tests" / "bench" / "run.py").write_text("print('measured')")
    uv, began = tmp_path / "uv", tmp_path / "began"
    uv.write_text(
        f"#!/bin/sh\n[ $1 = pip ] && exit\n[ -e {began} ] || {{ touch {began}; exec sleep 60; }}\n"
        f"for folder; do :; done\nexec {sys.executable} -m venv --without-pip $folder\n"
    )
    uv.chmod(0o755)
    command = [sys.executable, "tasks.py", "bench", "--quick"]
    known = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    first = subprocess.Popen(
        command,
        cwd=copy,
        env=known,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # in the background, too
    )
    while not began.exists():
        assert first.poll() is None
        time.sleep(0.02)
    first.send_signal(signal.SIGINT)
    said = first.communicate(timeout=30)[0].splitlines()
    assert first.returncode == 130
    assert said[-1] == tasks.message("stopped", command="python tasks.py bench --quick")
    again = subprocess.run(command, cwd=copy, env=known, capture_output=True, text=True)
    assert (again.returncode, again.stdout.splitlines()[-1]) == (0, "measured"), again.stderr
