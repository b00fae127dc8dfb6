"""Programs in the words of Theano: each cell is one, and binds what it finds to `answers`."""

# %% accumulator
"""A shared value that a function returns as it was and then changes."""

import theano
import theano.tensor as T
from theano import function, shared

state = shared(0)
inc = T.iscalar("inc")
accumulator = function([inc], state, updates=[(state, state + inc)])
decrementor = function([inc], state, updates=[(state, state - inc)])
answers = {"first": state.get_value(), "returned": [accumulator(1), accumulator(300)]}
answers["after"] = state.get_value()
state.set_value(-1)
answers["set"] = [accumulator(3), state.get_value()]
answers["two functions"] = [decrementor(2), state.get_value()]
foo = T.scalar(dtype=state.dtype)
skip_shared = function([inc, foo], state * 2 + inc, givens=[(state, foo)])
answers["instead"] = [skip_shared(1, 3), state.get_value()]
copy = state.get_value()
copy += 100
answers["a copy"] = state.get_value()
answers["no outputs"] = [function([], updates={state: state + 1})(), state.get_value()]
answers["data types"] = [state.dtype, shared(0.5).dtype]


# %% adding
"""The first page of the tutorial: two numbers, two matrices, several variables at once."""

import numpy as np
import theano
import theano.tensor as T
from theano import function, pp

x, y = T.dscalar("x"), T.dscalar("y")
z = x + y
f = function([x, y], z)
m, n = T.dmatrices("m", "n")
g = function([m, n], m + n)
a, b, c = T.scalars("a", "b", "c")
several = function([a, b, c], [a + b, a * b - c])
vector = T.vector()
out = vector + vector**10
answers = {
    "sum": f(2, 3),
    "allclose": bool(np.allclose(f(16.3, 12.1), 28.4)),
    "line": pp(z),
    "eval": bool(np.allclose(z.eval({x: 16.3, y: 12.1}), 28.4)),
    "matrices": g([[1, 2], [3, 4]], [[10, 20], [30, 40]]),
    "arrays": g(np.array([[1, 2], [3, 4]]), np.array([[10, 20], [30, 40]])),
    "several": several(1, 2, 3),
    "power": function([vector], out)([0, 1, 2]),
    "type": str(x.type),
    "same type": x.type == T.TensorType("float64", ()) and m.type == T.dmatrix().type,
}


# %% arguments
"""What a function takes: numbers, lists, arrays that fit; all else is a TypeError."""

import numpy as np
import theano
import theano.tensor as T


def kind(f):
    try:
        return np.asarray(f()).tolist()
    except Exception as error:
        return next(k.__name__ for k in (TypeError, ValueError) if isinstance(error, k))


x, v, m = T.dscalar("x"), T.dvector("v"), T.dmatrix("m")
i, f = T.ivector("i"), T.fvector("f")
one = theano.function([x], x)
answers = {
    "none": kind(lambda: one()),
    "two": kind(lambda: one(1, 2)),
    "list": kind(lambda: theano.function([v], v)([1, 2])),
    "whole numbers": kind(lambda: theano.function([v], v)(np.array([1, 2]))),
    "number for a vector": kind(lambda: theano.function([v], v)(2)),
    "vector for a matrix": kind(lambda: theano.function([m], m)([1, 2])),
    "wide for narrow": kind(lambda: theano.function([f], f)(np.array([1.0, 2.0]))),
    "list for narrow": kind(lambda: theano.function([f], f)([1.0, 2.0])),
    "allowed": kind(lambda: theano.function([f], f, allow_input_downcast=True)([0.5, 2.0])),
    "fractions for whole numbers": kind(lambda: theano.function([i], i)([1.5])),
    "long for short": kind(lambda: theano.function([i], i)(np.array([1, 2]))),
    "text": kind(lambda: one("two")),
}


# %% arranging
"""Axes: exchanged, joined, put in, taken out, cut; lengths that are known when it runs."""

import numpy as np
import theano
import theano.tensor as T

