"""A function is traced anew for another shape, data type or Python value: 1, 1, 2."""

import tensorflow as tf


@tf.function
def f(x):
    return x * x


def counted(g, *values):
    counts = []
    for x in values:
        g(x)
        counts.append(g.experimental_get_tracing_count())
    return counts


answers = {
    "shapes": counted(f, tf.ones([2]), tf.zeros([2]), tf.ones([3])),
    "data types": counted(f, tf.constant(1), tf.constant(2), tf.constant(1.0)),
    "Python numbers": counted(tf.function(lambda n: n * 2), 1, 2, 1),
    "tensors instead": counted(tf.function(lambda n: n * 2), tf.constant(1), tf.constant(2)),
}


@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def g(x):
    return tf.reduce_sum(x)


answers["signature"] = counted(g, tf.ones([2]), tf.ones([3]), tf.ones([7]))
for name, x in {"two axes": tf.ones([2, 2]), "whole numbers": tf.constant([1])}.items():
    try:
        g(x)
    except TypeError:
        answers[name] = "TypeError"
f.get_concrete_function(tf.TensorSpec([2], tf.float32))
h = tf.function(lambda x: x + 1)
h.get_concrete_function(tf.TensorSpec([2], tf.float32))
answers["asked for"] = h.experimental_get_tracing_count()
h(tf.ones([2]))
answers["and called"] = h.experimental_get_tracing_count()
