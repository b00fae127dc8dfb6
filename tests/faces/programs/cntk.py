"""Programs in the words of CNTK: each cell is one, and binds what it finds to `answers`."""

# %% activations
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


# %% along_sequences
"""The largest of each sequence, and softmax along it, are what NumPy makes of the items.

https://github.com/microsoft/CNTK/blob/00ea32a8d920e077eb59491001781f5c24680771/bindings/python/cntk/ops/tests/sequence_test.py
"""

import cntk as C
import numpy as np

numbers = np.sin(np.arange(24.0)).reshape(2, 4, 3)
x = C.sequence.input_variable(3)
powers = np.exp(numbers)
answers = {}
for sign in (1, -1):
    found = C.sequence.reduce_max(x).eval({x: sign * numbers})
    answers["largest" if sign > 0 else "smallest"] = bool(
        np.allclose(found, (sign * numbers).max(1))
    )
found = C.sequence.softmax(x).eval({x: numbers})
answers["softmax"] = bool(np.allclose(found, powers / powers.sum(1, keepdims=True), atol=1e-6))

# As cited above.
documented = {"largest": True, "smallest": True, "softmax": True}


# %% arranging
"""Static axes: another shape, exchanged, cut, joined.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C
import numpy as np

x, y = C.input_variable((3, 2)), C.input_variable((2, 3))
one, two = np.array([[[1, 2], [4, 5.0]]]), np.array([[[10, 20], [30, 40], [50, 60.0]]])
table = np.array([[1, 2, -3], [4, 5, 6.0]])
answers = {
    "reshape": C.reshape(x, (2, 3)).eval({x: np.arange(6.0).reshape(1, 3, 2)}),
    "transpose": C.transpose([[[0, 1], [2, 3], [4, 5]]], 1, 2).eval(),
    "row of an input": C.slice(y, 0, 1, 2).eval({y: [table]}),
    "column of an input": C.slice(y, 1, 0, 1).eval({y: [table]}),
    "row": C.slice(C.constant(table), 0, 1, 2).eval(),
    "splice": C.splice(C.constant(one), C.constant(two), axis=1).eval(),
}

# As cited above.
documented = {
    "reshape": [[[0, 1, 2], [3, 4, 5]]],
    "transpose": [[[0, 2, 4], [1, 3, 5]]],
    "row of an input": [[[4, 5, 6]]],
    "column of an input": [[[1], [4]]],
    "row": [[4, 5, 6]],
    "splice": [[[1, 2], [4, 5], [10, 20], [30, 40], [50, 60]]],
}


# %% broadcast_as
"""A value for each sequence, repeated at each of its items.

https://github.com/microsoft/CNTK/blob/cd2dc9e9e89b2f6372d3bb83f9bec03c5cc9009a/bindings/python/cntk/ops/sequence/__init__.py
"""

import cntk as C
import numpy as np

x = C.sequence.input_variable((3, 2))
repeated = C.sequence.broadcast_as(C.sequence.last(x), C.sequence.is_first(x))
answers = {"repeated": repeated.eval({x: np.arange(24.0).reshape(1, 4, 3, 2)})}

# As cited above.
documented = {
    "repeated": [
        [
            [[18, 19], [20, 21], [22, 23]],
            [[18, 19], [20, 21], [22, 23]],
            [[18, 19], [20, 21], [22, 23]],
            [[18, 19], [20, 21], [22, 23]],
        ]
    ]
}


# %% broadcasting
"""Axes of length 1 are repeated; sums and products take more than two operands.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
https://github.com/microsoft/CNTK/blob/0d2879eab5a3f96621c908f4df28ef0fe63cbbd7/bindings/python/doc/concepts.rst
"""

import cntk as C

answers = {
    "number": C.element_times([2, 3], 2).eval(),
    "two": C.plus([1, 2, 3], [4, 5, 6]).eval(),
    "one to many": C.plus([-5, -4, -3, -2, -1], [10]).eval(),
    "five": C.plus([-5, -4, -3, -2, -1], [10], [3, 2, 3, 2, 3], [-13], [+42], "named").eval(),
    "product": C.element_times([5.0, 10.0, 15.0, 30.0], [2.0], [1.0, 2.0, 1.0, 2.0]).eval(),
    "quotient": C.element_divide([5.0, 10.0, 15.0, 30.0], [2.0]).eval(),
}

# As cited above.
documented = {
    "number": [4, 6],
    "two": [5, 7, 9],
    "one to many": [5, 6, 7, 8, 9],
    "five": [37, 37, 39, 39, 41],
    "product": [10, 40, 30, 120],
    "quotient": [2.5, 5, 7.5, 15],
}


# %% classification_error
"""1 where the largest score is not at the label, else 0.

