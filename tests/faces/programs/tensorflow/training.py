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
