"""Many samples in one graph, written one by one: with and without automatic batching the same."""

import dynet as dy
import numpy as np
from dynet import dynet_config

m = dy.ParameterCollection()
E = m.add_lookup_parameters((5, 3), init=np.sin(np.arange(15)).reshape(5, 3))
W, U = (m.add_parameters((3, 3), init=np.cos(np.arange(9) + k).reshape(3, 3)) for k in (0, 9))


def encode(words):
    h = dy.zeros(3)
    for w in words:
        h = dy.tanh(W * E[w] + U * h)
    return h


answers = {}
for setting in (0, 1):
    dynet_config.set(autobatch=setting)
    dy.renew_cg()
    sentences = ([0, 1, 2], [3, 4], [1, 1, 1, 2], [4])
    losses = [dy.pickneglogsoftmax(encode(words), k % 3) for k, words in enumerate(sentences)]
    loss = dy.esum(losses)
    answers["loss", setting] = loss.value()
    loss.backward()
    answers["dW", setting], answers["dE", setting] = W.grad_as_array(), E.grad_as_array()
    trainer = dy.SimpleSGDTrainer(m)
    trainer.update()
dynet_config.set()
