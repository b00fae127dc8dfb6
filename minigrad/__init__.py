"""A small engine with two minds: it builds graphs while running, or first and runs them later.

Dynamic, in PyTorch's words: `tensor`, `backward`, `grad`, `no_grad`.
Static, in TensorFlow 1's words: `placeholder`, `Variable`, `gradients`, `build_graph`, `run`,
`Session`. One set of operators serves both; `record` shows what either of them does.
"""

from minigrad import data, nn, optim
from minigrad.check import check_grads
from minigrad.core import (
    REGISTRY,
    bool_,
    float32,
    float64,
    int32,
    int64,
)
from minigrad.eager import Tensor, grad_of as grad, no_grad
from minigrad.errors import (
    CycleError,
    DtypeError,
    FeedError,
    FrozenGraphError,
    GradientError,
    GraphError,
    NotFedError,
    NumericError,
    ShapeError,
    TraceError,
    UninitializedError,
    VerifyError,
)
from minigrad.events import detect_anomaly, record
from minigrad.execute import run
from minigrad.functions import (
    arange,
    argmax,
    cross_entropy,
    exp,
    log,
    log_softmax,
    matmul,
    mean,
    ones,
    randn,
    relu,
    reshape,
    sigmoid,
    softmax,
    sqrt,
    sum,
    tanh,
    tensor,
    transpose,
    zeros,
)
from minigrad.backprop import gradients, scoped as name_scope
from minigrad.graph import (
    Graph,
    Node,
    Variable,
    assign,
    build_graph,
    constant,
    get_default_graph,
    global_variables_initializer,
    group,
    placeholder,
    reset_default_graph,
)
from minigrad.session import Session

__version__ = "0.1.0"
