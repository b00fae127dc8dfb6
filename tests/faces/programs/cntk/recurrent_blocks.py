"""LSTM, GRU and a plain step: what they compute, and the shapes of their parameters.

https://github.com/microsoft/CNTK/blob/023da48674dfd208682e2e8787348f4e4e577593/bindings/python/cntk/layers/tests/layers_test.py
"""

import cntk as C
import numpy as np

x = C.sequence.input_variable(4)
data = np.arange(16.0).reshape(1, 4, 4)
answers = {}
for block in (C.layers.LSTM, C.layers.GRU, C.layers.RNNStep):
    net = C.layers.Recurrence(block(5, init=0.1))(x)
    found = net.eval({x: data})[0]
    answers[block.__name__] = found[:, 0]
    answers[block.__name__ + " alike"] = bool(np.ptp(found, axis=1).max() < 1e-6)
    answers[block.__name__ + " shapes"] = net.b.shape, net.W.shape, net.H.shape

# As cited above.
documented = {
    "LSTM": [0.21532, 0.760161, 0.95975, 0.993661],
    "LSTM alike": True,
    "LSTM shapes": [[20], [4, 20], [5, 20]],
    "GRU": [0.1903, 0.262537, 0.276712, 0.279545],
    "GRU alike": True,
    "GRU shapes": [[15], [4, 15], [5, 10]],
    "RNNStep": [0.645656, 0.925727, 0.986114, 0.997249],
    "RNNStep alike": True,
    "RNNStep shapes": [[5], [4, 5], [5, 5]],
}
