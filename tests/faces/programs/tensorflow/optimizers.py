"""Three steps of each optimiser on the same slope."""

import tensorflow as tf

MAKERS = {
    "SGD": lambda: tf.keras.optimizers.SGD(learning_rate=0.1),
    "momentum": lambda: tf.keras.optimizers.SGD(learning_rate=0.1, momentum=0.9),
    "Adam": lambda: tf.keras.optimizers.Adam(learning_rate=0.1),
}
answers = {}
for name, make in MAKERS.items():
    w, optimizer = tf.Variable([1.0, -2.0]), make()
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w**2)
        optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w], strict=True))
    answers[name] = w.numpy()
w, optimizer = tf.Variable([1.0, -2.0]), tf.keras.optimizers.SGD(learning_rate=0.1)


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w**2)
    optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w], strict=True))
    return loss


answers["losses in a graph"] = [step().numpy() for _ in range(3)]
