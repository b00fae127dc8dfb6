"""Inputs with a value where none is given, by order and by name."""

import theano
import theano.tensor as T
from theano import In, function

x, y, w = T.dscalars("x", "y", "w")
f = function([x, In(y, value=1)], x + y)
g = function([x, In(y, value=1), In(w, value=2, name="w_by_name")], (x + y) * w)
answers = {
    "default": f(33),
    "given": f(33, 2),
    "both defaults": g(33),
    "one": g(33, 2),
    "in order": g(33, 0, 1),
    "by name": g(33, w_by_name=1),
    "mixed": g(33, w_by_name=1, y=0),
}
