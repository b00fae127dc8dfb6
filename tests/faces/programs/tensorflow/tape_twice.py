"""A tape answers once, unless it is persistent."""

import tensorflow as tf

x = tf.Variable(3.0)
answers = {}
with tf.GradientTape() as tape:
    y = x * x
answers["once"] = tape.gradient(y, x)
try:
    answers["twice"] = tape.gradient(y, x)
except RuntimeError:
    answers["twice"] = "RuntimeError"
with tf.GradientTape(persistent=True) as tape:
    y = x * x
    z = y * y
answers["of z"], answers["of y"] = tape.gradient(z, x), tape.gradient(y, x)
answers["of z by y"] = tape.gradient(z, y)
