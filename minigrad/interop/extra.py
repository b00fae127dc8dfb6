"""Imports of the optional extras' packages, at first use."""

from __future__ import annotations

import importlib
from typing import Any

from minigrad.diagnostics.errors import MissingPackageError
from minigrad.diagnostics.packages import to_install
from minigrad.diagnostics.source import here


def import_extra(module: str, *, extra: str) -> Any:
    """Import a module of a package that belongs to an optional extra.

    MissingPackageError, with the line to type, where it is not installed or cannot be loaded.

    >>> import_extra("json.decoder", extra="tensorboard").JSONDecodeError.__name__
    'JSONDecodeError'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        line = to_install(f'"minigrad-lessons[{extra}]"')
        package = module.partition(".")[0]
        fields: dict[str, Any] = {"package": package, "line": line, "defined": here()}
        if error.name is not None and f"{module}.".startswith(f"{error.name}."):
            raise MissingPackageError("package_missing", **fields) from None
        raise MissingPackageError("package_broken", reason=error, **fields) from error
