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
