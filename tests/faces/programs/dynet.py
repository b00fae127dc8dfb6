"""Programs in the words of DyNet: each cell is one, and binds what it finds to `answers`."""

# %% adam_of_rows
"""Adam on a table: how many steps a row counts that is looked up for the first time."""

import dynet as dy
import numpy as np

m = dy.ParameterCollection()
E = m.add_lookup_parameters((2, 1), init=np.ones((2, 1)))
trainer = dy.AdamTrainer(m, alpha=0.1)
seen = []
for word in (0, 0, 1):
    dy.renew_cg()
    dy.squared_norm(E[word]).backward()
    trainer.update()
    seen.append(E.as_array())
answers = {"row of every step": [rows[0] for rows in seen], "late row": seen[-1][1]}


# %% arranging
"""Axes: by columns where shapes change, joined, cut, reduced."""

import dynet as dy

dy.renew_cg()
A, v = dy.inputTensor([[1, 2, 3], [4, 5, 6]]), dy.inputVector([1, 2, 3])
answers = {
    "reshape": dy.reshape(A, (3, 2)).npvalue(),
    "flat": dy.reshape(A, (6,)).value(),
    "transpose": dy.transpose(A).npvalue(),
    "row of a vector": dy.transpose(v).dim(),
    "concatenate": dy.concatenate([v, dy.scalarInput(9)]).value(),
    "beside": dy.concatenate([A, A], d=1).npvalue(),
    "columns": dy.concatenate_cols([v, v]).npvalue(),
    "pick": [dy.pick(v, 1).value(), dy.pick(A, 1).value(), dy.pick(A, 1, 1).value()],
    "index": [v[0].value(), v[-1].value(), A[0].value(), v[0:2].value(), v[::2].value()],
    "iterated": [x.value() for x in v],
    "pick_range": [dy.pick_range(v, 0, 2).value(), dy.pick_range(A, 0, 2, 1).npvalue()],
    "select": [dy.select_rows(A, [1]).npvalue(), dy.select_cols(A, [0, 2]).npvalue()],
    "sums": [dy.sum_elems(A).value(), dy.sum_dim(A, [0]).value(), dy.sum_dim(A, [0, 1]).value()],
    "means": [dy.mean_elems(A).value(), dy.mean_dim(A, [0], False).value()],
    "extremes": [dy.max_dim(A).value(), dy.max_dim(A, 1).value(), dy.min_dim(A, d=1).value()],
    "cumsum": [dy.cumsum(v).value(), dy.cumsum(A, 1).npvalue()],
}


# %% autobatch
"""Many samples in one graph, written one by one: with and without automatic batching the same."""

import dynet as dy
import numpy as np
from dynet import dynet_config

m = dy.ParameterCollection()
E = m.add_lookup_parameters((5, 3), init=np.sin(np.arange(15)).reshape(5, 3))
W, U = (m.add_parameters((3, 3), init=np.cos(np.arange(9) + k).reshape(3, 3)) for k in (0, 9))


def encode(words):
    h = dy.zeros(3)
    for w in words:
        h = dy.tanh(W * E[w] + U * h)
    return h


answers = {}
for setting in (0, 1):
    dynet_config.set(autobatch=setting)
    dy.renew_cg()
    sentences = ([0, 1, 2], [3, 4], [1, 1, 1, 2], [4])
    losses = [dy.pickneglogsoftmax(encode(words), k % 3) for k, words in enumerate(sentences)]
    loss = dy.esum(losses)
    answers["loss", setting] = loss.value()
    loss.backward()
    answers["dW", setting], answers["dE", setting] = W.grad_as_array(), E.grad_as_array()
    trainer = dy.SimpleSGDTrainer(m)
    trainer.update()
dynet_config.set()


# %% batches
"""Samples have a dimension of their own, the last one you see."""

import dynet as dy
import numpy as np

