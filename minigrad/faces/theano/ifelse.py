"""Theano's branch: `from minigrad.faces.theano.ifelse import ifelse`."""

from minigrad.faces.face import Face
from minigrad.faces.theano.tensor.basic import symbolic, together

__getattr__ = face = Face(
    "theano.ifelse",
    calls={
        "ifelse(condition, then_branch, else_branch)": (
            "mg.cond(condition, *constantly(then_branch, else_branch))"
        )
    },
    around=symbolic,
    constantly=lambda *pair: [lambda x=x: x for x in together(*pair)],
)
__dir__ = face.names
