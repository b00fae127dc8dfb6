"""A value for each sequence, repeated at each of its items.

https://github.com/microsoft/CNTK/blob/cd2dc9e9e89b2f6372d3bb83f9bec03c5cc9009a/bindings/python/cntk/ops/sequence/__init__.py
"""

import cntk as C
import numpy as np

x = C.sequence.input_variable((3, 2))
repeated = C.sequence.broadcast_as(C.sequence.last(x), C.sequence.is_first(x))
answers = {"repeated": repeated.eval({x: np.arange(24.0).reshape(1, 4, 3, 2)})}

# As cited above.
documented = {
    "repeated": [
        [
            [[18, 19], [20, 21], [22, 23]],
            [[18, 19], [20, 21], [22, 23]],
            [[18, 19], [20, 21], [22, 23]],
            [[18, 19], [20, 21], [22, 23]],
        ]
    ]
}
