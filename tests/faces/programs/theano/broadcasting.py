"""Which axes are broadcast is a matter of types: a row is, a matrix with one row is not."""

import numpy as np
import theano
import theano.tensor as T

m, n, v = T.dmatrix("m"), T.dmatrix("n"), T.dvector("v")
r, c = T.drow("r"), T.dcol("c")


def kind(f):
    try:
        return f()
    except ValueError:
        return "ValueError"


data = np.arange(6.0).reshape(2, 3)
matrices = theano.function([m, n], m + n)
vector = theano.function([m, v], m + v)
answers = {
    "vector": vector(data, [1, 2, 3]),
    "row": theano.function([m, r], m + r)(data, [[1, 2, 3]]),
    "column": theano.function([m, c], m + c)(data, [[1], [2]]),
    "dimshuffle": theano.function([m, v], m * v.dimshuffle(0, "x"))(data, [1, 2]),
    "keepdims": theano.function([m], m / m.sum(axis=1, keepdims=True))(data),
    "patterns": [m.broadcastable, r.broadcastable, c.broadcastable, (m + r).broadcastable],
    "pattern of a shuffle": v.dimshuffle("x", 0).broadcastable,
    "number": theano.function([m], m + 1)(data),
    "matrix with one row": kind(lambda: matrices(data, np.ones((1, 3)))),
    "vector with one number": kind(lambda: vector(data, [1])),
}
