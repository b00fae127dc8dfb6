"""Programs in the words of TensorFlow 2: each cell is one, and binds what it finds to `answers`."""

# %% arranging
"""Axes: reshaped, exchanged, joined, cut, repeated, reduced."""

import tensorflow as tf

x = tf.reshape(tf.range(6, dtype=tf.float32), [2, 3])
answers = {
    "transposed": tf.transpose(x),
    "joined": tf.concat([x, x], axis=1),
    "stacked": tf.stack([x, x]).shape,
    "cut": tf.split(x, 3, axis=1),
    "cut at": tf.split(x, [1, 2], axis=1),
    "unstacked": tf.unstack(x),
    "repeated": tf.tile(x, [1, 2]),
    "expanded": tf.expand_dims(x, 0).shape,
    "squeezed": tf.squeeze(tf.expand_dims(x, 0)).shape,
    "sums": tf.reduce_sum(x, axis=0),
    "kept": tf.reduce_mean(x, axis=1, keepdims=True),
    "largest": tf.reduce_max(x),
    "where": tf.where(x > 2, x, tf.zeros_like(x)),
    "gathered": tf.gather(x, [1, 0]),
    "one hot": tf.one_hot([0, 2], 3),
    "part": x[1, ::2],
    "shape": tf.shape(x),
    "size": tf.size(x),
    "rank": tf.rank(x),
    "as list": x.shape.as_list(),
    "clipped": tf.clip_by_value(x, 1.0, 4.0),
    "length": len(x),
    "rows": [row.numpy() for row in x],
}


# %% baked_in
"""A Python value decides while the function is traced, and stays decided: -6 for -4."""

import tensorflow as tf

positive = True


@tf.function
def f(x):
    if positive:
        return 2 * x
    else:
        return x - 1


answers = {"at 3": f(tf.constant([3.0])), "at -3": f(tf.constant([-3.0]))}
positive = False
answers["when it has changed"] = f(tf.constant([-3.0]))
answers["for another shape"] = f(tf.constant([-3.0, -1.0]))


@tf.function
def g(x, positive):
    if positive:
        return 2 * x
    else:
        return x - 1


answers["argument"] = [g(tf.constant([-3.0]), p).numpy() for p in (True, False)]
answers["traces"] = g.experimental_get_tracing_count()
answers["tensor"] = g(tf.constant([-3.0]), tf.constant(False))
answers["traces then"] = g.experimental_get_tracing_count()


# %% branch
"""`if` on a tensor becomes part of the graph: -4 at -3, where a baked-in branch would say -6."""

import tensorflow as tf


@tf.function
def f(x):
    if tf.reduce_sum(x) > 0:
        return 2 * x
    else:
        return x - 1


answers = {
    "positive": f(tf.constant([3.0])),
    "negative": f(tf.constant([-3.0])),
    "traces": f.experimental_get_tracing_count(),
}


@tf.function(autograph=False)
def g(x):
    if tf.reduce_sum(x) > 0:
        return 2 * x
    return x - 1


try:
    g(tf.constant([3.0]))
except tf.errors.OperatorNotAllowedInGraphError:
    answers["without autograph"] = "OperatorNotAllowedInGraphError"
try:
    g(tf.constant([3.0]))
except TypeError:
    answers["which is a"] = "TypeError"


# %% classification
"""Softmax with cross entropy, of numbers and of one-hot rows; accuracy."""

import tensorflow as tf

logits = tf.Variable([[2.0, 1.0, 0.1], [0.5, 2.5, 0.0]])
labels = tf.constant([0, 2])
with tf.GradientTape() as tape:
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(losses)
rows = tf.nn.softmax_cross_entropy_with_logits(labels=tf.one_hot(labels, 3), logits=logits)
right = tf.equal(tf.argmax(logits, axis=1), tf.cast(labels, tf.int64))
answers = {
    "losses": losses,
    "gradient": tape.gradient(loss, logits),
    "one-hot": rows,
    "probabilities": tf.nn.softmax(logits, axis=1),
    "accuracy": tf.reduce_mean(tf.cast(right, tf.float32)),
    "sigmoid": tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[0.5, 0.5]),
}


