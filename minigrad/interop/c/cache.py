"""Compiled libraries on disk, so that the next process need not compile.

They are in a folder of the user's cache that belongs to the user and no one else may enter;
if it is not so, it is not used. A file is named after what it was made from and after what is in
it, and is loaded only if that is in it. It comes into its place at once and whole.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

from minigrad.diagnostics import files
from minigrad.interop.c.compiler import SUFFIX

MOST = 512  # files; the oldest go first


def key_of(parts: Iterable[str]) -> str:
    """Return one name for everything that a library is made from."""
    found = hashlib.sha256()
    for part in parts:
        found.update(f"{len(part)}:{part}".encode())
    return found.hexdigest()[:32]


def location() -> Path | None:
    """Return the path of the user's cache on this platform."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        base = Path(local) if local else None
    elif sys.platform == "darwin":
        base = Path("~/Library/Caches").expanduser()
    else:
        named = Path(os.environ.get("XDG_CACHE_HOME", ""))
        base = named if named.is_absolute() else Path("~/.cache").expanduser()
    return None if base is None or not base.is_absolute() else base / "minigrad" / "kernels"


def folder() -> Path | None:
    """Return the folder, made if necessary; None if it isn't the user's alone."""
    path = location()
    if path is None:
        return None
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = path.lstat()
    except OSError:
        return None
    return path if _is_private(about) else None


def _is_private(about: os.stat_result) -> bool:
    if not stat.S_ISDIR(about.st_mode):
        return False
    if sys.platform == "win32":  # files under LOCALAPPDATA are the user's by its access list
        return True
    return about.st_uid == os.getuid() and not stat.S_IMODE(about.st_mode) & 0o077


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def lookup(key: str) -> Path | None:
    """Return the library of this key if it is there and intact; remove a damaged one."""
    home = folder()
    if home is None:
        return None
    names = sorted(name for name in os.listdir(home) if name.startswith(f"{key}-"))
    for path in (home / name for name in names if name.endswith(SUFFIX)):
        with contextlib.suppress(OSError):
            regular = stat.S_ISREG(path.lstat().st_mode)
            if regular and path.stem == f"{key}-{_digest(path.read_bytes())}":
                return path
            path.unlink()
    return None


def store(key: str, content: bytes) -> Path | None:
    """Put a library into the cache; return None if that isn't possible."""
    home = folder()
    if home is None:
        return None
    path = home / f"{key}-{_digest(content)}{SUFFIX}"
    try:
        files.write(path, content)
        old = sorted(home.glob(f"*{SUFFIX}"), key=lambda p: p.stat().st_mtime)[:-MOST]
    except OSError:
        return None
    for one in old:
        with contextlib.suppress(OSError):
            one.unlink()
    return path
