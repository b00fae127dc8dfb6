"""Static axes: another shape, exchanged, cut, joined.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C
import numpy as np

x, y = C.input_variable((3, 2)), C.input_variable((2, 3))
one, two = np.array([[[1, 2], [4, 5.0]]]), np.array([[[10, 20], [30, 40], [50, 60.0]]])
table = np.array([[1, 2, -3], [4, 5, 6.0]])
answers = {
    "reshape": C.reshape(x, (2, 3)).eval({x: np.arange(6.0).reshape(1, 3, 2)}),
    "transpose": C.transpose([[[0, 1], [2, 3], [4, 5]]], 1, 2).eval(),
    "row of an input": C.slice(y, 0, 1, 2).eval({y: [table]}),
    "column of an input": C.slice(y, 1, 0, 1).eval({y: [table]}),
    "row": C.slice(C.constant(table), 0, 1, 2).eval(),
    "splice": C.splice(C.constant(one), C.constant(two), axis=1).eval(),
}

# As cited above.
documented = {
    "reshape": [[[0, 1, 2], [3, 4, 5]]],
    "transpose": [[[0, 2, 4], [1, 3, 5]]],
    "row of an input": [[[4, 5, 6]]],
    "column of an input": [[[1], [4]]],
    "row": [[4, 5, 6]],
    "splice": [[[1, 2], [4, 5], [10, 20], [30, 40], [50, 60]]],
}
