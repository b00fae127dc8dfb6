"""Where a function has a corner or a tie: which gradient there is, and which logarithm of 0."""

import numpy as np
import theano
import theano.tensor as T

AT = [-1.0, 0.0, 1.0, 2.0, -2.0, 0.5]
BESIDE = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]
TIED = [[1.0, 2.0, 2.0, 1.0], [3.0, 3.0, 3.0, 0.0]]


def slope(f, *values):
    xs = [T.dmatrix() if isinstance(v[0], list) else T.dvector() for v in values]
    return theano.function(xs, T.grad(T.sum(f(*xs)), xs))(*map(np.array, values))


answers = {
    "maximum": slope(T.maximum, AT, BESIDE),
    "minimum": slope(T.minimum, AT, BESIDE),
    "hinge": slope(lambda x: T.maximum(0, 1 - x), AT),
    "clip": slope(lambda x: T.clip(x, -1, 1), AT),
    "max": slope(lambda x: T.max(x, axis=1), TIED),
    "max of all": slope(lambda x: x.max(), TIED),
    "abs": slope(abs, AT),
    "sgn": slope(T.sgn, AT),
    "rounded": [slope(f, AT) for f in (T.floor, T.ceil, T.round)],
    "whole quotient": slope(lambda x: x // 2, AT),
    "std": slope(T.std, [2.0, 2.0]),
    "prod": slope(T.prod, [0.0, 2.0, 0.0]),
    "square root at 0": slope(T.sqrt, [0.0, 4.0]),
    "relu": slope(T.nnet.relu, AT),
    "leaky relu": slope(lambda x: T.nnet.relu(x, 0.1), AT),
    "entropy of what saturated": slope(
        lambda x: T.nnet.binary_crossentropy(T.nnet.sigmoid(x), np.array([0.0, 1.0, 1.0])),
        [200.0, -200.0, 0.0],
    ),
}
