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
