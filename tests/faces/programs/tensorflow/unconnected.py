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
