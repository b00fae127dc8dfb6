"""Which data type comes out, and which do not go together: nothing is converted unasked."""

import numpy as np
import tensorflow as tf

i, f = tf.constant([1, 2]), tf.constant([1.0, 2.0])
d = tf.constant([1.0, 2.0], dtype=tf.float64)
answers = {
    "integers": i.dtype == tf.int32,
    "numbers": f.dtype == tf.float32,
    "from NumPy": tf.constant(np.zeros(2)).dtype == tf.float64,
    "a whole number beside floats": (f + 1).dtype == tf.float32,
    "division of integers": (i / 2).dtype == tf.float64,
    "whole division": (i // 2).dtype == tf.int32,
    "comparison": (f > 1).dtype == tf.bool,
    "cast": tf.cast([1.7, -1.7], tf.int32),
    "range": tf.range(3).dtype == tf.int32,
    "argmax": tf.argmax(f).dtype == tf.int64,
    "sum of integers": tf.reduce_sum(i).dtype == tf.int32,
    "mean of integers": tf.reduce_mean(i),
    "an array beside floats": (f * np.ones(2)).dtype == tf.float32,
    "lists": tf.add([1, 2], [3, 4]).dtype == tf.int32,
}
DOUBTS = {
    "int32 + float32": lambda: i + f,
    "float32 + int32": lambda: f + i,
    "float32 + float64": lambda: f + d,
    "int32 + 1.5": lambda: i + 1.5,
    "int32 < float32": lambda: i < f,
    "int32 == float32": lambda: i == f,
    "tf.add": lambda: tf.add(i, f),
    "tf.matmul": lambda: tf.matmul(tf.ones([2, 2]), tf.ones([2, 2], dtype=tf.float64)),
    "square root of int32": lambda: tf.sqrt(i),
    "sum of bools": lambda: tf.reduce_sum(f > 1),
    "float32 + cast": lambda: f + tf.cast(i, tf.float32),
}
for name, doubt in DOUBTS.items():
    try:
        answers[name] = doubt()
    except tf.errors.InvalidArgumentError:
        answers[name] = "InvalidArgumentError"
