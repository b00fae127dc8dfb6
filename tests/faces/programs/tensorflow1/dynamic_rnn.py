"""A cell of one's own along sequences of any length, each of which ends where it says."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
W = tf.constant(np.arange(12).reshape(4, 3) / 10, dtype=tf.float32)


class Cell:
    output_size = state_size = 3

    def __call__(self, x, state, scope=None):
        h = tf.tanh(tf.matmul(x, W) + 0.5 * state)
        return h, h

    def zero_state(self, batch_size, dtype):
        return tf.zeros([batch_size, 3], dtype)


x = tf.placeholder(tf.float32, [None, None, 4])
lengths = tf.placeholder(tf.int32, [None])
outputs, state = tf.nn.dynamic_rnn(Cell(), x, dtype=tf.float32)
ended, last = tf.nn.dynamic_rnn(Cell(), x, sequence_length=lengths, dtype=tf.float32)
begun, _ = tf.nn.dynamic_rnn(Cell(), x, initial_state=tf.ones([2, 3]))
answers = {}
with tf.Session() as sess:
    for n in (3, 7, 12):
        data = np.linspace(-1, 1, 2 * n * 4).reshape(2, n, 4)
        answers[f"last of {n}"] = sess.run(state, {x: data})
        answers[f"outputs of {n}"] = sess.run(outputs, {x: data}).shape
    data = np.linspace(-1, 1, 24).reshape(2, 3, 4)
    answers["ended"], answers["last"] = sess.run([ended, last], {x: data, lengths: [1, 3]})
    answers["begun"] = sess.run(begun, {x: data})
