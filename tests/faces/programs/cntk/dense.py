"""A layer gets its parameters when it is applied; parts of a model are found by their names.

https://github.com/microsoft/CNTK/blob/0265cb5dfc6c755d8e2e4c5602aa25bde91ea66a/bindings/python/cntk/layers/layers.py
https://github.com/microsoft/CNTK/blob/023da48674dfd208682e2e8787348f4e4e577593/bindings/python/cntk/layers/tests/layers_test.py
"""

import cntk as C
import numpy as np

layer = C.layers.Dense(5, activation=C.relu)
h = layer(C.input_variable(3))
model = C.layers.Sequential(
    [C.layers.Dense(3, init=1, name="first"), C.layers.Dense(2, init=2, name="second")]
)
z = model(C.input_variable(2))
x = C.input_variable(2)
p = C.layers.Dense(2, activation=C.sigmoid, name="foo")(x)
row = np.array([[-1.0, 1.0]], np.float32)
expected = 1 / (1 + np.exp(-(row @ p.foo.W.value + p.foo.b.value)))
answers = {
    "shapes": [h.shape, layer.W.shape],
    "bias": layer.b.value,
    "first": z.first.W.value,
    "second": z.second.W.value,
    "as in NumPy": bool(np.allclose(p.eval({x: row}), expected, atol=1e-6)),
}

# As cited above.
documented = {
    "shapes": [[5], [3, 5]],
    "bias": [0, 0, 0, 0, 0],
    "first": [[1, 1, 1], [1, 1, 1]],
    "second": [[2, 2], [2, 2], [2, 2]],
    "as in NumPy": True,
}
