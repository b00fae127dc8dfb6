"""Each item with its neighbours: three shifted copies, side by side.

https://github.com/microsoft/CNTK/blob/0265cb5dfc6c755d8e2e4c5602aa25bde91ea66a/bindings/python/cntk/layers/sequence.py
"""

import cntk as C
import numpy as np

x = C.sequence.input_variable(2)
shifted = [C.sequence.delay(x, time_step=t) for t in (-1, 0, 1)]
answers = {"trigrams": C.splice(*shifted).eval({x: np.arange(6.0).reshape(1, 3, 2)})}

# As cited above.
documented = {"trigrams": [[[2, 3, 0, 1, 0, 0], [4, 5, 2, 3, 0, 1], [0, 0, 4, 5, 2, 3]]]}
