"""A Python if and a Python loop: the graph holds what was taken, another one each time."""

import dynet as dy


def f(x):
    if dy.sum_elems(x).value() > 0:
        return x * 2
    return x - 1


def halved(x):
    count = 0
    while x.value() > 1:
        x, count = x / 2, count + 1
    return x, count


dy.renew_cg()
answers = {"branches": [f(dy.inputVector([v])).value() for v in (-3, 3)]}
found = [halved(dy.scalarInput(v)) for v in (1, 5, 9)]
answers["loops"] = [(x.value(), count) for x, count in found]
