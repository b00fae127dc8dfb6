"""Two networks, one of which reads backwards."""

import dynet as dy
import numpy as np

m = dy.ParameterCollection()
network = dy.BiRNNBuilder(1, 2, 4, m, dy.LSTMBuilder)
for k, p in enumerate(m.parameters_list()):
    p.set_value(np.cos(np.arange(np.prod(p.shape())) + k).reshape(p.shape()))
dy.renew_cg()
xs = [dy.inputVector([1, 2]), dy.inputVector([-1, 0.5]), dy.inputVector([0, 1])]
answers = {"outputs": [x.value() for x in network.transduce(xs)]}
