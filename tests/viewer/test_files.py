"""Files are there whole or not at all, and nothing but a file is replaced."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import minigrad as mg
import viz
from minigrad.diagnostics import files
from minigrad.diagnostics.errors import ArgumentError, FormatError
from minigrad.diagnostics.messages import get_language, set_language

posix = pytest.mark.skipif(os.name != "posix", reason="pipes, links and permissions of POSIX")


def graph() -> mg.Graph:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        return mg.build_graph(x, x * x + 3)


def tensor() -> mg.Tensor:
    x = mg.tensor(2.0, requires_grad=True)
    return x * x + 3


VIEWS: dict[str, Callable[[], Any]] = {
    "g.graph": graph,
    "f.graph": lambda: mg.trace(lambda x: x * 2, 3.0),
    "d.dot": lambda: viz.draw(tensor()),
    "d.svg": lambda: viz.draw(tensor()),
    "d.png": lambda: viz.draw(tensor()),
    "d.pdf": lambda: viz.draw(tensor()),
    "d.html": lambda: viz.draw(tensor()),
    "player.html": lambda: viz.step(tensor()),
    "board.html": lambda: viz.passes(graph(), {"x": 2.0}),
    "chart.svg": lambda: chart(),
    "chart.png": lambda: chart(),
}


def chart() -> Any:
    return viz.curves({"SGD": [2.0, 1.0]}, title=("Loss", "损失"), x=("", ""), y=("", ""))


class Full(io.FileIO):
    """A file on a disk that has room for a hundred bytes more."""

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > 100:
            super().write(bytes(data)[:50])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


@pytest.mark.parametrize("name", VIEWS)
def test_a_full_disk_leaves_the_older_file_and_nothing_else(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_bytes(b"older")
    real = io.open

    def full(file: Any, mode: str = "r", *rest: Any, **more: Any) -> Any:
        inside = isinstance(file, (str, os.PathLike)) and Path(file).parent == tmp_path
        if not inside or not {*mode} & {*"wx"}:
            return real(file, mode, *rest, **more)
        return io.BufferedWriter(Full(file, mode.replace("b", "")), 1)

    view = VIEWS[name]()
    monkeypatch.setattr(io, "open", full)
    with pytest.raises(OSError, match="No space left"):
        view.save(path)
    monkeypatch.undo()
    assert path.read_bytes() == b"older"
    assert os.listdir(tmp_path) == [name]
    view.save(path)
    assert path.stat().st_size > 100
    assert os.listdir(tmp_path) == [name]


@posix
@pytest.mark.parametrize("name", ["g.graph", "d.svg", "player.html", "chart.png"])
def test_links_are_followed_and_permissions_kept(name: str, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    target, link = tmp_path / "home" / "target", tmp_path / name
    link.symlink_to(Path("home") / "target")
    view = VIEWS[name]()
    view.save(link)  # as `open(link, "w")` it makes what the link names
    assert link.is_symlink()
    assert target.stat().st_size > 100
    target.write_bytes(b"older")
    target.chmod(0o640)
    view.save(link)
    assert link.is_symlink()
    assert target.stat().st_size > 100
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert os.listdir(tmp_path / "home") == ["target"]


@posix
def test_a_new_file_has_the_permissions_of_new_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        graph().save(tmp_path / "file")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


@posix
def test_nobody_reads_a_private_file_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"older")
    path.chmod(0o600)
    with files.replacing(path) as file:
        file.write(b"new")
        (temporary,) = {*tmp_path.iterdir()} - {path}
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
        assert path.read_bytes() == b"older"
    assert path.read_bytes() == b"new"


@posix
@pytest.mark.cases(8)
@pytest.mark.parametrize("name", ["g.graph", "d.dot", "board.html", "chart.svg"])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "link to a pipe"])
def test_only_files_are_replaced(kind: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if kind == "device":
        path.symlink_to("/dev/null")
    elif kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(tmp_path / "pipe" if "link" in kind else path)
    if "link" in kind:
        path.symlink_to(tmp_path / "pipe")
    before = [(x, os.lstat(x).st_mode) for x in sorted(tmp_path.iterdir())]
    language, view = get_language(), VIEWS[name]()
    try:
        for code, word in (("en", kind.split()[-1]), ("zh", KINDS[kind.split()[-1]])):
            set_language(code)
            with pytest.raises(ArgumentError) as found:
                view.save(path)
            assert word in str(found.value)
            assert str(path) in str(found.value)
            assert "test_files.py" in str(found.value), "the user's line"
    finally:
        set_language(language)
    assert [(x, os.lstat(x).st_mode) for x in sorted(tmp_path.iterdir())] == before


KINDS = {"pipe": "管道", "device": "设备", "folder": "文件夹"}


def test_a_file_that_may_not_be_written_to_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"older")
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)  # root may write anywhere
    with pytest.raises(PermissionError, match="file"):
        graph().save(path)
    assert path.read_bytes() == b"older"


def test_errors_name_the_path_that_was_given(tmp_path: Path) -> None:
    path = tmp_path / "absent" / "file.svg"
    for save in (graph().save, viz.draw(tensor()).save):
        with pytest.raises(FileNotFoundError) as found:
            save(path)
        assert found.value.filename == str(path)


@posix
def test_a_link_to_itself_is_refused_as_open_does(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.symlink_to(path)
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        graph().save(path)


# ---- Reading ------------------------------------------------------------------------------------


LOAD = """
import sys, minigrad as mg
for path in sys.argv[1:]:
    try:
        mg.load_graph(path)
    except mg.FormatError as error:
        print(error.key, *map(repr, error.pair))
"""


@posix
def test_loading_waits_for_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    paths = {kind: str(tmp_path / kind) for kind in ("pipe", "device")}
    command = [sys.executable, "-c", LOAD, *paths.values()]
    printed = subprocess.run(command, capture_output=True, check=True, text=True, timeout=60).stdout
    for (kind, path), line in zip(paths.items(), printed.splitlines(), strict=True):
        for words in ("format_load", path, f"it is a {kind}", KINDS[kind], "Remedy: put what"):
            assert words in line


@posix
def test_a_pipe_that_somebody_writes_to_is_refused_as_well(tmp_path: Path) -> None:
    path = tmp_path / "model"
    graph().save(tmp_path / "good")
    os.mkfifo(path)

    def feed() -> None:
        with contextlib.suppress(BrokenPipeError):
            path.write_bytes((tmp_path / "good").read_bytes())

    feeding = threading.Thread(target=feed, daemon=True)
    feeding.start()
    with pytest.raises(FormatError, match="it is a pipe"):
        mg.load_graph(path)
    with files.opened(path):  # let the other one go
        feeding.join(10)
    assert not feeding.is_alive()


# ---- Names --------------------------------------------------------------------------------------


def test_a_name_stays_on_its_line() -> None:
    names = ['x" : float32[]\n%9 = Evil "y', "a\r\x1b[2Jb", "c\u2028d\x85e", "back\\slash", "名字"]
    with mg.Graph():
        xs = [mg.placeholder(name, shape=()) for name in names]
        y = mg.Print(xs[0] + xs[1], "two\nlines")
        built = mg.build_graph(xs, y)
    text = built.text()
    assert len(text.splitlines()) == len(built.nodes) + 1
    assert text.replace("\n", "").isprintable()
    assert r'%0 = Placeholder "x\" : float32[]\n%9 = Evil \"y"' in text
    assert '"back\\\\slash"' in text
    assert '"名字"' in text
    drawn = str(viz.draw(built))
    assert len(drawn.splitlines()) == len(built.nodes)
    assert all(repr(x).isprintable() for x in xs)
