"""Images have their channels last; a filter larger than its image is refused."""

import dynet as dy
import numpy as np

dy.renew_cg()
x = dy.inputTensor(np.arange(16).reshape(4, 4, 1))
f = dy.inputTensor(np.arange(18).reshape(3, 3, 1, 2))
inside, whole = dy.conv2d(x, f, [1, 1]), dy.conv2d(x, f, [1, 1], is_valid=False)
answers = {
    "inside": (inside.dim(), inside.npvalue()),
    "whole": (whole.dim(), whole.npvalue()),
    "pooled": dy.maxpooling2d(x, [2, 2], [2, 2]).npvalue(),
    "one channel": dy.conv2d(dy.inputTensor(np.ones((16, 16))), f, [1, 1]).dim(),
}
image = dy.inputTensor(np.ones((16, 16, 1)))
layer = dy.inputTensor(np.ones((3, 3, 1, 1)))
sizes = []
try:
    for _ in range(10):
        image = dy.conv2d(image, layer, [1, 1])
        sizes.append(image.dim()[0])
    answers["too small"] = "no error"
except ValueError:
    answers["too small"] = "ValueError"
answers["sizes"] = sizes
