"""What layers end with.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C

row = [[-1, -0.5, 0, 1, 2]]
answers = {
    "relu": C.relu(row).eval(),
    "elu": C.elu(row).eval(),
    "leaky_relu": C.leaky_relu(row).eval(),
    "softplus": C.softplus(row).eval(),
    "steep": C.softplus(row, steepness=4).eval(),
    "sigmoid": C.sigmoid([-2, -1.0, 0.0, 1.0, 2.0]).eval(),
    "tanh": C.tanh([[1, 2], [3, 4]]).eval(),
}

# As cited above.
documented = {
    "relu": [[0, 0, 0, 1, 2]],
    "elu": [[-0.632121, -0.393469, 0, 1, 2]],
    "leaky_relu": [[-0.01, -0.005, 0, 1, 2]],
    "softplus": [[0.313262, 0.474077, 0.693147, 1.313262, 2.126928]],
    "steep": [[0.004537, 0.031732, 0.173287, 1.004537, 2.000084]],
    "sigmoid": [0.119203, 0.268941, 0.5, 0.731059, 0.880797],
    "tanh": [[0.761594, 0.964028], [0.995055, 0.999329]],
}
