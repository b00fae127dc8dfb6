"""The gradient of a constant that a branch and a loop look around for."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x = tf.constant(1.5)
branch = tf.cond(tf.constant(True), lambda: x * x, lambda: x)
_, power = tf.while_loop(lambda i, p: i < 3, lambda i, p: (i + 1, p * x), [tf.constant(0), x])
answers = {}
with tf.Session() as sess:
    for name, y in {"branch": branch, "loop": power}.items():
        try:
            answers[name] = sess.run(tf.gradients(y, x)[0])
        except RuntimeError:
            answers[name] = "RuntimeError"
