"""Programs in the words of TensorFlow 1: each cell is one, and binds what it finds to `answers`."""

# %% arranging
"""Axes: reshaped, exchanged, joined, cut, repeated, reduced."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
a = tf.reshape(tf.range(6), [2, 3])
f = tf.cast(a, tf.float32)
found = {
    "transpose": tf.transpose(a),
    "concat": tf.concat([a, a], axis=1),
    "stack": tf.stack([a, a]),
    "split": tf.split(a, 3, axis=1),
    "lengths": tf.split(a, [1, 2], axis=1),
    "unstack": tf.unstack(a),
    "tile": tf.tile(a, [1, 2]),
    "gather": tf.gather(a, [1, 0]),
    "expand": tf.squeeze(tf.expand_dims(a, 0), axis=0),
    "mean": tf.reduce_mean(f, axis=0),
    "kept": tf.reduce_max(f, axis=1, keepdims=True),
    "where": tf.where(f > 2, f, -f),
    "clipped": tf.clip_by_value(f, 1.0, 3.0),
    "one hot": tf.one_hot([0, 2], 3),
    "fill": tf.fill([2, 2], 7.0),
    "sum": tf.add_n([f, f]),
}
with tf.Session() as sess:
    answers = sess.run(found)


# %% assignments
"""Variables change only when an assignment is fetched; each session has its own."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
w = tf.Variable(1.0)
double, add, less = w.assign(w * 2), w.assign_add(3.0), w.assign_sub(1.0)
with tf.Session() as first, tf.Session() as second:
    first.run(tf.global_variables_initializer())
    second.run(tf.global_variables_initializer())
    steps = [first.run(double), first.run(double), first.run(add), first.run(less)]
    steps += [first.run(w.read_value()), first.run(w.value()), first.run(tf.assign(w, 9.0))]
    answers = {"first": steps, "second": second.run(w)}


# %% classification
"""Softmax with cross entropy, of numbers and of one-hot rows; accuracy."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
logits = tf.constant([[2.0, 0.5, -1.0], [0.1, 0.2, 3.0], [1.0, 1.5, 0.0]])
labels = tf.constant([0, 2, 0])
sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
dense = tf.nn.softmax_cross_entropy_with_logits(labels=tf.one_hot(labels, 3), logits=logits)
binary = tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.constant([1.0]), logits=[0.3])
right = tf.equal(tf.argmax(logits, 1), tf.cast(labels, tf.int64))
with tf.Session() as sess:
    answers = {
        "sparse": sess.run(sparse),
        "dense": sess.run(dense),
        "binary": sess.run(binary),
        "accuracy": sess.run(tf.reduce_mean(tf.cast(right, tf.float32))),
        "slope": sess.run(tf.gradients(tf.reduce_mean(sparse), logits)[0]),
        "columns": sess.run(tf.argmax(logits)),
    }


# %% cond
"""Both branches are in the graph, one runs."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x = tf.placeholder(tf.float32, [None])
y = tf.cond(tf.reduce_sum(x) > 0, lambda: 2 * x, lambda: x - 1)
(slope,) = tf.gradients(y, x)
with tf.Session() as sess:
    answers = {
        "at -3": sess.run(y, {x: [-3.0]}),
        "at 5": sess.run(y, {x: [5.0]}),
        "slopes": [sess.run(slope, {x: [-3.0]}), sess.run(slope, {x: [5.0]})],
    }


# %% constant_in_a_branch
"""The gradient of a constant that a branch and a loop look around for."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x = tf.constant(1.5)
branch = tf.cond(tf.constant(True), lambda: x * x, lambda: x)
_, power = tf.while_loop(lambda i, p: i < 3, lambda i, p: (i + 1, p * x), [tf.constant(0), x])
answers = {}
with tf.Session() as sess:
    for name, y in {"branch": branch, "loop": power}.items():
        try:
            answers[name] = sess.run(tf.gradients(y, x)[0])
        except RuntimeError:
            answers[name] = "RuntimeError"


# %% control_dependencies
"""What must run before: a counter that counts each run."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
count = tf.Variable(0.0)
tick = tf.assign_add(count, 1.0)
with tf.control_dependencies([tick]):
    y = tf.identity(tf.constant(7.0))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    answers = {"y": [sess.run(y) for _ in range(3)], "count": sess.run(count)}
    sess.run(tf.group(tick, tf.no_op()))
    answers["grouped"] = sess.run(count)