dy.renew_cg()
W = dy.inputTensor(np.arange(6).reshape(2, 3))
x = dy.inputTensor(np.arange(6).reshape(3, 2), batched=True)
y = W * x
answers = {
    "dimensions": [x.dim(), y.dim(), dy.sum_elems(x).dim()],
    "product": y.npvalue(),
    "value": x.value(),
    "with one vector": (x + dy.inputVector([1, 1, 1])).npvalue(),
    "each": dy.cmult(x, dy.inputVector([1, 2, 3])).npvalue(),
    "over samples": [dy.sum_batches(x).value(), dy.mean_batches(x).value()],
    "losses": dy.pickneglogsoftmax_batch(x, [0, 1]).npvalue(),
    "picked": dy.pick_batch(x, [0, 1]).npvalue(),
    "sample": dy.pick_batch_elem(x, 1).value(),
    "samples": dy.pick_batch_elems(x, [1, 0]).npvalue(),
    "of a list": dy.inputTensor([np.ones(3), np.zeros(3)], batched=True).npvalue(),
    "joined": dy.concatenate_to_batch([dy.inputVector([1, 2]), dy.inputVector([3, 4])]).npvalue(),
    "reshape": dy.reshape(x, (1, 3)).dim(),
    "sum_dim": dy.sum_dim(x, [0]).npvalue(),
}
m = dy.ParameterCollection()
E = m.add_lookup_parameters((3, 2), init=np.arange(6).reshape(3, 2))
answers["lookup_batch"] = dy.lookup_batch(E, [0, 2, 2]).npvalue()
loss = dy.sum_batches(dy.squared_norm(dy.lookup_batch(E, [0, 2, 2])))
loss.backward()
answers["gradient"] = E.grad_as_array()
try:
    dy.sum_elems(x).backward()
    answers["backward of samples"] = "no error"
except ValueError:
    answers["backward of samples"] = "ValueError"


# %% bidirectional
"""Two networks, one of which reads backwards."""

import dynet as dy
import numpy as np

m = dy.ParameterCollection()
network = dy.BiRNNBuilder(1, 2, 4, m, dy.LSTMBuilder)
for k, p in enumerate(m.parameters_list()):
    p.set_value(np.cos(np.arange(np.prod(p.shape())) + k).reshape(p.shape()))
dy.renew_cg()
xs = [dy.inputVector([1, 2]), dy.inputVector([-1, 0.5]), dy.inputVector([0, 1])]
answers = {"outputs": [x.value() for x in network.transduce(xs)]}


# %% branch
"""A Python if and a Python loop: the graph holds what was taken, another one each time."""

import dynet as dy


def f(x):
    if dy.sum_elems(x).value() > 0:
        return x * 2
    return x - 1


def halved(x):
    count = 0
    while x.value() > 1:
        x, count = x / 2, count + 1
    return x, count


dy.renew_cg()
answers = {"branches": [f(dy.inputVector([v])).value() for v in (-3, 3)]}
found = [halved(dy.scalarInput(v)) for v in (1, 5, 9)]
answers["loops"] = [(x.value(), count) for x, count in found]


# %% cached
"""A value is kept in its graph: after an update only a calculation anew shows the difference."""

import dynet as dy
import numpy as np

m = dy.ParameterCollection()
W = m.add_parameters(2, init=np.array([1.0, 2.0]))
trainer = dy.SimpleSGDTrainer(m, learning_rate=0.25)
dy.renew_cg()
loss = dy.squared_norm(W)
answers = {"before": loss.value()}
loss.backward()
trainer.update()
answers["kept"] = loss.value()
answers["anew"] = loss.value(recalculate=True)
answers["parameters"] = W.value()


# %% clipping
"""Gradients longer than 5 together are shortened, unless one says otherwise."""

import dynet as dy
import numpy as np

answers = {}
for threshold in (None, 0, 1):
    m = dy.ParameterCollection()
    W = m.add_parameters(2, init=np.array([3.0, 4.0]))
    trainer = dy.SimpleSGDTrainer(m)
    if threshold is not None:
        trainer.set_clip_threshold(threshold)
    dy.renew_cg()
    dy.squared_norm(W).backward()
    trainer.update()
    answers[str(threshold)] = W.as_array()
answers["threshold"] = dy.SimpleSGDTrainer(dy.Model()).get_clip_threshold()


# %% convolution
"""Images have their channels last; a filter larger than its image is refused."""

import dynet as dy
import numpy as np

dy.renew_cg()
x = dy.inputTensor(np.arange(16).reshape(4, 4, 1))
f = dy.inputTensor(np.arange(18).reshape(3, 3, 1, 2))
inside, whole = dy.conv2d(x, f, [1, 1]), dy.conv2d(x, f, [1, 1], is_valid=False)
answers = {
    "inside": (inside.dim(), inside.npvalue()),
    "whole": (whole.dim(), whole.npvalue()),
    "pooled": dy.maxpooling2d(x, [2, 2], [2, 2]).npvalue(),
    "one channel": dy.conv2d(dy.inputTensor(np.ones((16, 16))), f, [1, 1]).dim(),
}
image = dy.inputTensor(np.ones((16, 16, 1)))
layer = dy.inputTensor(np.ones((3, 3, 1, 1)))
sizes = []
try:
    for _ in range(10):
        image = dy.conv2d(image, layer, [1, 1])
        sizes.append(image.dim()[0])
    answers["too small"] = "no error"
