"""Atomic writing of files, for graphs and for drawings."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from minigrad.diagnostics.errors import ArgumentError
from minigrad.diagnostics.messages import Pair, fill
from minigrad.diagnostics.source import here

ESCAPED = "backslashreplace"  # what becomes of lone surrogates in a name: nothing encodes them
KINDS = {
    stat.S_IFIFO: "file_pipe",
    stat.S_IFCHR: "file_device",
    stat.S_IFBLK: "file_device",
    stat.S_IFSOCK: "file_socket",
    stat.S_IFDIR: "file_folder",
}


def kind_of(about: os.stat_result) -> Pair | None:
    """Describe what this is if it isn't a file."""
    kind = stat.S_IFMT(about.st_mode)
    return None if kind == stat.S_IFREG else fill(KINDS.get(kind, "file_device"))


def opened(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open the path for reading; don't wait for the writer of a pipe."""
    return open(os.fspath(path), "rb", opener=_at_once)


def _at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a new file that replaces `path` at the end of the block, only if that succeeds.

    As with `open(path, "w")` links are followed, an older file keeps its permissions, and one that
    may not be written to is left alone; OSError as there. ArgumentError where a pipe, a device or
    a folder stands, which are no files.
    """
    before = _file_to_replace(path)
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            if before is not None:
                _copy_owner(temporary, before)
            yield file
        temporary.replace(target)
    except OSError as error:
        if error.filename == str(temporary):
            error.filename = os.fspath(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a whole file at once; see `replacing`."""
    with replacing(path) as file:
        file.write(content.encode(errors=ESCAPED) if isinstance(content, str) else content)


def _file_to_replace(path: str | os.PathLike[str]) -> os.stat_result | None:
    """Return the stat of the file to replace, or None; refuse what cannot be written to."""
    try:
        about = os.stat(path)
    except FileNotFoundError:
        return None
    kind = kind_of(about)
    if kind is not None:
        raise ArgumentError("no_file", path=os.fspath(path), kind=kind, defined=here())
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))
    return about


def _copy_owner(new: Path, old: os.stat_result) -> None:
    """Give the new file the old one's owner and permissions, as far as allowed."""
    about = new.stat()
    if (about.st_uid, about.st_gid) != (old.st_uid, old.st_gid):
        with contextlib.suppress(OSError):
            os.chown(new, old.st_uid, old.st_gid)
    new.chmod(stat.S_IMODE(old.st_mode))
