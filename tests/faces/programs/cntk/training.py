"""A trainer's step, and an output that is asked for along with it.

https://github.com/microsoft/CNTK/blob/0bf473e874b1a5ffa48e442733e2789d24594bdc/bindings/python/cntk/tests/trainer_test.py
"""

import cntk as C

x, labels = C.input_variable(1), C.input_variable(1)
p = C.parameter(shape=(2,), init=10)
z = C.plus(x, C.reduce_sum(p), name="z")
loss, errors = C.cross_entropy_with_softmax(z, labels), C.classification_error(z, labels)
rate = C.learners.learning_rate_schedule(0.007, C.learners.UnitType.sample)
trainer = C.Trainer(z, (loss, errors), [C.learners.momentum_sgd(z.parameters, rate, 0.9)])
updated, outputs = trainer.train_minibatch({x: [[1.0], [2.0]], labels: [[0.0], [1.0]]}, [z.output])
answers = {
    "output": outputs[z.output],
    "name": trainer.model.name,
    "kind": isinstance(trainer.model, C.Function),
    "learner": isinstance(trainer.parameter_learners[0], C.learners.Learner),
}

# As cited above.
documented = {"output": [[21], [22]], "name": "z", "kind": True, "learner": True}
