"""Sequences of any length: a cell along time, plain and as one graph for all of them."""

import tensorflow as tf

W = tf.Variable([[0.1, 0.2], [0.3, -0.4]])


def last(xs):
    h = tf.zeros([2])
    for x in xs:
        h = tf.tanh(tf.linalg.matvec(W, x) + 0.5 * h)
    return h


graph = tf.function(last, input_signature=[tf.TensorSpec([None, 2], tf.float32)])
answers = {}
for n in (3, 7, 12):
    data = tf.stack([tf.ones([n]), tf.range(n, dtype=tf.float32) / 10.0], axis=1)
    answers[str(n)] = [last(data).numpy(), graph(data).numpy()]
answers["traces"] = graph.experimental_get_tracing_count()
