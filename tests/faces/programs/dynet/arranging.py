"""Axes: by columns where shapes change, joined, cut, reduced."""

import dynet as dy

dy.renew_cg()
A, v = dy.inputTensor([[1, 2, 3], [4, 5, 6]]), dy.inputVector([1, 2, 3])
answers = {
    "reshape": dy.reshape(A, (3, 2)).npvalue(),
    "flat": dy.reshape(A, (6,)).value(),
    "transpose": dy.transpose(A).npvalue(),
    "row of a vector": dy.transpose(v).dim(),
    "concatenate": dy.concatenate([v, dy.scalarInput(9)]).value(),
    "beside": dy.concatenate([A, A], d=1).npvalue(),
    "columns": dy.concatenate_cols([v, v]).npvalue(),
    "pick": [dy.pick(v, 1).value(), dy.pick(A, 1).value(), dy.pick(A, 1, 1).value()],
    "index": [v[0].value(), v[-1].value(), A[0].value(), v[0:2].value(), v[::2].value()],
    "iterated": [x.value() for x in v],
    "pick_range": [dy.pick_range(v, 0, 2).value(), dy.pick_range(A, 0, 2, 1).npvalue()],
    "select": [dy.select_rows(A, [1]).npvalue(), dy.select_cols(A, [0, 2]).npvalue()],
    "sums": [dy.sum_elems(A).value(), dy.sum_dim(A, [0]).value(), dy.sum_dim(A, [0, 1]).value()],
    "means": [dy.mean_elems(A).value(), dy.mean_dim(A, [0], False).value()],
    "extremes": [dy.max_dim(A).value(), dy.max_dim(A, 1).value(), dy.min_dim(A, d=1).value()],
    "cumsum": [dy.cumsum(v).value(), dy.cumsum(A, 1).npvalue()],
}
