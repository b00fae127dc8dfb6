"""Gradients are nodes; what does not depend is None."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x = tf.placeholder(tf.float32, [2])
W = tf.Variable([1.0, 2.0])
unused = tf.Variable(1.0)
loss = tf.reduce_sum(tf.square(W - x))
dW, du = tf.gradients(loss, [W, unused])
(second,) = tf.gradients(dW, W)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    answers = {
        "dW": sess.run(dW, {x: [3.0, 3.0]}),
        "unused": du is None,
        "second": sess.run(second, {x: [3.0, 3.0]}),
    }
