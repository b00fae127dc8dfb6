"""The first loops of the tutorial: a power, a polynomial, a sum."""

import numpy as np
import theano
import theano.tensor as T

k, A = T.iscalar("k"), T.vector("A")
result, updates = theano.scan(
    fn=lambda prior_result, A: prior_result * A,
    outputs_info=T.ones_like(A),
    non_sequences=A,
    n_steps=k,
)
power = theano.function(inputs=[A, k], outputs=result[-1], updates=updates)

coefficients, x = T.vector("coefficients"), T.scalar("x")
components, updates = theano.scan(
    fn=lambda coefficient, power, free_variable: coefficient * (free_variable**power),
    outputs_info=None,
    sequences=[coefficients, T.arange(coefficients.shape[0])],
    non_sequences=x,
)
polynomial = theano.function(inputs=[coefficients, x], outputs=components.sum())

up_to = T.vector("up_to")
sums, _ = theano.scan(
    lambda item, total: total + item,
    sequences=up_to,
    outputs_info=np.float64(0),
)
answers = {
    "power": [power(range(5), 2), power(range(3), 4)],
    "polynomial": polynomial(np.asarray([1, 0, 2], dtype="float64"), 3),
    "sums": theano.function([up_to], sums)([1, 2, 3, 4]),
    "updates": len(updates),
}
