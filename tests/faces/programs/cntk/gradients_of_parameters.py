"""The gradient of the sum of all values, by parameters without axes and with one.

https://github.com/microsoft/CNTK/blob/029a9be189eed6319871b8f47a110680ae505b8f/bindings/python/cntk/learners/tests/learner_test.py
"""

import cntk as C
import numpy as np

x = C.input_variable(2)
number, vector = C.parameter(()), C.parameter(2)
answers = {}
for name, w in {"number": number, "vector": vector}.items():
    w.value = (x + w).grad({x: np.array([1, 2.0])}, wrt=[w])
    answers[name] = w.value

# As cited above.
documented = {"number": 2, "vector": [1, 1]}
