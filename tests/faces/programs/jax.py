"""Programs in the words of JAX: each cell is one, and binds what it finds to `answers`."""

# %% arranging
"""Axes: reshaped, exchanged, joined, cut, reduced."""

import jax.numpy as jnp

a = jnp.arange(6).reshape(2, 3)
f = jnp.linspace(0.0, 5.0, 6).reshape((2, 3))
answers = {
    "transpose": jnp.transpose(a),
    "concatenate": jnp.concatenate([a, a], axis=1),
    "stack": jnp.stack([a, a]).shape,
    "split": jnp.split(a, 3, axis=1),
    "expand": jnp.squeeze(jnp.expand_dims(a, 0)).shape,
    "max": jnp.max(f, axis=1, keepdims=True),
    "largest": jnp.max(f),
    "mean": jnp.mean(f, axis=0),
    "std": jnp.std(f),
    "where": jnp.where(f > 2, f, -f),
    "clip": jnp.clip(f, 1.0, 3.0),
    "tile": jnp.tile(a, (1, 2)),
    "sorted out": a[0, ::2],
}


# %% auxiliary
"""A loss that returns more than its value."""

import jax
import jax.numpy as jnp


def loss(w, x):
    prediction = w * x
    return jnp.sum(prediction**2), prediction


w, x = jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0])
(value, prediction), slope = jax.value_and_grad(loss, has_aux=True)(w, x)
answers = {"value": value, "prediction": prediction, "slope": slope}
answers["grad"] = jax.grad(loss, has_aux=True)(w, x)[0]


# %% branch
"""A Python if: fine as it is, an error under jit, and cond is the way."""

import jax
import jax.numpy as jnp


def f(x):
    if x.sum() > 0:
        return 2 * x
    else:
        return x - 1


def g(x):
    return jax.lax.cond(x.sum() > 0, lambda x: 2 * x, lambda x: x - 1, x)


probe = jnp.array([-3.0])
answers = {"plain": f(probe), "cond": jax.jit(g)(probe), "other": jax.jit(g)(jnp.array([5.0]))}
try:
    jax.jit(f)(probe)
except jax.errors.TracerBoolConversionError:
    answers["under jit"] = "TracerBoolConversionError"


# %% carries
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


# %% classification
"""Cross entropy from log_softmax, its gradient, and how many were right."""

import jax
import jax.numpy as jnp

scores = jnp.array([[2.0, 0.5, -1.0], [0.1, 0.2, 3.0], [1.0, 1.5, 0.0]])
labels = jnp.array([0, 2, 0])


def loss(scores):
    return -jnp.mean(jnp.sum(jax.nn.one_hot(labels, 3) * jax.nn.log_softmax(scores), axis=-1))


answers = {
    "loss": loss(scores),
    "slopes": jax.grad(loss)(scores),
    "right": jnp.sum(jnp.argmax(scores, axis=1) == labels),
    "softmax": jax.nn.softmax(scores).sum(axis=1),
}


# %% cond_gradients
"""The gradient goes through the branch that ran."""

import jax


def f(x):
    return jax.lax.cond(x > 0, lambda x: x * x, lambda x: -x, x)


answers = {
    "slopes": [jax.grad(f)(3.0), jax.grad(f)(-3.0)],
    "compiled": [jax.jit(jax.grad(f))(3.0), jax.jit(jax.grad(f))(-3.0)],
}


# %% data_types
"""32 bits unless one asks for more."""

import jax.numpy as jnp
import numpy as np

answers = {
    "numbers": jnp.array([1.0]).dtype == jnp.float32,
    "whole": jnp.array([1]).dtype == jnp.int32,
    "from NumPy": jnp.array(np.zeros(2)).dtype == jnp.float32,
    "range": jnp.arange(3).dtype == jnp.int32,
    "place": jnp.argmax(jnp.ones(3)).dtype == jnp.int32,
    "scaled": (jnp.ones(2) * 2.5).dtype == jnp.float32,
    "mixed": (jnp.array([1]) + jnp.ones(1)).dtype == jnp.float32,
    "compared": (jnp.ones(2) > 0).dtype == jnp.bool_,
}


