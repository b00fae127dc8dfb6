"""The example of the tutorial: logistic regression with shared weights and updates."""

import numpy as np
import theano
import theano.tensor as T

rng = np.random.RandomState(0)
N, feats, training_steps = 40, 8, 30
D = (rng.randn(N, feats), rng.randint(size=N, low=0, high=2))
x, y = T.dmatrix("x"), T.dvector("y")
w = theano.shared(rng.randn(feats), name="w")
b = theano.shared(0.0, name="b")
p_1 = 1 / (1 + T.exp(-T.dot(x, w) - b))
prediction = p_1 > 0.5
xent = -y * T.log(p_1) - (1 - y) * T.log(1 - p_1)
cost = xent.mean() + 0.01 * (w**2).sum()
gw, gb = T.grad(cost, [w, b])
train = theano.function(
    inputs=[x, y],
    outputs=[prediction, xent],
    updates=((w, w - 0.1 * gw), (b, b - 0.1 * gb)),
)
predict = theano.function(inputs=[x], outputs=prediction)
errors = []
for _ in range(training_steps):
    pred, err = train(D[0], D[1])
    errors.append(err.mean())
answers = {
    "first and last": [errors[0], errors[-1]],
    "weights": w.get_value(),
    "bias": b.get_value(),
    "predicted": predict(D[0]),
    "binary": T.nnet.binary_crossentropy(p_1, y).eval({x: D[0][:3], y: D[1][:3]}),
}