https://github.com/microsoft/CNTK/blob/0265cb5dfc6c755d8e2e4c5602aa25bde91ea66a/bindings/python/cntk/metrics/__init__.py
"""

import cntk as C

scores = [[1.0, 2.0, 3.0, 4.0]]
LABELS = {"right": [[0, 0, 0, 1.0]], "wrong": [[0, 0, 1.0, 0]], "not 1": [[5.0, 0, 1.0, 0]]}
answers = {name: C.classification_error(scores, label).eval() for name, label in LABELS.items()}

# As cited above.
documented = {"right": [[0]], "wrong": [[1]], "not 1": [[1]]}


# %% combine
"""Two functions of the same inputs, evaluated together.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C
import numpy as np

a, b = C.input_variable(4), C.input_variable(4)
total, difference = a + b, a - b
found = C.combine([total, difference]).eval({a: [[1.0, 2, 3, 4]], b: [[0.0, 5, -3, 2]]})
answers = {
    "count": len(found),
    "sum": np.ravel(found[total.output]),
    "difference": np.ravel(found[difference.output]),
}

# As cited above.
documented = {"count": 2, "sum": [1, 7, 0, 6], "difference": [1, -3, 6, 2]}


# %% comparisons
"""Comparisons answer 1 and 0.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C

NAMES = ["less", "equal", "greater", "greater_equal", "not_equal", "less_equal"]
answers = {name: getattr(C, name)([41.0, 42.0, 43.0], [42.0, 42.0, 42.0]).eval() for name in NAMES}
answers["one to many"] = C.less([-1, 0, 1], [0]).eval()
answers["select"] = C.element_select(
    [-10, -1, 0, 0.3, 100], [1, 10, 100, 1000, 10000], [2, 20, 200, 2000, 20000]
).eval()

# As cited above.
documented = {
    "less": [1, 0, 0],
    "equal": [0, 1, 0],
    "greater": [0, 0, 1],
    "greater_equal": [0, 1, 1],
    "not_equal": [1, 0, 1],
    "less_equal": [1, 1, 0],
    "one to many": [1, 0, 0],
    "select": [1, 10, 200, 1000, 10000],
}


# %% convolution
"""Images have their channels first: convolved, and pooled.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C
import numpy as np

image = C.input_variable((1, 5, 5))
kernel = C.constant(np.array([2, -1, -1, 2.0]).reshape(1, 2, 2))
small = C.input_variable((1, 4, 4))
numbers = [np.arange(16.0).reshape(1, 4, 4)]
convolved = C.convolution(kernel, image, auto_padding=[False])
answers = {
    "convolved": np.squeeze(convolved.eval({image: [np.arange(25.0).reshape(1, 5, 5)]})),
    "mean": np.squeeze(C.pooling(small, C.AVG_POOLING, (2, 2), (2, 2)).eval({small: numbers})),
    "largest": np.squeeze(C.pooling(small, C.MAX_POOLING, (2, 2), (2, 2)).eval({small: numbers})),
}

# As cited above.
documented = {
    "convolved": [[6, 8, 10, 12], [16, 18, 20, 22], [26, 28, 30, 32], [36, 38, 40, 42]],
    "mean": [[2.5, 4.5], [10.5, 12.5]],
    "largest": [[5, 7], [13, 15]],
}


# %% cross_entropy
"""Cross entropy with softmax: of one class, and of any distribution.

https://github.com/microsoft/CNTK/blob/025da90332d626c58b076f00acaa61d0aa0bab5a/bindings/python/cntk/losses/__init__.py
"""

import cntk as C

loss = C.cross_entropy_with_softmax
answers = {
    "certain": loss([[1.0, 1.0, 1.0, 50.0]], [[0.0, 0.0, 0.0, 1.0]]).eval(),
    "distribution": loss([[1.0, 2.0, 3.0, 4.0]], [[0.35, 0.15, 0.05, 0.45]]).eval(),
}

