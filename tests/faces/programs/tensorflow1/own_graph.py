"""A graph of its own, beside the default one."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
other = tf.Graph()
with other.as_default():
    a = tf.constant(2.0)
    b = a * 3
c = tf.constant(5.0)
with tf.Session(graph=other) as sess:
    answers = {"other": sess.run(b), "apart": [b.graph is other, c.graph is other]}
    try:
        sess.run(c)
    except ValueError:
        answers["from elsewhere"] = "ValueError"
