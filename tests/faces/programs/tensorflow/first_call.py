"""Variables are made at the first call and never again; others may be counted up."""

import tensorflow as tf

answers = {}


@tf.function
def always(x):
    return x * tf.Variable(2.0)


try:
    always(tf.constant(1.0))
except ValueError:
    answers["made at each call"] = "ValueError"


class Once:
    def __init__(self):
        self.total = None

    @tf.function
    def __call__(self, x):
        if self.total is None:
            self.total = tf.Variable(10.0)
        self.total.assign_add(x)
        return self.total * 1.0


once = Once()
answers["made once"] = [once(tf.constant(1.0)).numpy() for _ in range(3)]
count = tf.Variable(0)


@tf.function
def counted():
    count.assign_add(1)
    return count + 0


answers["counted"] = [counted().numpy() for _ in range(3)]
answers["kept"] = count.numpy()
