"""The compiled executor: a graph as a list of calls into memory planned beforehand.

`passes` decides what becomes of each node (`layout`) and where its value lies (`plan`). `builder`
makes the memory and the calls for inputs of certain sizes, with the functions that one of the
`executors` chooses; `specialized` runs them, and `text` prints them, with the bodies of branches
and loops. `program` is what the user holds.
"""

from minigrad.compiler.program import Program

__all__ = ["Program"]
