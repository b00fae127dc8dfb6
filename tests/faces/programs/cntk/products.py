"""Products along the last axis of the left and the first of the right.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C
import numpy as np

square, vector, row = np.array([[1, 2], [3, 4.0]]), np.array([2, -1.0]), np.array([[2, -1.0]])
answers = {
    "times": C.times([[1, 2], [3, 4]], [[5], [6]]).eval(),
    "@": (C.constant([[1, 2], [3, 4]]) @ C.constant([[5], [6]])).eval(),
    "transposed": C.times_transpose(square, square).eval(),
    "by a vector": C.times_transpose(square, vector).eval(),
    "by a row": C.times_transpose(square, row).eval(),
    "of a vector": C.times_transpose(vector, square).eval(),
    "of vectors": C.times_transpose(vector, vector).eval(),
    "of rows": C.times_transpose(row, row).eval(),
}

# As cited above.
documented = {
    "times": [[17], [39]],
    "@": [[17], [39]],
    "transposed": [[5, 11], [11, 25]],
    "by a vector": [[0], [2]],
    "by a row": [[0], [2]],
    "of a vector": [0, 2],
    "of vectors": [5],
    "of rows": [[5]],
}
