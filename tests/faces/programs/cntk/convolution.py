"""Images have their channels first: convolved, and pooled.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C
import numpy as np

image = C.input_variable((1, 5, 5))
kernel = C.constant(np.array([2, -1, -1, 2.0]).reshape(1, 2, 2))
small = C.input_variable((1, 4, 4))
numbers = [np.arange(16.0).reshape(1, 4, 4)]
convolved = C.convolution(kernel, image, auto_padding=[False])
answers = {
    "convolved": np.squeeze(convolved.eval({image: [np.arange(25.0).reshape(1, 5, 5)]})),
    "mean": np.squeeze(C.pooling(small, C.AVG_POOLING, (2, 2), (2, 2)).eval({small: numbers})),
    "largest": np.squeeze(C.pooling(small, C.MAX_POOLING, (2, 2), (2, 2)).eval({small: numbers})),
}

# As cited above.
documented = {
    "convolved": [[6, 8, 10, 12], [16, 18, 20, 22], [26, 28, 30, 32], [36, 38, 40, 42]],
    "mean": [[2.5, 4.5], [10.5, 12.5]],
    "largest": [[5, 7], [13, 15]],
}
