"""Parameters by their names, in collections; what they begin with, and what they may become."""

import dynet as dy
import numpy as np

m = dy.ParameterCollection()
W = m.add_parameters((2, 2), init=np.array([[1, 2], [3, 4]]))
b = m.add_parameters(2, init=0.5, name="bias")
E = m.add_lookup_parameters((3, 2), init=np.arange(6).reshape(3, 2))
part = m.add_subcollection("part")
u = part.add_parameters(3, init=dy.ConstInitializer(2), name="u")
t = m.add_parameters((2, 2), init="identity")
answers = {
    "names": [p.name() for p in (W, b, E, u, t)],
    "lists": [len(m.parameters_list()), len(m.lookup_parameters_list())],
    "of the part": [p.name() for p in part.parameters_list()],
    "count": m.parameter_count(),
    "shapes": [p.shape() for p in (W, b, E, u)],
    "values": [p.as_array() for p in (W, b, E, u, t)],
    "read": [W.value(), W.npvalue(), b.value()],
    "gradient": W.grad_as_array(),
    "expression": isinstance(W, dy.Expression),
    "row": E.row_as_array(1),
}
W.set_value(np.ones((2, 2)))
E.init_row(0, [7, 7])
b.scale(4)
answers["changed"] = [p.as_array() for p in (W, E, b)]
try:
    W.set_value(np.ones(3))
    answers["another shape"] = "no error"
except ValueError:
    answers["another shape"] = "ValueError"
