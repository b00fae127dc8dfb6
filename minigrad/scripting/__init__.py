"""From source to graph: the control flow of a Python function becomes part of the graph.

`reading` finds the source of a function, `refusals` says what cannot be rewritten, `names` says
which variables are read and written where, `jumps` does away with break, continue and return,
`statements` and `expressions` turn what is left into calls of `runtime`, which decides for each
value whether Python goes on at once or the graph gets a branch or a loop.
"""