# %% convolution
"""Images have their channels last; ten layers without padding are too many."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x = tf.constant(np.arange(32, dtype=np.float32).reshape(1, 4, 4, 2) / 10)
w = tf.constant((np.arange(36, dtype=np.float32).reshape(3, 3, 2, 2) - 17) / 10)
same = tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="SAME")
pool = tf.nn.max_pool(tf.nn.relu(same), [1, 2, 2, 1], [1, 2, 2, 1], padding="VALID")
valid = tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="VALID")
with tf.Session() as sess:
    answers = {"same": sess.run(same), "pool": sess.run(pool), "valid": sess.run(valid)}
image, kernel, layers = tf.zeros([1, 16, 16, 1]), tf.ones([3, 3, 1, 1]), 0
try:
    for _ in range(10):
        image = tf.nn.conv2d(image, kernel, strides=[1, 1, 1, 1], padding="VALID")
        layers += 1
except ValueError:
    answers["layers"] = layers


# %% dynamic_rnn
"""A cell of one's own along sequences of any length, each of which ends where it says."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
W = tf.constant(np.arange(12).reshape(4, 3) / 10, dtype=tf.float32)


class Cell:
    output_size = state_size = 3

    def __call__(self, x, state, scope=None):
        h = tf.tanh(tf.matmul(x, W) + 0.5 * state)
        return h, h

    def zero_state(self, batch_size, dtype):
        return tf.zeros([batch_size, 3], dtype)


x = tf.placeholder(tf.float32, [None, None, 4])
lengths = tf.placeholder(tf.int32, [None])
outputs, state = tf.nn.dynamic_rnn(Cell(), x, dtype=tf.float32)
ended, last = tf.nn.dynamic_rnn(Cell(), x, sequence_length=lengths, dtype=tf.float32)
begun, _ = tf.nn.dynamic_rnn(Cell(), x, initial_state=tf.ones([2, 3]))
answers = {}
with tf.Session() as sess:
    for n in (3, 7, 12):
        data = np.linspace(-1, 1, 2 * n * 4).reshape(2, n, 4)
        answers[f"last of {n}"] = sess.run(state, {x: data})
        answers[f"outputs of {n}"] = sess.run(outputs, {x: data}).shape
    data = np.linspace(-1, 1, 24).reshape(2, 3, 4)
    answers["ended"], answers["last"] = sess.run([ended, last], {x: data, lengths: [1, 3]})
    answers["begun"] = sess.run(begun, {x: data})


# %% fetches
"""What is fetched comes back in the form it was asked for; a fetch may be fed."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
a = tf.constant(2.0)
b = a * 3
c = b + 1
with tf.Session() as sess:
    answers = {
        "list": sess.run([a, b]),
        "tuple": sess.run((a, c)),
        "dict": sess.run({"b": b, "c": [c]}),
    }
    try:
        answers["replaced"] = sess.run(c, feed_dict={b: 100.0})
    except ValueError:
        answers["replaced"] = "ValueError"


# %% folding
"""scan and map_fn: what happens along the first axis."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
xs = tf.constant([1.0, 2.0, 3.0])
sums = tf.scan(lambda total, x: total + x, xs, initializer=tf.constant(0.0))
squares = tf.map_fn(lambda x: x * x, xs)
with tf.Session() as sess:
    answers = {"sums": sess.run(sums), "squares": sess.run(squares)}


