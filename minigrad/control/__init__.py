"""Control flow inside the graph: branches and loops are nodes that hold graphs of their own."""

import sys

from minigrad.control import steps as steps  # which enter themselves with the executors
from minigrad.control import (
    untaken_branch_nan as untaken_branch_nan,
)  # which watches runs of branches
from minigrad.control import wellformed as wellformed  # which enters what a file may say of them
from minigrad.control.bodies import from_python as from_python
from minigrad.control.flow import *
from minigrad.control.recurrent import dynamic_rnn as dynamic_rnn
from minigrad.diagnostics import foreign

foreign.answer_keywords(sys.modules[__name__])
