"""Cross entropy with softmax: of one class, and of any distribution.

https://github.com/microsoft/CNTK/blob/025da90332d626c58b076f00acaa61d0aa0bab5a/bindings/python/cntk/losses/__init__.py
"""

import cntk as C

loss = C.cross_entropy_with_softmax
answers = {
    "certain": loss([[1.0, 1.0, 1.0, 50.0]], [[0.0, 0.0, 0.0, 1.0]]).eval(),
    "distribution": loss([[1.0, 2.0, 3.0, 4.0]], [[0.35, 0.15, 0.05, 0.45]]).eval(),
}

# As cited above.
documented = {"certain": [[0]], "distribution": [[1.84019]]}
