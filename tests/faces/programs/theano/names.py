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
