"""What is fetched comes back in the form it was asked for; a fetch may be fed."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
a = tf.constant(2.0)
b = a * 3
c = b + 1
with tf.Session() as sess:
    answers = {
        "list": sess.run([a, b]),
        "tuple": sess.run((a, c)),
        "dict": sess.run({"b": b, "c": [c]}),
    }
    try:
        answers["replaced"] = sess.run(c, feed_dict={b: 100.0})
    except ValueError:
        answers["replaced"] = "ValueError"
