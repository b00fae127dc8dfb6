"""A learner's rate follows its schedule; a step goes against the gradient.

https://github.com/microsoft/CNTK/blob/029a9be189eed6319871b8f47a110680ae505b8f/bindings/python/cntk/learners/tests/learner_test.py
"""

import cntk as C
import numpy as np

x = C.input_variable(shape=1, needs_gradient=True, name="a")
w = C.parameter(shape=1, init=1)
z = x * w
rates = C.learners.learning_rate_schedule([0.1] * 50 + [0.2] * 50, C.learners.UnitType.sample, 1)
learner = C.learners.sgd(z.parameters, lr=rates)
before = learner.learning_rate()
learner.update({w: np.array([[2.0]])}, 100)
answers = {
    "rates": [before, learner.learning_rate()],
    "lower": bool(w.value < 1),
    "parameters": len(learner.parameters) == 1 and isinstance(learner.parameters[0], C.Parameter),
}
learner.reset_learning_rate(
    C.learners.learning_rate_schedule([1, 2, 3], C.learners.UnitType.minibatch)
)
answers["reset"] = learner.learning_rate()
try:
    C.learners.sgd([], rates)
    answers["no parameters"] = "no error"
except ValueError:
    answers["no parameters"] = "ValueError"

# As cited above.
documented = {
    "rates": [0.1, 0.2],
    "lower": True,
    "parameters": True,
    "reset": 1.0,
    "no parameters": "ValueError",
}
