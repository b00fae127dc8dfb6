"""A loop in the graph: `while` on a tensor, and tf.while_loop."""

import tensorflow as tf


@tf.function
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


answers = {
    "collatz": [collatz(tf.constant(n)).numpy() for n in (1, 6, 27)],
    "traces": collatz.experimental_get_tracing_count(),
}
i, power = tf.while_loop(
    lambda i, p: i < 5, lambda i, p: (i + 1, p * 2.0), [tf.constant(0), tf.constant(1.0)]
)
answers["eager"] = [i.numpy(), power.numpy()]
x = tf.Variable(3.0)


@tf.function
def cube(x):
    p = tf.constant(1.0)
    for _ in tf.range(3):
        p = p * x
    return p


@tf.function
def power(x, n):
    p = tf.constant(1.0)
    for i in tf.range(n):
        p = p * x + tf.cast(i, tf.float32)
    return p


answers["so often"] = [power(tf.constant(2.0), tf.constant(n)).numpy() for n in (0, 2, 5)]
answers["traces of power"] = power.experimental_get_tracing_count()
with tf.GradientTape() as tape:
    y = cube(x * 1.0)
answers["cube"], answers["slope"] = y.numpy(), tape.gradient(y, x)
