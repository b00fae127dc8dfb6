"""A small engine with two minds: it builds graphs while running, or first and runs them later.

Dynamic, in PyTorch's words: `tensor`, `backward`, `grad`, `no_grad`.
Static, in TensorFlow 1's words: `placeholder`, `Variable`, `gradients`, `build_graph`, `run`,
`Session`. One set of operators serves both; `record` shows what either of them does.
"""

import functools
import importlib
import importlib.util
import sys
import types
import typing

from minigrad.core import bool_ as bool_
from minigrad.core import float32 as float32
from minigrad.core import float64 as float64
from minigrad.core import int32 as int32
from minigrad.core import int64 as int64
from minigrad.core import threads
from minigrad.core.events import *
from minigrad.core.threads import *
from minigrad.diagnostics import foreign
from minigrad.diagnostics.errors import *
from minigrad.dynamic.backward import *
from minigrad.dynamic.recording import *
from minigrad.dynamic.tensor import *
from minigrad.functions import *
from minigrad.functions import protocol

__version__ = "0.1.0"

threads.begin()
protocol.install()

if typing.TYPE_CHECKING:
    from minigrad.later import *
else:  # modules, and the names of `later`, load when the first of them is asked for
    _names = [n for n, x in vars().items() if n[0] != "_" and not isinstance(x, types.ModuleType)]

    def __getattr__(name: str) -> typing.Any:
        if name == "train":
            return foreign.Elsewhere("mg.train", foreign.TRAIN)
        if name[0] != "_" and importlib.util.find_spec(f"minigrad.{name}"):
            return importlib.import_module(f"minigrad.{name}")
        if name[0] != "_" or name == "__all__":
            _load()
        if name in globals():
            return globals()[name]
        raise foreign.missing("mg", name, sys.modules[__name__], foreign.FUNCTIONS)

    def __dir__() -> list[str]:
        _load()
        return sorted(globals())

    @functools.cache
    def _load() -> None:
        later = vars(importlib.import_module("minigrad.later"))
        found = {name: later[name] for name in later if name[0] != "_"}
        globals().update(found, __all__=sorted([*_names, *found]))


globals().update(foreign.works(foreign.FUNCTIONS))
