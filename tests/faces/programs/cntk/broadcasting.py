"""Axes of length 1 are repeated; sums and products take more than two operands.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
https://github.com/microsoft/CNTK/blob/0d2879eab5a3f96621c908f4df28ef0fe63cbbd7/bindings/python/doc/concepts.rst
"""

import cntk as C

answers = {
    "number": C.element_times([2, 3], 2).eval(),
    "two": C.plus([1, 2, 3], [4, 5, 6]).eval(),
    "one to many": C.plus([-5, -4, -3, -2, -1], [10]).eval(),
    "five": C.plus([-5, -4, -3, -2, -1], [10], [3, 2, 3, 2, 3], [-13], [+42], "named").eval(),
    "product": C.element_times([5.0, 10.0, 15.0, 30.0], [2.0], [1.0, 2.0, 1.0, 2.0]).eval(),
    "quotient": C.element_divide([5.0, 10.0, 15.0, 30.0], [2.0]).eval(),
}

# As cited above.
documented = {
    "number": [4, 6],
    "two": [5, 7, 9],
    "one to many": [5, 6, 7, 8, 9],
    "five": [37, 37, 39, 39, 41],
    "product": [10, 40, 30, 120],
    "quotient": [2.5, 5, 7.5, 15],
}