# %% higher_derivatives
"""grad of grad of grad, plain and compiled."""

import jax
import jax.numpy as jnp


def f(x):
    return jnp.sin(x) * x**3


answers, g = {"0": f(2.0)}, f
for order in range(1, 4):
    g = jax.grad(g)
    answers[str(order)] = [g(2.0), jax.jit(g)(2.0)]


# %% jacobians
"""All first and second derivatives."""

import jax
import jax.numpy as jnp

x = jnp.array([1.0, 2.0, 3.0])


def f(x):
    return jnp.stack([x[0] * x[1], jnp.sin(x[2])])


answers = {
    "rows": jax.jacrev(f)(x),
    "columns": jax.jacfwd(f)(x),
    "hessian": jax.hessian(lambda x: (x**3).sum() + x[0] * x[1])(x),
    "of a number": jax.jacrev(lambda x: x * x)(3.0),
}


# %% jaxpr
"""The graph of a function, without running it."""

import jax
import jax.numpy as jnp

ran = []


def f(x, y):
    ran.append(type(x).__name__)
    return jnp.sin(x) * y


graph = jax.make_jaxpr(f)(1.0, 2.0)
answers = {"once": len(ran), "sin": "sin" in str(graph).lower() or "Sin" in graph.text()}


# %% jaxpr_text
"""How JAX writes a function down: arguments, one line for each operation, results."""

import jax
import jax.numpy as jnp


def text(f, *args):
    return str(jax.make_jaxpr(f)(*args))


answers = {
    "square": text(lambda x: x * x + 3.0, 2.0),
    "sine": text(lambda x: jnp.sin(x) * x, 2.0),
    "two": text(lambda x, y: x - y / x, 2.0, 3.0),
    "vectors": text(lambda x, y: x + y, jnp.ones(3), jnp.ones(3)),
    "exponential": text(lambda x: jnp.tanh(jnp.exp(-x)), jnp.ones((2, 3))),
    "several": text(lambda x: (x, x + 1.0), 2.0),
    "slope": text(jax.grad(lambda x: x * x), 3.0),
}


# %% keys
"""Keys: split, folded, and what is drawn with them."""

import jax
import jax.numpy as jnp

key = jax.random.key(42)
key, sub = jax.random.split(key)
many = [jax.random.normal(k) for k in jax.random.split(sub, 3)]
drawn = jax.random.choice(key, 5, (20,))
shuffled = jax.random.permutation(key, jnp.arange(6))
answers = {
    "shapes": [x.shape for x in (many[0], drawn, shuffled)],
    "all different": len({float(x) for x in many}),
    "types": [str(x.dtype) for x in (many[0], drawn, jax.random.bernoulli(key, 0.3, (4,)))],
    "within": bool(((drawn >= 0) & (drawn < 5)).all()),
    "all there": sorted(shuffled.tolist()),
    "whole": jax.random.randint(key, (3,), 0, 9).shape,
    "folded": bool(
        jax.random.normal(jax.random.fold_in(key, 1))
        == jax.random.normal(jax.random.fold_in(key, 2))
    ),
    "same": bool(jax.random.normal(key) == jax.random.normal(key)),
    "typed": str(jax.random.uniform(key, (2,), dtype=jnp.float32).dtype),
}


# %% kinds_of_errors
"""What is an error, and of which kind."""

import jax
import jax.numpy as jnp

DOUBTS = {
    "shapes of a sum": (TypeError, lambda: jnp.ones(2) + jnp.ones(3)),
    "shapes of a product": (TypeError, lambda: jnp.ones((2, 3)) @ jnp.ones((2, 3))),
    "lengths": (TypeError, lambda: jnp.ones(6).reshape(4)),
    "gradient of integers": (TypeError, lambda: jax.grad(lambda x: x * x)(2)),
    "gradient of many": (TypeError, lambda: jax.grad(lambda x: x * x)(jnp.ones(2))),
    "a number of a trace": (TypeError, lambda: jax.jit(lambda x: float(x))(1.0)),
    "a loop of a trace": (TypeError, lambda: jax.jit(lambda n: [*range(n)])(3)),
    "no such name": (AttributeError, lambda: jnp.no_such_name),
    "position": (None, lambda: jnp.ones(3)[5]),
}
answers = {}
for name, (kind, doubt) in DOUBTS.items():
    try:
        doubt()
        answers[name] = "no error"
    except (AttributeError, TypeError, ValueError) as error:
        answers[name] = kind.__name__ if kind and isinstance(error, kind) else "another"


