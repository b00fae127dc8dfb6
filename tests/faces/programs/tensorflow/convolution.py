"""Images have their channels last; without padding ten layers are too many."""

import tensorflow as tf

image = tf.reshape(tf.range(16, dtype=tf.float32), [1, 4, 4, 1])
kernel = tf.ones([3, 3, 1, 2])
answers = {
    "valid": tf.nn.conv2d(image, kernel, strides=1, padding="VALID"),
    "same": tf.nn.conv2d(image, kernel, strides=[1, 1, 1, 1], padding="SAME").shape,
    "pooled": tf.nn.max_pool2d(image, ksize=2, strides=2, padding="VALID"),
    "fused": tf.nn.relu(tf.nn.conv2d(image - 8, kernel, strides=1, padding="VALID")),
}
x, layers = tf.zeros([1, 16, 16, 1]), 0
try:
    for _ in range(10):
        x = tf.nn.conv2d(x, tf.ones([3, 3, 1, 1]), strides=1, padding="VALID")
        layers += 1
except (ValueError, tf.errors.InvalidArgumentError):
    answers["refused"] = True
answers["layers"] = layers
