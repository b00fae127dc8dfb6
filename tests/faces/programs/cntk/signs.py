"""The signs of Python on an input, with constants and arrays; a minibatch is a list.

https://github.com/microsoft/CNTK/blob/0d2879eab5a3f96621c908f4df28ef0fe63cbbd7/bindings/python/doc/concepts.rst
"""

import cntk as C
import numpy as np

x = C.input_variable((2, 3), name="features")
two = C.constant(value=2)
batch = [np.array([[10, 20, 30], [40, 50, 60]])]
answers = {
    "constant": (x * two).eval({x: batch}),
    "number": (x * 2).eval({x: batch}),
    "array": (x * [[1, 2, 3], [4, 5, 6]]).eval({x: batch}),
}

# As cited above.
documented = {
    "constant": [[[20, 40, 60], [80, 100, 120]]],
    "number": [[[20, 40, 60], [80, 100, 120]]],
    "array": [[[10, 40, 90], [160, 250, 360]]],
}
