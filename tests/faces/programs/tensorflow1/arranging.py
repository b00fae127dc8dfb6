"""Axes: reshaped, exchanged, joined, cut, repeated, reduced."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
a = tf.reshape(tf.range(6), [2, 3])
f = tf.cast(a, tf.float32)
found = {
    "transpose": tf.transpose(a),
    "concat": tf.concat([a, a], axis=1),
    "stack": tf.stack([a, a]),
    "split": tf.split(a, 3, axis=1),
    "lengths": tf.split(a, [1, 2], axis=1),
    "unstack": tf.unstack(a),
    "tile": tf.tile(a, [1, 2]),
    "gather": tf.gather(a, [1, 0]),
    "expand": tf.squeeze(tf.expand_dims(a, 0), axis=0),
    "mean": tf.reduce_mean(f, axis=0),
    "kept": tf.reduce_max(f, axis=1, keepdims=True),
    "where": tf.where(f > 2, f, -f),
    "clipped": tf.clip_by_value(f, 1.0, 3.0),
    "one hot": tf.one_hot([0, 2], 3),
    "fill": tf.fill([2, 2], 7.0),
    "sum": tf.add_n([f, f]),
}
with tf.Session() as sess:
    answers = sess.run(found)
