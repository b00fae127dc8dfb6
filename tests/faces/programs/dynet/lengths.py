"""A tagger for sentences of any length: each is a graph of its own, and nothing is padded."""

import dynet as dy
import numpy as np

m = dy.ParameterCollection()
E = m.add_lookup_parameters((5, 2), init=np.sin(np.arange(10)).reshape(5, 2))
network = dy.LSTMBuilder(1, 2, 3, m)
W = m.add_parameters((2, 3), init=np.cos(np.arange(6)).reshape(2, 3))
for k, p in enumerate(network.get_parameters()[0]):
    p.set_value(np.sin(np.arange(np.prod(p.shape())) + k).reshape(p.shape()))
trainer = dy.SimpleSGDTrainer(m)
losses = []
for words, tags in (([0, 1, 2], [0, 1, 1]), ([3, 4], [1, 0]), ([1] * 5, [0] * 5)):
    dy.renew_cg()
    outputs = network.initial_state().transduce([E[w] for w in words])
    loss = dy.esum([dy.pickneglogsoftmax(W * h, t) for h, t in zip(outputs, tags, strict=True)])
    losses.append(loss.value())
    loss.backward()
    trainer.update()
answers = {"losses": losses, "W": W.as_array(), "E": E.as_array()}