# As cited above.
documented = {"certain": [[0]], "distribution": [[1.84019]]}


# %% cumulative_sum
"""Any function of a state and an item can be a recurrence: a running sum.

https://github.com/microsoft/CNTK/blob/0265cb5dfc6c755d8e2e4c5602aa25bde91ea66a/bindings/python/cntk/layers/sequence.py
"""

import cntk as C
import numpy as np

x = C.sequence.input_variable(2)
running = C.layers.Recurrence(C.plus, initial_state=C.constant([0, 0.5]))
answers = {"sums": running(x).eval({x: [np.array([[3, 2], [13, 42], [-100, 100.0]])]})}

# As cited above.
documented = {"sums": [[[3, 2.5], [16, 44.5], [-84, 144.5]]]}


# %% dense
"""A layer gets its parameters when it is applied; parts of a model are found by their names.

https://github.com/microsoft/CNTK/blob/0265cb5dfc6c755d8e2e4c5602aa25bde91ea66a/bindings/python/cntk/layers/layers.py
https://github.com/microsoft/CNTK/blob/023da48674dfd208682e2e8787348f4e4e577593/bindings/python/cntk/layers/tests/layers_test.py
"""

import cntk as C
import numpy as np

layer = C.layers.Dense(5, activation=C.relu)
h = layer(C.input_variable(3))
model = C.layers.Sequential(
    [C.layers.Dense(3, init=1, name="first"), C.layers.Dense(2, init=2, name="second")]
)
z = model(C.input_variable(2))
x = C.input_variable(2)
p = C.layers.Dense(2, activation=C.sigmoid, name="foo")(x)
row = np.array([[-1.0, 1.0]], np.float32)
expected = 1 / (1 + np.exp(-(row @ p.foo.W.value + p.foo.b.value)))
answers = {
    "shapes": [h.shape, layer.W.shape],
    "bias": layer.b.value,
    "first": z.first.W.value,
    "second": z.second.W.value,
    "as in NumPy": bool(np.allclose(p.eval({x: row}), expected, atol=1e-6)),
}

# As cited above.
documented = {
    "shapes": [[5], [3, 5]],
    "bias": [0, 0, 0, 0, 0],
    "first": [[1, 1, 1], [1, 1, 1]],
    "second": [[2, 2], [2, 2], [2, 2]],
    "as in NumPy": True,
}


# %% elements
"""Functions of each element.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C

answers = {
    "exp": C.exp([0.0, 1.0]).eval(),
    "log": C.log([1.0, 2.0]).eval(),
    "sqrt": C.sqrt([0.0, 4.0]).eval(),
    "square": C.square([1.0, 10.0]).eval(),
    "abs": C.abs([-1, 1, -2, 3]).eval(),
    "negate": C.negate([-1, 1, -2, 3]).eval(),
    "reciprocal": C.reciprocal([-1 / 3, 1 / 5, -2, 3]).eval(),
    "clip": C.clip([1.0, 2.1, 3.0, 4.1], 2.0, 4.0).eval(),
    "each its own": C.clip(
        [-10.0, -5.0, 0.0, 5.0, 10.0], [-5.0, -4.0, 0.0, 3.0, 5.0], [5.0, 4.0, 1.0, 4.0, 9.0]
    ).eval(),
}

# As cited above.
documented = {
    "exp": [1, 2.718282],
    "log": [0, 0.693147],
    "sqrt": [0, 2],
    "square": [1, 100],
    "abs": [1, 1, 2, 3],
    "negate": [1, -1, 2, -3],
    "reciprocal": [-3, 5, -0.5, 0.333333],
    "clip": [2, 2.1, 3, 4],
    "each its own": [-5, -4, 0, 4, 9],
}


# %% embedding
"""A table of rows that one-hot vectors choose, given or learned.

