"""What loops and branches return for each kind of carry; "TypeError" where its type changes."""

from collections import namedtuple

import jax
import jax.numpy as jnp
import numpy as np

Pair = namedtuple("Pair", "a b")

xs = jnp.array([1.0, 2.0])
halves = jnp.array([1.0, 2.0], np.float16)
whole = jnp.zeros((), jnp.int32)
STARTS = {
    "0": 0,
    "0.0": 0.0,
    "True": True,
    "int32": whole,
    "float32": jnp.zeros(()),
    "float16": halves[0],
    "array(0)": jnp.array(0),
    "(1,)": jnp.zeros(1),
    "tuple": (0, 0.0),
    "list": [0],
    "dict": {"a": 0},
    "None": None,
}
STEPS = {
    "c + 1": lambda c: c + 1,
    "c + 1.5": lambda c: c + 1.5,
    "c + float16": lambda c: c + halves[0],
    "c + (1,)": lambda c: c + jnp.zeros(1),
    "1": lambda c: 1,
    "1.0": lambda c: 1.0,
    "True": lambda c: True,
    "c > 0": lambda c: c > 0,
    "(c,)": lambda c: (c,),
    "[c]": lambda c: [c],
    "{'a': c}": lambda c: {"a": c},
    "None": lambda c: None,
    "tuple": lambda c: (c[0] + 1.5, c[1]),
    "list": lambda c: [c[0] + 1],
    "{'b': …}": lambda c: {"b": c["a"]},
}
TAKEN = {"tuple": "tuple", "list": "list", "{'b': …}": "dict"}  # what a step takes apart
OTHERS = {
    "scan, float16": lambda: jax.lax.scan(lambda c, x: (c + x, x), 0.0, halves),
    "scan, float32 and float16": lambda: jax.lax.scan(lambda c, x: (c + x, x), xs[0], halves),
    "scan, pair": lambda: jax.lax.scan(lambda c, x: c, 0.0, xs),
    "scan, named": lambda: jax.lax.scan(lambda c, x: (Pair(c.a + x, c.b), x), Pair(0, 1), xs),
    "scan, no longer named": lambda: jax.lax.scan(
        lambda c, x: ((c.a + x, c.b), x), Pair(0.0, 1), xs
    ),
    "scan, length": lambda: jax.lax.scan(lambda c, x: (c, x), 0.0, xs, length=3),
    "scan, grows": lambda: jax.lax.scan(
        lambda c, x: (jnp.concatenate([c, c]), x), jnp.zeros(1), xs
    ),
    "condition, whole": lambda: jax.lax.while_loop(lambda c: 3 - c, lambda c: c + 1, 0),
    "condition, many": lambda: jax.lax.while_loop(lambda c: c < 3, lambda c: c + 1, xs),
    "condition, tuple": lambda: jax.lax.while_loop(lambda c: (c < 3,), lambda c: c + 1, 0),
    "no step": lambda: jax.lax.while_loop(lambda c: c < -1, lambda c: (c, c), 0.0),
    "float bound": lambda: jax.lax.fori_loop(0, 3.0, lambda i, c: c + i, 0.0),
    "newton": lambda: jax.lax.fori_loop(0, 3, lambda i, y: (y + 2 / y) / 2, 1),
    "fibonacci": lambda: jax.lax.fori_loop(0, 9, lambda i, s: (s[1], s[0] + s[1]), (0, 1)),
    "returns i": lambda: jax.lax.fori_loop(0, 3, lambda i, c: i, 0.0),
    "float index": lambda: jax.lax.switch(1.0, [lambda: 1.0, lambda: 2.0]),
    "third branch": lambda: jax.lax.switch(0, [lambda: 1.0, lambda: 2.0, lambda: 3]),
    "many conditions": lambda: jax.lax.cond(xs > 1, lambda: 1.0, lambda: 2.0),
    "branches, shapes": lambda: jax.lax.cond(True, lambda: xs, lambda: jnp.zeros(3)),
    "branches, float16": lambda: jax.lax.cond(True, lambda: xs, lambda: halves),
    "branches, numbers": lambda: jax.lax.cond(True, lambda: 1, lambda: 2.0),
    "branches, keys": lambda: jax.lax.cond(True, lambda: {"a": 1.0}, lambda: {"b": 1.0}),
    "branches, list": lambda: jax.lax.cond(True, lambda: [1.0], lambda: (1.0,)),
    "nested": lambda: jax.lax.scan(
        lambda c, x: (jax.lax.fori_loop(0, 2, lambda i, d: d + x, c), x), 0, xs
    ),
    "map": lambda: jax.lax.map(lambda x: 1, xs),
}


def few(state):
    return state[0] < 2


def loops(start, step):
    """The same step in each kind of loop and branch."""
    yield "scan", lambda: jax.lax.scan(lambda c, x: (step(c), x), start, xs)[0]
    yield "while", lambda: jax.lax.while_loop(few, lambda s: (s[0] + 1, step(s[1])), (0, start))[1]
    yield "fori", lambda: jax.lax.fori_loop(0, 2, lambda i, c: step(c), start)
    yield "cond", lambda: jax.lax.cond(xs[0] > 0, step, lambda c: c, start)
    yield "switch", lambda: jax.lax.switch(whole, [step, lambda c: c], start)


def kind(y):
    """The structure, types and values of a result."""
    if isinstance(y, dict):
        return {key: kind(part) for key, part in y.items()}
    if isinstance(y, (list, tuple)):
        return [type(y).__name__, *map(kind, y)]
    if y is None:
        return "None"
    y = jnp.asarray(y)
    return [str(y.dtype), [*y.shape], np.asarray(y).tolist()]


def answer(program):
    try:
        return kind(program())
    except TypeError:
        return "TypeError"
    except (AttributeError, IndexError, KeyError, ValueError):
        return "another error"


answers = {}
for start_name, start in STARTS.items():
    for step_name, step in STEPS.items():
        own = start_name in ("tuple", "list", "dict", "None")
        if ("c +" in step_name or "c >" in step_name) and own:
            continue
        if step_name in TAKEN and TAKEN[step_name] != start_name:
            continue
        for loop_name, program in loops(start, step):
            name = f"{loop_name}: {start_name} → {step_name}"
            answers[name] = [answer(program), answer(jax.jit(program))]
for name, program in OTHERS.items():
    answers[name] = [answer(program), answer(jax.jit(program))]
