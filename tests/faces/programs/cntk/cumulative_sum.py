"""Any function of a state and an item can be a recurrence: a running sum.

https://github.com/microsoft/CNTK/blob/0265cb5dfc6c755d8e2e4c5602aa25bde91ea66a/bindings/python/cntk/layers/sequence.py
"""

import cntk as C
import numpy as np

x = C.sequence.input_variable(2)
running = C.layers.Recurrence(C.plus, initial_state=C.constant([0, 0.5]))
answers = {"sums": running(x).eval({x: [np.array([[3, 2], [13, 42], [-100, 100.0]])]})}

# As cited above.
documented = {"sums": [[[3, 2.5], [16, 44.5], [-84, 144.5]]]}
