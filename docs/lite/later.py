"""Packages that no first drawing needs: Python in the browser unpacks them when one is imported."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


class Later:
    """Where Python looks for a module that it has not found: `files` has what each module takes."""

    def __init__(self, files: Mapping[str, Sequence[str]], unpack: Callable[[str], None]) -> None:
        self.files = files
        self.unpack = unpack
        self.unpacked: set[str] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        wanted = [file for file in self.files.get(name, ()) if file not in self.unpacked]
        for file in wanted:
            self.unpack(file)
            self.unpacked.add(file)
        if not wanted:
            return None
        importlib.invalidate_caches()
        return PathFinder.find_spec(name, path, target)


def begin(files: Mapping[str, Sequence[str]], unpack: Callable[[str], None]) -> None:
    """Look there before Pyodide says which module is missing."""
    sys.meta_path.insert(sys.meta_path.index(PathFinder) + 1, Later(files, unpack))
