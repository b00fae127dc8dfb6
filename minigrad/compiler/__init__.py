"""The compiled executor: a graph as a list of calls into memory planned beforehand.

`passes` decides what becomes of each node (`layout`) and where its value lies (`plan`). `builder`
makes the memory and the calls for inputs of certain sizes, with the functions that one of the
`executors` chooses, and `text` prints them. `specialized` runs them one by one; a program with
branches or loops runs as its text, because the calls of small bodies take more than twice as long
from a list. `program` is what the user holds.
"""

from minigrad.compiler.program import Program

__all__ = ["Program"]
