"""Variables by name and initializer, in a scope."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
with tf.variable_scope("layer"):
    w = tf.get_variable("w", [2, 3], initializer=tf.ones_initializer())
    b = tf.get_variable("b", [3], initializer=tf.zeros_initializer())
    c = tf.get_variable("c", initializer=tf.constant(4.0))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    answers = {
        "values": sess.run([w, b, c]),
        "names": [v.name.split(":")[0] for v in tf.trainable_variables()],
    }
