"""A recurrence that begins with a state other than 0.

https://github.com/microsoft/CNTK/blob/023da48674dfd208682e2e8787348f4e4e577593/bindings/python/cntk/layers/tests/layers_test.py
"""

import cntk as C
import numpy as np

x = C.sequence.input_variable(5)
net = C.layers.Recurrence(C.layers.GRU(5, init=0.05), initial_state=0.1)(x)
answers = {"states": net.eval({x: np.arange(25.0).reshape(1, 5, 5)})[0][:, 0]}

# As cited above.
documented = {"states": [0.239151, 0.338713, 0.367456, 0.375577, 0.377891]}
