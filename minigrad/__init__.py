"""A small engine with two minds: it builds graphs while running, or first and runs them later.

Dynamic, in PyTorch's words: `tensor`, `backward`, `grad`, `no_grad`.
Static, in TensorFlow 1's words: `placeholder`, `Variable`, `gradients`, `build_graph`, `run`,
`Session`. One set of operators serves both; `record` shows what either of them does.
"""

import sys
import types
import typing

from minigrad import data as data
from minigrad import foreign, protocol, threads
from minigrad import nn as nn
from minigrad import optim as optim
from minigrad import passes as passes
from minigrad.backprop import *
from minigrad.backward import *
from minigrad.build import *
from minigrad.check import *
from minigrad.compiled.program import *
from minigrad.control import cond as cond
from minigrad.control import dynamic_rnn as dynamic_rnn
from minigrad.control import scan as scan
from minigrad.control import while_loop as while_loop
from minigrad.core import REGISTRY as REGISTRY
from minigrad.core import bool_ as bool_
from minigrad.core import float32 as float32
from minigrad.core import float64 as float64
from minigrad.core import int32 as int32
from minigrad.core import int64 as int64
from minigrad.eager import *
from minigrad.errors import *
from minigrad.events import *
from minigrad.execute import *
from minigrad.functions import *
from minigrad.graph.graph import *
from minigrad.graph.node import *
from minigrad.graph.reader import *
from minigrad.lazy import *
from minigrad.nn.functional import avg_pool2d as avg_pool2d
from minigrad.nn.functional import batch_norm as batch_norm
from minigrad.nn.functional import conv2d as conv2d
from minigrad.nn.functional import dropout as dropout
from minigrad.nn.functional import embedding as embedding
from minigrad.nn.functional import layer_norm as layer_norm
from minigrad.nn.functional import max_pool2d as max_pool2d
from minigrad.optim import clip_by_global_norm as clip_by_global_norm
from minigrad.saving.loading import *
from minigrad.schedule import *
from minigrad.scripting.script import *
from minigrad.session import *
from minigrad.tape import *
from minigrad.theano import *
from minigrad.threads import *
from minigrad.tracing.baking import *
from minigrad.tracing.function import *
from minigrad.tracing.keys import *
from minigrad.tracing.making import *

__version__ = "0.1.0"

threads.begin()
protocol.install()

if not typing.TYPE_CHECKING:  # which reads the lines above, and knows what is missing
    __all__ = sorted(
        name
        for name, found in vars().items()
        if not name.startswith("_")
        and (not isinstance(found, types.ModuleType) or found in (data, nn, optim, passes))
    )

    def __getattr__(name: str) -> typing.Any:
        if name == "train":
            return foreign.Elsewhere("mg.train", foreign.TRAIN)
        raise foreign.missing("mg", name, sys.modules[__name__], foreign.FUNCTIONS)


globals().update(foreign.works(foreign.FUNCTIONS))
