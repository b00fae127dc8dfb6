"""Halves are rounded up, not to the even number as in NumPy.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C

answers = {
    "floor": C.floor([-5.5, -4.2, -3.0, -0.7, 0]).eval(),
    "ceil": C.ceil([[0.6, 3.3], [1.9, 5.6]]).eval(),
    "round": C.round([0.2, 1.3, 4.0, 5.5, 0.0]).eval(),
    "below 0": C.round([-5.5, -4.2, -3.0, -0.7, 0]).eval(),
}

# As cited above.
documented = {
    "floor": [-6, -5, -3, -1, 0],
    "ceil": [[1, 4], [2, 6]],
    "round": [0, 1, 4, 6, 0],
    "below 0": [-5, -4, -3, -1, 0],
}
