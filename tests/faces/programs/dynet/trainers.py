"""Four steps of each trainer; in the third, one parameter is left out and has the gradient 0."""

import dynet as dy
import numpy as np

answers = {}
for kind, options in (
    (dy.SimpleSGDTrainer, {}),
    (dy.MomentumSGDTrainer, {"learning_rate": 0.05}),
    (dy.AdamTrainer, {"alpha": 0.1}),
):
    m = dy.ParameterCollection()
    p, q = (m.add_parameters(2, init=np.array([1.0, 2.0])) for _ in range(2))
    trainer = kind(m, **options)
    seen = []
    for step in range(4):
        dy.renew_cg()
        loss = dy.squared_norm(p) if step == 2 else dy.squared_norm(p) + dy.squared_norm(q)
        loss.backward()
        trainer.update()
        seen.append((p.as_array(), q.as_array()))
    answers[kind.__name__] = seen
trainer.learning_rate = 0.5
answers["rate"] = trainer.learning_rate