# %% kinks
"""Where a function has a corner or a tie: which gradient there is, plain and compiled."""

import jax
import jax.numpy as jnp

AT = [-1.0, 0.0, 1.0, 2.0, -2.0, 0.5]
BESIDE = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]
TIED = [[1.0, 2.0, 2.0, 1.0], [3.0, 3.0, 3.0, 0.0]]


def slope(f, *values):
    xs = [jnp.array(v) for v in values]
    one = jax.grad(lambda *xs: jnp.sum(f(*xs)), argnums=tuple(range(len(xs))))
    return [list(one(*xs)), list(jax.jit(one)(*xs))]


answers = {
    "maximum": slope(jnp.maximum, AT, BESIDE),
    "minimum": slope(jnp.minimum, AT, BESIDE),
    "hinge": slope(lambda x: jnp.maximum(0.0, 1.0 - x), AT),
    "clip": slope(lambda x: jnp.clip(x, -1.0, 1.0), AT),
    "clip from below": slope(lambda x: x.clip(0.0), AT),
    "max": slope(lambda x: jnp.max(x, axis=1), TIED),
    "min": slope(jnp.min, TIED),
    "max as a method": slope(lambda x: x.max(1), TIED),
    "abs": slope(jnp.abs, AT),
    "sign": slope(jnp.sign, AT),
    "rounded": [slope(f, AT) for f in (jnp.round, jnp.floor, jnp.ceil)],
    "whole quotient": slope(lambda x: x // 2.0, AT),
    "remainder": slope(lambda x: x % 2.0, AT),
    "relu": slope(jax.nn.relu, AT),
    "leaky": slope(jax.nn.leaky_relu, AT),
    "elu": slope(jax.nn.elu, AT),
    "elu far out": slope(jax.nn.elu, [200.0, -200.0]),
    "softplus": slope(jax.nn.softplus, AT),
    "silu": slope(jax.nn.silu, AT),
    "norm": slope(jnp.linalg.norm, [0.0, 0.0]),
    "deviation": [slope(jnp.std, [2.0, 2.0]), slope(lambda x: x.std(), [1.0, 3.0])],
    "prod": slope(jnp.prod, [0.0, 2.0, 0.0]),
    "powers at 0": [slope(lambda x, k=k: x**k, [0.0, -2.0]) for k in (0, 1, 2)],
    "power by exponent": slope(jnp.power, [0.0, 0.0, -2.0], [0.0, 2.0, 3.0]),
    "square root at 0": slope(jnp.sqrt, [0.0, 4.0]),
    "square root of relu": slope(lambda x: jnp.sqrt(jax.nn.relu(x)), AT),
    "square root of maximum": slope(lambda x: jnp.sqrt(jnp.maximum(x, 0.0)), AT),
    "where": slope(lambda x: jnp.where(x > 0, x, 0.0), AT),
    "triangle": jnp.tril(jnp.full((2, 2), jnp.inf)),
}


# %% loops
"""Loops and branches of lax: a number of steps, a list of branches, a map."""

import jax
import jax.numpy as jnp

xs = jnp.arange(4.0)
branches = [lambda x: x + 1, lambda x: x * 10, lambda x: -x]


def newton(x):
    return jax.lax.fori_loop(0, 5, lambda i, y: (y + x / y) / 2, x)


def collatz(n):
    def step(state):
        n, count = state
        return jax.lax.cond(n % 2 == 0, lambda n: n // 2, lambda n: 3 * n + 1, n), count + 1

    return jax.lax.while_loop(lambda state: state[0] != 1, step, (n, 0))[1]


def power(carry, _):
    return carry * 2, carry


answers = {
    "fori": [newton(2.0), jax.jit(newton)(9.0)],
    "fori with i": jax.lax.fori_loop(0, 4, lambda i, total: total + xs[i] * i, 0.0),
    "while": [collatz(6), jax.jit(collatz)(7)],
    "length": jax.lax.scan(power, 1.0, None, length=4),
    "backwards": jax.lax.scan(lambda c, x: (c + x, c), 0.0, xs, reverse=True),
    "switch": [jax.lax.switch(i, branches, 5.0) for i in range(3)],
    "outside": [jax.lax.switch(i, branches, 5.0) for i in (-1, 7)],
    "traced switch": jax.jit(lambda i, x: jax.lax.switch(i, branches, x))(1, 5.0),
    "map": jax.lax.map(lambda x: x**2, xs),
    "slope": jax.grad(lambda x: jax.lax.scan(lambda c, a: (c * a, c), x, xs + 1)[0])(2.0),
}


# %% machine
"""Where it runs, and waiting for it."""

import jax
import jax.numpy as jnp

x = jnp.ones(3)
answers = {
    "backend": jax.default_backend(),
    "count": [jax.device_count(), len(jax.devices())],
    "ready": x.block_until_ready().shape,
    "all ready": jax.block_until_ready({"a": x})["a"].shape,
    "put": isinstance(jax.device_put([1.0, 2.0][0]), jax.Array),
    "get": type(jax.device_get(x)).__name__,
    "checkpoint": jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x))))(1.0),
    "shape alone": jax.eval_shape(lambda x: x.sum(axis=0), jnp.ones((2, 3))).shape,
}


