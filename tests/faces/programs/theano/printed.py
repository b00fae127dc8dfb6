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
