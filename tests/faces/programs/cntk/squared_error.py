"""The squared error of two inputs.

https://github.com/microsoft/CNTK/blob/025da90332d626c58b076f00acaa61d0aa0bab5a/bindings/python/cntk/losses/__init__.py
https://github.com/microsoft/CNTK/blob/005c5c681f54ebdd86b42a710144a9fbdc2c15c0/bindings/python/doc/gettingstarted.rst
"""

import cntk as C
import numpy as np

a, b = C.input_variable((1, 2)), C.input_variable((1, 2))
error = C.squared_error(a, b)
one, two = np.array([[[2.0, 1.0]]]), np.array([[[4.0, 6.0]]])
answers = {"apart": error.eval({a: one, b: two}), "the same": error.eval({a: one, b: one})}

# As cited above.
documented = {"apart": [29], "the same": [0]}
