"""An expression of a graph that was replaced is an error."""

import dynet as dy

dy.renew_cg()
x = dy.scalarInput(2)
y = x * x
before = dy.cg_version()
dy.renew_cg()
answers = {"graphs": dy.cg_version() - before}
for name in ("value", "npvalue", "forward", "backward", "dim"):
    try:
        getattr(y, name)()
        answers[name] = "no error"
    except RuntimeError:
        answers[name] = "RuntimeError"
