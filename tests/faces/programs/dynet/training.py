"""Gradient descent to a plane: a graph for each sample."""

import dynet as dy

m = dy.ParameterCollection()
W, b = m.add_parameters((1, 2), init=0.1), m.add_parameters(1, init=0.0)
trainer = dy.SimpleSGDTrainer(m, learning_rate=0.05)
data = [([1.0, 2.0], 3.0), ([2.0, -1.0], 0.5), ([0.0, 1.0], 1.0)]
losses = []
for _ in range(5):
    total = 0.0
    for xs, y in data:
        dy.renew_cg()
        loss = dy.squared_distance(W * dy.inputVector(xs) + b, dy.scalarInput(y))
        total += loss.value()
        loss.backward()
        trainer.update()
    losses.append(total)
answers = {"losses": losses, "W": W.as_array(), "b": b.as_array()}
