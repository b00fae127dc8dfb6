"""run_functions_eagerly: functions run as plain Python, and everything can be looked at."""

import tensorflow as tf

seen = []


@tf.function
def f(x):
    seen.append(tf.executing_eagerly())
    return x * 2


f(tf.constant(1.0))
f(tf.constant(2.0))
tf.config.run_functions_eagerly(True)
answers = {"asked": tf.config.functions_run_eagerly(), "value": f(tf.constant(3.0)).numpy()}
f(tf.constant(4.0))
tf.config.run_functions_eagerly(False)
f(tf.constant(5.0))
answers["seen"] = seen
