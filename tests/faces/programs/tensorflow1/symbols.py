"""Before a run there are shapes and data types, and no values."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x = tf.placeholder(tf.float32, [None, 3], name="x")
y = tf.matmul(x, tf.ones([3, 2]), name="y")
answers = {
    "name": y.name.split(":")[0],
    "data type": y.dtype == tf.float32,
    "whole": tf.constant(3).dtype == tf.int32,
    "graph": y.graph is tf.get_default_graph(),
}
try:
    if tf.reduce_sum(x) > 0:
        answers["truth"] = "no error"
except TypeError:
    answers["truth"] = "TypeError"