# %% mixed_with_numpy
"""Arrays of NumPy beside JAX's: 32 bits come out."""

import jax
import jax.numpy as jnp
import numpy as np

theirs, ours = np.arange(3.0), jnp.arange(3.0)
both = [theirs + ours, ours * theirs, jnp.add(theirs, ours), jnp.sin(theirs)]
answers = {
    "types": [str(x.dtype) for x in both],
    "kinds": [isinstance(x, jax.Array) for x in both],
    "into jit": str(jax.jit(lambda x: x * 2)(theirs).dtype),
    "into grad": str(jax.grad(lambda x: (x**2).sum())(theirs).dtype),
    "asked for 64": str(jnp.array([1.0], dtype="float64").dtype),
    "whole": [str(jnp.array([1, 2]).dtype), str(jnp.arange(3).sum().dtype)],
    "halves": str((jnp.arange(3) / 2).dtype),
    "scaled": [str((jnp.arange(3) * 2.5).dtype), str((jnp.arange(3) * 2).dtype)],
    "numbers": [str(jnp.float32(2).dtype), str(jnp.int32(3).dtype)],
    "back": [type(np.asarray(ours)).__name__, ours.tolist(), float(ours[1])],
    "printed": [str(ours), repr(ours), f"{ours[1]:.2f}"],
    "new axis": ours[:, jnp.newaxis].shape,
    "constants": [jnp.pi, jnp.inf],
    "is an array": [isinstance(ours, jnp.ndarray), isinstance(theirs, jax.Array)],
}


# %% printing
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


# %% random
"""A key says which numbers; the same key, the same numbers."""

import jax

key = jax.random.PRNGKey(0)
first, second = jax.random.split(key)
a, b, c = (jax.random.normal(k, (3,)) for k in (first, first, second))
answers = {
    "same": bool((a == b).all()),
    "others": bool((a == c).all()),
    "shape": jax.random.uniform(key, (2, 3)).shape,
    "within": bool((jax.random.uniform(key, (9,), minval=2.0, maxval=3.0) >= 2).all()),
}


# %% recurrent
"""A cell along time with scan: one function for any length."""

import jax
import jax.numpy as jnp

W = jnp.array([[0.1, 0.2], [0.3, -0.4]])


def run(W, xs):
    step = lambda h, x: (jnp.tanh(x @ W + 0.5 * h),) * 2
    return jax.lax.scan(step, jnp.zeros(2), xs)


answers = {}
for length in (3, 7, 12):
    xs = jnp.stack([jnp.ones(length), jnp.arange(length) / 10], axis=1)
    last, outputs = jax.jit(run)(W, xs)
    slope = jax.grad(lambda W, xs=xs: run(W, xs)[0].sum())(W)
    answers[str(length)] = [last, outputs.shape, slope]


