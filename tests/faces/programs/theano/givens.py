"""What stands in for a variable: a number, a shared value, rows of a data set."""

import numpy as np
import theano
import theano.tensor as T

x, y = T.dmatrix("x"), T.dscalar("y")
data = theano.shared(np.arange(12.0).reshape(6, 2), name="data")
index = T.lscalar("index")
batch = data[index * 2 + T.arange(2)]
f = theano.function([index], T.sum(x, axis=0), givens={x: batch})
answers = {
    "batches": [f(0), f(2)],
    "number": theano.function([], y * 2, givens={y: np.float64(4)})(),
    "middle": theano.function([x], T.sum(x * 2), givens=[(y, T.sum(x))])([[1, 2]]),
}
