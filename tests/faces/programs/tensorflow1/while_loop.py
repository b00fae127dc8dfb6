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