# %% relu_of_affine
"""y = ReLU(W x + b): gradients by several arguments."""

import jax
import jax.numpy as jnp

W = jnp.array([[1.0, -2.0], [3.0, 4.0]])
x, b = jnp.array([1.0, 1.0]), jnp.array([0.5, -1.0])


def total(W, x, b):
    return jnp.sum(jax.nn.relu(W @ x + b))


answers = {
    "y": jax.nn.relu(jnp.dot(W, x) + b),
    "slopes": jax.grad(total, argnums=(0, 1, 2))(W, x, b),
}


# %% scalar
"""y = x * x + 3 at x = 2, and its derivatives."""

import jax


def f(x):
    return x * x + 3


answers = {
    "y": f(2.0),
    "first": jax.grad(f)(2.0),
    "second": jax.grad(jax.grad(f))(2.0),
    "both": jax.value_and_grad(f)(2.0),
}


# %% scan
"""A loop along the first axis: what is carried, and what is collected."""

import jax
import jax.numpy as jnp

xs = jnp.array([1.0, 2.0, 3.0])


def total(start):
    last, sums = jax.lax.scan(lambda c, x: (c * x, c + x), start, xs)
    return last + sums.sum()


last, sums = jax.lax.scan(lambda c, x: (c + x, c + x), 0.0, xs)
answers = {
    "last": last,
    "sums": sums,
    "slope": jax.grad(total)(2.0),
    "backwards": jax.lax.scan(lambda c, x: (c + x, c), 0.0, xs, reverse=True)[1],
}


# %% seeds
"""The walk back as a function of a seed: several numbers, several arguments, a structure."""

import jax
import jax.numpy as jnp


def layer(w, x):
    return jnp.maximum(w @ x, 0.0)


def both(x):
    return {"square": x * x, "triple": 3.0 * x}


w = jnp.array([[1.0, -2.0], [3.0, 4.0]])
y, back = jax.vjp(layer, w, jnp.array([1.0, 1.0]))
dw, dx = back(jnp.array([1.0, 10.0]))
value, alone = jax.vjp(lambda x: x * x + x, 3.0)
out, apart = jax.vjp(both, 2.0)
_, told, more = jax.vjp(lambda x: (x * x, x + 1.0), 3.0, has_aux=True)
try:
    back(jnp.ones(3))
except ValueError:
    refused = True
answers = {
    "y": y,
    "dw": dw,
    "dx": dx,
    "again": back(jnp.array([0.0, 1.0]))[1],
    "value": value,
    "alone": [alone(1.0)[0], alone(10.0)[0]],
    "structure": out["triple"],
    "apart": apart({"square": 1.0, "triple": 2.0})[0],
    "aux": [told(1.0)[0], more],
    "refused": refused,
    "second": jax.grad(lambda x: jax.vjp(jnp.sin, x)[1](1.0)[0])(0.5),
}


# %% side_effects
"""What a traced function does to the world happens once for each trace."""

import jax
import jax.numpy as jnp

world = []


@jax.jit
def f(x):
    world.append("ran")
    return x + 1


for n in range(3):
    f(jnp.array([1.0 * n]))
answers = {"ran": len(world)}


# %% static_arguments
"""Static arguments are Python's own: a trace for each value, an `if` and a `range` allowed."""

from functools import partial

import jax
import jax.numpy as jnp

seen = []


@partial(jax.jit, static_argnums=(1,))
def power(x, n):
    seen.append(n)
    y = 1.0
    for _ in range(n):
        y = y * x
    return y


@partial(jax.jit, static_argnames=["mode"])
def scaled(x, mode="twice"):
    return x * 2 if mode == "twice" else x


x = jnp.array([1.0, 2.0])
found = [power(x, 2), power(x + 1, 2), power(x, 3)]
try:
    jax.jit(lambda x, n: x, static_argnums=1)(x, [1])
except ValueError:
    unhashable = "ValueError"
