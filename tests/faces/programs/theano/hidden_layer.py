"""A hidden layer with tanh, two penalties, and steps on all parameters."""

import numpy as np
import theano
import theano.tensor as T


class HiddenLayer:
    def __init__(self, rng, input, n_in, n_out, activation=T.tanh):
        bound = np.sqrt(6.0 / (n_in + n_out))
        W = np.asarray(rng.uniform(-bound, bound, (n_in, n_out)), dtype=theano.config.floatX)
        self.W = theano.shared(value=W, name="W", borrow=True)
        self.b = theano.shared(np.zeros((n_out,), dtype=theano.config.floatX), name="b")
        lin = T.dot(input, self.W) + self.b
        self.output = lin if activation is None else activation(lin)
        self.params = [self.W, self.b]


rng = np.random.RandomState(2)
x, t = T.matrix("x"), T.matrix("t")
hidden = HiddenLayer(rng, x, 3, 5)
out = HiddenLayer(rng, hidden.output, 5, 2, activation=None)
params = hidden.params + out.params
L1 = abs(hidden.W).sum() + abs(out.W).sum()
L2 = (hidden.W**2).sum() + (out.W**2).sum()
cost = T.mean((out.output - t) ** 2) + 0.001 * L1 + 0.0001 * L2
gparams = [T.grad(cost, param) for param in params]
updates = [(param, param - 0.1 * g) for param, g in zip(params, gparams, strict=True)]
train = theano.function([x, t], cost, updates=updates)
data, targets = rng.randn(7, 3), rng.randn(7, 2)
costs = [train(data, targets) for _ in range(5)]
answers = {
    "costs": costs,
    "shapes": [p.get_value().shape for p in params],
    "output": theano.function([x], out.output)(data),
    "names": [p.name for p in params],
}
