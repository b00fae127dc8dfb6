"""What a function takes: numbers, lists, arrays that fit; all else is a TypeError."""

import numpy as np
import theano
import theano.tensor as T


def kind(f):
    try:
        return np.asarray(f()).tolist()
    except Exception as error:
        return next(k.__name__ for k in (TypeError, ValueError) if isinstance(error, k))


x, v, m = T.dscalar("x"), T.dvector("v"), T.dmatrix("m")
i, f = T.ivector("i"), T.fvector("f")
one = theano.function([x], x)
answers = {
    "none": kind(lambda: one()),
    "two": kind(lambda: one(1, 2)),
    "list": kind(lambda: theano.function([v], v)([1, 2])),
    "whole numbers": kind(lambda: theano.function([v], v)(np.array([1, 2]))),
    "number for a vector": kind(lambda: theano.function([v], v)(2)),
    "vector for a matrix": kind(lambda: theano.function([m], m)([1, 2])),
    "wide for narrow": kind(lambda: theano.function([f], f)(np.array([1.0, 2.0]))),
    "list for narrow": kind(lambda: theano.function([f], f)([1.0, 2.0])),
    "allowed": kind(lambda: theano.function([f], f, allow_input_downcast=True)([0.5, 2.0])),
    "fractions for whole numbers": kind(lambda: theano.function([i], i)([1.5])),
    "long for short": kind(lambda: theano.function([i], i)(np.array([1, 2]))),
    "text": kind(lambda: one("two")),
}
