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
