"""The first page of the tutorial: two numbers, two matrices, several variables at once."""

import numpy as np
import theano
import theano.tensor as T
from theano import function, pp

x, y = T.dscalar("x"), T.dscalar("y")
z = x + y
f = function([x, y], z)
m, n = T.dmatrices("m", "n")
g = function([m, n], m + n)
a, b, c = T.scalars("a", "b", "c")
several = function([a, b, c], [a + b, a * b - c])
vector = T.vector()
out = vector + vector**10
answers = {
    "sum": f(2, 3),
    "allclose": bool(np.allclose(f(16.3, 12.1), 28.4)),
    "line": pp(z),
    "eval": bool(np.allclose(z.eval({x: 16.3, y: 12.1}), 28.4)),
    "matrices": g([[1, 2], [3, 4]], [[10, 20], [30, 40]]),
    "arrays": g(np.array([[1, 2], [3, 4]]), np.array([[10, 20], [30, 40]])),
    "several": several(1, 2, 3),
    "power": function([vector], out)([0, 1, 2]),
    "type": str(x.type),
    "same type": x.type == T.TensorType("float64", ()) and m.type == T.dmatrix().type,
}
