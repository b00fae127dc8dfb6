"""Sums, means and extremes: of all, along one axis, along several."""

import numpy as np
import theano
import theano.tensor as T

m, t = T.dmatrix("m"), T.dtensor3("t")
data = np.arange(6.0).reshape(2, 3) * [1, -1, 2]
cube = np.arange(24.0).reshape(2, 3, 4)
answers = {
    "sum": [T.sum(m).eval({m: data}), m.sum(axis=0).eval({m: data})],
    "two axes": t.sum(axis=(0, 2)).eval({t: cube}),
    "mean": [m.mean().eval({m: data}), T.mean(m, axis=1).eval({m: data})],
    "extremes": [m.max(axis=1).eval({m: data}), T.min(m).eval({m: data})],
    "argmax": [T.argmax(m, axis=1).eval({m: data}), m.argmax().eval({m: data})],
    "var": [m.var().eval({m: data}), T.std(m, axis=0).eval({m: data})],
    "prod": T.prod(m + 1, axis=1).eval({m: data}),
    "all": [T.all(m > -10).eval({m: data}), T.any(m > 10).eval({m: data})],
    "cumsum": T.cumsum(m, axis=1).eval({m: data}),
    "keepdims": T.max(m, axis=1, keepdims=True).eval({m: data}),
    "ndim": [m.sum(axis=0).ndim, t.mean(axis=(0, 1)).ndim, T.sum(t).ndim],
}
