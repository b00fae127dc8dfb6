"""A table of words: only the rows that were looked up change."""

import dynet as dy
import numpy as np

answers = {}
for kind in (dy.SimpleSGDTrainer, dy.MomentumSGDTrainer):
    m = dy.ParameterCollection()
    E = m.add_lookup_parameters((4, 2), init=np.arange(8).reshape(4, 2) / 10)
    trainer = kind(m, learning_rate=0.1)
    seen = []
    for words in ([1, 2], [2, 2], [0, 2]):
        dy.renew_cg()
        loss = dy.esum([dy.squared_norm(E[i]) for i in words])
        loss.backward()
        seen.append(E.grad_as_array())
        trainer.update()
        seen.append(E.as_array())
    answers[kind.__name__] = seen
dy.renew_cg()
answers["lookup"] = dy.lookup(E, 3).value()
dy.squared_norm(dy.lookup(E, 3, update=False)).backward()
answers["not updated"] = E.grad_as_array()
E.set_updated(False)
answers["is_updated"] = E.is_updated()
try:
    E[9].value()
    answers["no such row"] = "no error"
except ValueError:
    answers["no such row"] = "ValueError"
