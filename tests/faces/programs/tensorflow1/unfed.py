"""What was not fed, not initialised or does not fit: three errors of three kinds."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
answers = {}
x = tf.placeholder(tf.float32, [None, 784])
W = tf.Variable(tf.ones([784, 10]))
y = tf.matmul(x, W)
with tf.Session() as sess:
    try:
        sess.run(y, {x: np.zeros((3, 784))})
    except tf.errors.FailedPreconditionError:
        answers["not initialised"] = "FailedPreconditionError"
    sess.run(tf.global_variables_initializer())
    try:
        sess.run(y)
    except tf.errors.InvalidArgumentError:
        answers["not fed"] = "InvalidArgumentError"
    try:
        sess.run(y, feed_dict={x: np.zeros((3, 100))})
    except ValueError:
        answers["does not fit"] = "ValueError"
try:
    tf.matmul(x, tf.zeros([100, 10]))
except ValueError:
    answers["while building"] = "ValueError"
