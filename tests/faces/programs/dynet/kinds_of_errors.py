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
