"""Gradients: of one number by one variable, by several, and of gradients."""

import theano
import theano.tensor as T

x = T.dscalar("x")
y = x**2
gy = T.grad(y, x)
m = T.dmatrix("m")
s = T.sum(1 / (1 + T.exp(-m)))
W, b = T.dmatrix("W"), T.dvector("b")
out = T.sum(T.maximum(T.dot(W, b) + b, 0))
gW, gb = T.grad(out, [W, b])
z = T.dscalar("z")
answers = {
    "slope": [theano.function([x], gy)(4), theano.function([x], gy)(94.2)],
    "second": theano.function([x], T.grad(T.grad(x**3, x), x))(2),
    "logistic": theano.function([m], T.grad(s, m))([[0, 1], [-1, -2]]),
    "several": theano.function([W, b], [gW, gb])([[1, -3], [3, 4]], [1, 1]),
    "a tie": theano.function([x], T.grad(T.maximum(x, 0), x))(0),
    "by theano.grad": theano.function([x], theano.grad(T.sin(x), x))(0),
    "by what is in between": theano.function([x], T.grad(y * y, y))(3),
    "constant": theano.function([x], T.grad(x * y, x, consider_constant=[y]))(3),
    "disconnected_grad": theano.function([x], T.grad(x * theano.gradient.disconnected_grad(y), x))(
        3
    ),
    "not connected": theano.function(
        [x, z], T.grad(y, z, disconnected_inputs="ignore"), on_unused_input="ignore"
    )(1, 2),
}
