"""Loops that look further back, go backwards, return several values, or have so many steps."""

import theano
import theano.tensor as T

start, v = T.dvector("start"), T.dvector("v")
fib, _ = theano.scan(
    lambda older, newer: older + newer,
    outputs_info=[{"initial": start, "taps": [-2, -1]}],
    n_steps=6,
)
backwards, _ = theano.scan(
    lambda x, total: total * 2 + x,
    sequences=v,
    outputs_info=T.constant(0.0, "c").astype("float64"),
    go_backwards=True,
)
(sums, squares), _ = theano.scan(
    lambda x, total: [total + x, x**2],
    sequences=[v],
    outputs_info=[T.zeros(()), None],
)
mapped, _ = theano.map(lambda x: x * 10, v)
folded, _ = theano.reduce(lambda x, total: total + x, v, T.zeros(()))
answers = {
    "fibonacci": theano.function([start], fib)([1, 1]),
    "backwards": theano.function([v], backwards)([1, 2, 3]),
    "several": theano.function([v], [sums, squares])([1, 2, 3]),
    "map": theano.function([v], mapped)([1, 2, 3]),
    "reduce": theano.function([v], folded)([1, 2, 3]),
    "slope": theano.function([v], T.grad(sums[-1] * squares.sum(), v))([1, 2, 3]),
}
