"""The linear classifier of the notes: placeholder, variables, session, feed."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x = tf.placeholder(tf.float32, [None, 784])
W = tf.Variable(tf.random_normal([784, 10]))
b = tf.Variable(tf.zeros([10]))
y = tf.matmul(x, W) + b
input_data = np.zeros((5, 784), np.float32)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run(y, feed_dict={x: input_data})
    shapes = [sess.run(y, {x: np.ones((n, 784))}).shape for n in (1, 64, 100)]
answers = {"zero rows give b": result, "shapes": shapes}
