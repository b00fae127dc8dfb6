"""y = x * x + 3: built once, run with two values; an input that may be named."""

import theano
import theano.tensor as T

x = T.dscalar("x")
y = x * x + 3
f = theano.function([x], y)
answers = {
    "two": f(2),
    "three": f(3),
    "by name": f(x=2),
    "at once": y.eval({x: 2.0}),
    "what comes back": type(f(2)).__name__,
    "shape": f(2).shape,
    "data type": str(f(2).dtype),
}
