"""Images have their channels last; ten layers without padding are too many."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x = tf.constant(np.arange(32, dtype=np.float32).reshape(1, 4, 4, 2) / 10)
w = tf.constant((np.arange(36, dtype=np.float32).reshape(3, 3, 2, 2) - 17) / 10)
same = tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="SAME")
pool = tf.nn.max_pool(tf.nn.relu(same), [1, 2, 2, 1], [1, 2, 2, 1], padding="VALID")
valid = tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="VALID")
with tf.Session() as sess:
    answers = {"same": sess.run(same), "pool": sess.run(pool), "valid": sess.run(valid)}
image, kernel, layers = tf.zeros([1, 16, 16, 1]), tf.ones([3, 3, 1, 1]), 0
try:
    for _ in range(10):
        image = tf.nn.conv2d(image, kernel, strides=[1, 1, 1, 1], padding="VALID")
        layers += 1
except ValueError:
    answers["layers"] = layers
