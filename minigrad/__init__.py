"""A small engine with two modes: it builds graphs while running, or builds them first to run later.

Dynamic, with PyTorch's names: `tensor`, `backward`, `grad`, `no_grad`.
Static, with TensorFlow 1's names: `placeholder`, `Variable`, `gradients`, `build_graph`, `run`,
`Session`. One set of operators serves both; `record` shows what either of them does.
"""

import sys
import types
import typing
import warnings

from minigrad.core import bool_ as bool_
from minigrad.core import float32 as float32
from minigrad.core import float64 as float64
from minigrad.core import int32 as int32
from minigrad.core import int64 as int64
from minigrad.core import loading, threads
from minigrad.core import name_scope as name_scope
from minigrad.core.events import *
from minigrad.core.threads import *
from minigrad.diagnostics import foreign, messages
from minigrad.diagnostics.errors import *
from minigrad.diagnostics.source import treat_as_user_code as treat_as_user_code
from minigrad.dynamic.backward import *
from minigrad.dynamic.fast_paths import *
from minigrad.dynamic.recording import *
from minigrad.dynamic.tensor import *
from minigrad.functions import *
from minigrad.functions import protocol

__version__ = "0.2.0"

threads.begin()
if (_shadowing := loading.shadowing_file("viz", __file__)) is not None:
    warnings.warn(messages.choose(messages.fill("viz_hidden", place=_shadowing)), stacklevel=2)

if typing.TYPE_CHECKING:
    from minigrad._lazy_exports import *
else:  # modules, and the names of `_lazy_exports`, load when the first of them is used
    _own = [n for n, x in vars().items() if n[0] != "_" and not isinstance(x, types.ModuleType)]
    _look, __dir__ = loading.lazy_exports(__name__, _own)

    def __getattr__(name: str) -> typing.Any:
        if name == "train":
            return foreign.ForeignModule("mg.train", foreign.TRAIN)
        found = _look(name)
        if found is None:
            raise foreign.missing("mg", name, sys.modules[__name__], foreign.FUNCTIONS)
        return found


globals().update(protocol.install() | foreign.callable_names(foreign.FUNCTIONS))