except ValueError:
    answers["too small"] = "ValueError"
answers["sizes"] = sizes


# %% elements
"""Functions of each element."""

import dynet as dy

dy.renew_cg()
x = dy.inputVector([-1.5, 0.5, 2])
positive = dy.inputVector([0.5, 1, 2])
SIGNED = "abs cos cube elu erf exp log_sigmoid logistic rectify silu sin softsign square tan tanh"
answers = {name: getattr(dy, name)(x).value() for name in SIGNED.split()}
answers["log"], answers["sqrt"] = dy.log(positive).value(), dy.sqrt(positive).value()
answers["pow"] = dy.pow(positive, dy.scalarInput(3)).value()
answers["bmax"], answers["bmin"] = dy.bmax(x, positive).value(), dy.bmin(x, positive).value()
answers["made"] = [dy.zeros(2).value(), dy.ones(2).value(), dy.constant(2, 2.5).value()]
answers["one_hot"] = dy.one_hot(4, 1).value()
answers["matrix"] = dy.zeros((2, 3)).dim()
answers["layer_norm"] = dy.layer_norm(x, dy.ones(3), dy.zeros(3)).value()
slopes = {}
for name in SIGNED.split():
    y = dy.sum_elems(getattr(dy, name)(x))
    y.backward(full=True)
    slopes[name] = x.gradient()
answers["slopes"] = slopes


# %% gathered_gradients
"""Gradients of parameters add up until an update; so do those of two ways back in one graph."""

import dynet as dy
import numpy as np

m = dy.ParameterCollection()
W = m.add_parameters((1, 2), init=np.array([[1, 2]]))
dy.renew_cg()
loss = W * dy.inputVector([3, 4])
loss.backward()
answers = {"once": W.grad_as_array()}
loss.backward()
answers["twice"] = W.grad_as_array()
dy.renew_cg()
dy.square(W * dy.inputVector([1, 0])).backward()
answers["another graph"] = W.grad_as_array()
trainer = dy.SimpleSGDTrainer(m)
trainer.update()
answers["after an update"] = W.grad_as_array()
answers["parameters"] = W.as_array()


# %% immediate
"""For finding a mistake: compute each expression when it is made, and refuse NaN and infinity."""

import dynet as dy

answers = {}
for name, options in {
    "later": {},
    "at once": {"immediate_compute": True},
    "checked": {"immediate_compute": True, "check_validity": True},
}.items():
    dy.renew_cg(**options)
    x = dy.inputVector([0, 1])
    try:
        y = dy.log(x)
        answers[name] = y.value()
    except RuntimeError:
        answers[name] = "RuntimeError"
dy.renew_cg(immediate_compute=True, check_validity=True)
answers["fine"] = dy.exp(dy.inputVector([0, 1])).value()
dy.renew_cg()


# %% kinds_of_errors
"""What is an error, and of which kind."""

import dynet as dy
import numpy as np

KINDS = (AttributeError, IndexError, TypeError, ValueError, RuntimeError)
m = dy.ParameterCollection()
W = m.add_parameters((2, 2))
DOUBTS = {
    "shapes of a product": (ValueError, lambda x, A: x * x),
    "shapes of a sum": (ValueError, lambda x, A: A + x),
    "lengths": (ValueError, lambda x, A: dy.reshape(A, (4,))),
    "position": (IndexError, lambda x, A: x[5]),
    "affine pairs": (ValueError, lambda x, A: dy.affine_transform([x, A])),
    "affine shapes": (ValueError, lambda x, A: dy.affine_transform([x, A, x])),
    "backward of many": (ValueError, lambda x, A: dy.cmult(x, x).backward()),
    "division": (RuntimeError, lambda x, A: x / x),
    "a list": (TypeError, lambda x, A: dy.tanh([1, 2])),
    "a number": (TypeError, lambda x, A: dy.cmult(x, 2)),
    "order": (TypeError, lambda x, A: x > 1),
    "length of an expression": (TypeError, lambda x, A: len(x)),
    "as a number": (TypeError, lambda x, A: float(x)),
    "array for a parameter": (ValueError, lambda x, A: W.set_value(np.ones(3))),
    "no such function": (AttributeError, lambda x, A: dy.no_such_name),
    "number in front": (TypeError, lambda x, A: 1 + x),
}
answers = {}
for name, (kind, doubt) in DOUBTS.items():
    dy.renew_cg()
    x, A = dy.inputVector([1, 2, 3]), dy.inputTensor([[1, 2, 3], [4, 5, 6]])
    try:
        doubt(x, A)
        answers[name] = "no error"
    except kind:
        answers[name] = kind.__name__
    except KINDS:
        answers[name] = "another"


