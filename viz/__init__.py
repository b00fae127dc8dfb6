"""See what the engine does: diagrams, players, clocks, charts, in English and in Chinese."""

import functools
import importlib
import importlib.util
import typing

if typing.TYPE_CHECKING:
    from viz.later import *
else:  # modules, and the names of `later`, load when the first of them is asked for

    def __getattr__(name: str) -> typing.Any:
        if name[0] != "_" and importlib.util.find_spec(f"viz.{name}"):
            return importlib.import_module(f"viz.{name}")
        if name[0] != "_" or name == "__all__":
            _load()
        if name in globals():
            return globals()[name]
        raise AttributeError(f"viz has no attribute {name!r}", name=name)

    def __dir__() -> list[str]:
        _load()
        return sorted(globals())

    @functools.cache
    def _load() -> None:
        later = vars(importlib.import_module("viz.later"))
        found = {name: later[name] for name in later if name[0] != "_"}
        globals().update(found, __all__=sorted(found))
