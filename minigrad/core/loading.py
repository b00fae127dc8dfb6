"""Names that a package re-exports, loaded when the first of them is used."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import os
import pkgutil
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

    A name is a module of the package, or is in the source of `_lazy_exports`, which is only read:
    a name that it imports is imported when it is used, a module that it takes all names of with the
    first name. `own` are the public names that are there from the start.
    """
    here = vars(sys.modules[package])

    @functools.cache
    def places() -> dict[str, str]:
        """Import what is taken whole, and return the modules of the other names."""
        found, public = dict[str, str](), [*own]
        for node in ast.parse(pkgutil.get_data(package, "_lazy_exports.py") or b"").body:
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                module = importlib.import_module(str(node.module))
                here.update((name, getattr(module, name)) for name in module.__all__)
                public += module.__all__
            elif isinstance(node, ast.ImportFrom):
                found |= {alias.name: str(node.module) for alias in node.names}
        here["__all__"] = sorted([*public, *found])
        return found

    def look(name: str) -> Any:
        if name[0] != "_" and importlib.util.find_spec(f"{package}.{name}"):
            return importlib.import_module(f"{package}.{name}")
        if (name[0] != "_" or name == "__all__") and name in places():
            here[name] = getattr(importlib.import_module(places()[name]), name)
        return here.get(name)

    def listed() -> list[str]:
        """List the names for `dir` and for completion: of modules only the public ones."""
        places()
        loaded = [n for n in here if not isinstance(here[n], ModuleType)]
        return sorted({*here["__all__"], *loaded})

    return look, listed