# %% get_variable
"""Variables by name and initializer, in a scope."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
with tf.variable_scope("layer"):
    w = tf.get_variable("w", [2, 3], initializer=tf.ones_initializer())
    b = tf.get_variable("b", [3], initializer=tf.zeros_initializer())
    c = tf.get_variable("c", initializer=tf.constant(4.0))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    answers = {
        "values": sess.run([w, b, c]),
        "names": [v.name.split(":")[0] for v in tf.trainable_variables()],
    }


# %% gradients
"""Gradients are nodes; what does not depend is None."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x = tf.placeholder(tf.float32, [2])
W = tf.Variable([1.0, 2.0])
unused = tf.Variable(1.0)
loss = tf.reduce_sum(tf.square(W - x))
dW, du = tf.gradients(loss, [W, unused])
(second,) = tf.gradients(dW, W)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    answers = {
        "dW": sess.run(dW, {x: [3.0, 3.0]}),
        "unused": du is None,
        "second": sess.run(second, {x: [3.0, 3.0]}),
    }


# %% growing
"""A graph that is not finished grows: each pass of a Python loop adds nodes."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x = tf.placeholder(tf.float32, [])
y = x
kinds = []
for _ in range(5):
    y = y * x
    kinds.append(y is not x)
with tf.Session() as sess:
    answers = {"y": sess.run(y, {x: 1.5}), "new": kinds}


# %% kinks
"""Where a function has a corner or a tie: which gradient there is, and which logarithm of 0."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
AT = [-1.0, 0.0, 1.0, 2.0, -2.0, 0.5]
BESIDE = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]
TIED = [[1.0, 2.0, 2.0, 1.0], [3.0, 3.0, 3.0, 0.0]]


def slope(f, *values):
    xs = [
        tf.placeholder(tf.float32, [len(v), 4] if isinstance(v[0], list) else [len(v)])
        for v in values
    ]
    found = tf.gradients(tf.reduce_sum(f(*xs)), xs)
    with tf.Session() as sess:
        feed = dict(zip(xs, values, strict=True))
        return [None if g is None else sess.run(g, feed) for g in found]


def minimised(start):
    w = tf.Variable(start)
    step = tf.train.GradientDescentOptimizer(1.0).minimize(
        tf.reduce_sum(tf.maximum(w, 1.0)), var_list=[w]
    )
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(step)
        return sess.run(w)


answers = {
    "maximum": slope(tf.maximum, AT, BESIDE),
    "maximum beside numbers": [
        slope(lambda x: tf.maximum(x, 1.0), AT),
        slope(lambda x: tf.maximum(1.0, x), AT),
    ],
    "minimum": slope(tf.minimum, AT, BESIDE),
    "hinge": slope(lambda x: tf.maximum(0.0, 1.0 - x), AT),
    "a step at a tie": minimised([1.0, 2.0, 0.0]),
    "clipped": slope(lambda x: tf.clip_by_value(x, -1.0, 1.0), AT),
    "abs": slope(tf.abs, AT),
    "relu": slope(tf.nn.relu, AT),
    "largest": slope(lambda x: tf.reduce_max(x, axis=1), TIED),
    "sign": slope(tf.sign, AT),
    "rounded": [slope(f, AT) for f in (tf.round, tf.floor)],
    "whole quotient": slope(lambda x: x // 2.0, AT),
    "power by exponent": slope(lambda x: tf.pow(-2.0, x), [2.0, 3.0, 0.0]),
    "power with a sign": slope(lambda x, y: x**y, [0.0, -2.0, 2.0], [2.0, 3.0, -1.0]),
    "square root beside 0": slope(lambda x: tf.where(x > 0, tf.sqrt(x), tf.zeros_like(x)), AT),
    "entropy of scores": slope(
        lambda x: tf.nn.sigmoid_cross_entropy_with_logits(
            labels=tf.constant([0.0, 1.0, 1.0]), logits=x
        ),
        [200.0, -200.0, 0.0],
    ),
    "entropy of classes": slope(
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.constant([0, 1]), logits=x
        ),
        [[200.0, -200.0, 0.0, 0.0], [200.0, -200.0, 0.0, 0.0]],
    ),
}


