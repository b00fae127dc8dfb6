"""Losses, with the gradients of their scores."""

import dynet as dy

dy.renew_cg()
x, y = dy.inputVector([0.2, 0.7, 0.4]), dy.inputVector([1, 0, 0.5])
LOSSES = {
    "pickneglogsoftmax": lambda: dy.pickneglogsoftmax(x, 1),
    "hinge": lambda: dy.hinge(x, 0),
    "wide hinge": lambda: dy.hinge(x, 0, m=2.0),
    "squared_distance": lambda: dy.squared_distance(x, y),
    "l1_distance": lambda: dy.l1_distance(x, y),
    "binary_log_loss": lambda: dy.binary_log_loss(x, y),
    "squared_norm": lambda: dy.squared_norm(x),
    "l2_norm": lambda: dy.l2_norm(x),
    "log_softmax": lambda: -dy.pick(dy.log_softmax(x), 2),
    "softmax": lambda: dy.softmax(x)[0],
}
answers = {}
for name, loss in LOSSES.items():
    found = loss()
    found.backward(full=True)
    answers[name] = found.value(), x.gradient()
matrix = dy.inputTensor([[1, 2, 3], [4, 5, 6]])
answers["columns"] = dy.softmax(matrix).npvalue()
answers["rows"] = dy.softmax(matrix, d=1).npvalue()
for name, doubt in {
    "class": lambda: dy.pickneglogsoftmax(x, 3),
    "matrix": lambda: dy.pickneglogsoftmax(matrix, 0),
}.items():
    try:
        doubt().value()
        answers[name] = "no error"
    except ValueError:
        answers[name] = "ValueError"
