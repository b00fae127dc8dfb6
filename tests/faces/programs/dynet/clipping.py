"""Gradients longer than 5 together are shortened, unless one says otherwise."""

import dynet as dy
import numpy as np

answers = {}
for threshold in (None, 0, 1):
    m = dy.ParameterCollection()
    W = m.add_parameters(2, init=np.array([3.0, 4.0]))
    trainer = dy.SimpleSGDTrainer(m)
    if threshold is not None:
        trainer.set_clip_threshold(threshold)
    dy.renew_cg()
    dy.squared_norm(W).backward()
    trainer.update()
    answers[str(threshold)] = W.as_array()
answers["threshold"] = dy.SimpleSGDTrainer(dy.Model()).get_clip_threshold()
