"""Theano's branch: `from minigrad.faces.theano.ifelse import ifelse`."""

from minigrad.faces.face import Compat
from minigrad.faces.theano.tensor.basic import on_variables, promote

__getattr__ = face = Compat(
    "theano.ifelse",
    calls={
        "ifelse(condition, then_branch, else_branch)": (
            "mg.cond(condition, *constantly(then_branch, else_branch))"
        )
    },
    around=on_variables,
    constantly=lambda *pair: [lambda x=x: x for x in promote(*pair)],
)
__dir__ = face.names