https://github.com/microsoft/CNTK/blob/0265cb5dfc6c755d8e2e4c5602aa25bde91ea66a/bindings/python/cntk/layers/layers.py
https://github.com/microsoft/CNTK/blob/023da48674dfd208682e2e8787348f4e4e577593/bindings/python/cntk/layers/tests/layers_test.py
"""

import cntk as C

table = [[0.5, 0.3, 0.1, 0.4, 0.2], [0.7, 0.6, 0.3, 0.2, 0.9]]
given, x = C.layers.Embedding(weights=table), C.sequence.input_variable(2, is_sparse=True)
chosen = given(x)
learned, y = C.layers.Embedding(5), C.input_variable(3)
found = learned(y)
answers = {
    "rows": chosen.eval({x: C.Value.one_hot([[1], [0], [0], [1]], num_classes=2)}),
    "shapes": [chosen.shape, found.shape, learned.E.shape],
    "table": given.E.eval(),
}
try:
    C.Value.one_hot([[11]], num_classes=10)
    answers["no such class"] = "no error"
except ValueError:
    answers["no such class"] = "ValueError"

# As cited above.
documented = {
    "rows": [
        [[0.7, 0.6, 0.3, 0.2, 0.9]],
        [[0.5, 0.3, 0.1, 0.4, 0.2]],
        [[0.5, 0.3, 0.1, 0.4, 0.2]],
        [[0.7, 0.6, 0.3, 0.2, 0.9]],
    ],
    "shapes": [[5], [5], [3, 5]],
    "table": [[0.5, 0.3, 0.1, 0.4, 0.2], [0.7, 0.6, 0.3, 0.2, 0.9]],
    "no such class": "ValueError",
}


# %% first_steps
"""Arrays in, arrays out: a node of constants is evaluated as it stands.

https://github.com/microsoft/CNTK/blob/005c5c681f54ebdd86b42a710144a9fbdc2c15c0/bindings/python/doc/gettingstarted.rst
https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C

answers = {
    "minus": C.minus([1, 2, 3], [4, 5, 6]).eval(),
    "a number": C.minus([[1, 2], [3, 4]], 1).eval(),
    "kind": str(C.minus([1, 2, 3], [4, 5, 6]).eval().dtype),
}

# As cited above.
documented = {"minus": [-3, -3, -3], "a number": [[0, 1], [2, 3]], "kind": "float32"}


# %% folds
"""A recurrence of which the last state is left: the largest of a sequence, and its sum.

https://github.com/microsoft/CNTK/blob/0265cb5dfc6c755d8e2e4c5602aa25bde91ea66a/bindings/python/cntk/layers/sequence.py
https://github.com/microsoft/CNTK/blob/023da48674dfd208682e2e8787348f4e4e577593/bindings/python/cntk/layers/tests/layers_test.py
"""

import cntk as C
import numpy as np

x, y = C.sequence.input_variable(2), C.sequence.input_variable(1)
data = [np.array([[1, 2], [6, 3], [4, 2], [8, 1], [6, 0.0]])]
answers = {
    "largest": C.layers.Fold(C.element_max)(x).eval({x: data}),
    "sum": C.layers.Fold(C.plus)(x).eval({x: data}),
    "of numbers": C.layers.Fold(C.plus)(y).eval({y: [np.array([[2], [6], [4], [8], [6.0]])]}),
}

# As cited above.
documented = {"largest": [[8, 3]], "sum": [[25, 8]], "of numbers": [[26]]}


# %% gradients_of_parameters
"""The gradient of the sum of all values, by parameters without axes and with one.

https://github.com/microsoft/CNTK/blob/029a9be189eed6319871b8f47a110680ae505b8f/bindings/python/cntk/learners/tests/learner_test.py
"""

import cntk as C
import numpy as np

x = C.input_variable(2)
number, vector = C.parameter(()), C.parameter(2)
answers = {}
for name, w in {"number": number, "vector": vector}.items():
    w.value = (x + w).grad({x: np.array([1, 2.0])}, wrt=[w])
    answers[name] = w.value

# As cited above.
documented = {"number": 2, "vector": [1, 1]}


# %% learners
"""A learner's rate follows its schedule; a step goes against the gradient.

https://github.com/microsoft/CNTK/blob/029a9be189eed6319871b8f47a110680ae505b8f/bindings/python/cntk/learners/tests/learner_test.py
"""

import cntk as C
import numpy as np

x = C.input_variable(shape=1, needs_gradient=True, name="a")
w = C.parameter(shape=1, init=1)
z = x * w
rates = C.learners.learning_rate_schedule([0.1] * 50 + [0.2] * 50, C.learners.UnitType.sample, 1)
learner = C.learners.sgd(z.parameters, lr=rates)
before = learner.learning_rate()
learner.update({w: np.array([[2.0]])}, 100)
answers = {
    "rates": [before, learner.learning_rate()],
    "lower": bool(w.value < 1),
    "parameters": len(learner.parameters) == 1 and isinstance(learner.parameters[0], C.Parameter),
}
learner.reset_learning_rate(
    C.learners.learning_rate_schedule([1, 2, 3], C.learners.UnitType.minibatch)
)
answers["reset"] = learner.learning_rate()
try:
    C.learners.sgd([], rates)
    answers["no parameters"] = "no error"
