"""A shared variable may get a value of another shape."""

import numpy as np
import theano

w = theano.shared(np.zeros((2, 3)), name="w")
total = theano.function([], w.sum())
before = total()


def other():
    w.set_value(np.ones((4, 5)))
    return total()


try:
    found = other()
except ValueError:
    found = "ValueError"
answers = {"before": before, "other shape": found}
