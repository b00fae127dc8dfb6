"""Two functions of the same inputs, evaluated together.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C
import numpy as np

a, b = C.input_variable(4), C.input_variable(4)
total, difference = a + b, a - b
found = C.combine([total, difference]).eval({a: [[1.0, 2, 3, 4]], b: [[0.0, 5, -3, 2]]})
answers = {
    "count": len(found),
    "sum": np.ravel(found[total.output]),
    "difference": np.ravel(found[difference.output]),
}

# As cited above.
documented = {"count": 2, "sum": [1, 7, 0, 6], "difference": [1, -3, 6, 2]}
