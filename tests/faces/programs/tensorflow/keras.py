"""Layers make their variables when they first see an input."""

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(3)])
y = model(tf.ones([5, 2]))
answers = {"shape": y.shape, "variables": [v.shape for v in model.trainable_variables]}
for v in model.trainable_variables:
    v.assign(tf.ones(v.shape) * 0.5)
loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
with tf.GradientTape() as tape:
    scores = model(tf.constant([[1.0, 2.0]]))
    loss = loss_of(tf.constant([1]), scores)
answers["scores"], answers["loss"] = scores, loss
answers["gradients"] = tape.gradient(loss, model.trainable_variables)
answers["squared"] = tf.keras.losses.MeanSquaredError()(
    tf.constant([[1.0, 2.0]]), tf.constant([[2.0, 4.0]])
)
flat = tf.keras.layers.Flatten()(tf.zeros([2, 3, 4]))
answers["flat"] = flat.shape
