"""The logistic function, and the same by the hyperbolic tangent."""

import theano
import theano.tensor as T

x = T.dmatrix("x")
s = 1 / (1 + T.exp(-x))
s2 = (1 + T.tanh(x / 2)) / 2
logistic = theano.function([x], s)
logistic2 = theano.function([x], s2)
a, b = T.dmatrices("a", "b")
diff = a - b
three = theano.function([a, b], [diff, abs(diff), diff**2])
values = [[0, 1], [-1, -2]]
answers = {
    "exp": logistic(values),
    "tanh": logistic2(values),
    "nnet": theano.function([x], T.nnet.sigmoid(x))(values),
    "three": three([[1, 1], [1, 1]], [[0, 1], [2, 3]]),
}
