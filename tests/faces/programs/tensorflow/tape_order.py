"""A tape inside a tape: derivatives of derivatives."""

import tensorflow as tf

x = tf.Variable(2.0)
with tf.GradientTape() as third:
    with tf.GradientTape() as second:
        with tf.GradientTape() as first:
            y = x**4
        dy = first.gradient(y, x)
    ddy = second.gradient(dy, x)
dddy = third.gradient(ddy, x)
answers = {"y": y, "first": dy, "second": ddy, "third": dddy}
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = tf.sin(x) * x
    slope = inner.gradient(y, x)
    norm = slope * slope
answers["of a function of a slope"] = outer.gradient(norm, x)
