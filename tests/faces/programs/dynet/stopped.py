"""What the way back passes through, and what it does not."""

import dynet as dy
import numpy as np

answers = {}
for name, function in {
    "plain": lambda x: x,
    "nobackprop": dy.nobackprop,
    "flip_gradient": dy.flip_gradient,
    "scale_gradient": lambda x: dy.scale_gradient(x, 2.0),
    "dropout of nothing": lambda x: dy.dropout(x, 0.0),
}.items():
    dy.renew_cg()
    x = dy.inputVector([1, 2])
    y = dy.squared_norm(function(x))
    y.backward(full=True)
    answers[name] = y.value(), x.gradient()
m = dy.ParameterCollection()
W = m.add_parameters((2, 2), init=np.array([[1, 2], [3, 4]]))
dy.renew_cg()
x = dy.inputVector([1, 1])
h = W * x
dy.squared_norm(h).backward()
answers["behind a parameter"], answers["in front"] = h.gradient(), x.gradient()
