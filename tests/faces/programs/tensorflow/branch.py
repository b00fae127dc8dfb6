"""`if` on a tensor becomes part of the graph: -4 at -3, where a baked-in branch would say -6."""

import tensorflow as tf


@tf.function
def f(x):
    if tf.reduce_sum(x) > 0:
        return 2 * x
    else:
        return x - 1


answers = {
    "positive": f(tf.constant([3.0])),
    "negative": f(tf.constant([-3.0])),
    "traces": f.experimental_get_tracing_count(),
}


@tf.function(autograph=False)
def g(x):
    if tf.reduce_sum(x) > 0:
        return 2 * x
    return x - 1


try:
    g(tf.constant([3.0]))
except tf.errors.OperatorNotAllowedInGraphError:
    answers["without autograph"] = "OperatorNotAllowedInGraphError"
try:
    g(tf.constant([3.0]))
except TypeError:
    answers["which is a"] = "TypeError"
