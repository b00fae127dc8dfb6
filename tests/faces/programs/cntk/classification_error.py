"""1 where the largest score is not at the label, else 0.

https://github.com/microsoft/CNTK/blob/0265cb5dfc6c755d8e2e4c5602aa25bde91ea66a/bindings/python/cntk/metrics/__init__.py
"""

import cntk as C

scores = [[1.0, 2.0, 3.0, 4.0]]
LABELS = {"right": [[0, 0, 0, 1.0]], "wrong": [[0, 0, 1.0, 0]], "not 1": [[5.0, 0, 1.0, 0]]}
answers = {name: C.classification_error(scores, label).eval() for name, label in LABELS.items()}

# As cited above.
documented = {"right": [[0]], "wrong": [[1]], "not 1": [[1]]}
