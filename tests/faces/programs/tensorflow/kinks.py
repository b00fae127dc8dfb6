"""Where a function has a corner or a tie: which gradient there is, and which logarithm of 0."""

import tensorflow as tf

AT = [-1.0, 0.0, 1.0, 2.0, -2.0, 0.5]
BESIDE = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]
TIED = [[1.0, 2.0, 2.0, 1.0], [3.0, 3.0, 3.0, 0.0]]


def slope(f, *values):
    xs = [tf.Variable(v) for v in values]
    with tf.GradientTape() as tape:
        y = f(*xs)
    return tape.gradient(y, xs)


@tf.function
def in_a_graph(x, y):
    return tf.maximum(x, y) + tf.round(x) * 0.0 + tf.abs(x) + tf.pow(-2.0, x)


answers = {
    "maximum": slope(tf.maximum, AT, BESIDE),
    "maximum beside numbers": [
        slope(lambda x: tf.maximum(x, 1.0), AT),
        slope(lambda x: tf.maximum(1.0, x), AT),
    ],
    "minimum": slope(tf.minimum, AT, BESIDE),
    "minimum beside numbers": [
        slope(lambda x: tf.minimum(x, 1.0), AT),
        slope(lambda x: tf.minimum(1.0, x), AT),
    ],
    "maximum of rows": slope(tf.maximum, TIED, [2.0, 3.0, 2.0, 0.0]),
    "hinge": slope(lambda x: tf.maximum(0.0, 1.0 - x), AT),
    "clipped": slope(lambda x: tf.clip_by_value(x, -1.0, 1.0), AT),
    "abs": slope(tf.abs, AT),
    "relu": slope(tf.nn.relu, AT),
    "softplus": slope(tf.nn.softplus, AT),
    "largest": slope(lambda x: tf.reduce_max(x, axis=1), TIED),
    "smallest": slope(tf.reduce_min, TIED),
    "sign": slope(tf.sign, AT),
    "rounded": [slope(f, AT) for f in (tf.round, tf.floor, tf.math.ceil)],
    "whole quotient": slope(lambda x: x // 2.0, AT),
    "remainder": slope(lambda x: x % 2.0, AT),
    "rounded and more": slope(lambda x: tf.round(x) + x, AT),
    "norm": slope(tf.norm, [0.0, 0.0]),
    "deviation": slope(tf.math.reduce_std, [2.0, 2.0]),
    "variance": slope(tf.math.reduce_variance, [2.0, 2.0]),
    "prod": slope(tf.reduce_prod, [0.0, 2.0, 0.0]),
    "power": slope(lambda x: x**2.0, AT),
    "power by exponent": slope(lambda x: tf.pow(-2.0, x), [2.0, 3.0, 0.0]),
    "power with a sign": slope(lambda x, y: x**y, [0.0, -2.0, 2.0], [2.0, 3.0, -1.0]),
    "square root at 0": slope(tf.sqrt, [0.0, 4.0]),
    "square root beside 0": slope(lambda x: tf.where(x > 0, tf.sqrt(x), 0.0), AT),
    "square root of relu": slope(lambda x: tf.sqrt(tf.nn.relu(x)), AT),
    "in a graph": slope(in_a_graph, [1.0, 2.0], [1.0, 3.0]),
    "max pooling": slope(
        lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"), [[[[1.0], [1.0]], [[1.0], [1.0]]]]
    ),
    "entropy of scores": slope(
        lambda x: tf.nn.sigmoid_cross_entropy_with_logits(
            labels=tf.constant([0.0, 1.0, 1.0]), logits=x
        ),
        [200.0, -200.0, 0.0],
    ),
    "entropy of classes": [
        tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.constant([0, 1]), logits=tf.constant([[0.0, float("-inf")], [200.0, -200.0]])
        ),
        slope(
            lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=tf.constant([0, 1]), logits=x
            ),
            [[200.0, -200.0], [200.0, -200.0]],
        ),
    ],
    "entropy of probabilities": [
        tf.keras.losses.SparseCategoricalCrossentropy()(
            tf.constant([0, 1]), tf.constant([[1.0, 0.0], [1.0, 0.0]])
        ),
        slope(
            lambda x: tf.keras.losses.SparseCategoricalCrossentropy()(tf.constant([0, 1, 0]), x),
            [[1.0, 0.0], [1.0, 0.0], [0.9, 0.1]],
        ),
    ],
}