# %% kinks
"""Where a function has a corner or a tie: which gradient there is, and which logarithm of 0."""

import dynet as dy
import numpy as np

AT = [-1.0, 0.0, 1.0, 2.0, -2.0, 0.5]
BESIDE = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]
TIED = [[1.0, 2.0, 2.0], [3.0, 3.0, 0.0], [3.0, 2.0, 0.0]]


def slope(f, *values):
    dy.renew_cg()
    m = dy.ParameterCollection()
    xs = [m.add_parameters(np.shape(v), init=dy.NumpyInitializer(np.array(v))) for v in values]
    dy.sum_elems(f(*xs)).backward()
    return [x.grad_as_array() for x in xs]


p, t = [0.0, 1.0, 0.5, 1.0, 0.0, 0.5], [0.0, 1.0, 0.5, 0.0, 1.0, 1.0]
answers = {
    "bmax": slope(dy.bmax, AT, BESIDE),
    "bmin": slope(dy.bmin, AT, BESIDE),
    "emax": slope(lambda x, y: dy.emax([x, y]), AT, BESIDE),
    "max_dim": [slope(lambda x, d=d: dy.max_dim(x, d), TIED) for d in (0, 1)],
    "min_dim": slope(lambda x: dy.min_dim(x, 0), TIED),
    "abs": slope(dy.abs, AT),
    "rectify": slope(dy.rectify, AT),
    "elu": slope(dy.elu, AT),
    "softsign": slope(dy.softsign, AT),
    "hinge": slope(lambda x: dy.hinge(x, 1), [1.0, 2.0, 3.0, 1.0]),
    "l1_distance": slope(dy.l1_distance, AT, BESIDE),
    "l2_norm": slope(dy.l2_norm, [0.0, 0.0]),
    "std_elems": slope(dy.std_elems, [2.0, 2.0]),
    "power at 0": slope(lambda x: dy.pow(x, dy.scalarInput(0)), AT),
    "square": slope(lambda x: dy.pow(x, dy.scalarInput(2)), AT),
    "square root at 0": slope(dy.sqrt, [0.0, 4.0]),
    "entropy": slope(lambda x: dy.binary_log_loss(x, dy.inputVector(t)) * 1e-30, p),
    "entropy of classes": slope(lambda x: dy.pickneglogsoftmax(x, 1), [200.0, -200.0]),
}
dy.renew_cg()
answers["entropy, value"] = dy.binary_log_loss(dy.inputVector(p), dy.inputVector(t)).value()


# %% lazy
"""Nothing is computed before a value is asked for; a shape that does not fit is refused at once."""

import dynet as dy
import numpy as np

dy.renew_cg()
x = dy.vecInput(3)
W = dy.inputTensor(np.arange(6).reshape(2, 3))
y = W * x
answers = {"dimension": y.dim()}
x.set([1, 2, 3])
answers["value"] = y.value()
x.set([0, 0, 1])
answers["set again"] = y.value()
answers["parameters of a shape"] = x.dim(), W.dim()
try:
    x * y
    answers["shapes"] = "no error"
except ValueError:
    answers["shapes"] = "ValueError"


# %% lengths
"""A tagger for sentences of any length: each is a graph of its own, and nothing is padded."""

import dynet as dy
import numpy as np

m = dy.ParameterCollection()
E = m.add_lookup_parameters((5, 2), init=np.sin(np.arange(10)).reshape(5, 2))
network = dy.LSTMBuilder(1, 2, 3, m)
W = m.add_parameters((2, 3), init=np.cos(np.arange(6)).reshape(2, 3))
for k, p in enumerate(network.get_parameters()[0]):
    p.set_value(np.sin(np.arange(np.prod(p.shape())) + k).reshape(p.shape()))
