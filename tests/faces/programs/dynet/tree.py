"""Recursion over trees: another graph for each, and one gradient for the weights they share."""

import dynet as dy
import numpy as np

m = dy.ParameterCollection()
W = m.add_parameters((2, 4), init=np.sin(np.arange(8)).reshape(2, 4))
E = m.add_lookup_parameters((4, 2), init=np.cos(np.arange(8)).reshape(4, 2))


def encode(tree):
    if isinstance(tree, int):
        return E[tree]
    return dy.tanh(W * dy.concatenate([encode(branch) for branch in tree]))


answers = {"roots": []}
for tree in (((0, 1), 2), (0, (1, (2, 3))), (3, 3)):
    dy.renew_cg()
    root = encode(tree)
    answers["roots"].append(root.value())
    dy.sum_elems(root).backward()
answers["dW"], answers["dE"] = W.grad_as_array(), E.grad_as_array()
