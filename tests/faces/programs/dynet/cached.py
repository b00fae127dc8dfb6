"""A value is kept in its graph: after an update only a calculation anew shows the difference."""

import dynet as dy
import numpy as np

m = dy.ParameterCollection()
W = m.add_parameters(2, init=np.array([1.0, 2.0]))
trainer = dy.SimpleSGDTrainer(m, learning_rate=0.25)
dy.renew_cg()
loss = dy.squared_norm(W)
answers = {"before": loss.value()}
loss.backward()
trainer.update()
answers["kept"] = loss.value()
answers["anew"] = loss.value(recalculate=True)
answers["parameters"] = W.value()