trainer = dy.SimpleSGDTrainer(m)
losses = []
for words, tags in (([0, 1, 2], [0, 1, 1]), ([3, 4], [1, 0]), ([1] * 5, [0] * 5)):
    dy.renew_cg()
    outputs = network.initial_state().transduce([E[w] for w in words])
    loss = dy.esum([dy.pickneglogsoftmax(W * h, t) for h, t in zip(outputs, tags, strict=True)])
    losses.append(loss.value())
    loss.backward()
    trainer.update()
answers = {"losses": losses, "W": W.as_array(), "E": E.as_array()}


# %% lists
"""Sums, means, maxima of a list of expressions; an empty list is an error."""

import dynet as dy

dy.renew_cg()
xs = [dy.inputVector([k, 2 - k]) for k in range(4)]
answers = {
    "esum": dy.esum(xs).value(),
    "average": dy.average(xs).value(),
    "emax": dy.emax(xs).value(),
    "logsumexp": dy.logsumexp(xs).value(),
    "one": dy.esum(xs[:1]).value(),
}
for name in ("esum", "average", "concatenate"):
    try:
        getattr(dy, name)([])
        answers["empty " + name] = "no error"
    except AssertionError:
        answers["empty " + name] = "AssertionError"


# %% lookup
"""A table of words: only the rows that were looked up change."""

import dynet as dy
import numpy as np

answers = {}
for kind in (dy.SimpleSGDTrainer, dy.MomentumSGDTrainer):
    m = dy.ParameterCollection()
    E = m.add_lookup_parameters((4, 2), init=np.arange(8).reshape(4, 2) / 10)
    trainer = kind(m, learning_rate=0.1)
    seen = []
    for words in ([1, 2], [2, 2], [0, 2]):
        dy.renew_cg()
        loss = dy.esum([dy.squared_norm(E[i]) for i in words])
        loss.backward()
        seen.append(E.grad_as_array())
        trainer.update()
        seen.append(E.as_array())
    answers[kind.__name__] = seen
dy.renew_cg()
answers["lookup"] = dy.lookup(E, 3).value()
dy.squared_norm(dy.lookup(E, 3, update=False)).backward()
answers["not updated"] = E.grad_as_array()
E.set_updated(False)
answers["is_updated"] = E.is_updated()
try:
    E[9].value()
    answers["no such row"] = "no error"
except ValueError:
    answers["no such row"] = "ValueError"


# %% losses
"""Losses, with the gradients of their scores."""

import dynet as dy

dy.renew_cg()
x, y = dy.inputVector([0.2, 0.7, 0.4]), dy.inputVector([1, 0, 0.5])
LOSSES = {
    "pickneglogsoftmax": lambda: dy.pickneglogsoftmax(x, 1),
    "hinge": lambda: dy.hinge(x, 0),
    "wide hinge": lambda: dy.hinge(x, 0, m=2.0),
    "squared_distance": lambda: dy.squared_distance(x, y),
    "l1_distance": lambda: dy.l1_distance(x, y),
    "binary_log_loss": lambda: dy.binary_log_loss(x, y),
    "squared_norm": lambda: dy.squared_norm(x),
    "l2_norm": lambda: dy.l2_norm(x),
    "log_softmax": lambda: -dy.pick(dy.log_softmax(x), 2),
    "softmax": lambda: dy.softmax(x)[0],
}
answers = {}
for name, loss in LOSSES.items():
    found = loss()
    found.backward(full=True)
    answers[name] = found.value(), x.gradient()
matrix = dy.inputTensor([[1, 2, 3], [4, 5, 6]])
answers["columns"] = dy.softmax(matrix).npvalue()
answers["rows"] = dy.softmax(matrix, d=1).npvalue()
for name, doubt in {
    "class": lambda: dy.pickneglogsoftmax(x, 3),
    "matrix": lambda: dy.pickneglogsoftmax(matrix, 0),
}.items():
    try:
        doubt().value()
        answers[name] = "no error"
    except ValueError:
        answers[name] = "ValueError"


# %% no_need_of_parameter
"""A parameter is an expression in whichever graph; dy.parameter returns it as it is."""

import dynet as dy
import numpy as np

m = dy.Model()
W = m.add_parameters((1, 2), init=np.array([[1, 2]]))
found = []
for k in range(3):
    dy.renew_cg()
    found.append((W * dy.inputVector([k, 1])).value())
dy.renew_cg()
answers = {
    "graphs": found,
    "expr": W.expr().value(),
    "row": W[0].value(),
    "transposed": dy.transpose(W).npvalue(),
}
y = dy.const_parameter(W) * dy.inputVector([1, 1])
y.backward()
answers["constant"] = W.grad_as_array()
(W * dy.inputVector([1, 1])).backward()
answers["trained"] = W.grad_as_array()


