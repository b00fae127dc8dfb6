"""Softmax, the negative log-likelihood by positions, and cross entropy in two forms."""

import numpy as np
import theano
import theano.tensor as T

rng = np.random.RandomState(1)
data, labels = rng.randn(6, 4), np.array([0, 2, 1, 1, 0, 2])
x, y, onehot = T.matrix("x"), T.ivector("y"), T.matrix("onehot")
W = theano.shared(value=np.zeros((4, 3), dtype=theano.config.floatX), name="W", borrow=True)
b = theano.shared(value=np.zeros((3,), dtype=theano.config.floatX), name="b", borrow=True)
p = T.nnet.softmax(T.dot(x, W) + b)
cost = -T.mean(T.log(p)[T.arange(y.shape[0]), y])
errors = T.mean(T.neq(T.argmax(p, axis=1), y))
updates = [(param, param - 0.5 * T.grad(cost, param)) for param in (W, b)]
train = theano.function([x, y], cost, updates=updates)
costs = [train(data, labels.astype("int32")) for _ in range(4)]
numbers = theano.function([x, y], T.nnet.categorical_crossentropy(p, y))
rows = theano.function([x, onehot], T.nnet.categorical_crossentropy(p, onehot))
answers = {
    "costs": costs,
    "W": W.get_value(),
    "by number": numbers(data, labels.astype("int32")),
    "by row": rows(data, np.eye(3)[labels]),
    "errors": theano.function([x, y], errors)(data, labels.astype("int32")),
    "sums": p.sum(axis=1).eval({x: data}),
    "of a vector": T.nnet.softmax(T.constant(np.array([1.0, 2.0]))).eval(),
}
