"""Names that a package hands on, loaded when the first of them is asked for."""

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


def hiding(package: str, beside: str) -> str | None:
    """The file that an import of this package finds in the place of the one beside ours.

    beside: a file of this package, whose neighbour is meant.
    """
    ours = Path(beside).parents[1] / package / "__init__.py"
    try:
        spec = importlib.util.find_spec(package)
    except ValueError:  # a module that somebody has put together
        return None
    found = spec.origin if spec is not None else None
    if found is None or not ours.exists() or not os.path.exists(found):
        return None
    return None if os.path.samefile(found, ours) else found


def from_later(package: str, own: Iterable[str] = ()) -> tuple[Callable[[str], Any], Any]:
    """What `__getattr__` finds (None: nothing), and `__dir__`, of a package with a module `later`.

    A name is a module of the package, or is in `later`; `own` are the public names that are there
    from the start.
    """
    here = vars(sys.modules[package])

    @functools.cache
    def load() -> None:
        later = vars(importlib.import_module(f"{package}.later"))
        found = {name: later[name] for name in later if name[0] != "_"}
        here.update(found, __all__=sorted([*own, *found]))

    def look(name: str) -> Any:
        if name[0] != "_" and importlib.util.find_spec(f"{package}.{name}"):
            return importlib.import_module(f"{package}.{name}")
        if name[0] != "_" or name == "__all__":
            load()
        return here.get(name)

    def listed() -> list[str]:
        """What `dir` tells, and a notebook after a dot: no modules but the public ones."""
        load()
        public = here["__all__"]
        return sorted(n for n in here if n in public or not isinstance(here[n], ModuleType))

    return look, listed
