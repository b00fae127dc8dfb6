"""Packages that no first drawing needs: Python in the browser unpacks them when one is imported."""

from __future__ import annotations

import hashlib
import importlib
import io
import sys
import sysconfig
import zipfile
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


class Later:
    """Finds modules of wheels that are unpacked when one of their modules is first imported.

    files: for each module the wheels it takes. hashes: for each wheel what its SHA-256 must be.
    """

    def __init__(
        self,
        files: Mapping[str, Sequence[str]],
        hashes: Mapping[str, str],
        fetch: Callable[[str], Any],
    ) -> None:
        self.files, self.hashes, self.fetch = files, hashes, fetch
        self.unpacked: set[str] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        wanted = [file for file in self.files.get(name, ()) if file not in self.unpacked]
        for file in wanted:
            self.unpack(file)
        if not wanted:
            return None
        importlib.invalidate_caches()
        return PathFinder.find_spec(name, path, target)

    def unpack(self, file: str) -> None:
        """Fetch a wheel, and unpack it if it is the one that the lock file names."""
        data = bytes(self.fetch(file))
        if hashlib.sha256(data).hexdigest() != self.hashes[file]:
            raise ImportError(f"{file}: wrong checksum, so not unpacked · 校验和不符，没有解包")
        with zipfile.ZipFile(io.BytesIO(data)) as wheel:
            wheel.extractall(sysconfig.get_path("platlib"))
        self.unpacked.add(file)


def begin(
    files: Mapping[str, Sequence[str]],
    hashes: Mapping[str, str],
    fetch: Callable[[str], Any],
) -> None:
    """Look there before Pyodide says which module is missing."""
    sys.meta_path.insert(sys.meta_path.index(PathFinder) + 1, Later(files, hashes, fetch))
