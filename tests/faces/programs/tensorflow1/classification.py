"""Softmax with cross entropy, of numbers and of one-hot rows; accuracy."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
logits = tf.constant([[2.0, 0.5, -1.0], [0.1, 0.2, 3.0], [1.0, 1.5, 0.0]])
labels = tf.constant([0, 2, 0])
sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
dense = tf.nn.softmax_cross_entropy_with_logits(labels=tf.one_hot(labels, 3), logits=logits)
binary = tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.constant([1.0]), logits=[0.3])
right = tf.equal(tf.argmax(logits, 1), tf.cast(labels, tf.int64))
with tf.Session() as sess:
    answers = {
        "sparse": sess.run(sparse),
        "dense": sess.run(dense),
        "binary": sess.run(binary),
        "accuracy": sess.run(tf.reduce_mean(tf.cast(right, tf.float32))),
        "slope": sess.run(tf.gradients(tf.reduce_mean(sparse), logits)[0]),
        "columns": sess.run(tf.argmax(logits)),
    }
