"""The same seed, the same numbers; a function draws anew at each call."""

import tensorflow as tf

tf.random.set_seed(1)
first = tf.random.normal([4])
tf.random.set_seed(1)
again = tf.random.normal([4])
answers = {
    "same": bool(tf.reduce_all(first == again)),
    "next": bool(tf.reduce_all(tf.random.normal([4]) == again)),
    "a seed of its own": bool(
        tf.reduce_all(tf.random.normal([4], seed=7) == tf.random.normal([4], seed=7))
    ),
    "shape": tf.random.uniform([2, 3]).shape,
    "inside": bool(tf.reduce_all(tf.random.uniform([100], 2.0, 3.0) >= 2.0)),
    "dice": bool(tf.reduce_all(tf.random.uniform([100], 1, 7, dtype=tf.int32) < 7)),
}


@tf.function
def drawn():
    return tf.random.normal([4])


answers["in a graph"] = bool(tf.reduce_all(drawn() == drawn()))
