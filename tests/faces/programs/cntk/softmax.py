"""Softmax over all elements, or along an axis; hardmax takes the first of the largest.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C

answers = {
    "row": C.softmax([[1, 1, 2, 3]]).eval(),
    "vector": C.softmax([1, 1]).eval(),
    "axis": C.softmax([[[1, 1], [3, 5]]], axis=-1).eval(),
    "hardmax": C.hardmax([1.0, 1.0, 2.0, 3.0]).eval(),
    "twice": C.hardmax([1.0, 3.0, 2.0, 3.0]).eval(),
}

# As cited above.
documented = {
    "row": [[0.082595, 0.082595, 0.224515, 0.610296]],
    "vector": [0.5, 0.5],
    "axis": [[[0.5, 0.5], [0.119203, 0.880797]]],
    "hardmax": [0, 0, 0, 1],
    "twice": [0, 1, 0, 0],
}
