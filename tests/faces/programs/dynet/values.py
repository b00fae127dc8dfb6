"""What a value is: a number, the list of a vector, the array of a matrix; vec_value by columns."""

import dynet as dy

dy.renew_cg()
s, v, m = dy.scalarInput(2), dy.inputVector([1, 2, 3]), dy.inputTensor([[1, 2, 3], [4, 5, 6]])
answers = {
    "value": [s.value(), v.value(), m.value()],
    "kinds": [type(x.value()).__name__ for x in (s, v, m)],
    "npvalue": [s.npvalue(), v.npvalue(), m.npvalue()],
    "vec_value": [s.vec_value(), v.vec_value(), m.vec_value()],
    "scalar_value": s.scalar_value(),
    "dim": [s.dim(), v.dim(), m.dim()],
    "several": dy.values([s, v]),
    "truth": bool(s),
}
