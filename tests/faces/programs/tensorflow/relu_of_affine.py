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