# %% cond
"""tf.cond, at once and in a graph: one branch runs, and the gradient goes through it."""

import tensorflow as tf


def f(x):
    return tf.cond(x > 0, lambda: x * x, lambda: -3 * x)


answers = {}
for name, g in {"eager": f, "graph": tf.function(f)}.items():
    for start in (2.0, -2.0):
        x = tf.Variable(start)
        with tf.GradientTape() as tape:
            y = g(x * 1.0)
        answers[f"{name} {start}"] = [y.numpy(), tape.gradient(y, x).numpy()]


# %% convolution
"""Images have their channels last; without padding ten layers are too many."""

import tensorflow as tf

image = tf.reshape(tf.range(16, dtype=tf.float32), [1, 4, 4, 1])
kernel = tf.ones([3, 3, 1, 2])
answers = {
    "valid": tf.nn.conv2d(image, kernel, strides=1, padding="VALID"),
    "same": tf.nn.conv2d(image, kernel, strides=[1, 1, 1, 1], padding="SAME").shape,
    "pooled": tf.nn.max_pool2d(image, ksize=2, strides=2, padding="VALID"),
    "fused": tf.nn.relu(tf.nn.conv2d(image - 8, kernel, strides=1, padding="VALID")),
}
x, layers = tf.zeros([1, 16, 16, 1]), 0
try:
    for _ in range(10):
        x = tf.nn.conv2d(x, tf.ones([3, 3, 1, 1]), strides=1, padding="VALID")
        layers += 1
except (ValueError, tf.errors.InvalidArgumentError):
    answers["refused"] = True
answers["layers"] = layers


# %% data_types
"""Which data type comes out, and which do not go together: nothing is converted unasked."""

import numpy as np
import tensorflow as tf

i, f = tf.constant([1, 2]), tf.constant([1.0, 2.0])
d = tf.constant([1.0, 2.0], dtype=tf.float64)
answers = {
    "integers": i.dtype == tf.int32,
    "numbers": f.dtype == tf.float32,
    "from NumPy": tf.constant(np.zeros(2)).dtype == tf.float64,
    "a whole number beside floats": (f + 1).dtype == tf.float32,
    "division of integers": (i / 2).dtype == tf.float64,
    "whole division": (i // 2).dtype == tf.int32,
    "comparison": (f > 1).dtype == tf.bool,
    "cast": tf.cast([1.7, -1.7], tf.int32),
    "range": tf.range(3).dtype == tf.int32,
    "argmax": tf.argmax(f).dtype == tf.int64,
    "sum of integers": tf.reduce_sum(i).dtype == tf.int32,
    "mean of integers": tf.reduce_mean(i),
    "an array beside floats": (f * np.ones(2)).dtype == tf.float32,
    "lists": tf.add([1, 2], [3, 4]).dtype == tf.int32,
}
DOUBTS = {
    "int32 + float32": lambda: i + f,
    "float32 + int32": lambda: f + i,
    "float32 + float64": lambda: f + d,
    "int32 + 1.5": lambda: i + 1.5,
    "int32 < float32": lambda: i < f,
    "int32 == float32": lambda: i == f,
    "tf.add": lambda: tf.add(i, f),
    "tf.matmul": lambda: tf.matmul(tf.ones([2, 2]), tf.ones([2, 2], dtype=tf.float64)),
    "square root of int32": lambda: tf.sqrt(i),
    "sum of bools": lambda: tf.reduce_sum(f > 1),
    "float32 + cast": lambda: f + tf.cast(i, tf.float32),
}
for name, doubt in DOUBTS.items():
    try:
        answers[name] = doubt()
    except tf.errors.InvalidArgumentError:
        answers[name] = "InvalidArgumentError"


# %% eagerly
"""run_functions_eagerly: functions run as plain Python, and everything can be looked at."""

import tensorflow as tf

seen = []


@tf.function
def f(x):
    seen.append(tf.executing_eagerly())
    return x * 2


f(tf.constant(1.0))
f(tf.constant(2.0))
tf.config.run_functions_eagerly(True)
answers = {"asked": tf.config.functions_run_eagerly(), "value": f(tf.constant(3.0)).numpy()}
f(tf.constant(4.0))
tf.config.run_functions_eagerly(False)
f(tf.constant(5.0))
answers["seen"] = seen


# %% first_call
"""Variables are made at the first call and never again; others may be counted up."""

import tensorflow as tf

answers = {}


@tf.function
def always(x):
    return x * tf.Variable(2.0)


try:
    always(tf.constant(1.0))
except ValueError:
    answers["made at each call"] = "ValueError"


class Once:
    def __init__(self):
        self.total = None

    @tf.function
    def __call__(self, x):
        if self.total is None:
            self.total = tf.Variable(10.0)
        self.total.assign_add(x)
        return self.total * 1.0


once = Once()
answers["made once"] = [once(tf.constant(1.0)).numpy() for _ in range(3)]
count = tf.Variable(0)


@tf.function
def counted():
    count.assign_add(1)
    return count + 0


answers["counted"] = [counted().numpy() for _ in range(3)]
answers["kept"] = count.numpy()


# %% keras
"""Layers make their variables when they first see an input."""

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(3)])
y = model(tf.ones([5, 2]))
answers = {"shape": y.shape, "variables": [v.shape for v in model.trainable_variables]}
for v in model.trainable_variables:
    v.assign(tf.ones(v.shape) * 0.5)
loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
with tf.GradientTape() as tape:
    scores = model(tf.constant([[1.0, 2.0]]))
    loss = loss_of(tf.constant([1]), scores)
answers["scores"], answers["loss"] = scores, loss
answers["gradients"] = tape.gradient(loss, model.trainable_variables)
answers["squared"] = tf.keras.losses.MeanSquaredError()(
    tf.constant([[1.0, 2.0]]), tf.constant([[2.0, 4.0]])
)
image = tf.reshape(tf.range(25, dtype=tf.float32), [1, 5, 5, 1])
layer = tf.keras.layers.Conv2D(2, 3, padding="same", activation="relu")
answers["convolved"] = layer(image).shape
answers["kernel"] = [v.shape for v in layer.trainable_variables]


class Small(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.first, self.second = (tf.keras.layers.Dense(2), tf.keras.layers.Dense(1))

    def call(self, x):
        return self.second(tf.nn.relu(self.first(x)))


small = Small()
answers["own model"] = small(tf.ones([3, 4])).shape
answers["its variables"] = [v.shape for v in small.trainable_variables]


class Line(tf.Module):
    def __init__(self):
        super().__init__()
        self.parts = [tf.Variable(2.0), tf.Variable(1.0, trainable=False)]

    @tf.function
    def __call__(self, x):
        return self.parts[0] * x + self.parts[1]


line = Line()
answers["module"] = [line(tf.constant(3.0)).numpy(), len(line.variables)]
answers["to be trained"] = len(line.trainable_variables)
flat = tf.keras.layers.Flatten()(tf.zeros([2, 3, 4]))
answers["flat"] = flat.shape


# %% kinds_in_graphs
"""What is wrong in a function is found while it is traced: other kinds of errors."""

import tensorflow as tf

i, f = tf.constant([1, 2]), tf.constant([1.0, 2.0])
DOUBTS = {
    "shapes": (ValueError, lambda a, b: tf.matmul(a, b), tf.ones([2, 3]), tf.ones([2, 3])),
    "int32 + float32": (TypeError, lambda a, b: a + b, i, f),
    "a number of a tensor": (TypeError, lambda a, b: int(a[0]), i, f),
    "values": (AttributeError, lambda a, b: a.numpy(), i, f),
}
answers = {}
for name, (kind, doubt, *operands) in DOUBTS.items():
    try:
        tf.function(doubt, autograph=False)(*operands)
        answers[name] = "no error"
    except kind:
        answers[name] = kind.__name__
    except (AttributeError, TypeError, ValueError):
        answers[name] = "another"


@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)] * 2)
def added(a, b):
    return a + b


try:
    added(tf.ones([2]), tf.ones([3]))
except tf.errors.InvalidArgumentError:
    answers["while it runs"] = "InvalidArgumentError"


# %% kinds_of_errors
"""What is an error, and of which kind, while operators run at once."""

