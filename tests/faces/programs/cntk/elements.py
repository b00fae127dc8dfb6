"""Functions of each element.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C

answers = {
    "exp": C.exp([0.0, 1.0]).eval(),
    "log": C.log([1.0, 2.0]).eval(),
    "sqrt": C.sqrt([0.0, 4.0]).eval(),
    "square": C.square([1.0, 10.0]).eval(),
    "abs": C.abs([-1, 1, -2, 3]).eval(),
    "negate": C.negate([-1, 1, -2, 3]).eval(),
    "reciprocal": C.reciprocal([-1 / 3, 1 / 5, -2, 3]).eval(),
    "clip": C.clip([1.0, 2.1, 3.0, 4.1], 2.0, 4.0).eval(),
    "each its own": C.clip(
        [-10.0, -5.0, 0.0, 5.0, 10.0], [-5.0, -4.0, 0.0, 3.0, 5.0], [5.0, 4.0, 1.0, 4.0, 9.0]
    ).eval(),
}

# As cited above.
documented = {
    "exp": [1, 2.718282],
    "log": [0, 0.693147],
    "sqrt": [0, 2],
    "square": [1, 100],
    "abs": [1, 1, 2, 3],
    "negate": [1, -1, 2, -3],
    "reciprocal": [-3, 5, -0.5, 0.333333],
    "clip": [2, 2.1, 3, 4],
    "each its own": [-5, -4, 0, 4, 9],
}
