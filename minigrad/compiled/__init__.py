"""The compiled executor: a graph as a flat list of calls into memory planned beforehand.

`layout` says what becomes of each node, whatever the sizes; `bound` makes the memory and the calls
for inputs of certain sizes, and `inner` has it do so for the bodies of branches and loops;
`kernels` chooses the functions that are called; `program` is what the user holds.
"""

from minigrad.compiled.bound import Bound
from minigrad.compiled.kernels import EXECUTORS
from minigrad.compiled.program import Program

__all__ = ["EXECUTORS", "Bound", "Program"]