import tensorflow as tf

x = tf.constant([1.0, 2.0, 3.0])
INVALID = tf.errors.InvalidArgumentError
DOUBTS = {
    "shapes of a sum": (INVALID, lambda: tf.ones([2]) + tf.ones([3])),
    "shapes of a product": (INVALID, lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))),
    "lengths": (INVALID, lambda: tf.reshape(x, [2])),
    "position": (INVALID, lambda: x[5]),
    "axis": (INVALID, lambda: tf.reduce_sum(x, axis=2)),
    "not equal": (INVALID, lambda: tf.debugging.assert_equal(1, 2)),
    "several numbers as a truth value": (ValueError, lambda: bool(x > 0)),
    "change in place": (TypeError, lambda: exec("x[0] = 1.0", {"x": x})),
    "no method sum": (AttributeError, lambda: x.sum()),
    "no grad": (AttributeError, lambda: x.grad),
    "no backward": (AttributeError, lambda: x.backward()),
    "no placeholder": (AttributeError, lambda: tf.placeholder),
    "no Session": (AttributeError, lambda: tf.Session),
}
KINDS = (tf.errors.OpError, AttributeError, TypeError, ValueError, RuntimeError)
answers = {}
for name, (kind, doubt) in DOUBTS.items():
    try:
        doubt()
        answers[name] = "no error"
    except kind:
        answers[name] = "as expected"
    except KINDS:
        answers[name] = "another"


# %% kinks
"""Where a function has a corner or a tie: which gradient there is, and which logarithm of 0."""

import tensorflow as tf

AT = [-1.0, 0.0, 1.0, 2.0, -2.0, 0.5]
BESIDE = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]
TIED = [[1.0, 2.0, 2.0, 1.0], [3.0, 3.0, 3.0, 0.0]]


def slope(f, *values):
    xs = [tf.Variable(v) for v in values]
    with tf.GradientTape() as tape:
        y = f(*xs)
    return tape.gradient(y, xs)


@tf.function
def in_a_graph(x, y):
    return tf.maximum(x, y) + tf.round(x) * 0.0 + tf.abs(x) + tf.pow(-2.0, x)


answers = {
    "maximum": slope(tf.maximum, AT, BESIDE),
    "maximum beside numbers": [
        slope(lambda x: tf.maximum(x, 1.0), AT),
        slope(lambda x: tf.maximum(1.0, x), AT),
    ],
    "minimum": slope(tf.minimum, AT, BESIDE),
    "minimum beside numbers": [
        slope(lambda x: tf.minimum(x, 1.0), AT),
        slope(lambda x: tf.minimum(1.0, x), AT),
    ],
    "maximum of rows": slope(tf.maximum, TIED, [2.0, 3.0, 2.0, 0.0]),
    "hinge": slope(lambda x: tf.maximum(0.0, 1.0 - x), AT),
    "clipped": slope(lambda x: tf.clip_by_value(x, -1.0, 1.0), AT),
    "abs": slope(tf.abs, AT),
    "relu": slope(tf.nn.relu, AT),
    "softplus": slope(tf.nn.softplus, AT),
    "largest": slope(lambda x: tf.reduce_max(x, axis=1), TIED),
    "smallest": slope(tf.reduce_min, TIED),
    "sign": slope(tf.sign, AT),
    "rounded": [slope(f, AT) for f in (tf.round, tf.floor, tf.math.ceil)],
    "whole quotient": slope(lambda x: x // 2.0, AT),
    "remainder": slope(lambda x: x % 2.0, AT),
    "rounded and more": slope(lambda x: tf.round(x) + x, AT),
    "norm": slope(tf.norm, [0.0, 0.0]),
    "deviation": slope(tf.math.reduce_std, [2.0, 2.0]),
    "variance": slope(tf.math.reduce_variance, [2.0, 2.0]),
    "prod": slope(tf.reduce_prod, [0.0, 2.0, 0.0]),
    "power": slope(lambda x: x**2.0, AT),
    "power by exponent": slope(lambda x: tf.pow(-2.0, x), [2.0, 3.0, 0.0]),
    "power with a sign": slope(lambda x, y: x**y, [0.0, -2.0, 2.0], [2.0, 3.0, -1.0]),
    "square root at 0": slope(tf.sqrt, [0.0, 4.0]),
    "square root beside 0": slope(lambda x: tf.where(x > 0, tf.sqrt(x), 0.0), AT),
    "square root of relu": slope(lambda x: tf.sqrt(tf.nn.relu(x)), AT),
    "in a graph": slope(in_a_graph, [1.0, 2.0], [1.0, 3.0]),
    "max pooling": slope(
        lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"), [[[[1.0], [1.0]], [[1.0], [1.0]]]]
    ),
    "entropy of scores": slope(
        lambda x: tf.nn.sigmoid_cross_entropy_with_logits(
            labels=tf.constant([0.0, 1.0, 1.0]), logits=x
        ),
        [200.0, -200.0, 0.0],
    ),
    "entropy of classes": [
        tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.constant([0, 1]), logits=tf.constant([[0.0, float("-inf")], [200.0, -200.0]])
        ),
        slope(
            lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=tf.constant([0, 1]), logits=x
            ),
            [[200.0, -200.0], [200.0, -200.0]],
        ),
    ],
    "entropy of probabilities": [
        tf.keras.losses.SparseCategoricalCrossentropy()(
            tf.constant([0, 1]), tf.constant([[1.0, 0.0], [1.0, 0.0]])
        ),
        slope(
            lambda x: tf.keras.losses.SparseCategoricalCrossentropy()(tf.constant([0, 1, 0]), x),
            [[1.0, 0.0], [1.0, 0.0], [0.9, 0.1]],
        ),
    ],
}