# %% linear_classifier
"""The linear classifier of the notes: placeholder, variables, session, feed."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x = tf.placeholder(tf.float32, [None, 784])
W = tf.Variable(tf.random_normal([784, 10]))
b = tf.Variable(tf.zeros([10]))
y = tf.matmul(x, W) + b
input_data = np.zeros((5, 784), np.float32)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run(y, feed_dict={x: input_data})
    shapes = [sess.run(y, {x: np.ones((n, 784))}).shape for n in (1, 64, 100)]
answers = {"zero rows give b": result, "shapes": shapes}


# %% optimisers
"""Three steps of each optimiser on the same slope."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
answers = {}
for name, optimiser in {
    "descent": tf.train.GradientDescentOptimizer(0.1),
    "momentum": tf.train.MomentumOptimizer(0.1, 0.9),
    "Adam": tf.train.AdamOptimizer(0.1),
}.items():
    w = tf.Variable([1.0, -2.0])
    train = optimiser.minimize(tf.reduce_sum(w * w * [1.0, 3.0]))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train)
        answers[name] = sess.run(w)


# %% own_graph
"""A graph of its own, beside the default one."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
other = tf.Graph()
with other.as_default():
    a = tf.constant(2.0)
    b = a * 3
c = tf.constant(5.0)
with tf.Session(graph=other) as sess:
    answers = {"other": sess.run(b), "apart": [b.graph is other, c.graph is other]}
    try:
        sess.run(c)
    except ValueError:
        answers["from elsewhere"] = "ValueError"


# %% recurrent
"""One graph for sequences of any length: a loop over the steps of a batch."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x = tf.placeholder(tf.float32, [None, 2])
W = tf.constant([[0.1, 0.2], [0.3, -0.4]])
n = tf.placeholder(tf.int32, [])


def step(t, h):
    row = tf.gather(x, [t])
    return t + 1, tf.tanh(tf.matmul(row, W) + 0.5 * h)


_, last = tf.while_loop(lambda t, h: t < n, step, [tf.constant(0), tf.zeros([1, 2])])
answers = {}
with tf.Session() as sess:
    for length in (3, 7, 12):
        data = np.stack([np.ones(length), np.arange(length) / 10], axis=1)
        answers[str(length)] = sess.run(last, {x: data, n: length})


# %% redrawn
"""A random operator that is fetched twice."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x = tf.random_normal([3])
with tf.Session() as sess:
    first, second = sess.run(x), sess.run(x)
answers = {"drawn anew": bool((first != second).any())}
seeded = tf.random_normal([3], seed=5)
twice = [seeded, seeded * 1.0]
runs = []
for _ in range(2):
    with tf.Session() as sess:
        runs.append([sess.run(twice), sess.run(twice)])
(one, other), (again, _) = runs
answers["alike in one run"] = bool((one[0] == one[1]).all())
answers["with a seed, anew"] = bool((one[0] != other[0]).any())
answers["in another session, the same"] = bool((one[0] == again[0]).all())
inside = tf.random_uniform([100], 2.0, 3.0)
with tf.Session() as sess:
    found = sess.run(inside)
answers["inside"] = bool((found >= 2).all() and (found < 3).all())


# %% rnn_cells
"""The cells: their variables, what they compute with them, and their gradients."""

# needs tf_keras

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
MAKERS = {
    "BasicRNNCell": lambda: tf.nn.rnn_cell.BasicRNNCell(3),
    "GRUCell": lambda: tf.nn.rnn_cell.GRUCell(3),
    "BasicLSTMCell": lambda: tf.nn.rnn_cell.BasicLSTMCell(3),
    "LSTMCell": lambda: tf.nn.rnn_cell.LSTMCell(3, forget_bias=0.5),
}
answers = {}
for name, make in MAKERS.items():
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [None, None, 2])
    outputs, state = tf.nn.dynamic_rnn(make(), x, dtype=tf.float32)
    weights = tf.trainable_variables()
    slopes = tf.gradients(tf.reduce_sum(outputs), weights)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        answers[f"{name} variables"] = [sess.run(w).shape for w in weights]
        answers[f"{name} biases"] = [sess.run(w) for w in weights[1::2]]
        for w in weights:
            shape = sess.run(w).shape
            sess.run(tf.assign(w, np.linspace(-1, 1, np.prod(shape)).reshape(shape)))
        feed = {x: np.linspace(-1, 1, 20).reshape(2, 5, 2)}
        answers[name] = sess.run([outputs, state], feed)
        answers[f"{name} slopes"] = sess.run(slopes, feed)


# %% scalar
"""y = x * x + 3: built once, run with two values."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x = tf.placeholder(tf.float32, name="x")
y = x * x + 3

