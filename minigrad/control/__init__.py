"""Control flow inside the graph: branches and loops are nodes that hold graphs of their own."""

import sys

from minigrad.control import steps as steps  # which enter themselves with the executors
from minigrad.control import untaken as untaken  # which watches runs of branches
from minigrad.control.bodies import from_python
from minigrad.control.flow import (
    COND,
    HISTORY,
    SCAN,
    WHILE,
    branch,
    cond,
    expect_one,
    is_symbolic,
    loop,
    scan,
    slice_spec,
    while_loop,
    zeros_like,
)
from minigrad.control.recurrent import dynamic_rnn
from minigrad.diagnostics import foreign

__all__ = [
    "COND",
    "HISTORY",
    "SCAN",
    "WHILE",
    "branch",
    "cond",
    "dynamic_rnn",
    "expect_one",
    "from_python",
    "is_symbolic",
    "loop",
    "scan",
    "slice_spec",
    "while_loop",
    "zeros_like",
]

foreign.answer_keywords(sys.modules[__name__])