m, t, v, i = T.dmatrix("m"), T.dtensor3("t"), T.dvector("v"), T.lscalar("i")
data, cube = np.arange(6.0).reshape(2, 3), np.arange(24.0).reshape(2, 3, 4)
answers = {
    "T": m.T.eval({m: data}),
    "dimshuffle": t.dimshuffle(2, 0, 1).eval({t: cube}).shape,
    "swapaxes": t.swapaxes(0, 2).eval({t: cube}).shape,
    "flatten": m.flatten().eval({m: data}),
    "reshape": m.reshape((3, 2)).eval({m: data}),
    "reshape by shape": t.reshape((t.shape[0], 12)).eval({t: cube}).shape,
    "concatenate": T.concatenate([m, m], axis=1).eval({m: data}),
    "stack": [T.stack([v, v]).eval({v: [1, 2]}), T.stack([v, v], axis=1).eval({v: [1, 2]})],
    "shape": [m.shape.eval({m: data}), m.shape[1].eval({m: data}), m.size.eval({m: data})],
    "index": [m[0].eval({m: data}), m[1, 2].eval({m: data}), m[:, 1:].eval({m: data})],
    "backwards": v[::-1].eval({v: [1, 2, 3]}),
    "by a variable": theano.function([m, i], m[i])(data, 1),
    "by positions": m[:, [2, 0]].eval({m: data}),
    "new axis": m[:, None, :].eval({m: data}).shape,
    "padleft": T.shape_padleft(v).eval({v: [1, 2]}).shape,
    "arange": T.arange(v.shape[0]).eval({v: [5, 6, 7]}),
    "zeros": T.zeros((v.shape[0], 2)).eval({v: [5, 6, 7]}).shape,
    "like": [T.zeros_like(m).eval({m: data}), T.ones_like(v).eval({v: [1, 2]})],
    "alloc": T.alloc(0.5, 2, v.shape[0]).eval({v: [5, 6, 7]}),
}


# %% branches
"""switch chooses element by element, ifelse one of two: -4, not the -6 of a trace."""

import theano
import theano.tensor as T
from theano.ifelse import ifelse

x = T.dvector("x")
y = ifelse(T.gt(x.sum(), 0), 2 * x, x - 1)
z = T.switch(x > 0, 2 * x, x - 1)
f, g = theano.function([x], y), theano.function([x], z)
slope = theano.function([x], T.grad(y.sum(), x))
answers = {
    "ifelse": [f([3]), f([-3])],
    "switch": g([3, -3]),
    "slopes": [slope([3]), slope([-3])],
    "slope of a switch": theano.function([x], T.grad(z.sum(), x))([3, -3]),
    "lt": theano.function([x], ifelse(T.lt(x[0], 0), T.mean(x), T.max(x)))([-1, 3]),
}


# %% broadcasting
"""Which axes are broadcast is a matter of types: a row is, a matrix with one row is not."""

import numpy as np
import theano
import theano.tensor as T

m, n, v = T.dmatrix("m"), T.dmatrix("n"), T.dvector("v")
r, c = T.drow("r"), T.dcol("c")


def kind(f):
    try:
        return f()
    except ValueError:
        return "ValueError"


data = np.arange(6.0).reshape(2, 3)
matrices = theano.function([m, n], m + n)
vector = theano.function([m, v], m + v)
answers = {
    "vector": vector(data, [1, 2, 3]),
    "row": theano.function([m, r], m + r)(data, [[1, 2, 3]]),
    "column": theano.function([m, c], m + c)(data, [[1], [2]]),
    "dimshuffle": theano.function([m, v], m * v.dimshuffle(0, "x"))(data, [1, 2]),
    "keepdims": theano.function([m], m / m.sum(axis=1, keepdims=True))(data),
    "patterns": [m.broadcastable, r.broadcastable, c.broadcastable, (m + r).broadcastable],
    "pattern of a shuffle": v.dimshuffle("x", 0).broadcastable,
    "number": theano.function([m], m + 1)(data),
    "matrix with one row": kind(lambda: matrices(data, np.ones((1, 3)))),
    "vector with one number": kind(lambda: vector(data, [1])),
}


# %% data_types
"""Which data type comes out: constants are as short as they can be."""

import theano.tensor as T