with tf.Session() as sess:
    answers = {"at 2": sess.run(y, feed_dict={x: 2}), "at 3": sess.run(y, feed_dict={x: 3})}


# %% seeds
"""Numbers drawn with a seed are the same in each new graph; a variable keeps its draw."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def drawn():
    tf.reset_default_graph()
    w = tf.Variable(tf.random_normal([3], seed=1))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(w), sess.run(w)


(first, again), (second, _) = drawn(), drawn()
answers = {"kept": (first == again).all(), "same": (first == second).all()}


# %% symbols
"""Before a run there are shapes and data types, and no values."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x = tf.placeholder(tf.float32, [None, 3], name="x")
y = tf.matmul(x, tf.ones([3, 2]), name="y")
answers = {
    "name": y.name.split(":")[0],
    "data type": y.dtype == tf.float32,
    "whole": tf.constant(3).dtype == tf.int32,
    "graph": y.graph is tf.get_default_graph(),
}
try:
    if tf.reduce_sum(x) > 0:
        answers["truth"] = "no error"
except TypeError:
    answers["truth"] = "TypeError"


# %% training
"""Gradient descent: the step is a node that is fetched."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x, t = tf.placeholder(tf.float32, [None, 1]), tf.placeholder(tf.float32, [None, 1])
w, b = tf.Variable([[0.5]]), tf.Variable([0.0])
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - t))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
data = {x: [[0.0], [1.0], [2.0], [3.0]], t: [[1.0], [3.0], [5.0], [7.0]]}
losses = []
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(10):
        _, now = sess.run([train, loss], feed_dict=data)
        losses.append(now)
    answers = {"losses": losses, "w": sess.run(w), "b": sess.run(b)}


# %% unfed
"""What was not fed, not initialised or does not fit: three errors of three kinds."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
answers = {}
x = tf.placeholder(tf.float32, [None, 784])
W = tf.Variable(tf.ones([784, 10]))
y = tf.matmul(x, W)
with tf.Session() as sess:
    try:
        sess.run(y, {x: np.zeros((3, 784))})
    except tf.errors.FailedPreconditionError:
        answers["not initialised"] = "FailedPreconditionError"
    sess.run(tf.global_variables_initializer())
    try:
        sess.run(y)
    except tf.errors.InvalidArgumentError:
        answers["not fed"] = "InvalidArgumentError"
    try:
        sess.run(y, feed_dict={x: np.zeros((3, 100))})
    except ValueError:
        answers["does not fit"] = "ValueError"
try:
    tf.matmul(x, tf.zeros([100, 10]))
except ValueError:
    answers["while building"] = "ValueError"


# %% while_loop
"""A loop in the graph: one variable, two variables, and a gradient through it."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
n = tf.placeholder(tf.int32, [])
one = tf.while_loop(lambda i: i < n, lambda i: [i + 2], [tf.constant(0)])
x = tf.placeholder(tf.float32, [])
_, power = tf.while_loop(lambda i, p: i < n, lambda i, p: (i + 1, p * x), [tf.constant(0), x])
(slope,) = tf.gradients(power, x)
with tf.Session() as sess:
    answers = {
        "one": [sess.run(one, {n: k}) for k in (0, 3, 4)],
        "power": [sess.run(power, {n: k, x: 1.5}) for k in (0, 3, 20)],
        "slope": sess.run(slope, {n: 3, x: 1.5}),
    }
