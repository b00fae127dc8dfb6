"""What must run before: a counter that counts each run."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
count = tf.Variable(0.0)
tick = tf.assign_add(count, 1.0)
with tf.control_dependencies([tick]):
    y = tf.identity(tf.constant(7.0))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    answers = {"y": [sess.run(y) for _ in range(3)], "count": sess.run(count)}
    sess.run(tf.group(tick, tf.no_op()))
    answers["grouped"] = sess.run(count)
