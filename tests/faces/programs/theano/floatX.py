"""theano.config.floatX says which data type `T.matrix()` has."""

import numpy as np
import theano
import theano.tensor as T

before = theano.config.floatX
theano.config.floatX = "float32"
x = T.matrix("x")
f = theano.function([x], x * 0.1)
scalar = T.scalar("s")
answers = {
    "before": before,
    "variable": x.dtype,
    "times a number": str(f(np.ones((1, 2), dtype="float32")).dtype),
    "zeros": T.zeros((2,)).dtype,
    "a float for a float32": float(theano.function([scalar], scalar)(0.5)),
    "asarray": str(np.asarray([1, 2], dtype=theano.config.floatX).dtype),
}
theano.config.floatX = before
answers["again"] = T.matrix("x").dtype
