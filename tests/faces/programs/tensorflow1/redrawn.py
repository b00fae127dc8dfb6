"""A random operator that is fetched twice."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x = tf.random_normal([3])
with tf.Session() as sess:
    first, second = sess.run(x), sess.run(x)
answers = {"drawn anew": bool((first != second).any())}
