"""Both branches are in the graph, one runs."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x = tf.placeholder(tf.float32, [None])
y = tf.cond(tf.reduce_sum(x) > 0, lambda: 2 * x, lambda: x - 1)
(slope,) = tf.gradients(y, x)
with tf.Session() as sess:
    answers = {
        "at -3": sess.run(y, {x: [-3.0]}),
        "at 5": sess.run(y, {x: [5.0]}),
        "slopes": [sess.run(slope, {x: [-3.0]}), sess.run(slope, {x: [5.0]})],
    }
