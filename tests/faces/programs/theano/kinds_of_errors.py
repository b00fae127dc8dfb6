"""What is an error, when, and of which kind."""

import numpy as np
import theano
import theano.tensor as T


def kind(f):
    try:
        f()
    except Exception as error:
        name = type(error).__name__
        if name in ("UnusedInputError", "MissingInputError"):
            return name
        kinds = (TypeError, ValueError, IndexError, AttributeError)
        return next(k.__name__ for k in kinds if isinstance(error, k))
    return "none"


x, y, v = T.dscalar("x"), T.dscalar("y"), T.dvector("v")
m, n = T.dmatrix("m"), T.dmatrix("n")
w = theano.shared(0.0, name="w")
product = theano.function([m, n], T.dot(m, n))
total = theano.function([m, n], m + n)
answers = {
    "unused input": kind(lambda: theano.function([x, y], x)),
    "unused, ignored": kind(lambda: theano.function([x, y], x, on_unused_input="ignore")),
    "missing input": kind(lambda: theano.function([], x)),
    "shared as input": kind(lambda: theano.function([w], w)),
    "update of no shared": kind(lambda: theano.function([x], x, updates=[(y, x)])),
    "two updates": kind(lambda: theano.function([], w, updates=[(w, w + 1), (w, w + 2)])),
    "update of another type": kind(
        lambda: theano.function([], w, updates=[(w, T.cast(w, "float32"))])
    ),
    "update of another rank": kind(lambda: theano.function([v], w, updates=[(w, v)])),
    "no variable": kind(lambda: theano.function([x], 1)),
    "lengths of a product": kind(lambda: product(np.ones((2, 3)), np.ones((2, 3)))),
    "lengths of a sum": kind(lambda: total(np.ones((2, 3)), np.ones((3, 3)))),
    "if on a comparison": kind(lambda: 1 if x > 0 else 2),
    "len": kind(lambda: len(v)),
    "float": kind(lambda: float(x)),
    "range": kind(lambda: range(T.lscalar())),
    "unknown name": kind(lambda: T.no_such_function),
    "unknown method": kind(lambda: x.no_such_method),
}
