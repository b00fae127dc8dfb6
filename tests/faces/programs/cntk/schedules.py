"""Rates that change with the samples: a number, one for each epoch, or so many epochs of each.

https://github.com/microsoft/CNTK/blob/0130a474e1ff9258476fd32b890f893d54ce0388/bindings/python/cntk/learners/__init__.py
https://github.com/microsoft/CNTK/blob/029a9be189eed6319871b8f47a110680ae505b8f/bindings/python/cntk/learners/tests/learner_test.py
"""

import cntk as C

sample = C.learners.UnitType.sample
plain = C.learners.training_parameter_schedule(0.01, sample)
two = C.learners.training_parameter_schedule([0.01, 0.001], sample, 1000)
three = C.learners.training_parameter_schedule([(12, 0.1), (15, 0.01), (1, 0.001)], sample, 100)
momentum = C.learners.momentum_schedule([0.99, 0.9], 1000)
by_sample = C.learners.momentum_schedule([(999, 0.99), (888, 0.88), (0, 0.77)])
answers = {
    "plain": [plain[0], plain[1]],
    "two": [two[i] for i in (0, 1, 1000, 1001)],
    "three": [three[i] for i in (0, 1199, 1200, 2699, 2700, 5000)],
    "momentum": [momentum[i] for i in (0, 999, 1000, 1001)],
    "by the sample": [by_sample[i] for i in (0, 998, 999, 999 + 888 - 1, 999 + 888)],
}
try:
    C.learners.training_parameter_schedule(0.01, unit="not_supported")
    answers["unit"] = "no error"
except ValueError:
    answers["unit"] = "ValueError"

# As cited above.
documented = {
    "plain": [0.01, 0.01],
    "two": [0.01, 0.01, 0.001, 0.001],
    "three": [0.1, 0.1, 0.01, 0.01, 0.001, 0.001],
    "momentum": [0.99, 0.99, 0.9, 0.9],
    "by the sample": [0.99, 0.99, 0.88, 0.88, 0.77],
    "unit": "ValueError",
}
