"""One output, a list, a dict, none: what comes back has that form."""

import theano
import theano.tensor as T

x = T.dscalar("x")
one = theano.function([x], x + 1)(1)
several = theano.function([x], [x, x + 1])(1)
single = theano.function([x], [x])(1)
by_name = theano.function([x], {"b": x * 2, "a": x})(3)
answers = {
    "one": one,
    "list": several,
    "list of one": single,
    "kinds": [type(v).__name__ for v in (one, several, single, by_name)],
    "dict": by_name,
    "same twice": theano.function([x], [x, x])(4),
    "constant": theano.function([], T.constant(2.0) * 3)(),
}