answers = {
    "found": found,
    "traces": seen,
    "by name": [scaled(x), scaled(x, mode="once"), scaled(x, mode="twice")],
    "unhashable": unhashable,
    "gradient": jax.grad(lambda x: power(x, 3).sum())(x),
}


# %% stopped
"""A value through which no gradient goes."""

import jax


def f(x):
    return jax.lax.stop_gradient(x) * x


answers = {"slope": jax.grad(f)(3.0), "unused": jax.grad(lambda x, y: x * 2.0, argnums=1)(1.0, 5.0)}


# %% tracers
"""What a traced argument cannot be: a number, a condition, a length, an array of NumPy."""

import jax
import jax.numpy as jnp
import numpy as np

kept = []


def leaky(x):
    kept.append(x * 2)
    return x


def kind(f, *args):
    try:
        f(*args)
    except Exception as error:
        for name in ("TracerBoolConversionError", "TracerIntegerConversionError"):
            if isinstance(error, getattr(jax.errors, name)):
                return "TypeError"
        return next(k.__name__ for k in (TypeError, IndexError, ValueError) if isinstance(error, k))
    return "no error"


x = jnp.array([1.0, -2.0])
jax.jit(leaky)(x)
answers = {
    "if": kind(jax.jit(lambda a: a if a > 0 else -a), 1.0),
    "while": kind(jax.jit(lambda n: [n for _ in iter(lambda: n > 3, True)]), 1),
    "float": kind(jax.jit(lambda a: float(a)), 1.0),
    "range": kind(jax.jit(lambda n: sum(range(n))), 3),
    "item": kind(jax.jit(lambda a: a.item()), 1.0),
    "numpy": kind(jax.jit(lambda a: np.asarray(a)), x),
    "leak": kind(lambda: kept[0] + 1),
    "shape is known": jax.jit(lambda a: a.reshape(a.shape[0], 1))(x).shape,
    "ndim and dtype": jax.jit(lambda a: a * a.ndim)(x),
    "by an index": jax.jit(lambda a, i: a[i])(x, 1),
}


# %% traces
"""A function is traced once for each shape and type; numbers do not count by value."""

import jax
import jax.numpy as jnp

seen = []


@jax.jit
def f(x):
    seen.append("trace")
    print("tracing")
    return x * 2


counts = []
for x in [jnp.ones(3), jnp.zeros(3), jnp.ones(4), 1.0, 2.0, 3.0, jnp.ones(3, dtype=jnp.int32)]:
    f(x)
    counts.append(len(seen))
answers = {"counts": counts, "result": f(jnp.ones(3))}


# %% training
"""Parameters in a dict; a step returns new ones and changes none."""

import jax
import jax.numpy as jnp

x = jnp.array([[0.0], [1.0], [2.0], [3.0]])
y = 2 * x + 1


def loss(params, x, y):
    return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)


@jax.jit
def step(params, x, y):
    value, slopes = jax.value_and_grad(loss)(params, x, y)
    return jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, slopes), value


params = {"w": jnp.array([[0.5]]), "b": jnp.array([0.0])}
first, losses = params, []
for _ in range(10):
    params, value = step(params, x, y)
    losses.append(value)
answers = {"losses": losses, "params": params, "untouched": first["w"]}


# %% trees
"""Trees of arrays: mapped, taken apart, put together."""

import jax
import jax.numpy as jnp

tree = {"b": [jnp.ones(2), (1.0, None)], "a": 2.0}
leaves, form = jax.tree_util.tree_flatten(tree)
answers = {
    "leaves": leaves,
    "again": jax.tree_util.tree_unflatten(form, leaves),
    "mapped": jax.tree_util.tree_map(lambda x: x * 2, tree),
}


# %% trees_by_short_names
"""jax.tree: trees of arrays, as parameters are kept."""

import jax
import jax.numpy as jnp

