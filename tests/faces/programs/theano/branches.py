"""switch chooses element by element, ifelse one of two: -4, not the -6 of a trace."""

import theano
import theano.tensor as T
from theano.ifelse import ifelse

x = T.dvector("x")
y = ifelse(T.gt(x.sum(), 0), 2 * x, x - 1)
z = T.switch(x > 0, 2 * x, x - 1)
f, g = theano.function([x], y), theano.function([x], z)
slope = theano.function([x], T.grad(y.sum(), x))
answers = {
    "ifelse": [f([3]), f([-3])],
    "switch": g([3, -3]),
    "slopes": [slope([3]), slope([-3])],
    "slope of a switch": theano.function([x], T.grad(z.sum(), x))([3, -3]),
    "lt": theano.function([x], ifelse(T.lt(x[0], 0), T.mean(x), T.max(x)))([-1, 3]),
}
