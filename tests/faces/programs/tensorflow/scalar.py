"""y = x * x + 3 at x = 2: computed at once, and its derivative from the tape."""

import tensorflow as tf

x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = x * x + 3
answers = {
    "value": y.numpy(),
    "slope": tape.gradient(y, x).numpy(),
    "eager": tf.executing_eagerly(),
    "shape": y.shape,
    "written": str(y),
    "told": repr(y),
}