params = [{"w": jnp.ones((2, 2)), "b": jnp.zeros(2)}, {"w": jnp.ones((2, 1)), "b": jnp.zeros(1)}]
grads = jax.tree.map(jnp.ones_like, params)
stepped = jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, grads)
leaves, form = jax.tree.flatten(params)
answers = {
    "stepped": stepped,
    "shapes": [leaf.shape for leaf in jax.tree.leaves(params)],
    "again": jax.tree.unflatten(form, leaves)[1]["b"],
    "form": str(jax.tree.structure({"a": 1, "b": [2, 3]})),
    "same form": form == jax.tree.structure(grads),
    "total": jax.tree.reduce(lambda a, b: a + b, jax.tree.map(jnp.sum, params)),
    "unchanged": params[0]["w"],
}


# %% updated
"""Arrays never change: an update makes a new one."""

import jax
import jax.numpy as jnp

x = jnp.arange(4.0)
try:
    x[0] = 9.0
except TypeError as error:
    in_place = "x.at" in str(error)
y = x
y += 1
z = jnp.zeros((2, 3))
answers = {
    "in place": in_place,
    "x stays": x,
    "a new one": y,
    "set": x.at[0].set(9.0),
    "add": x.at[1:3].add(10.0),
    "multiply": x.at[-1].multiply(2.0),
    "twice": x.at[jnp.array([0, 0, 2])].add(1.0),
    "mask": x.at[x > 1].set(0.0),
    "row": z.at[1].set(jnp.array([1.0, 2.0, 3.0])),
    "place": z.at[0, 2].set(5.0),
    "smaller": [x.at[3].min(1.0), x.at[0].max(1.0)],
    "whole numbers": jnp.arange(3).at[1].set(7),
    "read": x.at[2].get(),
    "compiled": jax.jit(lambda x: x.at[0].set(x[1] * 10))(x),
    "slope": jax.grad(lambda x: (x.at[0].set(x[1] * 10) ** 2).sum())(x),
}


# %% vmap
"""A function of one example as one of many, with shared arguments; gradients for each example."""

import jax
import jax.numpy as jnp

W = jnp.array([[1.0, -1.0, 2.0], [0.5, 0.0, 1.0]])
xs = jnp.arange(12.0).reshape(4, 3)
ys = jnp.array([1.0, 2.0, 3.0, 4.0])


def predict(W, x):
    return jnp.tanh(jnp.dot(W, x) * 0.1)


def loss(W, x, y):
    return (predict(W, x).sum() - y) ** 2


ran = []


def noted(x):
    ran.append(x.shape)
    return x * 2


batched = jax.vmap(predict, in_axes=(None, 0))
answers = {
    "plain": jax.vmap(lambda x: x.sum())(xs),
    "shared": batched(W, xs),
    "other axis": jax.vmap(lambda x: x.sum(), in_axes=1)(xs),
    "out axis": jax.vmap(lambda x: x * 2, out_axes=1)(xs).shape,
    "two": jax.vmap(jnp.dot)(xs, xs),
    "per example": jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(W, xs, ys),
    "inside": jax.grad(lambda W: jax.vmap(loss, (None, 0, 0))(W, xs, ys).mean())(W),
    "compiled": jax.jit(jax.vmap(jnp.sin))(ys),
    "nested": jax.vmap(jax.vmap(lambda a: a + 1))(xs),
    "once": [jax.vmap(noted)(xs).shape, ran],
    "several results": jax.vmap(lambda x: (x.sum(), x * 0))(xs)[0],
    "tree": jax.vmap(lambda p: p["a"] + p["b"])({"a": ys, "b": ys}),
}


# %% while_backwards
"""The gradient of a while loop."""

import jax


def f(x):
    return jax.lax.while_loop(lambda y: y < 100.0, lambda y: y * x, x)


answers = {"value": f(3.0)}
try:
    answers["slope"] = jax.grad(f)(3.0)
except ValueError:
    answers["slope"] = "ValueError"


# %% while_loop
"""A loop that ends when a value says so; its state is one number or a tuple."""

import jax


def power(x, n):
    return jax.lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * x), (0, 1.0))[1]


answers = {
    "one": jax.lax.while_loop(lambda x: x < 100.0, lambda x: x * 2, 3.0),
    "power": [power(1.5, n) for n in (0, 3, 20)],
    "compiled": jax.jit(power)(1.5, 5),
    "for": jax.lax.fori_loop(0, 5, lambda i, x: x + i, 1.0),
}
