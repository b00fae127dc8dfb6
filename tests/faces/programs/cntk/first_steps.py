"""Arrays in, arrays out: a node of constants is evaluated as it stands.

https://github.com/microsoft/CNTK/blob/005c5c681f54ebdd86b42a710144a9fbdc2c15c0/bindings/python/doc/gettingstarted.rst
https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C

answers = {
    "minus": C.minus([1, 2, 3], [4, 5, 6]).eval(),
    "a number": C.minus([[1, 2], [3, 4]], 1).eval(),
    "kind": str(C.minus([1, 2, 3], [4, 5, 6]).eval().dtype),
}

# As cited above.
documented = {"minus": [-3, -3, -3], "a number": [[0, 1], [2, 3]], "kind": "float32"}
