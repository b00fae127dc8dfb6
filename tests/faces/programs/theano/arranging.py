"""Axes: exchanged, joined, put in, taken out, cut; lengths that are known when it runs."""

import numpy as np
import theano
import theano.tensor as T

m, t, v, i = T.dmatrix("m"), T.dtensor3("t"), T.dvector("v"), T.lscalar("i")
data, cube = np.arange(6.0).reshape(2, 3), np.arange(24.0).reshape(2, 3, 4)
answers = {
    "T": m.T.eval({m: data}),
    "dimshuffle": t.dimshuffle(2, 0, 1).eval({t: cube}).shape,
    "swapaxes": t.swapaxes(0, 2).eval({t: cube}).shape,
    "flatten": m.flatten().eval({m: data}),
    "reshape": m.reshape((3, 2)).eval({m: data}),
    "reshape by shape": t.reshape((t.shape[0], 12)).eval({t: cube}).shape,
    "concatenate": T.concatenate([m, m], axis=1).eval({m: data}),
    "stack": [T.stack([v, v]).eval({v: [1, 2]}), T.stack([v, v], axis=1).eval({v: [1, 2]})],
    "shape": [m.shape.eval({m: data}), m.shape[1].eval({m: data}), m.size.eval({m: data})],
    "index": [m[0].eval({m: data}), m[1, 2].eval({m: data}), m[:, 1:].eval({m: data})],
    "backwards": v[::-1].eval({v: [1, 2, 3]}),
    "by a variable": theano.function([m, i], m[i])(data, 1),
    "by positions": m[:, [2, 0]].eval({m: data}),
    "new axis": m[:, None, :].eval({m: data}).shape,
    "padleft": T.shape_padleft(v).eval({v: [1, 2]}).shape,
    "arange": T.arange(v.shape[0]).eval({v: [5, 6, 7]}),
    "zeros": T.zeros((v.shape[0], 2)).eval({v: [5, 6, 7]}).shape,
    "like": [T.zeros_like(m).eval({m: data}), T.ones_like(v).eval({v: [1, 2]})],
    "alloc": T.alloc(0.5, 2, v.shape[0]).eval({v: [5, 6, 7]}),
}
