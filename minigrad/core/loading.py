"""Names that a package re-exports, loaded when the first of them is used."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any


def shadowing_file(package: str, beside: str) -> str | None:
    """Return the file that an import of this package finds instead of the one next to ours.

    beside: a file of this package, whose neighbour is meant.
    """
    ours = Path(beside).parents[1] / package / "__init__.py"
    try:
        spec = importlib.util.find_spec(package)
    except ValueError:  # a module that was built by hand
        return None
    found = spec.origin if spec is not None else None
    if found is None or not ours.exists() or not os.path.exists(found):
        return None
    return None if os.path.samefile(found, ours) else found


def lazy_exports(package: str, own: Iterable[str] = ()) -> tuple[Callable[[str], Any], Any]:
    """Return the `__getattr__` (None: not found) and `__dir__` of a package with `_lazy_exports`.

    A name is a module of the package, or is in its module `_lazy_exports`; `own` are the public
    names that are there from the start.
    """
    here = vars(sys.modules[package])

    @functools.cache
    def load() -> None:
        later = vars(importlib.import_module(f"{package}._lazy_exports"))
        found = {name: later[name] for name in later if name[0] != "_"}
        here.update(found, __all__=sorted([*own, *found]))

    def look(name: str) -> Any:
        if name[0] != "_" and importlib.util.find_spec(f"{package}.{name}"):
            return importlib.import_module(f"{package}.{name}")
        if name[0] != "_" or name == "__all__":
            load()
        return here.get(name)

    def listed() -> list[str]:
        """List the names for `dir` and for completion: of modules only the public ones."""
        load()
        public = here["__all__"]
        return sorted(n for n in here if n in public or not isinstance(here[n], ModuleType))

    return look, listed
