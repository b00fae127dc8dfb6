"""A parameter is an expression in whichever graph; dy.parameter returns it as it is."""

import dynet as dy
import numpy as np

m = dy.Model()
W = m.add_parameters((1, 2), init=np.array([[1, 2]]))
found = []
for k in range(3):
    dy.renew_cg()
    found.append((W * dy.inputVector([k, 1])).value())
dy.renew_cg()
answers = {
    "graphs": found,
    "expr": W.expr().value(),
    "row": W[0].value(),
    "transposed": dy.transpose(W).npvalue(),
}
y = dy.const_parameter(W) * dy.inputVector([1, 1])
y.backward()
answers["constant"] = W.grad_as_array()
(W * dy.inputVector([1, 1])).backward()
answers["trained"] = W.grad_as_array()
