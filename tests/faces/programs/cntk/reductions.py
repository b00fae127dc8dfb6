"""A reduced axis stays with length 1.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C
import numpy as np

table = [[10, 20], [30, 40], [50, 60]]
answers = {
    "mean": [C.reduce_mean([[5, 20], [30, 40], [55, 60]], k).eval() for k in (0, 1)],
    "max": [C.reduce_max(table, k).eval() for k in (0, 1)],
    "min": [C.reduce_min(table, k).eval() for k in (0, 1)],
    "prod": [C.reduce_prod([[1, 2], [3, 4], [5, 6]], k).eval() for k in (0, 1)],
    "argmax": [C.argmax(table, k).eval() for k in (0, 1)],
    "argmin": [C.argmin([[10, 30], [40, 20], [60, 50]], k).eval() for k in (0, 1)],
}
x = C.input_variable((3, 2))
answers["log_sum_exp"] = C.reduce_log_sum_exp(x).eval({x: [np.arange(6.0).reshape(3, 2)]})

# As cited above.
documented = {
    "mean": [[[30, 40]], [[12.5], [35], [57.5]]],
    "max": [[[50, 60]], [[20], [40], [60]]],
    "min": [[[10, 20]], [[10], [30], [50]]],
    "prod": [[[15, 48]], [[2], [12], [30]]],
    "argmax": [[[2, 2]], [[1], [1], [1]]],
    "argmin": [[[0, 1]], [[0], [1], [1]]],
    "log_sum_exp": [5.456193],
}
