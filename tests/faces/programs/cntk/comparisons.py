"""Comparisons answer 1 and 0.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C

NAMES = ["less", "equal", "greater", "greater_equal", "not_equal", "less_equal"]
answers = {name: getattr(C, name)([41.0, 42.0, 43.0], [42.0, 42.0, 42.0]).eval() for name in NAMES}
answers["one to many"] = C.less([-1, 0, 1], [0]).eval()
answers["select"] = C.element_select(
    [-10, -1, 0, 0.3, 100], [1, 10, 100, 1000, 10000], [2, 20, 200, 2000, 20000]
).eval()

# As cited above.
documented = {
    "less": [1, 0, 0],
    "equal": [0, 1, 0],
    "greater": [0, 0, 1],
    "greater_equal": [0, 1, 1],
    "not_equal": [1, 0, 1],
    "less_equal": [1, 1, 0],
    "one to many": [1, 0, 0],
    "select": [1, 10, 200, 1000, 10000],
}
