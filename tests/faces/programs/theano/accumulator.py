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
