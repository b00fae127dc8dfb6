"""A random operator that is fetched twice."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.reset_default_graph()
x = tf.random_normal([3])
with tf.Session() as sess:
    first, second = sess.run(x), sess.run(x)
answers = {"drawn anew": bool((first != second).any())}
seeded = tf.random_normal([3], seed=5)
twice = [seeded, seeded * 1.0]
runs = []
for _ in range(2):
    with tf.Session() as sess:
        runs.append([sess.run(twice), sess.run(twice)])
(one, other), (again, _) = runs
answers["alike in one run"] = bool((one[0] == one[1]).all())
answers["with a seed, anew"] = bool((one[0] != other[0]).any())
answers["in another session, the same"] = bool((one[0] == again[0]).all())
inside = tf.random_uniform([100], 2.0, 3.0)
with tf.Session() as sess:
    found = sess.run(inside)
answers["inside"] = bool((found >= 2).all() and (found < 3).all())
