"""* is the product of matrices, in which a vector is a column; element by element is cmult."""

import dynet as dy

dy.renew_cg()
A, B = dy.inputTensor([[1, 2, 3], [4, 5, 6]]), dy.inputTensor([[1, 0], [0, 2], [3, 3]])
x, s = dy.inputVector([1, 2, 3]), dy.scalarInput(2)
answers = {
    "matrix": (A * B).npvalue(),
    "vector": (A * x).value(),
    "outer": (x * dy.transpose(x)).npvalue(),
    "inner": (dy.transpose(x) * x).value(),
    "dot_product": dy.dot_product(x, x).value(),
    "by a scalar": (x * s).value(),
    "by a number": (x * 3).value(),
    "cmult": dy.cmult(x, x).value(),
    "cdiv": dy.cdiv(x, s).value(),
    "by parts": (x / 2).value(),
    "power": (x**2).value(),
    "columns": dy.colwise_add(A, dy.inputVector([10, 20])).npvalue(),
}
DOUBTS = {
    "two vectors": lambda: x * x,
    "a scalar in front": lambda: s * x,
    "cmult of lengths": lambda: dy.cmult(A, x),
    "sum of lengths": lambda: x + dy.inputVector([1, 2]),
}
for name, doubt in DOUBTS.items():
    try:
        doubt()
        answers[name] = "no error"
    except ValueError:
        answers[name] = "ValueError"
