"""What is wrong in a function is found while it is traced: other kinds of errors."""

import tensorflow as tf

i, f = tf.constant([1, 2]), tf.constant([1.0, 2.0])
DOUBTS = {
    "shapes": (ValueError, lambda a, b: tf.matmul(a, b), tf.ones([2, 3]), tf.ones([2, 3])),
    "int32 + float32": (TypeError, lambda a, b: a + b, i, f),
    "a number of a tensor": (TypeError, lambda a, b: int(a[0]), i, f),
    "values": (AttributeError, lambda a, b: a.numpy(), i, f),
}
answers = {}
for name, (kind, doubt, *operands) in DOUBTS.items():
    try:
        tf.function(doubt, autograph=False)(*operands)
        answers[name] = "no error"
    except kind:
        answers[name] = kind.__name__
    except (AttributeError, TypeError, ValueError):
        answers[name] = "another"


@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)] * 2)
def added(a, b):
    return a + b


try:
    added(tf.ones([2]), tf.ones([3]))
except tf.errors.InvalidArgumentError:
    answers["while it runs"] = "InvalidArgumentError"