# %% parameters
"""Parameters by their names, in collections; what they begin with, and what they may become."""

import dynet as dy
import numpy as np

m = dy.ParameterCollection()
W = m.add_parameters((2, 2), init=np.array([[1, 2], [3, 4]]))
b = m.add_parameters(2, init=0.5, name="bias")
E = m.add_lookup_parameters((3, 2), init=np.arange(6).reshape(3, 2))
part = m.add_subcollection("part")
u = part.add_parameters(3, init=dy.ConstInitializer(2), name="u")
t = m.add_parameters((2, 2), init="identity")
answers = {
    "names": [p.name() for p in (W, b, E, u, t)],
    "lists": [len(m.parameters_list()), len(m.lookup_parameters_list())],
    "of the part": [p.name() for p in part.parameters_list()],
    "count": m.parameter_count(),
    "shapes": [p.shape() for p in (W, b, E, u)],
    "values": [p.as_array() for p in (W, b, E, u, t)],
    "read": [W.value(), W.npvalue(), b.value()],
    "gradient": W.grad_as_array(),
    "expression": isinstance(W, dy.Expression),
    "row": E.row_as_array(1),
}
W.set_value(np.ones((2, 2)))
E.init_row(0, [7, 7])
b.scale(4)
answers["changed"] = [p.as_array() for p in (W, E, b)]
try:
    W.set_value(np.ones(3))
    answers["another shape"] = "no error"
except ValueError:
    answers["another shape"] = "ValueError"


# %% products
"""* is the product of matrices, in which a vector is a column; element by element is cmult."""

import dynet as dy

dy.renew_cg()
A, B = dy.inputTensor([[1, 2, 3], [4, 5, 6]]), dy.inputTensor([[1, 0], [0, 2], [3, 3]])
x, s = dy.inputVector([1, 2, 3]), dy.scalarInput(2)
answers = {
    "matrix": (A * B).npvalue(),
    "vector": (A * x).value(),
    "outer": (x * dy.transpose(x)).npvalue(),
    "inner": (dy.transpose(x) * x).value(),
    "dot_product": dy.dot_product(x, x).value(),
    "by a scalar": (x * s).value(),
    "by a number": (x * 3).value(),
    "cmult": dy.cmult(x, x).value(),
    "cdiv": dy.cdiv(x, s).value(),
    "by parts": (x / 2).value(),
    "power": (x**2).value(),
    "columns": dy.colwise_add(A, dy.inputVector([10, 20])).npvalue(),
}
DOUBTS = {
    "two vectors": lambda: x * x,
    "a scalar in front": lambda: s * x,
    "cmult of lengths": lambda: dy.cmult(A, x),
    "sum of lengths": lambda: x + dy.inputVector([1, 2]),
}
for name, doubt in DOUBTS.items():
    try:
        doubt()
        answers[name] = "no error"
    except ValueError:
        answers[name] = "ValueError"


# %% random
"""What is drawn is drawn once for an expression; its mean and spread are what was asked for."""

import dynet as dy
import numpy as np

dy.renew_cg()
x = dy.random_normal(2000)
u = dy.random_uniform(2000, 1.0, 3.0)
mask = dy.dropout(dy.ones(2000), 0.25)
same = mask.value(), mask.value()
answers = {
    "dimension": [x.dim(), u.dim()],
    "normal": bool(abs(np.mean(x.npvalue())) < 0.2 and abs(np.std(x.npvalue()) - 1) < 0.2),
    "uniform": bool(np.min(u.npvalue()) >= 1 and np.max(u.npvalue()) <= 3),
    "dropped": bool(abs(np.mean(mask.npvalue() == 0) - 0.25) < 0.1),
    "scaled": round(float(np.max(mask.npvalue())), 5),
    "once": same[0] == same[1],
    "noise": dy.noise(dy.zeros(3), 0.0).value(),
}


# %% recurrent
"""Builders: states, outputs, a sequence at once; with known numbers for parameters."""

import dynet as dy
import numpy as np

