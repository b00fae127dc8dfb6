"""scan and map_fn: what happens along the first axis."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
xs = tf.constant([1.0, 2.0, 3.0])
sums = tf.scan(lambda total, x: total + x, xs, initializer=tf.constant(0.0))
squares = tf.map_fn(lambda x: x * x, xs)
with tf.Session() as sess:
    answers = {"sums": sess.run(sums), "squares": sess.run(squares)}
