"""The network that everybody begins with: XOR, eight hidden units, a sigmoid and a log loss."""

import dynet as dy
import numpy as np

m = dy.ParameterCollection()
W = m.add_parameters((8, 2), init=np.sin(np.arange(16)).reshape(8, 2))
V = m.add_parameters((1, 8), init=np.cos(np.arange(8)).reshape(1, 8))
b = m.add_parameters(8, init=np.linspace(-1, 1, 8))
trainer = dy.SimpleSGDTrainer(m)
dy.renew_cg()
x, y = dy.vecInput(2), dy.scalarInput(0)
output = dy.logistic(V * dy.tanh(W * x + b))
loss = dy.binary_log_loss(output, y)
questions = [((0, 0), 0), ((0, 1), 1), ((1, 0), 1), ((1, 1), 0)] * 5
seen = []
for values, answer in questions:
    x.set(values)
    y.set(answer)
    seen.append(loss.value())
    loss.backward()
    trainer.update()
x.set((1, 0))
answers = {"losses": seen, "answer": output.value(recalculate=True), "V": V.as_array()}
