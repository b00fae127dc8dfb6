"""From source to graph: the control flow of a Python function becomes part of the graph.

When a function is rewritten: `reading` finds its source, `refusals` says what cannot be part of a
graph, `desugar` replaces statements that others can express, `names` says which variables are read
and written where, `jumps` does away with break, continue
and early return, `statements` and `expressions` turn what is left into calls (`syntax` has the
pieces), and `convert` puts the function together again.

When it runs: `runtime` and `loops` decide for each value whether Python goes on at once or the
graph gets a branch or a loop; `merging` and `carry` say what such a branch or loop has to carry,
`missing` what stands for a value that is not there, `regions` what cannot be done inside, and
`replacements` what built-in functions do with nodes.
"""