# %% lengths
"""Sequences of any length: a cell along time, plain and as one graph for all of them."""

import tensorflow as tf

W = tf.Variable([[0.1, 0.2], [0.3, -0.4]])


def last(xs):
    h = tf.zeros([2])
    for x in xs:
        h = tf.tanh(tf.linalg.matvec(W, x) + 0.5 * h)
    return h


graph = tf.function(last, input_signature=[tf.TensorSpec([None, 2], tf.float32)])
answers = {}
for n in (3, 7, 12):
    data = tf.stack([tf.ones([n]), tf.range(n, dtype=tf.float32) / 10.0], axis=1)
    answers[str(n)] = [last(data).numpy(), graph(data).numpy()]
answers["traces"] = graph.experimental_get_tracing_count()


# %% optimizers
"""Three steps of each optimiser on the same slope."""

import tensorflow as tf

MAKERS = {
    "SGD": lambda: tf.keras.optimizers.SGD(learning_rate=0.1),
    "momentum": lambda: tf.keras.optimizers.SGD(learning_rate=0.1, momentum=0.9),
    "Adam": lambda: tf.keras.optimizers.Adam(learning_rate=0.1),
}
answers = {}
for name, make in MAKERS.items():
    w, optimizer = tf.Variable([1.0, -2.0]), make()
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w**2)
        optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w], strict=True))
    answers[name] = w.numpy()
w, optimizer = tf.Variable([1.0, -2.0]), tf.keras.optimizers.SGD(learning_rate=0.1)


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w**2)
    optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w], strict=True))
    return loss


answers["losses in a graph"] = [step().numpy() for _ in range(3)]


# %% prints_once
"""What a function does to the world happens once for each trace; its values are new each time."""

import tensorflow as tf

world = []


@tf.function
def f(x):
    print("tracing")
    world.append("ran")
    return x + 1


answers = {"results": [f(tf.constant(float(n))).numpy() for n in range(3)], "ran": len(world)}
f(tf.constant([1.0, 2.0]))
answers["after another shape"] = len(world)


@tf.function
def g(x, n):
    print("tracing with", n)
    return x * n


answers["products"] = [g(tf.constant(3.0), n).numpy() for n in (1, 2, 1)]
answers["traces"] = f.experimental_get_tracing_count()


# %% python_statements
"""Statements of Python in a tf.function: del, try, with, import, global, nonlocal, class."""

import contextlib

import tensorflow as tf

CALLS = 0
answers, seen = {}, []


@contextlib.contextmanager
def scaled_by(k):
    seen.append("in")
    yield k
    seen.append("out")


