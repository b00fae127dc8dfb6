"""Control flow inside the graph: branches and loops are nodes that hold graphs of their own."""

from minigrad.control import steps as steps  # which enter themselves with the executors
from minigrad.control.bodies import is_from_python as is_from_python
from minigrad.control.flow import *
