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
