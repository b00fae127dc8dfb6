"""A Python value decides while the function is traced, and stays decided: -6 for -4."""

import tensorflow as tf

positive = True


@tf.function
def f(x):
    if positive:
        return 2 * x
    else:
        return x - 1


answers = {"at 3": f(tf.constant([3.0])), "at -3": f(tf.constant([-3.0]))}
positive = False
answers["when it has changed"] = f(tf.constant([-3.0]))
answers["for another shape"] = f(tf.constant([-3.0, -1.0]))


@tf.function
def g(x, positive):
    if positive:
        return 2 * x
    else:
        return x - 1


answers["argument"] = [g(tf.constant([-3.0]), p).numpy() for p in (True, False)]
answers["traces"] = g.experimental_get_tracing_count()
answers["tensor"] = g(tf.constant([-3.0]), tf.constant(False))
answers["traces then"] = g.experimental_get_tracing_count()
