"""The two commands of the README on a machine that has Python, its venv, and nothing else.

With MINIGRAD_BARE_SUITE=trixie it is another Debian, with another Python.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import bare
import pytest

PYTHON = ".venv/bin/python"
PATIENCE = 300  # seconds for an installation
DRAW = """
import minigrad as mg, viz
y = mg.tensor(2.0, requires_grad=True, name="输入") * 3
for end in ("svg", "pdf", "png"):
    viz.draw(y).save("y." + end)
print(viz.draw(y).html.count("data:image/svg+xml"))
"""
FAULT = "from viz.picture.layout import layout_problem; print(layout_problem())"


@pytest.fixture(scope="module")
def machine() -> Iterator[bare.Machine]:
    """Taken away afterwards: it holds a gigabyte."""
    with tempfile.TemporaryDirectory() as folder:
        yield bare.Machine(Path(folder) / "root", os.environ.get("MINIGRAD_BARE_SUITE", ""))


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def asked(address: str, method: str = "GET") -> bytes:
    head = {"Authorization": "token bare"}
    request = urllib.request.Request(address, method=method, headers=head)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return bytes(answer.read())


@pytest.mark.bare
def test_lab_opens_the_first_lesson_and_stops(machine: bare.Machine) -> None:
    port = free_port()
    options = ["--no-browser", f"--port={port}", "--IdentityProvider.token=bare"]
    lab = machine.start("python3", "tasks.py", "lab", *options, "--ServerApp.port_retries=0")
    server, end = f"http://127.0.0.1:{port}", time.time() + PATIENCE
    try:
        while lab.poll() is None and time.time() < end:
            try:
                lesson = asked(f"{server}/api/contents/00_one_formula_two_graphs.ipynb")
                break
            except OSError:
                time.sleep(0.5)
        else:
            pytest.fail("it did not answer")
        assert json.loads(lesson)["type"] == "notebook"
        assert b"JupyterLab" in asked(f"{server}/lab/tree/00_one_formula_two_graphs.ipynb")
        asked(f"{server}/api/shutdown", "POST")
        said, _ = lab.communicate(timeout=60)
    finally:
        lab.kill()
    assert lab.returncode == 0, said
    assert "without drawings" not in said


@pytest.mark.bare
def test_the_tests_pass(machine: bare.Machine) -> None:
    code, said = machine.run("python3", "tasks.py", "test", "tests/viewer/test_layout.py")
    assert code == 0, said
    assert " passed" in said
    assert "graphviz-pure: " not in said, "what the wheel brings is missing"


@pytest.mark.bare
def test_drawings_are_drawn(machine: bare.Machine) -> None:
    assert machine.run("sh", "-c", "command -v dot")[0] != 0
    assert machine.run(PYTHON, "-c", DRAW) == (0, "1\n")
    svg = (machine.home / "y.svg").read_text("utf-8")
    assert svg.count('class="node ') == 3
    assert "输入" in svg
    assert b"NotoSansSC" in (machine.home / "y.pdf").read_bytes()
    assert (machine.home / "y.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.bare
def test_without_the_wheel_the_missing_library_is_named(machine: bare.Machine) -> None:
    """Last, as nothing can be drawn afterwards."""
    assert machine.run(PYTHON, "-m", "pip", "uninstall", "--yes", "graphviz-pure")[0] == 0
    code, said = machine.run(PYTHON, "-c", FAULT)
    assert code == 0
    assert "pygraphviz cannot be loaded (ImportError: lib" in said
    assert "-m pip install graphviz-pure" in said
    assert "sudo apt-get install graphviz" in said


def test_what_stands_in_the_way_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order in which it would be put right."""

    def allowed(code: int) -> None:
        done = subprocess.CompletedProcess([], code, stdout="none http://127.0.0.1:9/\n")
        monkeypatch.setattr(bare.subprocess, "run", lambda *_, **__: done)

    programs = {"apt-get": "/bin/apt-get"}
    monkeypatch.setattr(bare.shutil, "which", programs.get)
    monkeypatch.setattr(bare, "release", lambda: "none")
    monkeypatch.setattr(bare.sys, "platform", "linux")
    monkeypatch.setattr(bare.os, "geteuid", lambda: 1000)
    assert "root" in str(bare.obstacle())
    monkeypatch.setattr(bare.os, "geteuid", lambda: 0)
    assert bare.obstacle() == "install debootstrap"
    programs["debootstrap"] = "/bin/debootstrap"
    allowed(1)
    assert "namespaces" in str(bare.obstacle())
    allowed(0)
    assert "mirror" in str(bare.obstacle())
