"""A compatibility layer for Theano: `import minigrad.faces.theano as theano`.

>>> import minigrad.faces.theano as theano
>>> import minigrad.faces.theano.tensor as T
>>> x = T.dscalar("x")
>>> y = x**2 + 3
>>> slope = theano.function([x], T.grad(y, x))
>>> float(slope(2)), theano.pp(y)
(4.0, '((x ** TensorConstant{2}) + TensorConstant{3})')
"""

from minigrad.faces.face import Compat
from minigrad.faces.theano import compile, config, gradient, ifelse, loops, printing, tensor
from minigrad.faces.theano.compile import In, function, shared
from minigrad.faces.theano.gradient import grad
from minigrad.faces.theano.loops import scan
from minigrad.faces.theano.printing import pp

__all__ = [
    "In",
    "compile",
    "config",
    "function",
    "grad",
    "gradient",
    "ifelse",
    "pp",
    "printing",
    "scan",
    "shared",
    "tensor",
]

__getattr__ = face = Compat(
    "theano",
    calls={
        f"{name}(*args, **kwargs)": f"loops.{name}(*args, **kwargs)"
        for name in ("foldl", "foldr", "map", "reduce")
    },
    lacks={
        "theano.scan(f, n_steps=10)": "scan_module",
        "theano.printing.debugprint(y)": "dot pprint",
        "theano.function(inputs, outputs)": "clone sandbox sparse",
        "theano.shared(np.random.normal(size=(2, 3)))": "typed_list",
    },
    loops=loops,
)
__dir__ = face.names
