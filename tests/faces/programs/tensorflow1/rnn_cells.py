"""The cells: their variables, what they compute with them, and their gradients."""

# needs tf_keras

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
MAKERS = {
    "BasicRNNCell": lambda: tf.nn.rnn_cell.BasicRNNCell(3),
    "GRUCell": lambda: tf.nn.rnn_cell.GRUCell(3),
    "BasicLSTMCell": lambda: tf.nn.rnn_cell.BasicLSTMCell(3),
    "LSTMCell": lambda: tf.nn.rnn_cell.LSTMCell(3, forget_bias=0.5),
}
answers = {}
for name, make in MAKERS.items():
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [None, None, 2])
    outputs, state = tf.nn.dynamic_rnn(make(), x, dtype=tf.float32)
    weights = tf.trainable_variables()
    slopes = tf.gradients(tf.reduce_sum(outputs), weights)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        answers[f"{name} variables"] = [sess.run(w).shape for w in weights]
        answers[f"{name} biases"] = [sess.run(w) for w in weights[1::2]]
        for w in weights:
            shape = sess.run(w).shape
            sess.run(tf.assign(w, np.linspace(-1, 1, np.prod(shape)).reshape(shape)))
        feed = {x: np.linspace(-1, 1, 20).reshape(2, 5, 2)}
        answers[name] = sess.run([outputs, state], feed)
        answers[f"{name} slopes"] = sess.run(slopes, feed)
