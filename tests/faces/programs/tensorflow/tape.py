"""What a tape records: variables by itself, tensors when told, and only while it is there."""

import tensorflow as tf

v, fixed = tf.Variable(3.0), tf.Variable(3.0, trainable=False)
x = tf.constant(2.0)
answers = {}
with tf.GradientTape() as tape:
    y = x * v
answers["by a variable"], answers["by a tensor"] = tape.gradient(y, [v, x])
with tf.GradientTape() as tape:
    y = v * fixed
answers["by a fixed variable"] = tape.gradient(y, fixed)
with tf.GradientTape() as tape:
    y = v * v
z = y * 2
answers["behind the tape"] = tape.gradient(z, v)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
    with tape.stop_recording():
        z = y * y
answers["while it stopped"] = tape.gradient(z, x)
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(v)
    y = v * fixed * x
answers["told which"] = tape.gradient(y, v)
with tf.GradientTape() as tape:
    whole = tf.constant(3)
    tape.watch(whole)
    y = whole * whole
answers["whole numbers"] = tape.gradient(y, whole)
