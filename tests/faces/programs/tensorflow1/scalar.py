"""y = x * x + 3: built once, run with two values."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x = tf.placeholder(tf.float32, name="x")
y = x * x + 3

with tf.Session() as sess:
    answers = {"at 2": sess.run(y, feed_dict={x: 2}), "at 3": sess.run(y, feed_dict={x: 3})}
