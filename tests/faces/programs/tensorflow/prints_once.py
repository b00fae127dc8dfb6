"""What a function does to the world happens once for each trace; its values are new each time."""

import tensorflow as tf

world = []


@tf.function
def f(x):
    print("tracing")
    world.append("ran")
    return x + 1


answers = {"results": [f(tf.constant(float(n))).numpy() for n in range(3)], "ran": len(world)}
f(tf.constant([1.0, 2.0]))
answers["after another shape"] = len(world)


@tf.function
def g(x, n):
    print("tracing with", n)
    return x * n


answers["products"] = [g(tf.constant(3.0), n).numpy() for n in (1, 2, 1)]
answers["traces"] = f.experimental_get_tracing_count()
