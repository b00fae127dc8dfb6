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
