"""What is an error, and of which kind, while operators run at once."""

import tensorflow as tf

x = tf.constant([1.0, 2.0, 3.0])
INVALID = tf.errors.InvalidArgumentError
DOUBTS = {
    "shapes of a sum": (INVALID, lambda: tf.ones([2]) + tf.ones([3])),
    "shapes of a product": (INVALID, lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))),
    "lengths": (INVALID, lambda: tf.reshape(x, [2])),
    "position": (INVALID, lambda: x[5]),
    "axis": (INVALID, lambda: tf.reduce_sum(x, axis=2)),
    "not equal": (INVALID, lambda: tf.debugging.assert_equal(1, 2)),
    "several numbers as a truth value": (ValueError, lambda: bool(x > 0)),
    "change in place": (TypeError, lambda: exec("x[0] = 1.0", {"x": x})),
    "no method sum": (AttributeError, lambda: x.sum()),
    "no grad": (AttributeError, lambda: x.grad),
    "no backward": (AttributeError, lambda: x.backward()),
    "no placeholder": (AttributeError, lambda: tf.placeholder),
    "no Session": (AttributeError, lambda: tf.Session),
}
KINDS = (tf.errors.OpError, AttributeError, TypeError, ValueError, RuntimeError)
answers = {}
for name, (kind, doubt) in DOUBTS.items():
    try:
        doubt()
        answers[name] = "no error"
    except kind:
        answers[name] = "as expected"
    except KINDS:
        answers[name] = "another"
