"""A recurrence of which the last state is left: the largest of a sequence, and its sum.

https://github.com/microsoft/CNTK/blob/0265cb5dfc6c755d8e2e4c5602aa25bde91ea66a/bindings/python/cntk/layers/sequence.py
https://github.com/microsoft/CNTK/blob/023da48674dfd208682e2e8787348f4e4e577593/bindings/python/cntk/layers/tests/layers_test.py
"""

import cntk as C
import numpy as np

x, y = C.sequence.input_variable(2), C.sequence.input_variable(1)
data = [np.array([[1, 2], [6, 3], [4, 2], [8, 1], [6, 0.0]])]
answers = {
    "largest": C.layers.Fold(C.element_max)(x).eval({x: data}),
    "sum": C.layers.Fold(C.plus)(x).eval({x: data}),
    "of numbers": C.layers.Fold(C.plus)(y).eval({y: [np.array([[2], [6], [4], [8], [6.0]])]}),
}

# As cited above.
documented = {"largest": [[8, 3]], "sum": [[25, 8]], "of numbers": [[26]]}