i, long, f, d = T.ivector("i"), T.lscalar("l"), T.fvector("f"), T.dscalar("d")
answers = {
    "declared": [T.scalar().dtype, T.bvector().dtype, i.dtype, long.dtype, f.dtype],
    "int32 + 1": (i + 1).dtype,
    "int32 / 2": (i / 2).dtype,
    "int32 // 2": (i // 2).dtype,
    "int32 % 2": (i % 2).dtype,
    "int32 ** 2": (i**2).dtype,
    "int32 * 2.5": (i * 2.5).dtype,
    "float32 * 2.5": (f * 2.5).dtype,
    "float32 * 0.1": (f * 0.1).dtype,
    "float32 * float64": (f * d).dtype,
    "int32 + float32": (i + f).dtype,
    "int64 + int32": (long + i).dtype,
    "comparison": (i > 0).dtype,
    "sum": [T.sum(i).dtype, T.sum(f).dtype, T.sum(i > 0).dtype],
    "mean": [T.mean(i).dtype, T.mean(f).dtype],
    "exp": [T.exp(i).dtype, T.exp(f).dtype],
    "sqr": T.sqr(i).dtype,
    "constants": [T.constant(2).dtype, T.constant(300).dtype, T.constant(0.1).dtype],
    "list": T.as_tensor_variable([1, 2]).dtype,
    "made": [T.zeros((2, 2)).dtype, T.arange(3).dtype, T.eye(2).dtype, T.ones_like(i).dtype],
    "switch": T.switch(d > 0, 1, 2.5).dtype,
    "cast": [T.cast(d, "int32").dtype, i.astype("float32").dtype],
    "shape": [f.shape.dtype, f.shape[0].dtype],
    "argmax": T.argmax(f).dtype,
}


# %% defaults
"""Inputs with a value where none is given, by order and by name."""

import theano
import theano.tensor as T
from theano import In, function

x, y, w = T.dscalars("x", "y", "w")
f = function([x, In(y, value=1)], x + y)
g = function([x, In(y, value=1), In(w, value=2, name="w_by_name")], (x + y) * w)
answers = {
    "default": f(33),
    "given": f(33, 2),
    "both defaults": g(33),
    "one": g(33, 2),
    "in order": g(33, 0, 1),
    "by name": g(33, w_by_name=1),
    "mixed": g(33, w_by_name=1, y=0),
}


# %% elementwise
"""Functions of each element, comparisons, and a choice between two values."""

import theano
import theano.tensor as T

v, w = T.dvector("v"), T.dvector("w")
values = [-1.5, 0.5, 2.5]


def of(y):
    return theano.function([v], y)(values)


answers = {
    "exp": of(T.exp(v)),
    "tanh": of(T.tanh(v)),
    "sqr": of(T.sqr(v)),
    "sqrt": of(T.sqrt(abs(v))),
    "log": of(T.log(T.abs_(v))),
    "inv": of(T.inv(v)),
    "sgn": of(T.sgn(v)),
    "clip": of(T.clip(v, -1, 1)),
    "maximum": of(T.maximum(v, 0)),
    "switch": of(T.switch(v > 0, v, 0.1 * v)),
    "relu": [of(T.nnet.relu(v)), of(T.nnet.relu(v, alpha=0.1))],
    "softplus": of(T.nnet.softplus(v)),
    "floor": [of(T.floor(v)), of(T.ceil(v)), of(T.round(v))],
    "mod": [of(v % 2), of(v // 2)],
    "logic": [of(T.and_(v > 0, v < 1)), of(T.or_(v < 0, v > 1)), of((v > 0) & (v < 1))],
    "compared": [of(T.gt(v, 0)), of(T.le(v, 0.5)), of(T.neq(v, 0.5))],
    "turned": [of(1 - v), of(2 / v), of(2**v)],
    "two": theano.function([v, w], T.minimum(v, w))(values, [0, 0, 0]),
}


# %% floatX
"""theano.config.floatX says which data type `T.matrix()` has."""

import numpy as np
import theano
import theano.tensor as T

before = theano.config.floatX
theano.config.floatX = "float32"
x = T.matrix("x")
f = theano.function([x], x * 0.1)
scalar = T.scalar("s")
answers = {
    "before": before,
    "variable": x.dtype,
    "times a number": str(f(np.ones((1, 2), dtype="float32")).dtype),
    "zeros": T.zeros((2,)).dtype,
    "a float for a float32": float(theano.function([scalar], scalar)(0.5)),
    "asarray": str(np.asarray([1, 2], dtype=theano.config.floatX).dtype),
}
theano.config.floatX = before
answers["again"] = T.matrix("x").dtype


# %% givens
"""What stands in for a variable: a number, a shared value, rows of a data set."""

import numpy as np
import theano
import theano.tensor as T

x, y = T.dmatrix("x"), T.dscalar("y")
data = theano.shared(np.arange(12.0).reshape(6, 2), name="data")
index = T.lscalar("index")
batch = data[index * 2 + T.arange(2)]
f = theano.function([index], T.sum(x, axis=0), givens={x: batch})
answers = {
    "batches": [f(0), f(2)],
    "number": theano.function([], y * 2, givens={y: np.float64(4)})(),
    "middle": theano.function([x], T.sum(x * 2), givens=[(y, T.sum(x))])([[1, 2]]),
}


# %% gradient_errors
"""A gradient needs a single number, and something that it depends on."""

import theano
import theano.tensor as T


def kind(f):
    try:
        f()
    except Exception as error:
        kinds = (TypeError, ValueError, RuntimeError)
        return next(k.__name__ for k in kinds if isinstance(error, k))
    return "none"


x, z, v = T.dscalar("x"), T.dscalar("z"), T.dvector("v")
named = "none"
try:
    T.grad(x * 2, z)
except theano.gradient.DisconnectedInputError as error:
    named = type(error).__name__
answers = {
    "of a vector": kind(lambda: T.grad(v * 2, v)),
    "disconnected": kind(lambda: T.grad(x * 2, z)),
    "its name": named,
    "one of two": kind(lambda: T.grad(x * 2, [x, z])),
    "fine": kind(lambda: T.grad(x * 2, x)),
}


# %% gradients
"""Gradients: of one number by one variable, by several, and of gradients."""

import theano
import theano.tensor as T

x = T.dscalar("x")
y = x**2
gy = T.grad(y, x)
m = T.dmatrix("m")
s = T.sum(1 / (1 + T.exp(-m)))
W, b = T.dmatrix("W"), T.dvector("b")
out = T.sum(T.maximum(T.dot(W, b) + b, 0))
gW, gb = T.grad(out, [W, b])
z = T.dscalar("z")
answers = {
    "slope": [theano.function([x], gy)(4), theano.function([x], gy)(94.2)],
    "second": theano.function([x], T.grad(T.grad(x**3, x), x))(2),
    "logistic": theano.function([m], T.grad(s, m))([[0, 1], [-1, -2]]),
    "several": theano.function([W, b], [gW, gb])([[1, -3], [3, 4]], [1, 1]),
    "a tie": theano.function([x], T.grad(T.maximum(x, 0), x))(0),
    "by theano.grad": theano.function([x], theano.grad(T.sin(x), x))(0),
    "by what is in between": theano.function([x], T.grad(y * y, y))(3),
    "constant": theano.function([x], T.grad(x * y, x, consider_constant=[y]))(3),
    "disconnected_grad": theano.function([x], T.grad(x * theano.gradient.disconnected_grad(y), x))(
        3
    ),
    "not connected": theano.function(
        [x, z], T.grad(y, z, disconnected_inputs="ignore"), on_unused_input="ignore"
    )(1, 2),
}


# %% hidden_layer
"""A hidden layer with tanh, two penalties, and steps on all parameters."""

import numpy as np
import theano
import theano.tensor as T


class HiddenLayer:
    def __init__(self, rng, input, n_in, n_out, activation=T.tanh):
        bound = np.sqrt(6.0 / (n_in + n_out))
        W = np.asarray(rng.uniform(-bound, bound, (n_in, n_out)), dtype=theano.config.floatX)
        self.W = theano.shared(value=W, name="W", borrow=True)
        self.b = theano.shared(np.zeros((n_out,), dtype=theano.config.floatX), name="b")
        lin = T.dot(input, self.W) + self.b
        self.output = lin if activation is None else activation(lin)
        self.params = [self.W, self.b]


rng = np.random.RandomState(2)
x, t = T.matrix("x"), T.matrix("t")
hidden = HiddenLayer(rng, x, 3, 5)
out = HiddenLayer(rng, hidden.output, 5, 2, activation=None)
params = hidden.params + out.params
L1 = abs(hidden.W).sum() + abs(out.W).sum()
L2 = (hidden.W**2).sum() + (out.W**2).sum()
cost = T.mean((out.output - t) ** 2) + 0.001 * L1 + 0.0001 * L2
gparams = [T.grad(cost, param) for param in params]
updates = [(param, param - 0.1 * g) for param, g in zip(params, gparams, strict=True)]
train = theano.function([x, t], cost, updates=updates)
data, targets = rng.randn(7, 3), rng.randn(7, 2)
costs = [train(data, targets) for _ in range(5)]
answers = {
    "costs": costs,
    "shapes": [p.get_value().shape for p in params],
    "output": theano.function([x], out.output)(data),
    "names": [p.name for p in params],
}


# %% kinds_of_errors
"""What is an error, when, and of which kind."""

import numpy as np
import theano
import theano.tensor as T


def kind(f):
    try:
        f()
    except Exception as error:
        name = type(error).__name__
        if name in ("UnusedInputError", "MissingInputError"):
            return name
        kinds = (TypeError, ValueError, IndexError, AttributeError)
        return next(k.__name__ for k in kinds if isinstance(error, k))
    return "none"


x, y, v = T.dscalar("x"), T.dscalar("y"), T.dvector("v")
m, n = T.dmatrix("m"), T.dmatrix("n")
w = theano.shared(0.0, name="w")
product = theano.function([m, n], T.dot(m, n))
total = theano.function([m, n], m + n)
answers = {
    "unused input": kind(lambda: theano.function([x, y], x)),
    "unused, ignored": kind(lambda: theano.function([x, y], x, on_unused_input="ignore")),
    "missing input": kind(lambda: theano.function([], x)),
    "shared as input": kind(lambda: theano.function([w], w)),
    "update of no shared": kind(lambda: theano.function([x], x, updates=[(y, x)])),
    "two updates": kind(lambda: theano.function([], w, updates=[(w, w + 1), (w, w + 2)])),
    "update of another type": kind(
        lambda: theano.function([], w, updates=[(w, T.cast(w, "float32"))])
    ),
    "update of another rank": kind(lambda: theano.function([v], w, updates=[(w, v)])),
    "no variable": kind(lambda: theano.function([x], 1)),
    "lengths of a product": kind(lambda: product(np.ones((2, 3)), np.ones((2, 3)))),
    "lengths of a sum": kind(lambda: total(np.ones((2, 3)), np.ones((3, 3)))),
    "if on a comparison": kind(lambda: 1 if x > 0 else 2),
    "len": kind(lambda: len(v)),
    "float": kind(lambda: float(x)),
    "range": kind(lambda: range(T.lscalar())),
    "unknown name": kind(lambda: T.no_such_function),
    "unknown method": kind(lambda: x.no_such_method),
}


# %% kinks
"""Where a function has a corner or a tie: which gradient there is, and which logarithm of 0."""

import numpy as np
import theano
import theano.tensor as T

AT = [-1.0, 0.0, 1.0, 2.0, -2.0, 0.5]
BESIDE = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]
TIED = [[1.0, 2.0, 2.0, 1.0], [3.0, 3.0, 3.0, 0.0]]


def slope(f, *values):
    xs = [T.dmatrix() if isinstance(v[0], list) else T.dvector() for v in values]
    return theano.function(xs, T.grad(T.sum(f(*xs)), xs))(*map(np.array, values))


answers = {
    "maximum": slope(T.maximum, AT, BESIDE),
    "minimum": slope(T.minimum, AT, BESIDE),
    "hinge": slope(lambda x: T.maximum(0, 1 - x), AT),
    "clip": slope(lambda x: T.clip(x, -1, 1), AT),
    "max": slope(lambda x: T.max(x, axis=1), TIED),
    "max of all": slope(lambda x: x.max(), TIED),
    "abs": slope(abs, AT),
    "sgn": slope(T.sgn, AT),
    "rounded": [slope(f, AT) for f in (T.floor, T.ceil, T.round)],
    "whole quotient": slope(lambda x: x // 2, AT),
    "std": slope(T.std, [2.0, 2.0]),
    "prod": slope(T.prod, [0.0, 2.0, 0.0]),
    "square root at 0": slope(T.sqrt, [0.0, 4.0]),
    "relu": slope(T.nnet.relu, AT),
    "leaky relu": slope(lambda x: T.nnet.relu(x, 0.1), AT),
    "entropy of what saturated": slope(
        lambda x: T.nnet.binary_crossentropy(T.nnet.sigmoid(x), np.array([0.0, 1.0, 1.0])),
        [200.0, -200.0, 0.0],
    ),
}


# %% logistic
"""The logistic function, and the same by the hyperbolic tangent."""

import theano
import theano.tensor as T

x = T.dmatrix("x")
s = 1 / (1 + T.exp(-x))
s2 = (1 + T.tanh(x / 2)) / 2
logistic = theano.function([x], s)
logistic2 = theano.function([x], s2)
a, b = T.dmatrices("a", "b")
diff = a - b
three = theano.function([a, b], [diff, abs(diff), diff**2])
values = [[0, 1], [-1, -2]]
answers = {
    "exp": logistic(values),
    "tanh": logistic2(values),
    "nnet": theano.function([x], T.nnet.sigmoid(x))(values),
    "three": three([[1, 1], [1, 1]], [[0, 1], [2, 3]]),
}


# %% logistic_regression
"""The example of the tutorial: logistic regression with shared weights and updates."""

import numpy as np
import theano
import theano.tensor as T

rng = np.random.RandomState(0)
N, feats, training_steps = 40, 8, 30
D = (rng.randn(N, feats), rng.randint(size=N, low=0, high=2))
x, y = T.dmatrix("x"), T.dvector("y")
w = theano.shared(rng.randn(feats), name="w")
b = theano.shared(0.0, name="b")
p_1 = 1 / (1 + T.exp(-T.dot(x, w) - b))
prediction = p_1 > 0.5
xent = -y * T.log(p_1) - (1 - y) * T.log(1 - p_1)
cost = xent.mean() + 0.01 * (w**2).sum()
gw, gb = T.grad(cost, [w, b])
train = theano.function(
    inputs=[x, y],
    outputs=[prediction, xent],
    updates=((w, w - 0.1 * gw), (b, b - 0.1 * gb)),
)
predict = theano.function(inputs=[x], outputs=prediction)
errors = []
for _ in range(training_steps):
    pred, err = train(D[0], D[1])
    errors.append(err.mean())
answers = {
    "first and last": [errors[0], errors[-1]],
    "weights": w.get_value(),
    "bias": b.get_value(),
    "predicted": predict(D[0]),
    "binary": T.nnet.binary_crossentropy(p_1, y).eval({x: D[0][:3], y: D[1][:3]}),
}


# %% minibatches
"""Minibatches as the tutorials cut them: a slice between two variables of a shared data set."""

import numpy as np
import theano
import theano.tensor as T

data = theano.shared(np.arange(14.0).reshape(7, 2), name="data")
labels = T.cast(theano.shared(np.arange(7.0), name="labels"), "int32")
index, x, y = T.lscalar("index"), T.matrix("x"), T.ivector("y")
batch_size = 2


def tried(f):
    try:
        return f()
    except Exception:
        return "refused"


train = theano.function(
    inputs=[index],
    outputs=[T.sum(x, axis=0), y],
    givens={
        x: data[index * batch_size : (index + 1) * batch_size],
        y: labels[index * batch_size : (index + 1) * batch_size],
    },
)
after = theano.function([index], data[index + 1 : index + 3])
answers = {
    "batches": [train(i) for i in range(3)],
    "moved": [after(0), after(2)],
    "up to a variable": tried(lambda: theano.function([index], data[:index])(2)),
    "the rest": tried(lambda: train(3)),
}


# %% names
"""What a variable is called, what it is made of."""

import theano
import theano.tensor as T

x = T.dmatrix("x")
y = x * 2
before = y.name
y.name = "twice"
z = T.dvector()
answers = {
    "given": x.name,
    "none": [before, z.name],
    "later": y.name,
    "owners": [x.owner is None, y.owner is None, len(y.owner.inputs)],
    "read from": y.owner.inputs[0] is x or y.owner.inputs[0] == x,
    "shared": [theano.shared(1.0).name, theano.shared(1.0, name="w").name],
    "types": [str(x.type), str(T.drow().type), str(T.fscalar().type), str(T.ltensor3().type)],
    "ndim": [x.ndim, z.ndim, (x * z).ndim, T.dot(x, z).ndim],
    "plural": [v.name for v in T.dvectors("a", "b")] + [len(T.matrices(2))],
}


# %% open_axes
"""Axes joined while none of their lengths is known."""

import numpy as np
import theano.tensor as T

t = T.dtensor3("t")
cube = np.arange(24.0).reshape(2, 3, 4)


def tried(f):
    try:
        return f().eval({t: cube}).shape
    except ValueError:
        return "ValueError"


answers = {
    "all": tried(lambda: t.flatten()),
    "all but the first": tried(lambda: t.flatten(2)),
    "by the first length": tried(lambda: t.reshape((t.shape[0], -1))),
    "by numbers": tried(lambda: t.reshape((t.shape[0], 12))),
}


# %% outputs
"""One output, a list, a dict, none: what comes back has that form."""

import theano
import theano.tensor as T

x = T.dscalar("x")
one = theano.function([x], x + 1)(1)
several = theano.function([x], [x, x + 1])(1)
single = theano.function([x], [x])(1)
by_name = theano.function([x], {"b": x * 2, "a": x})(3)
answers = {
    "one": one,
    "list": several,
    "list of one": single,
    "kinds": [type(v).__name__ for v in (one, several, single, by_name)],
    "dict": by_name,
    "same twice": theano.function([x], [x, x])(4),
    "constant": theano.function([], T.constant(2.0) * 3)(),
}


# %% printed
"""What an expression looks like as a line and as a tree, and a value that prints itself."""

import theano
import theano.tensor as T

x, w = T.dscalar("x"), theano.shared(1.5, name="w")
m, n = T.dmatrices("m", "n")
tree = theano.printing.debugprint(x**2 + 3, file="str").split("\n")
hello = theano.printing.Print("hello world")(x)
f = theano.function([x], hello + 1)
answers = {
    "square": theano.pp(x**2 + 3),
    "affine": theano.pp(w * x - 1),
    "dot": theano.pp(T.dot(m, n)),
    "sigmoid": theano.pp(T.nnet.sigmoid(x)),
    "exp": theano.pp(1 / (1 + T.exp(-x))),
    "abs": theano.pp(abs(x) + T.tanh(x)),
    "choice": theano.pp(T.switch(x > 0, x, -x)),
    "no name": theano.pp(T.dscalar()),
    "slope": theano.pp(T.grad(x**2, x)),
    "repr": [repr(x), str(w), repr(T.dscalar("q"))],
    "leaves": [line for line in tree if "x" in line or "Constant" in line],
    "lines": len(tree),
    "computed": f(5),
}


# %% recurrent
"""A recurrent network by scan: one function for sequences of any length, with its gradients."""

import numpy as np
import theano
import theano.tensor as T

rng = np.random.RandomState(3)
u = T.matrix("u")
W_hh = theano.shared(rng.uniform(-0.5, 0.5, (4, 4)), name="W_hh")
W_xh = theano.shared(rng.uniform(-0.5, 0.5, (2, 4)), name="W_xh")
h0 = theano.shared(np.zeros(4), name="h0")


def step(u_t, h_tm1, W_hh, W_xh):
    return T.tanh(T.dot(h_tm1, W_hh) + T.dot(u_t, W_xh))


h, _ = theano.scan(step, sequences=u, outputs_info=h0, non_sequences=[W_hh, W_xh])
cost = T.mean(h[-1] ** 2)
params = [W_hh, W_xh]
slopes = T.grad(cost, params)
train = theano.function(
    [u], cost, updates=[(p, p - 0.1 * g) for p, g in zip(params, slopes, strict=True)]
)
outputs = theano.function([u], h)
data = rng.randn(12, 2)
answers = {
    "shapes": [outputs(data[:n]).shape for n in (3, 7, 12)],
    "last": outputs(data)[-1],
    "prefix": bool(np.allclose(outputs(data[:5]), outputs(data)[:5])),
    "costs": [train(data[:n]) for n in (3, 7, 12)],
    "W": W_hh.get_value(),
}


# %% reductions
"""Sums, means and extremes: of all, along one axis, along several."""

import numpy as np
import theano
import theano.tensor as T

m, t = T.dmatrix("m"), T.dtensor3("t")
data = np.arange(6.0).reshape(2, 3) * [1, -1, 2]
cube = np.arange(24.0).reshape(2, 3, 4)
answers = {
    "sum": [T.sum(m).eval({m: data}), m.sum(axis=0).eval({m: data})],
    "two axes": t.sum(axis=(0, 2)).eval({t: cube}),
    "mean": [m.mean().eval({m: data}), T.mean(m, axis=1).eval({m: data})],
    "extremes": [m.max(axis=1).eval({m: data}), T.min(m).eval({m: data})],
    "argmax": [T.argmax(m, axis=1).eval({m: data}), m.argmax().eval({m: data})],
    "var": [m.var().eval({m: data}), T.std(m, axis=0).eval({m: data})],
    "prod": T.prod(m + 1, axis=1).eval({m: data}),
    "all": [T.all(m > -10).eval({m: data}), T.any(m > 10).eval({m: data})],
    "cumsum": T.cumsum(m, axis=1).eval({m: data}),
    "keepdims": T.max(m, axis=1, keepdims=True).eval({m: data}),
    "ndim": [m.sum(axis=0).ndim, t.mean(axis=(0, 1)).ndim, T.sum(t).ndim],
}


# %% scalar
"""y = x * x + 3: built once, run with two values; an input that may be named."""

import theano
import theano.tensor as T

x = T.dscalar("x")
y = x * x + 3
f = theano.function([x], y)
answers = {
    "two": f(2),
    "three": f(3),
    "by name": f(x=2),
    "at once": y.eval({x: 2.0}),
    "what comes back": type(f(2)).__name__,
    "shape": f(2).shape,
    "data type": str(f(2).dtype),
}


# %% scan_power
"""The first loops of the tutorial: a power, a polynomial, a sum."""

import numpy as np
import theano
import theano.tensor as T

k, A = T.iscalar("k"), T.vector("A")
result, updates = theano.scan(
    fn=lambda prior_result, A: prior_result * A,
    outputs_info=T.ones_like(A),
    non_sequences=A,
    n_steps=k,
)
power = theano.function(inputs=[A, k], outputs=result[-1], updates=updates)

coefficients, x = T.vector("coefficients"), T.scalar("x")
components, updates = theano.scan(
    fn=lambda coefficient, power, free_variable: coefficient * (free_variable**power),
    outputs_info=None,
    sequences=[coefficients, T.arange(coefficients.shape[0])],
    non_sequences=x,
)
polynomial = theano.function(inputs=[coefficients, x], outputs=components.sum())

up_to = T.vector("up_to")
sums, _ = theano.scan(
    lambda item, total: total + item,
    sequences=up_to,
    outputs_info=np.float64(0),
)
answers = {
    "power": [power(range(5), 2), power(range(3), 4)],
    "polynomial": polynomial(np.asarray([1, 0, 2], dtype="float64"), 3),
    "sums": theano.function([up_to], sums)([1, 2, 3, 4]),
    "updates": len(updates),
}


# %% scan_taps
"""Loops that look further back, go backwards, return several values, or have so many steps."""

import theano
import theano.tensor as T

start, v = T.dvector("start"), T.dvector("v")
fib, _ = theano.scan(
    lambda older, newer: older + newer,
    outputs_info=[{"initial": start, "taps": [-2, -1]}],
    n_steps=6,
)
backwards, _ = theano.scan(
    lambda x, total: total * 2 + x,
    sequences=v,
    outputs_info=T.constant(0.0, "c").astype("float64"),
    go_backwards=True,
)
(sums, squares), _ = theano.scan(
    lambda x, total: [total + x, x**2],
    sequences=[v],
    outputs_info=[T.zeros(()), None],
)
mapped, _ = theano.map(lambda x: x * 10, v)
folded, _ = theano.reduce(lambda x, total: total + x, v, T.zeros(()))
answers = {
    "fibonacci": theano.function([start], fib)([1, 1]),
    "backwards": theano.function([v], backwards)([1, 2, 3]),
    "several": theano.function([v], [sums, squares])([1, 2, 3]),
    "map": theano.function([v], mapped)([1, 2, 3]),
    "reduce": theano.function([v], folded)([1, 2, 3]),
    "slope": theano.function([v], T.grad(sums[-1] * squares.sum(), v))([1, 2, 3]),
}


# %% set_shape
"""A shared variable may get a value of another shape."""

import numpy as np
import theano

w = theano.shared(np.zeros((2, 3)), name="w")
total = theano.function([], w.sum())
before = total()


def other():
    w.set_value(np.ones((4, 5)))
    return total()


try:
    found = other()
except ValueError:
    found = "ValueError"
answers = {"before": before, "other shape": found}


# %% softmax_regression
"""Softmax, the negative log-likelihood by positions, and cross entropy in two forms."""

import numpy as np
import theano
import theano.tensor as T

rng = np.random.RandomState(1)
data, labels = rng.randn(6, 4), np.array([0, 2, 1, 1, 0, 2])
x, y, onehot = T.matrix("x"), T.ivector("y"), T.matrix("onehot")
W = theano.shared(value=np.zeros((4, 3), dtype=theano.config.floatX), name="W", borrow=True)
b = theano.shared(value=np.zeros((3,), dtype=theano.config.floatX), name="b", borrow=True)
p = T.nnet.softmax(T.dot(x, W) + b)
cost = -T.mean(T.log(p)[T.arange(y.shape[0]), y])
errors = T.mean(T.neq(T.argmax(p, axis=1), y))
updates = [(param, param - 0.5 * T.grad(cost, param)) for param in (W, b)]
train = theano.function([x, y], cost, updates=updates)
costs = [train(data, labels.astype("int32")) for _ in range(4)]
numbers = theano.function([x, y], T.nnet.categorical_crossentropy(p, y))
rows = theano.function([x, onehot], T.nnet.categorical_crossentropy(p, onehot))
answers = {
    "costs": costs,
    "W": W.get_value(),
    "by number": numbers(data, labels.astype("int32")),
    "by row": rows(data, np.eye(3)[labels]),
    "errors": theano.function([x, y], errors)(data, labels.astype("int32")),
    "sums": p.sum(axis=1).eval({x: data}),
    "of a vector": T.nnet.softmax(T.constant(np.array([1.0, 2.0]))).eval(),
}


# %% truth
"""What Python makes of a variable where it asks whether it is true."""

import theano.tensor as T

x = T.dscalar("x")


def branch():
    try:
        return "taken" if x else "not taken"
    except TypeError:
        return "TypeError"


answers = {
    "if x": branch(),
    "x == x": x == x,
    "x == 3": x == 3,
    "x in a list": x in [T.dscalar("x"), x],
    "as a key": {x: 1}[x],
    "eq": T.eq(x, 3).eval({x: 3}),
}


# %% updates_at_once
"""All updates read the old values: two shared variables change places."""

from collections import OrderedDict

import theano
import theano.tensor as T

a, b = theano.shared(1.0, name="a"), theano.shared(2.0, name="b")
swap = theano.function([], [a, b], updates=OrderedDict([(a, b), (b, a)]))
fib = theano.function([], [], updates=[(a, a + b), (b, a)])
answers = {"returned": swap(), "after": [a.get_value(), b.get_value()]}
for _ in range(3):
    fib()
answers["fibonacci"] = [a.get_value(), b.get_value()]
x = T.dscalar("x")
step = theano.function([x], x * a, updates=[(a, a * 2)])
answers["output before update"] = [step(1), a.get_value(), step(1), a.get_value()]
