"""Where a function has a corner or a tie: which gradient there is, and which logarithm of 0."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
AT = [-1.0, 0.0, 1.0, 2.0, -2.0, 0.5]
BESIDE = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]
TIED = [[1.0, 2.0, 2.0, 1.0], [3.0, 3.0, 3.0, 0.0]]


def slope(f, *values):
    xs = [
        tf.placeholder(tf.float32, [len(v), 4] if isinstance(v[0], list) else [len(v)])
        for v in values
    ]
    found = tf.gradients(tf.reduce_sum(f(*xs)), xs)
    with tf.Session() as sess:
        feed = dict(zip(xs, values, strict=True))
        return [None if g is None else sess.run(g, feed) for g in found]


def minimised(start):
    w = tf.Variable(start)
    step = tf.train.GradientDescentOptimizer(1.0).minimize(
        tf.reduce_sum(tf.maximum(w, 1.0)), var_list=[w]
    )
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(step)
        return sess.run(w)


answers = {
    "maximum": slope(tf.maximum, AT, BESIDE),
    "maximum beside numbers": [
        slope(lambda x: tf.maximum(x, 1.0), AT),
        slope(lambda x: tf.maximum(1.0, x), AT),
    ],
    "minimum": slope(tf.minimum, AT, BESIDE),
    "hinge": slope(lambda x: tf.maximum(0.0, 1.0 - x), AT),
    "a step at a tie": minimised([1.0, 2.0, 0.0]),
    "clipped": slope(lambda x: tf.clip_by_value(x, -1.0, 1.0), AT),
    "abs": slope(tf.abs, AT),
    "relu": slope(tf.nn.relu, AT),
    "largest": slope(lambda x: tf.reduce_max(x, axis=1), TIED),
    "sign": slope(tf.sign, AT),
    "rounded": [slope(f, AT) for f in (tf.round, tf.floor)],
    "whole quotient": slope(lambda x: x // 2.0, AT),
    "power by exponent": slope(lambda x: tf.pow(-2.0, x), [2.0, 3.0, 0.0]),
    "power with a sign": slope(lambda x, y: x**y, [0.0, -2.0, 2.0], [2.0, 3.0, -1.0]),
    "square root beside 0": slope(lambda x: tf.where(x > 0, tf.sqrt(x), tf.zeros_like(x)), AT),
    "entropy of scores": slope(
        lambda x: tf.nn.sigmoid_cross_entropy_with_logits(
            labels=tf.constant([0.0, 1.0, 1.0]), logits=x
        ),
        [200.0, -200.0, 0.0],
    ),
    "entropy of classes": slope(
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.constant([0, 1]), logits=x
        ),
        [[200.0, -200.0, 0.0, 0.0], [200.0, -200.0, 0.0, 0.0]],
    ),
}
