"""Every operator record, grouped by kind. Importing this package fills the registry."""

from minigrad.ops import classify, elementwise, linear, shape, state
from minigrad.ops.classify import log_softmax, one_hot, softmax, softmax_cross_entropy
from minigrad.ops.elementwise import (
    abs,
    add,
    cast,
    div,
    equal,
    exp,
    greater,
    greater_equal,
    less,
    less_equal,
    log,
    mul,
    neg,
    not_equal,
    pow,
    relu,
    sigmoid,
    sign,
    sqrt,
    step,
    sub,
    tanh,
)
from minigrad.ops.linear import matmul
from minigrad.ops.shape import (
    argmax,
    broadcast_like,
    count,
    mean,
    reshape,
    reshape_like,
    sum,
    sum_like,
    transpose,
)