answers = {}
for builder in (dy.SimpleRNNBuilder, dy.LSTMBuilder, dy.GRUBuilder):
    m = dy.ParameterCollection()
    network = builder(2, 2, 3, m)
    for k, p in enumerate(m.parameters_list()):
        p.set_value(np.sin(np.arange(np.prod(p.shape())) + k).reshape(p.shape()))
    dy.renew_cg()
    xs = [dy.inputVector([1, 2]), dy.inputVector([-1, 0.5])]
    start = network.initial_state()
    one = start.add_input(xs[0])
    two = one.add_input(xs[1])
    loss = dy.squared_norm(two.output())
    loss.backward()
    answers[network.__class__.__name__] = {
        "shapes": [p.shape() for p in m.parameters_list()],
        "outputs": [one.output().value(), two.output().value()],
        "h": [x.value() for x in two.h()],
        "s": [x.value() for x in two.s()],
        "transduce": [x.value() for x in network.initial_state().transduce(xs)],
        "add_inputs": len(network.initial_state().add_inputs(xs)),
        "before": [start.output(), len(start.h()), one.prev() is start],
        "gradients": [p.grad_as_array() for p in m.parameters_list()],
        "going on": network.initial_state(two.s()).add_input(xs[0]).output().value(),
    }
try:
    network.initial_state([dy.zeros(3)] * 5)
    answers["states"] = "no error"
except ValueError:
    answers["states"] = "ValueError"


# %% relu_of_affine
"""y = ReLU(W x + b): every gradient of the sum."""

import dynet as dy
import numpy as np

m = dy.ParameterCollection()
W = m.add_parameters((2, 2), init=np.array([[1, -2], [3, 4]]))
b = m.add_parameters(2, init=np.array([0.5, -1]))
dy.renew_cg()
x = dy.inputVector([1, 1])
y = dy.rectify(W * x + b)
loss = dy.sum_elems(y)
loss.backward(full=True)
again = dy.rectify(dy.affine_transform([b, W, x]))
answers = {
    "y": y.value(),
    "dW": W.grad_as_array(),
    "db": b.grad_as_array(),
    "dx": x.gradient(),
    "affine_transform": again.value(),
}


# %% saved
"""Parameters go to a text file and come back."""

import os
import tempfile

import dynet as dy
import numpy as np


def collection(start):
    m = dy.ParameterCollection()
    m.add_parameters((2, 2), init=start)
    m.add_lookup_parameters((3, 2), init=start, name="words")
    return m


first, second = collection(0.5), collection(0.0)
first.parameters_list()[0].set_value(np.array([[1, 2], [3, 4]]))
first.lookup_parameters_list()[0].init_from_array(np.arange(6).reshape(3, 2))
with tempfile.TemporaryDirectory() as folder:
    file = os.path.join(folder, "model")
    first.save(file)
    with open(file) as lines:
        text = lines.read()
    second.populate(file)
answers = {
    "file": text,
    "parameters": second.parameters_list()[0].as_array(),
    "words": second.lookup_parameters_list()[0].as_array(),
}


# %% scalar
"""y = x * x + 3 at x = 2; the gradient of an input is 0 unless the way back was full."""

import dynet as dy

dy.renew_cg()
x = dy.scalarInput(2)
y = x * x + 3
answers = {"y": y.value()}
y.backward()
answers["plain"] = x.gradient()
y.backward(full=True)
answers["full"] = x.gradient()
answers["of itself"] = y.gradient()


# %% stale
"""An expression of a graph that was replaced is an error."""

import dynet as dy

dy.renew_cg()
x = dy.scalarInput(2)
y = x * x
before = dy.cg_version()
dy.renew_cg()
answers = {"graphs": dy.cg_version() - before}
for name in ("value", "npvalue", "forward", "backward", "dim"):
    try:
        getattr(y, name)()
        answers[name] = "no error"
    except RuntimeError:
        answers[name] = "RuntimeError"


# %% stopped
"""What the way back passes through, and what it does not."""

import dynet as dy
import numpy as np

answers = {}
for name, function in {
    "plain": lambda x: x,
    "nobackprop": dy.nobackprop,
    "flip_gradient": dy.flip_gradient,
    "scale_gradient": lambda x: dy.scale_gradient(x, 2.0),
    "dropout of nothing": lambda x: dy.dropout(x, 0.0),
}.items():
    dy.renew_cg()
    x = dy.inputVector([1, 2])
    y = dy.squared_norm(function(x))
    y.backward(full=True)
    answers[name] = y.value(), x.gradient()
m = dy.ParameterCollection()
W = m.add_parameters((2, 2), init=np.array([[1, 2], [3, 4]]))
dy.renew_cg()
x = dy.inputVector([1, 1])
h = W * x
dy.squared_norm(h).backward()
answers["behind a parameter"], answers["in front"] = h.gradient(), x.gradient()


