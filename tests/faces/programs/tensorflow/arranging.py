"""Axes: reshaped, exchanged, joined, cut, repeated, reduced."""

import tensorflow as tf

x = tf.reshape(tf.range(6, dtype=tf.float32), [2, 3])
answers = {
    "transposed": tf.transpose(x),
    "joined": tf.concat([x, x], axis=1),
    "stacked": tf.stack([x, x]).shape,
    "cut": tf.split(x, 3, axis=1),
    "cut at": tf.split(x, [1, 2], axis=1),
    "unstacked": tf.unstack(x),
    "repeated": tf.tile(x, [1, 2]),
    "expanded": tf.expand_dims(x, 0).shape,
    "squeezed": tf.squeeze(tf.expand_dims(x, 0)).shape,
    "sums": tf.reduce_sum(x, axis=0),
    "kept": tf.reduce_mean(x, axis=1, keepdims=True),
    "largest": tf.reduce_max(x),
    "where": tf.where(x > 2, x, tf.zeros_like(x)),
    "gathered": tf.gather(x, [1, 0]),
    "one hot": tf.one_hot([0, 2], 3),
    "part": x[1, ::2],
    "shape": tf.shape(x),
    "size": tf.size(x),
    "rank": tf.rank(x),
    "as list": x.shape.as_list(),
    "clipped": tf.clip_by_value(x, 1.0, 4.0),
    "length": len(x),
    "rows": [row.numpy() for row in x],
}
