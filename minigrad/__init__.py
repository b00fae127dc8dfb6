"""A small engine with two minds: it builds graphs while running, or first and runs them later.

Dynamic, in PyTorch's words: `tensor`, `backward`, `grad`, `no_grad`.
Static, in TensorFlow 1's words: `placeholder`, `Variable`, `gradients`, `build_graph`, `run`,
`Session`. One set of operators serves both; `record` shows what either of them does.
"""

from minigrad import data, nn, optim
from minigrad.backprop import gradients
from minigrad.backprop import scoped as name_scope
from minigrad.build import (
    Variable,
    assign,
    build_graph,
    constant,
    global_variables_initializer,
    group,
    placeholder,
    read_value,
)
from minigrad.check import check_grads
from minigrad.control import cond, dynamic_rnn, scan, while_loop
from minigrad.core import (
    REGISTRY,
    bool_,
    float32,
    float64,
    int32,
    int64,
)
from minigrad.eager import Tensor
from minigrad.eager import grad_of as grad
from minigrad.errors import (
    AssertionFailed,
    ControlFlowError,
    CycleError,
    DtypeError,
    FeedError,
    FormatError,
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
    Assert,
    Print,
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
from minigrad.graph import (
    Graph,
    Node,
    control_dependencies,
    get_default_graph,
    reset_default_graph,
)
from minigrad.loading import load_graph
from minigrad.ops import stop_gradient
from minigrad.session import Session
from minigrad.tape import no_grad

__version__ = "0.1.0"

__all__ = [
    "REGISTRY",
    "Assert",
    "AssertionFailed",
    "ControlFlowError",
    "CycleError",
    "DtypeError",
    "FeedError",
    "FormatError",
    "FrozenGraphError",
    "GradientError",
    "Graph",
    "GraphError",
    "Node",
    "NotFedError",
    "NumericError",
    "Print",
    "Session",
    "ShapeError",
    "Tensor",
    "TraceError",
    "UninitializedError",
    "Variable",
    "VerifyError",
    "arange",
    "argmax",
    "assign",
    "bool_",
    "build_graph",
    "check_grads",
    "cond",
    "constant",
    "control_dependencies",
    "cross_entropy",
    "data",
    "detect_anomaly",
    "dynamic_rnn",
    "exp",
    "float32",
    "float64",
    "get_default_graph",
    "global_variables_initializer",
    "grad",
    "gradients",
    "group",
    "int32",
    "int64",
    "load_graph",
    "log",
    "log_softmax",
    "matmul",
    "mean",
    "name_scope",
    "nn",
    "no_grad",
    "ones",
    "optim",
    "placeholder",
    "randn",
    "read_value",
    "record",
    "relu",
    "reset_default_graph",
    "reshape",
    "run",
    "scan",
    "sigmoid",
    "softmax",
    "sqrt",
    "stop_gradient",
    "sum",
    "tanh",
    "tensor",
    "transpose",
    "while_loop",
    "zeros",
]
