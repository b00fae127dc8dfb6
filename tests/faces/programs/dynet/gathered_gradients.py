"""Gradients of parameters add up until an update; so do those of two ways back in one graph."""

import dynet as dy
import numpy as np

m = dy.ParameterCollection()
W = m.add_parameters((1, 2), init=np.array([[1, 2]]))
dy.renew_cg()
loss = W * dy.inputVector([3, 4])
loss.backward()
answers = {"once": W.grad_as_array()}
loss.backward()
answers["twice"] = W.grad_as_array()
dy.renew_cg()
dy.square(W * dy.inputVector([1, 0])).backward()
answers["another graph"] = W.grad_as_array()
trainer = dy.SimpleSGDTrainer(m)
trainer.update()
answers["after an update"] = W.grad_as_array()
answers["parameters"] = W.as_array()
