"""Gradient descent: the step is a node that is fetched."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x, t = tf.placeholder(tf.float32, [None, 1]), tf.placeholder(tf.float32, [None, 1])
w, b = tf.Variable([[0.5]]), tf.Variable([0.0])
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - t))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
data = {x: [[0.0], [1.0], [2.0], [3.0]], t: [[1.0], [3.0], [5.0], [7.0]]}
losses = []
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(10):
        _, now = sess.run([train, loss], feed_dict=data)
        losses.append(now)
    answers = {"losses": losses, "w": sess.run(w), "b": sess.run(b)}
