"""Reduced are the static axes, one of them, or all: samples and items of any length, too.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C
import numpy as np

x = C.sequence.input_variable((2, 2))
data = np.arange(16.0).reshape(2, 2, 2, 2)
whole = C.reduce_mean(x, axis=C.Axis.all_axes())
ragged = [np.arange(4.0).reshape(1, 2, 2), np.arange(12.0).reshape(3, 2, 2)]
answers = {
    "static": C.reduce_mean(x).eval({x: data}),
    "first": C.reduce_mean(x, axis=0).eval({x: data}),
    "second": C.reduce_mean(x, axis=1).eval({x: data}),
    "all": whole.eval({x: data}),
    "of other lengths": whole.eval({x: ragged}),
}

# As cited above.
documented = {
    "static": [[1.5, 5.5], [9.5, 13.5]],
    "first": [[[[1, 2]], [[5, 6]]], [[[9, 10]], [[13, 14]]]],
    "second": [[[[0.5], [2.5]], [[4.5], [6.5]]], [[[8.5], [10.5]], [[12.5], [14.5]]]],
    "all": 7.5,
    "of other lengths": 4.5,
}
