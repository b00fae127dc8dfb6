"""Nothing is computed before a value is asked for; a shape that does not fit is refused at once."""

import dynet as dy
import numpy as np

dy.renew_cg()
x = dy.vecInput(3)
W = dy.inputTensor(np.arange(6).reshape(2, 3))
y = W * x
answers = {"dimension": y.dim()}
x.set([1, 2, 3])
answers["value"] = y.value()
x.set([0, 0, 1])
answers["set again"] = y.value()
answers["parameters of a shape"] = x.dim(), W.dim()
try:
    x * y
    answers["shapes"] = "no error"
except ValueError:
    answers["shapes"] = "ValueError"
