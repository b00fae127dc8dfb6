"""Numbers drawn with a seed are the same in each new graph; a variable keeps its draw."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def drawn():
    tf.reset_default_graph()
    w = tf.Variable(tf.random_normal([3], seed=1))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(w), sess.run(w)


(first, again), (second, _) = drawn(), drawn()
answers = {"kept": (first == again).all(), "same": (first == second).all()}
