"""The largest of each sequence, and softmax along it, are what NumPy makes of the items.

https://github.com/microsoft/CNTK/blob/00ea32a8d920e077eb59491001781f5c24680771/bindings/python/cntk/ops/tests/sequence_test.py
"""

import cntk as C
import numpy as np

numbers = np.sin(np.arange(24.0)).reshape(2, 4, 3)
x = C.sequence.input_variable(3)
powers = np.exp(numbers)
answers = {}
for sign in (1, -1):
    found = C.sequence.reduce_max(x).eval({x: sign * numbers})
    answers["largest" if sign > 0 else "smallest"] = bool(
        np.allclose(found, (sign * numbers).max(1))
    )
found = C.sequence.softmax(x).eval({x: numbers})
answers["softmax"] = bool(np.allclose(found, powers / powers.sum(1, keepdims=True), atol=1e-6))

# As cited above.
documented = {"largest": True, "smallest": True, "softmax": True}
