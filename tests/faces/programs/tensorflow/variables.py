"""Variables change by assign, assign_add and assign_sub, and are read by what computes."""

import tensorflow as tf

v = tf.Variable([1.0, 2.0], name="weights")
answers = {"name": v.name, "trainable": v.trainable, "told": repr(v)}
v.assign([3.0, 4.0])
answers["assigned"] = v.numpy()
v.assign_add([1.0, 1.0])
answers["added"] = v.numpy()
v.assign_sub(tf.constant([0.5, 0.5]))
answers["subtracted"] = (v * 2).numpy()
before = v.value()
v.assign([0.0, 0.0])
answers["read before"] = before.numpy()
for name, doubt in {
    "shape": lambda: v.assign([1.0, 2.0, 3.0]),
    "data type": lambda: v.assign(tf.constant([1, 2])),
}.items():
    try:
        doubt()
    except ValueError:
        answers[name] = "ValueError"
with tf.GradientTape() as tape:
    y = tf.reduce_sum(v * v + v)
v.assign([100.0, 100.0])
answers["gradient of what was"] = tape.gradient(y, v)
