"""A recurrent network by scan: one function for sequences of any length, with its gradients."""

import numpy as np
import theano
import theano.tensor as T

rng = np.random.RandomState(3)
u = T.matrix("u")
W_hh = theano.shared(rng.uniform(-0.5, 0.5, (4, 4)), name="W_hh")
W_xh = theano.shared(rng.uniform(-0.5, 0.5, (2, 4)), name="W_xh")
h0 = theano.shared(np.zeros(4), name="h0")


def step(u_t, h_tm1, W_hh, W_xh):
    return T.tanh(T.dot(h_tm1, W_hh) + T.dot(u_t, W_xh))


h, _ = theano.scan(step, sequences=u, outputs_info=h0, non_sequences=[W_hh, W_xh])
cost = T.mean(h[-1] ** 2)
params = [W_hh, W_xh]
slopes = T.grad(cost, params)
train = theano.function(
    [u], cost, updates=[(p, p - 0.1 * g) for p, g in zip(params, slopes, strict=True)]
)
outputs = theano.function([u], h)
data = rng.randn(12, 2)
answers = {
    "shapes": [outputs(data[:n]).shape for n in (3, 7, 12)],
    "last": outputs(data)[-1],
    "prefix": bool(np.allclose(outputs(data[:5]), outputs(data)[:5])),
    "costs": [train(data[:n]) for n in (3, 7, 12)],
    "W": W_hh.get_value(),
}
