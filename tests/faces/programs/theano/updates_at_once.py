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