except ValueError:
    answers["no parameters"] = "ValueError"

# As cited above.
documented = {
    "rates": [0.1, 0.2],
    "lower": True,
    "parameters": True,
    "reset": 1.0,
    "no parameters": "ValueError",
}


# %% lengths_without_padding
"""Three sequences of three lengths in one minibatch, and the gradient by each item.

https://github.com/microsoft/CNTK/blob/00ea32a8d920e077eb59491001781f5c24680771/bindings/python/cntk/ops/tests/sequence_test.py
"""

import cntk as C
import numpy as np

x = C.sequence.input_variable(shape=(), needs_gradient=True)
total = C.sequence.reduce_sum(x)
batch = [np.array([-1, 3, 5.0]), np.array([2, -5.0]), np.array([-2.0])]
gradient, value = total.grad({x: batch}, outputs=[total])
one = C.sequence.input_variable(shape=1, needs_gradient=True)
total = C.sequence.reduce_sum(C.reduce_sum(one))
slope, single = total.grad({one: np.array([[-1], [3], [5.0]])}, outputs=[total])
answers = {"sums": value, "gradients": gradient, "one sequence": single, "its gradient": slope[0]}

# As cited above.
documented = {
    "sums": [7, -3, -2],
    "gradients": [[1, 1, 1], [1, 1], [1]],
    "one sequence": [7],
    "its gradient": [[1], [1], [1]],
}


# %% no_infinity
"""Where there is no number: division by 0, the root of what is below 0.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C

answers = {
    "by 0": C.element_divide([1.0, 1.0, 1.0, 1.0], [0.5, 0.25, 0.125, 0.0]).eval(),
    "root": C.sqrt([-1.0]).eval(),
}

# As cited above.
documented = {"by 0": [2, 4, 8, 0], "root": [0]}


# %% past_and_future
"""The item before, the item behind; at the ends an initial state, also one for each sample.

https://github.com/microsoft/CNTK/blob/cd2dc9e9e89b2f6372d3bb83f9bec03c5cc9009a/bindings/python/cntk/ops/sequence/__init__.py
"""

import cntk as C
import numpy as np

x, s = C.sequence.input_variable((3, 2)), C.input_variable((3, 2))
items = np.arange(24.0).reshape(1, 4, 3, 2)
state = np.arange(6.0).reshape(1, 3, 2) / 2
answers = {
    "past": C.sequence.past_value(x).eval({x: items}),
    "future": C.sequence.future_value(x).eval({x: items}),
    "from a state": C.sequence.past_value(x, initial_state=s).eval({x: items, s: state}),
}

# As cited above.
documented = {
    "past": [
        [
            [[0, 0], [0, 0], [0, 0]],
            [[0, 1], [2, 3], [4, 5]],
            [[6, 7], [8, 9], [10, 11]],
            [[12, 13], [14, 15], [16, 17]],
        ]
    ],
    "future": [
        [
            [[6, 7], [8, 9], [10, 11]],
            [[12, 13], [14, 15], [16, 17]],
            [[18, 19], [20, 21], [22, 23]],
            [[0, 0], [0, 0], [0, 0]],
        ]
    ],
    "from a state": [
        [
            [[0, 0.5], [1, 1.5], [2, 2.5]],
            [[0, 1], [2, 3], [4, 5]],
            [[6, 7], [8, 9], [10, 11]],
            [[12, 13], [14, 15], [16, 17]],
        ]
    ],
}


# %% products
"""Products along the last axis of the left and the first of the right.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C
import numpy as np

square, vector, row = np.array([[1, 2], [3, 4.0]]), np.array([2, -1.0]), np.array([[2, -1.0]])
answers = {
    "times": C.times([[1, 2], [3, 4]], [[5], [6]]).eval(),
    "@": (C.constant([[1, 2], [3, 4]]) @ C.constant([[5], [6]])).eval(),
    "transposed": C.times_transpose(square, square).eval(),
    "by a vector": C.times_transpose(square, vector).eval(),
    "by a row": C.times_transpose(square, row).eval(),
    "of a vector": C.times_transpose(vector, square).eval(),
    "of vectors": C.times_transpose(vector, vector).eval(),
    "of rows": C.times_transpose(row, row).eval(),
}

