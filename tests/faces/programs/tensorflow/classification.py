"""Softmax with cross entropy, of numbers and of one-hot rows; accuracy."""

import tensorflow as tf

logits = tf.Variable([[2.0, 1.0, 0.1], [0.5, 2.5, 0.0]])
labels = tf.constant([0, 2])
with tf.GradientTape() as tape:
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(losses)
rows = tf.nn.softmax_cross_entropy_with_logits(labels=tf.one_hot(labels, 3), logits=logits)
right = tf.equal(tf.argmax(logits, axis=1), tf.cast(labels, tf.int64))
answers = {
    "losses": losses,
    "gradient": tape.gradient(loss, logits),
    "one-hot": rows,
    "probabilities": tf.nn.softmax(logits, axis=1),
    "accuracy": tf.reduce_mean(tf.cast(right, tf.float32)),
    "sigmoid": tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[0.5, 0.5]),
}
