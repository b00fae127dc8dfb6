"""The first and the last item of each sequence, and where they are.

https://github.com/microsoft/CNTK/blob/cd2dc9e9e89b2f6372d3bb83f9bec03c5cc9009a/bindings/python/cntk/ops/sequence/__init__.py
"""

import cntk as C
import numpy as np

x = C.sequence.input_variable((3, 2))
data = {x: np.arange(24.0).reshape(1, 4, 3, 2)}
answers = {
    "first": C.sequence.first(x).eval(data),
    "last": C.sequence.last(x).eval(data),
    "is_first": C.sequence.is_first(x).eval(data),
    "is_last": C.sequence.is_last(x).eval(data),
    "a list": isinstance(C.sequence.is_last(x).eval(data), list),
}

# As cited above.
documented = {
    "first": [[[0, 1], [2, 3], [4, 5]]],
    "last": [[[18, 19], [20, 21], [22, 23]]],
    "is_first": [[1, 0, 0, 0]],
    "is_last": [[0, 0, 0, 1]],
    "a list": True,
}
