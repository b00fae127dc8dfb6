"""y = ReLU(W x + b): every gradient of the sum."""

import dynet as dy
import numpy as np

m = dy.ParameterCollection()
W = m.add_parameters((2, 2), init=np.array([[1, -2], [3, 4]]))
b = m.add_parameters(2, init=np.array([0.5, -1]))
dy.renew_cg()
x = dy.inputVector([1, 1])
y = dy.rectify(W * x + b)
loss = dy.sum_elems(y)
loss.backward(full=True)
again = dy.rectify(dy.affine_transform([b, W, x]))
answers = {
    "y": y.value(),
    "dW": W.grad_as_array(),
    "db": b.grad_as_array(),
    "dx": x.gradient(),
    "affine_transform": again.value(),
}
