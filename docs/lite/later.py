"""What no first drawing needs: Python in the browser unpacks and imports it when it is used."""

from __future__ import annotations

import hashlib
import importlib
import io
import sys
import sysconfig
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType, SimpleNamespace
from typing import Any

# Modules that the kernel imports at its start and uses later, with the functions that it takes.
DEFERRED = {
    "IPython.terminal.embed": ("embed",),
    "jedi": (),
    "jedi.api.classes": (),
    "jedi.api.helpers": (),
    "unittest.mock": ("patch",),
}


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


class Deferred(ModuleType):
    """Stands for a module that is imported when something of it is used."""

    def __init__(self, name: str, functions: Sequence[str]) -> None:
        super().__init__(name)
        self.__spec__ = ModuleSpec(name, None)
        self.settings = SimpleNamespace()
        for function in functions:
            setattr(self, function, partial(self._call, function))

    def _call(self, function: str, *arguments: Any, **named: Any) -> Any:
        return getattr(importlib.import_module(self.__name__), function)(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        module = importlib.import_module(self.__name__)
        if vars(self.settings):
            vars(module.settings).update(vars(self.settings))
        return getattr(module, name)


def import_kernel() -> None:
    """Import the kernel, and of what it imports nothing that it uses later."""
    deferred = {name: Deferred(name, functions) for name, functions in DEFERRED.items()}
    sys.modules.update(deferred)
    try:
        for name in ("piplite.piplite", "pyodide_kernel"):
            importlib.import_module(name)
    finally:
        for name in deferred:
            sys.modules.pop(name, None)
