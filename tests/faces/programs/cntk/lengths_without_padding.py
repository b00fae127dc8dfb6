"""Three sequences of three lengths in one minibatch, and the gradient by each item.

https://github.com/microsoft/CNTK/blob/00ea32a8d920e077eb59491001781f5c24680771/bindings/python/cntk/ops/tests/sequence_test.py
"""

import cntk as C
import numpy as np

x = C.sequence.input_variable(shape=(), needs_gradient=True)
total = C.sequence.reduce_sum(x)
batch = [np.array([-1, 3, 5.0]), np.array([2, -5.0]), np.array([-2.0])]
gradient, value = total.grad({x: batch}, outputs=[total])
one = C.sequence.input_variable(shape=1, needs_gradient=True)
total = C.sequence.reduce_sum(C.reduce_sum(one))
slope, single = total.grad({one: np.array([[-1], [3], [5.0]])}, outputs=[total])
answers = {"sums": value, "gradients": gradient, "one sequence": single, "its gradient": slope[0]}

# As cited above.
documented = {
    "sums": [7, -3, -2],
    "gradients": [[1, 1, 1], [1, 1], [1]],
    "one sequence": [7],
    "its gradient": [[1], [1], [1]],
}