# As cited above.
documented = {
    "times": [[17], [39]],
    "@": [[17], [39]],
    "transposed": [[5, 11], [11, 25]],
    "by a vector": [[0], [2]],
    "by a row": [[0], [2]],
    "of a vector": [0, 2],
    "of vectors": [5],
    "of rows": [[5]],
}


# %% recurrence_from_a_state
"""A recurrence that begins with a state other than 0.

https://github.com/microsoft/CNTK/blob/023da48674dfd208682e2e8787348f4e4e577593/bindings/python/cntk/layers/tests/layers_test.py
"""

import cntk as C
import numpy as np

x = C.sequence.input_variable(5)
net = C.layers.Recurrence(C.layers.GRU(5, init=0.05), initial_state=0.1)(x)
answers = {"states": net.eval({x: np.arange(25.0).reshape(1, 5, 5)})[0][:, 0]}

# As cited above.
documented = {"states": [0.239151, 0.338713, 0.367456, 0.375577, 0.377891]}


# %% recurrent_blocks
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


# %% reductions
"""A reduced axis stays with length 1.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C
import numpy as np

table = [[10, 20], [30, 40], [50, 60]]
answers = {
    "mean": [C.reduce_mean([[5, 20], [30, 40], [55, 60]], k).eval() for k in (0, 1)],
    "max": [C.reduce_max(table, k).eval() for k in (0, 1)],
    "min": [C.reduce_min(table, k).eval() for k in (0, 1)],
    "prod": [C.reduce_prod([[1, 2], [3, 4], [5, 6]], k).eval() for k in (0, 1)],
    "argmax": [C.argmax(table, k).eval() for k in (0, 1)],
    "argmin": [C.argmin([[10, 30], [40, 20], [60, 50]], k).eval() for k in (0, 1)],
}
x = C.input_variable((3, 2))
answers["log_sum_exp"] = C.reduce_log_sum_exp(x).eval({x: [np.arange(6.0).reshape(3, 2)]})

# As cited above.
documented = {
    "mean": [[[30, 40]], [[12.5], [35], [57.5]]],
    "max": [[[50, 60]], [[20], [40], [60]]],
    "min": [[[10, 20]], [[10], [30], [50]]],
    "prod": [[[15, 48]], [[2], [12], [30]]],
    "argmax": [[[2, 2]], [[1], [1], [1]]],
    "argmin": [[[0, 1]], [[0], [1], [1]]],
    "log_sum_exp": [5.456193],
}


# %% reductions_of_minibatches
"""Reduced are the static axes, one of them, or all: samples and items of any length, too.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C
import numpy as np

x = C.sequence.input_variable((2, 2))
data = np.arange(16.0).reshape(2, 2, 2, 2)
whole = C.reduce_mean(x, axis=C.Axis.all_axes())
ragged = [np.arange(4.0).reshape(1, 2, 2), np.arange(12.0).reshape(3, 2, 2)]
answers = {
    "static": C.reduce_mean(x).eval({x: data}),
    "first": C.reduce_mean(x, axis=0).eval({x: data}),
    "second": C.reduce_mean(x, axis=1).eval({x: data}),
    "all": whole.eval({x: data}),
    "of other lengths": whole.eval({x: ragged}),
}

# As cited above.
documented = {
    "static": [[1.5, 5.5], [9.5, 13.5]],
    "first": [[[[1, 2]], [[5, 6]]], [[[9, 10]], [[13, 14]]]],
    "second": [[[[0.5], [2.5]], [[4.5], [6.5]]], [[[8.5], [10.5]], [[12.5], [14.5]]]],
    "all": 7.5,
    "of other lengths": 4.5,
}