@tf.function
def deleted(x):
    while x < 10.0:
        t = x * x
        x = x + t
        del t
    d = {"a": x, "b": x * 2.0}
    del d["a"]
    if x > 0.0:
        x = d["b"]
    return x


@tf.function
def cleaned_up(x):
    try:
        if x > 0.0:
            x = x * 2.0
    finally:
        x = x + 1.0
    return x


@tf.function
def caught(x):
    try:
        while x < 10.0:
            x = x * 2.0
        int("three")
    except ValueError as error:
        if x > 10.0:
            x = x + float(len(error.args))
    return x


@tf.function
def left_early(x):
    while x < 100.0:
        try:
            x = x * 2.0
            if x > 5.0:
                break
        finally:
            x = x + 0.5
    for i in tf.range(4):
        try:
            if i == 2:
                continue
            x = x * 2.0
        finally:
            x = x + 0.5
    return x


@tf.function
def managed(x):
    with scaled_by(2.0) as k, contextlib.suppress(KeyError):
        while x < 5.0:
            x = x * k
    with scaled_by(3.0) as k:
        if x > 0.0:
            return x * k
        return x


@tf.function
def counted(x):
    global CALLS
    CALLS = CALLS + 1
    if x > 0.0:
        x = x * 2.0
    return x + float(CALLS)


@tf.function
def nested(x):
    n = 0.0

    def add():
        nonlocal n
        n = n + 1.0

    add()
    add()
    if x > 0.0:
        x = x + n
    return x


@tf.function
def defined_inside(x):
    import math

    class Scale:
        factor = 2.0

    if x > 0.0:
        x = x * Scale.factor + math.floor(2.5)
    return x


one_line = tf.function(lambda x: x * 2.0 if x > 0.0 else -x)
for f in (deleted, cleaned_up, caught, left_early, managed, counted, nested, defined_inside):
    answers[f.__name__] = float(f(tf.constant(1.0)))
answers["a lambda"] = [float(one_line(tf.constant(x))) for x in (1.0, -3.0)]
answers["the managers ran while it was traced"] = seen


# %% random
"""The same seed, the same numbers; a function draws anew at each call."""

import tensorflow as tf

tf.random.set_seed(1)
first = tf.random.normal([4])
tf.random.set_seed(1)
again = tf.random.normal([4])
answers = {
    "same": bool(tf.reduce_all(first == again)),
    "next": bool(tf.reduce_all(tf.random.normal([4]) == again)),
    "a seed of its own": bool(
        tf.reduce_all(tf.random.normal([4], seed=7) == tf.random.normal([4], seed=7))
    ),
    "shape": tf.random.uniform([2, 3]).shape,
    "inside": bool(tf.reduce_all(tf.random.uniform([100], 2.0, 3.0) >= 2.0)),
    "dice": bool(tf.reduce_all(tf.random.uniform([100], 1, 7, dtype=tf.int32) < 7)),
}


@tf.function
def drawn():
    return tf.random.normal([4])


answers["in a graph"] = bool(tf.reduce_all(drawn() == drawn()))


# %% relu_of_affine
"""y = ReLU(W x + b): the gradients of the sum by several sources, in their form."""

import tensorflow as tf

W = tf.Variable([[1.0, -2.0], [3.0, 4.0]])
b = tf.Variable([[0.5], [-1.0]])
x = tf.constant([[1.0], [1.0]])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.nn.relu(tf.matmul(W, x) + b)
found = tape.gradient(y, {"W": W, "rest": [b, x]})
answers = {"y": y, "W": found["W"], "b": found["rest"][0], "x": found["rest"][1]}


# %% retraces
"""A function is traced anew for another shape, data type or Python value: 1, 1, 2."""

import tensorflow as tf


@tf.function
def f(x):
    return x * x


def counted(g, *values):
    counts = []
    for x in values:
        g(x)
        counts.append(g.experimental_get_tracing_count())
    return counts


answers = {
    "shapes": counted(f, tf.ones([2]), tf.zeros([2]), tf.ones([3])),
    "data types": counted(f, tf.constant(1), tf.constant(2), tf.constant(1.0)),
    "Python numbers": counted(tf.function(lambda n: n * 2), 1, 2, 1),
    "tensors instead": counted(tf.function(lambda n: n * 2), tf.constant(1), tf.constant(2)),
}


