"""Three steps of each optimiser on the same slope."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
answers = {}
for name, optimiser in {
    "descent": tf.train.GradientDescentOptimizer(0.1),
    "momentum": tf.train.MomentumOptimizer(0.1, 0.9),
    "Adam": tf.train.AdamOptimizer(0.1),
}.items():
    w = tf.Variable([1.0, -2.0])
    train = optimiser.minimize(tf.reduce_sum(w * w * [1.0, 3.0]))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train)
        answers[name] = sess.run(w)