# %% rounding
"""Halves are rounded up, not to the even number as in NumPy.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C

answers = {
    "floor": C.floor([-5.5, -4.2, -3.0, -0.7, 0]).eval(),
    "ceil": C.ceil([[0.6, 3.3], [1.9, 5.6]]).eval(),
    "round": C.round([0.2, 1.3, 4.0, 5.5, 0.0]).eval(),
    "below 0": C.round([-5.5, -4.2, -3.0, -0.7, 0]).eval(),
}

# As cited above.
documented = {
    "floor": [-6, -5, -3, -1, 0],
    "ceil": [[1, 4], [2, 6]],
    "round": [0, 1, 4, 6, 0],
    "below 0": [-5, -4, -3, -1, 0],
}


# %% schedules
"""Rates that change with the samples: a number, one for each epoch, or so many epochs of each.

https://github.com/microsoft/CNTK/blob/0130a474e1ff9258476fd32b890f893d54ce0388/bindings/python/cntk/learners/__init__.py
https://github.com/microsoft/CNTK/blob/029a9be189eed6319871b8f47a110680ae505b8f/bindings/python/cntk/learners/tests/learner_test.py
"""

import cntk as C

sample = C.learners.UnitType.sample
plain = C.learners.training_parameter_schedule(0.01, sample)
two = C.learners.training_parameter_schedule([0.01, 0.001], sample, 1000)
three = C.learners.training_parameter_schedule([(12, 0.1), (15, 0.01), (1, 0.001)], sample, 100)
momentum = C.learners.momentum_schedule([0.99, 0.9], 1000)
by_sample = C.learners.momentum_schedule([(999, 0.99), (888, 0.88), (0, 0.77)])
answers = {
    "plain": [plain[0], plain[1]],
    "two": [two[i] for i in (0, 1, 1000, 1001)],
    "three": [three[i] for i in (0, 1199, 1200, 2699, 2700, 5000)],
    "momentum": [momentum[i] for i in (0, 999, 1000, 1001)],
    "by the sample": [by_sample[i] for i in (0, 998, 999, 999 + 888 - 1, 999 + 888)],
}
try:
    C.learners.training_parameter_schedule(0.01, unit="not_supported")
    answers["unit"] = "no error"
except ValueError:
    answers["unit"] = "ValueError"

# As cited above.
documented = {
    "plain": [0.01, 0.01],
    "two": [0.01, 0.01, 0.001, 0.001],
    "three": [0.1, 0.1, 0.01, 0.01, 0.001, 0.001],
    "momentum": [0.99, 0.99, 0.9, 0.9],
    "by the sample": [0.99, 0.99, 0.88, 0.88, 0.77],
    "unit": "ValueError",
}


# %% sequence_ends
"""The first and the last item of each sequence, and where they are.

https://github.com/microsoft/CNTK/blob/cd2dc9e9e89b2f6372d3bb83f9bec03c5cc9009a/bindings/python/cntk/ops/sequence/__init__.py
"""

import cntk as C
import numpy as np

x = C.sequence.input_variable((3, 2))
data = {x: np.arange(24.0).reshape(1, 4, 3, 2)}
answers = {
    "first": C.sequence.first(x).eval(data),
    "last": C.sequence.last(x).eval(data),
    "is_first": C.sequence.is_first(x).eval(data),
    "is_last": C.sequence.is_last(x).eval(data),
    "a list": isinstance(C.sequence.is_last(x).eval(data), list),
}

# As cited above.
documented = {
    "first": [[[0, 1], [2, 3], [4, 5]]],
    "last": [[[18, 19], [20, 21], [22, 23]]],
    "is_first": [[1, 0, 0, 0]],
    "is_last": [[0, 0, 0, 1]],
    "a list": True,
}


# %% sequence_sum
"""The sum over a sequence.

https://github.com/microsoft/CNTK/blob/cd2dc9e9e89b2f6372d3bb83f9bec03c5cc9009a/bindings/python/cntk/ops/sequence/__init__.py
"""

import cntk as C
import numpy as np

x = C.sequence.input_variable((3, 2))
answers = {"sum": C.sequence.reduce_sum(x).eval({x: np.arange(24.0).reshape(1, 4, 3, 2)})}

# As cited above.
documented = {"sum": [[[36, 40], [44, 48], [52, 56]]]}


# %% signs
"""The signs of Python on an input, with constants and arrays; a minibatch is a list.

