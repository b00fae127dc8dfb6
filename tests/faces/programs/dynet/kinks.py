"""Where a function has a corner or a tie: which gradient there is, and which logarithm of 0."""

import dynet as dy
import numpy as np

AT = [-1.0, 0.0, 1.0, 2.0, -2.0, 0.5]
BESIDE = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]
TIED = [[1.0, 2.0, 2.0], [3.0, 3.0, 0.0], [3.0, 2.0, 0.0]]


def slope(f, *values):
    dy.renew_cg()
    m = dy.ParameterCollection()
    xs = [m.add_parameters(np.shape(v), init=dy.NumpyInitializer(np.array(v))) for v in values]
    dy.sum_elems(f(*xs)).backward()
    return [x.grad_as_array() for x in xs]


p, t = [0.0, 1.0, 0.5, 1.0, 0.0, 0.5], [0.0, 1.0, 0.5, 0.0, 1.0, 1.0]
answers = {
    "bmax": slope(dy.bmax, AT, BESIDE),
    "bmin": slope(dy.bmin, AT, BESIDE),
    "emax": slope(lambda x, y: dy.emax([x, y]), AT, BESIDE),
    "max_dim": [slope(lambda x, d=d: dy.max_dim(x, d), TIED) for d in (0, 1)],
    "min_dim": slope(lambda x: dy.min_dim(x, 0), TIED),
    "abs": slope(dy.abs, AT),
    "rectify": slope(dy.rectify, AT),
    "elu": slope(dy.elu, AT),
    "softsign": slope(dy.softsign, AT),
    "hinge": slope(lambda x: dy.hinge(x, 1), [1.0, 2.0, 3.0, 1.0]),
    "l1_distance": slope(dy.l1_distance, AT, BESIDE),
    "l2_norm": slope(dy.l2_norm, [0.0, 0.0]),
    "std_elems": slope(dy.std_elems, [2.0, 2.0]),
    "power at 0": slope(lambda x: dy.pow(x, dy.scalarInput(0)), AT),
    "square": slope(lambda x: dy.pow(x, dy.scalarInput(2)), AT),
    "square root at 0": slope(dy.sqrt, [0.0, 4.0]),
    "entropy": slope(lambda x: dy.binary_log_loss(x, dy.inputVector(t)) * 1e-30, p),
    "entropy of classes": slope(lambda x: dy.pickneglogsoftmax(x, 1), [200.0, -200.0]),
}
dy.renew_cg()
answers["entropy, value"] = dy.binary_log_loss(dy.inputVector(p), dy.inputVector(t)).value()
