"""The item before, the item behind; at the ends an initial state, also one for each sample.

https://github.com/microsoft/CNTK/blob/cd2dc9e9e89b2f6372d3bb83f9bec03c5cc9009a/bindings/python/cntk/ops/sequence/__init__.py
"""

import cntk as C
import numpy as np

x, s = C.sequence.input_variable((3, 2)), C.input_variable((3, 2))
items = np.arange(24.0).reshape(1, 4, 3, 2)
state = np.arange(6.0).reshape(1, 3, 2) / 2
answers = {
    "past": C.sequence.past_value(x).eval({x: items}),
    "future": C.sequence.future_value(x).eval({x: items}),
    "from a state": C.sequence.past_value(x, initial_state=s).eval({x: items, s: state}),
}

# As cited above.
documented = {
    "past": [
        [
            [[0, 0], [0, 0], [0, 0]],
            [[0, 1], [2, 3], [4, 5]],
            [[6, 7], [8, 9], [10, 11]],
            [[12, 13], [14, 15], [16, 17]],
        ]
    ],
    "future": [
        [
            [[6, 7], [8, 9], [10, 11]],
            [[12, 13], [14, 15], [16, 17]],
            [[18, 19], [20, 21], [22, 23]],
            [[0, 0], [0, 0], [0, 0]],
        ]
    ],
    "from a state": [
        [
            [[0, 0.5], [1, 1.5], [2, 2.5]],
            [[0, 1], [2, 3], [4, 5]],
            [[6, 7], [8, 9], [10, 11]],
            [[12, 13], [14, 15], [16, 17]],
        ]
    ],
}
