"""A print runs while tracing, jax.debug.print whenever the function runs; disable_jit."""

import jax

told = []


@jax.jit
def f(x):
    told.append(type(x).__name__ != "ArrayImpl")
    jax.debug.print("x is {}", x)
    return x * 2


for value in (1.5, 2.5):
    f(value).block_until_ready()
with jax.disable_jit():
    f(3.5)
jax.debug.print("outside {} {b}", 1, b=2)
answers = {"ran": len(told)}
