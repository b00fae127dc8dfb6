"""Functions for arrays, tensors and graph nodes alike, and those that make tensors.

Many only hand their operands to an operator. They are functions of their own, with docstrings that
stand here and not on the operators' records, because editors read signatures and docstrings without
running anything: of a text that is attached when the package loads they show nothing.
"""

from types import FunctionType
from typing import TYPE_CHECKING

from minigrad.functions.arithmetic import *
from minigrad.functions.arrangement import *
from minigrad.functions.creation import *
from minigrad.functions.effects import *
from minigrad.functions.elementwise import *
from minigrad.functions.loss import *
from minigrad.functions.reduction import *

if not TYPE_CHECKING:  # which reads the lines above
    __all__ = [name for name, found in vars().items() if isinstance(found, FunctionType)]
