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
image = tf.reshape(tf.range(25, dtype=tf.float32), [1, 5, 5, 1])
layer = tf.keras.layers.Conv2D(2, 3, padding="same", activation="relu")
answers["convolved"] = layer(image).shape
answers["kernel"] = [v.shape for v in layer.trainable_variables]


class Small(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.first, self.second = tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)

    def call(self, x):
        return self.second(tf.nn.relu(self.first(x)))


small = Small()
answers["own model"] = small(tf.ones([3, 4])).shape
answers["its variables"] = [v.shape for v in small.trainable_variables]


class Line(tf.Module):
    def __init__(self):
        super().__init__()
        self.parts = [tf.Variable(2.0), tf.Variable(1.0, trainable=False)]

    @tf.function
    def __call__(self, x):
        return self.parts[0] * x + self.parts[1]


line = Line()
answers["module"] = [line(tf.constant(3.0)).numpy(), len(line.variables)]
answers["to be trained"] = len(line.trainable_variables)
flat = tf.keras.layers.Flatten()(tf.zeros([2, 3, 4]))
answers["flat"] = flat.shape
