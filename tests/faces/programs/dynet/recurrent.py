"""Builders: states, outputs, a sequence at once; with known numbers for parameters."""

import dynet as dy
import numpy as np

answers = {}
for builder in (dy.SimpleRNNBuilder, dy.LSTMBuilder, dy.GRUBuilder):
    m = dy.ParameterCollection()
    network = builder(2, 2, 3, m)
    for k, p in enumerate(m.parameters_list()):
        p.set_value(np.sin(np.arange(np.prod(p.shape())) + k).reshape(p.shape()))
    dy.renew_cg()
    xs = [dy.inputVector([1, 2]), dy.inputVector([-1, 0.5])]
    start = network.initial_state()
    one = start.add_input(xs[0])
    two = one.add_input(xs[1])
    loss = dy.squared_norm(two.output())
    loss.backward()
    answers[network.__class__.__name__] = {
        "shapes": [p.shape() for p in m.parameters_list()],
        "outputs": [one.output().value(), two.output().value()],
        "h": [x.value() for x in two.h()],
        "s": [x.value() for x in two.s()],
        "transduce": [x.value() for x in network.initial_state().transduce(xs)],
        "add_inputs": len(network.initial_state().add_inputs(xs)),
        "before": [start.output(), len(start.h()), one.prev() is start],
        "gradients": [p.grad_as_array() for p in m.parameters_list()],
        "going on": network.initial_state(two.s()).add_input(xs[0]).output().value(),
    }
try:
    network.initial_state([dy.zeros(3)] * 5)
    answers["states"] = "no error"
except ValueError:
    answers["states"] = "ValueError"