@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def g(x):
    return tf.reduce_sum(x)


answers["signature"] = counted(g, tf.ones([2]), tf.ones([3]), tf.ones([7]))
for name, x in {"two axes": tf.ones([2, 2]), "whole numbers": tf.constant([1])}.items():
    try:
        g(x)
    except TypeError:
        answers[name] = "TypeError"
f.get_concrete_function(tf.TensorSpec([2], tf.float32))
h = tf.function(lambda x: x + 1)
h.get_concrete_function(tf.TensorSpec([2], tf.float32))
answers["asked for"] = h.experimental_get_tracing_count()
h(tf.ones([2]))
answers["and called"] = h.experimental_get_tracing_count()


# %% same_both_ways
"""One function, run at once and as a graph: the same numbers and the same gradients."""

import tensorflow as tf

W = tf.Variable([[0.5, -1.0], [2.0, 0.25]])


def f(x):
    return tf.reduce_sum(tf.tanh(tf.matmul(x, W)) * tf.sigmoid(x))


x = tf.constant([[1.0, -2.0], [0.5, 3.0]])
answers = {}
for name, g in {"eager": f, "graph": tf.function(f)}.items():
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = g(x)
    answers[name] = [y.numpy(), tape.gradient(y, W).numpy(), tape.gradient(y, x).numpy()]


@tf.function
def inside(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, [x, W])


answers["in the graph"] = inside(x)


@tf.function
def outer(x):
    return inside(x)[0] * 2


answers["a function in a function"] = outer(x)


# %% scalar
"""y = x * x + 3 at x = 2: computed at once, and its derivative from the tape."""

import tensorflow as tf

x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = x * x + 3
answers = {
    "value": y.numpy(),
    "slope": tape.gradient(y, x).numpy(),
    "eager": tf.executing_eagerly(),
    "shape": y.shape,
    "written": str(y),
    "told": repr(y),
}


# %% tape
"""What a tape records: variables by itself, tensors when told, and only while it is there."""

import tensorflow as tf

v, fixed = tf.Variable(3.0), tf.Variable(3.0, trainable=False)
x = tf.constant(2.0)
answers = {}
with tf.GradientTape() as tape:
    y = x * v
answers["by a variable"], answers["by a tensor"] = tape.gradient(y, [v, x])
with tf.GradientTape() as tape:
    y = v * fixed
answers["by a fixed variable"] = tape.gradient(y, fixed)
with tf.GradientTape() as tape:
    y = v * v
z = y * 2
answers["behind the tape"] = tape.gradient(z, v)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
    with tape.stop_recording():
        z = y * y
answers["while it stopped"] = tape.gradient(z, x)
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(v)
    y = v * fixed * x
answers["told which"] = tape.gradient(y, v)
with tf.GradientTape() as tape:
    whole = tf.constant(3)
    tape.watch(whole)
    y = whole * whole
answers["whole numbers"] = tape.gradient(y, whole)


# %% tape_order
"""A tape inside a tape: derivatives of derivatives."""

import tensorflow as tf

x = tf.Variable(2.0)
with tf.GradientTape() as third:
    with tf.GradientTape() as second:
        with tf.GradientTape() as first:
            y = x**4
        dy = first.gradient(y, x)
    ddy = second.gradient(dy, x)
dddy = third.gradient(ddy, x)
answers = {"y": y, "first": dy, "second": ddy, "third": dddy}
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = tf.sin(x) * x
    slope = inner.gradient(y, x)
    norm = slope * slope
answers["of a function of a slope"] = outer.gradient(norm, x)


# %% tape_twice
"""A tape answers once, unless it is persistent."""

import tensorflow as tf

x = tf.Variable(3.0)
answers = {}
with tf.GradientTape() as tape:
    y = x * x
answers["once"] = tape.gradient(y, x)
try:
    answers["twice"] = tape.gradient(y, x)
except RuntimeError:
    answers["twice"] = "RuntimeError"
