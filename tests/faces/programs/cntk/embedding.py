"""A table of rows that one-hot vectors choose, given or learned.

https://github.com/microsoft/CNTK/blob/0265cb5dfc6c755d8e2e4c5602aa25bde91ea66a/bindings/python/cntk/layers/layers.py
https://github.com/microsoft/CNTK/blob/023da48674dfd208682e2e8787348f4e4e577593/bindings/python/cntk/layers/tests/layers_test.py
"""

import cntk as C

table = [[0.5, 0.3, 0.1, 0.4, 0.2], [0.7, 0.6, 0.3, 0.2, 0.9]]
given, x = C.layers.Embedding(weights=table), C.sequence.input_variable(2, is_sparse=True)
chosen = given(x)
learned, y = C.layers.Embedding(5), C.input_variable(3)
found = learned(y)
answers = {
    "rows": chosen.eval({x: C.Value.one_hot([[1], [0], [0], [1]], num_classes=2)}),
    "shapes": [chosen.shape, found.shape, learned.E.shape],
    "table": given.E.eval(),
}
try:
    C.Value.one_hot([[11]], num_classes=10)
    answers["no such class"] = "no error"
except ValueError:
    answers["no such class"] = "ValueError"

# As cited above.
documented = {
    "rows": [
        [[0.7, 0.6, 0.3, 0.2, 0.9]],
        [[0.5, 0.3, 0.1, 0.4, 0.2]],
        [[0.5, 0.3, 0.1, 0.4, 0.2]],
        [[0.7, 0.6, 0.3, 0.2, 0.9]],
    ],
    "shapes": [[5], [5], [3, 5]],
    "table": [[0.5, 0.3, 0.1, 0.4, 0.2], [0.7, 0.6, 0.3, 0.2, 0.9]],
    "no such class": "ValueError",
}