# %% trainers
"""Four steps of each trainer; in the third, one parameter is left out and has the gradient 0."""

import dynet as dy
import numpy as np

answers = {}
for kind, options in (
    (dy.SimpleSGDTrainer, {}),
    (dy.MomentumSGDTrainer, {"learning_rate": 0.05}),
    (dy.AdamTrainer, {"alpha": 0.1}),
):
    m = dy.ParameterCollection()
    p, q = (m.add_parameters(2, init=np.array([1.0, 2.0])) for _ in range(2))
    trainer = kind(m, **options)
    seen = []
    for step in range(4):
        dy.renew_cg()
        loss = dy.squared_norm(p) if step == 2 else dy.squared_norm(p) + dy.squared_norm(q)
        loss.backward()
        trainer.update()
        seen.append((p.as_array(), q.as_array()))
    answers[kind.__name__] = seen
trainer.learning_rate = 0.5
answers["rate"] = trainer.learning_rate


# %% training
"""Gradient descent to a plane: a graph for each sample."""

import dynet as dy

m = dy.ParameterCollection()
W, b = m.add_parameters((1, 2), init=0.1), m.add_parameters(1, init=0.0)
trainer = dy.SimpleSGDTrainer(m, learning_rate=0.05)
data = [([1.0, 2.0], 3.0), ([2.0, -1.0], 0.5), ([0.0, 1.0], 1.0)]
losses = []
for _ in range(5):
    total = 0.0
    for xs, y in data:
        dy.renew_cg()
        loss = dy.squared_distance(W * dy.inputVector(xs) + b, dy.scalarInput(y))
        total += loss.value()
        loss.backward()
        trainer.update()
    losses.append(total)
answers = {"losses": losses, "W": W.as_array(), "b": b.as_array()}


# %% tree
"""Recursion over trees: another graph for each, and one gradient for the weights they share."""

import dynet as dy
import numpy as np

m = dy.ParameterCollection()
W = m.add_parameters((2, 4), init=np.sin(np.arange(8)).reshape(2, 4))
E = m.add_lookup_parameters((4, 2), init=np.cos(np.arange(8)).reshape(4, 2))


def encode(tree):
    if isinstance(tree, int):
        return E[tree]
    return dy.tanh(W * dy.concatenate([encode(branch) for branch in tree]))


answers = {"roots": []}
for tree in (((0, 1), 2), (0, (1, (2, 3))), (3, 3)):
    dy.renew_cg()
    root = encode(tree)
    answers["roots"].append(root.value())
    dy.sum_elems(root).backward()
answers["dW"], answers["dE"] = W.grad_as_array(), E.grad_as_array()


# %% values
"""What a value is: a number, the list of a vector, the array of a matrix; vec_value by columns."""

import dynet as dy

dy.renew_cg()
s, v, m = dy.scalarInput(2), dy.inputVector([1, 2, 3]), dy.inputTensor([[1, 2, 3], [4, 5, 6]])
answers = {
    "value": [s.value(), v.value(), m.value()],
    "kinds": [type(x.value()).__name__ for x in (s, v, m)],
    "npvalue": [s.npvalue(), v.npvalue(), m.npvalue()],
    "vec_value": [s.vec_value(), v.vec_value(), m.vec_value()],
    "scalar_value": s.scalar_value(),
    "dim": [s.dim(), v.dim(), m.dim()],
    "several": dy.values([s, v]),
    "truth": bool(s),
}


# %% xor
"""The network that everybody begins with: XOR, eight hidden units, a sigmoid and a log loss."""

import dynet as dy
import numpy as np

m = dy.ParameterCollection()
W = m.add_parameters((8, 2), init=np.sin(np.arange(16)).reshape(8, 2))
V = m.add_parameters((1, 8), init=np.cos(np.arange(8)).reshape(1, 8))
b = m.add_parameters(8, init=np.linspace(-1, 1, 8))
trainer = dy.SimpleSGDTrainer(m)
dy.renew_cg()
x, y = dy.vecInput(2), dy.scalarInput(0)
output = dy.logistic(V * dy.tanh(W * x + b))
loss = dy.binary_log_loss(output, y)
questions = [((0, 0), 0), ((0, 1), 1), ((1, 0), 1), ((1, 1), 0)] * 5
seen = []
for values, answer in questions:
    x.set(values)
    y.set(answer)
    seen.append(loss.value())
    loss.backward()
    trainer.update()
x.set((1, 0))
answers = {"losses": seen, "answer": output.value(recalculate=True), "V": V.as_array()}
