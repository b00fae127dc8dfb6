"""The compiled executor: a graph as a text of calls into memory planned beforehand, which runs.

`layout` says what becomes of each node, whatever the sizes; `builder` makes the memory and the
calls for inputs of certain sizes, with the functions that `kernels` chooses; `planned` writes them
as lines, with the bodies of branches and loops, and `source` puts the text together; `bound` runs
it; `program` is what the user holds.
"""

from minigrad.compiler.executors import EXECUTORS
from minigrad.compiler.program import Program
from minigrad.compiler.specialized import SpecializedProgram

__all__ = ["EXECUTORS", "Program", "SpecializedProgram"]
