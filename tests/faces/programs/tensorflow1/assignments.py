"""Variables change only when an assignment is fetched; each session has its own."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
w = tf.Variable(1.0)
double, add, less = w.assign(w * 2), w.assign_add(3.0), w.assign_sub(1.0)
with tf.Session() as first, tf.Session() as second:
    first.run(tf.global_variables_initializer())
    second.run(tf.global_variables_initializer())
    steps = [first.run(double), first.run(double), first.run(add), first.run(less)]
    steps += [first.run(w.read_value()), first.run(w.value()), first.run(tf.assign(w, 9.0))]
    answers = {"first": steps, "second": second.run(w)}