with tf.GradientTape(persistent=True) as tape:
    y = x * x
    z = y * y
answers["of z"], answers["of y"] = tape.gradient(z, x), tape.gradient(y, x)
answers["of z by y"] = tape.gradient(z, y)


# %% training
"""The loop of TensorFlow 2: tape, gradient, assign_sub; plain and as a graph."""

import numpy as np
import tensorflow as tf

data = np.linspace(-1, 1, 20, dtype=np.float32)
X, y = tf.constant(data[:, None]), tf.constant(3 * data[:, None] + 1)


def step(w, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.matmul(X, w) + b - y) ** 2)
    dw, db = tape.gradient(loss, [w, b])
    w.assign_sub(0.3 * dw)
    b.assign_sub(0.3 * db)
    return loss


answers = {}
for name, run in {"plain": step, "graph": tf.function(step)}.items():
    w, b = tf.Variable([[0.0]]), tf.Variable([0.0])
    losses = [run(w, b).numpy() for _ in range(50)]
    answers[name] = [losses[0], losses[10], w.numpy(), b.numpy()]


# %% unconnected
"""A source on which nothing depends has the gradient None, or 0 if asked so."""

import tensorflow as tf

a, b = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
with tf.GradientTape(persistent=True) as tape:
    y = tf.reduce_sum(a * a)
    stopped = tf.reduce_sum(tf.stop_gradient(a) * b)
answers = {
    "none": tape.gradient(y, [a, b]),
    "zero": tape.gradient(y, [a, b], unconnected_gradients=tf.UnconnectedGradients.ZERO),
    "stopped": tape.gradient(stopped, [a, b]),
    "of two": tape.gradient([y, stopped], b),
    "weights": tape.gradient(a * a, a),
}
with tf.GradientTape() as tape:
    y = a * a
answers["weighted"] = tape.gradient(y, a, output_gradients=tf.constant([10.0, 1.0]))


# %% variables
"""Variables change by assign, assign_add and assign_sub, and are read by what computes."""

import tensorflow as tf

v = tf.Variable([1.0, 2.0], name="weights")
answers = {"name": v.name, "trainable": v.trainable, "told": repr(v)}
v.assign([3.0, 4.0])
answers["assigned"] = v.numpy()
v.assign_add([1.0, 1.0])
answers["added"] = v.numpy()
v.assign_sub(tf.constant([0.5, 0.5]))
answers["subtracted"] = (v * 2).numpy()
before = v.value()
v.assign([0.0, 0.0])
answers["read before"] = before.numpy()
for name, doubt in {
    "shape": lambda: v.assign([1.0, 2.0, 3.0]),
    "data type": lambda: v.assign(tf.constant([1, 2])),
}.items():
    try:
        doubt()
    except ValueError:
        answers[name] = "ValueError"
with tf.GradientTape() as tape:
    y = tf.reduce_sum(v * v + v)
v.assign([100.0, 100.0])
answers["gradient of what was"] = tape.gradient(y, v)


# %% while_loop
"""A loop in the graph: `while` on a tensor, and tf.while_loop."""

import tensorflow as tf


@tf.function
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


answers = {
    "collatz": [collatz(tf.constant(n)).numpy() for n in (1, 6, 27)],
    "traces": collatz.experimental_get_tracing_count(),
}
i, power = tf.while_loop(
    lambda i, p: i < 5, lambda i, p: (i + 1, p * 2.0), [tf.constant(0), tf.constant(1.0)]
)
answers["eager"] = [i.numpy(), power.numpy()]
x = tf.Variable(3.0)


@tf.function
def cube(x):
    p = tf.constant(1.0)
    for _ in tf.range(3):
        p = p * x
    return p


@tf.function
def power(x, n):
    p = tf.constant(1.0)
    for i in tf.range(n):
        p = p * x + tf.cast(i, tf.float32)
    return p


answers["so often"] = [power(tf.constant(2.0), tf.constant(n)).numpy() for n in (0, 2, 5)]
answers["traces of power"] = power.experimental_get_tracing_count()
with tf.GradientTape() as tape:
    y = cube(x * 1.0)
answers["cube"], answers["slope"] = y.numpy(), tape.gradient(y, x)
