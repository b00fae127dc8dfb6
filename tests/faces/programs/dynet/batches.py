"""Samples stand in a dimension of their own, the last of what one sees."""

import dynet as dy
import numpy as np

dy.renew_cg()
W = dy.inputTensor(np.arange(6).reshape(2, 3))
x = dy.inputTensor(np.arange(6).reshape(3, 2), batched=True)
y = W * x
answers = {
    "dimensions": [x.dim(), y.dim(), dy.sum_elems(x).dim()],
    "product": y.npvalue(),
    "value": x.value(),
    "with one vector": (x + dy.inputVector([1, 1, 1])).npvalue(),
    "each": dy.cmult(x, dy.inputVector([1, 2, 3])).npvalue(),
    "over samples": [dy.sum_batches(x).value(), dy.mean_batches(x).value()],
    "losses": dy.pickneglogsoftmax_batch(x, [0, 1]).npvalue(),
    "picked": dy.pick_batch(x, [0, 1]).npvalue(),
    "sample": dy.pick_batch_elem(x, 1).value(),
    "samples": dy.pick_batch_elems(x, [1, 0]).npvalue(),
    "of a list": dy.inputTensor([np.ones(3), np.zeros(3)], batched=True).npvalue(),
    "joined": dy.concatenate_to_batch([dy.inputVector([1, 2]), dy.inputVector([3, 4])]).npvalue(),
    "reshape": dy.reshape(x, (1, 3)).dim(),
    "sum_dim": dy.sum_dim(x, [0]).npvalue(),
}
m = dy.ParameterCollection()
E = m.add_lookup_parameters((3, 2), init=np.arange(6).reshape(3, 2))
answers["lookup_batch"] = dy.lookup_batch(E, [0, 2, 2]).npvalue()
loss = dy.sum_batches(dy.squared_norm(dy.lookup_batch(E, [0, 2, 2])))
loss.backward()
answers["gradient"] = E.grad_as_array()
try:
    dy.sum_elems(x).backward()
    answers["backward of samples"] = "no error"
except ValueError:
    answers["backward of samples"] = "ValueError"
