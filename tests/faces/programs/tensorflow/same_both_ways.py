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
