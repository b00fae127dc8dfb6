"""The sum over a sequence.

https://github.com/microsoft/CNTK/blob/cd2dc9e9e89b2f6372d3bb83f9bec03c5cc9009a/bindings/python/cntk/ops/sequence/__init__.py
"""

import cntk as C
import numpy as np

x = C.sequence.input_variable((3, 2))
answers = {"sum": C.sequence.reduce_sum(x).eval({x: np.arange(24.0).reshape(1, 4, 3, 2)})}

# As cited above.
documented = {"sum": [[[36, 40], [44, 48], [52, 56]]]}
