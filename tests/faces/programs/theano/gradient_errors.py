"""A gradient needs a single number, and something that it depends on."""

import theano
import theano.tensor as T


def kind(f):
    try:
        f()
    except Exception as error:
        kinds = (TypeError, ValueError, RuntimeError)
        return next(k.__name__ for k in kinds if isinstance(error, k))
    return "none"


x, z, v = T.dscalar("x"), T.dscalar("z"), T.dvector("v")
named = "none"
try:
    T.grad(x * 2, z)
except theano.gradient.DisconnectedInputError as error:
    named = type(error).__name__
answers = {
    "of a vector": kind(lambda: T.grad(v * 2, v)),
    "disconnected": kind(lambda: T.grad(x * 2, z)),
    "its name": named,
    "one of two": kind(lambda: T.grad(x * 2, [x, z])),
    "fine": kind(lambda: T.grad(x * 2, x)),
}