https://github.com/microsoft/CNTK/blob/0d2879eab5a3f96621c908f4df28ef0fe63cbbd7/bindings/python/doc/concepts.rst
"""

import cntk as C
import numpy as np

x = C.input_variable((2, 3), name="features")
two = C.constant(value=2)
batch = [np.array([[10, 20, 30], [40, 50, 60]])]
answers = {
    "constant": (x * two).eval({x: batch}),
    "number": (x * 2).eval({x: batch}),
    "array": (x * [[1, 2, 3], [4, 5, 6]]).eval({x: batch}),
}

# As cited above.
documented = {
    "constant": [[[20, 40, 60], [80, 100, 120]]],
    "number": [[[20, 40, 60], [80, 100, 120]]],
    "array": [[[10, 40, 90], [160, 250, 360]]],
}


# %% softmax
"""Softmax over all elements, or along an axis; hardmax takes the first of the largest.

https://github.com/microsoft/CNTK/blob/0056a33cf654f735461f54575a2797b997bc969f/bindings/python/cntk/ops/__init__.py
"""

import cntk as C

answers = {
    "row": C.softmax([[1, 1, 2, 3]]).eval(),
    "vector": C.softmax([1, 1]).eval(),
    "axis": C.softmax([[[1, 1], [3, 5]]], axis=-1).eval(),
    "hardmax": C.hardmax([1.0, 1.0, 2.0, 3.0]).eval(),
    "twice": C.hardmax([1.0, 3.0, 2.0, 3.0]).eval(),
}

# As cited above.
documented = {
    "row": [[0.082595, 0.082595, 0.224515, 0.610296]],
    "vector": [0.5, 0.5],
    "axis": [[[0.5, 0.5], [0.119203, 0.880797]]],
    "hardmax": [0, 0, 0, 1],
    "twice": [0, 1, 0, 0],
}


# %% squared_error
"""The squared error of two inputs.

https://github.com/microsoft/CNTK/blob/025da90332d626c58b076f00acaa61d0aa0bab5a/bindings/python/cntk/losses/__init__.py
https://github.com/microsoft/CNTK/blob/005c5c681f54ebdd86b42a710144a9fbdc2c15c0/bindings/python/doc/gettingstarted.rst
"""

import cntk as C
import numpy as np

a, b = C.input_variable((1, 2)), C.input_variable((1, 2))
error = C.squared_error(a, b)
one, two = np.array([[[2.0, 1.0]]]), np.array([[[4.0, 6.0]]])
answers = {"apart": error.eval({a: one, b: two}), "the same": error.eval({a: one, b: one})}

# As cited above.
documented = {"apart": [29], "the same": [0]}


# %% training
"""A trainer's step, and an output that is asked for along with it.

https://github.com/microsoft/CNTK/blob/0bf473e874b1a5ffa48e442733e2789d24594bdc/bindings/python/cntk/tests/trainer_test.py
"""

import cntk as C

x, labels = C.input_variable(1), C.input_variable(1)
p = C.parameter(shape=(2,), init=10)
z = C.plus(x, C.reduce_sum(p), name="z")
loss, errors = C.cross_entropy_with_softmax(z, labels), C.classification_error(z, labels)
rate = C.learners.learning_rate_schedule(0.007, C.learners.UnitType.sample)
trainer = C.Trainer(z, (loss, errors), [C.learners.momentum_sgd(z.parameters, rate, 0.9)])
updated, outputs = trainer.train_minibatch({x: [[1.0], [2.0]], labels: [[0.0], [1.0]]}, [z.output])
answers = {
    "output": outputs[z.output],
    "name": trainer.model.name,
    "kind": isinstance(trainer.model, C.Function),
    "learner": isinstance(trainer.parameter_learners[0], C.learners.Learner),
}

# As cited above.
documented = {"output": [[21], [22]], "name": "z", "kind": True, "learner": True}


# %% trigrams
"""Each item with its neighbours: three shifted copies, side by side.

https://github.com/microsoft/CNTK/blob/0265cb5dfc6c755d8e2e4c5602aa25bde91ea66a/bindings/python/cntk/layers/sequence.py
"""

import cntk as C
import numpy as np

x = C.sequence.input_variable(2)
shifted = [C.sequence.delay(x, time_step=t) for t in (-1, 0, 1)]
answers = {"trigrams": C.splice(*shifted).eval({x: np.arange(6.0).reshape(1, 3, 2)})}

# As cited above.
documented = {"trigrams": [[[2, 3, 0, 1, 0, 0], [4, 5, 2, 3, 0, 1], [0, 0, 4, 5, 2, 3]]]}
