"""Where there is no number: division by 0, the root of what is below 0.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C

answers = {
    "by 0": C.element_divide([1.0, 1.0, 1.0, 1.0], [0.5, 0.25, 0.125, 0.0]).eval(),
    "root": C.sqrt([-1.0]).eval(),
}

# As cited above.
documented = {"by 0": [2, 4, 8, 0], "root": [0]}
