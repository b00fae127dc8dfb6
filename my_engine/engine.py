"""A small engine for both kinds of computation graphs, grown lesson by lesson.

Lines under a heading belong to that lesson; what is marked "yours" is what a learner writes.
"""

import contextlib
import linecache
import sys

import numpy as np

# ---- L00: what happened, in order ------------------------------------------------------------

EVENTS = []  # (kind, what, more): kind is "built", "run" or "passed back"


def note(kind, what, more=None):
    """Write one event down."""
    EVENTS.append((kind, what, more))


class EngineError(Exception):
    """What the engine could not do, and why."""

    told = staticmethod(lambda node, operands, error: f"{node.op}: {error}")


def dynamic(steps, x):  # ours
    """Build and run the steps (name, function) one by one; return the result."""
    for name, function in steps:
        note("built", name)
        x = function(x)
        note("run", name, x)
    return x


def static(steps):  # ours
    """Build all the steps first; return a function that only runs them."""
    for name, _ in steps:
        note("built", name)

    def run(x):
        for name, function in steps:
            x = function(x)
            note("run", name, x)
        return x

    return run


# ---- L01: operators, nodes, and an order in which they can run -------------------------------

COMPUTE = {  # the name of an operator, and what it makes of arrays
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Neg": lambda a: -a,
    "Mul": lambda a, b: a * b,
    "Div": lambda a, b: a / b,
    "MatMul": lambda a, b: a @ b,
    "Greater": lambda a, b: a > b,
    "Transpose": lambda a: a.transpose(),
    "Sum": lambda a, axis=None: a.sum(axis=axis, keepdims=True),
    "Exp": np.exp,
    "Log": np.log,
    "ReLU": lambda a: np.maximum(a, 0),
}


class Node:
    """One operator of a graph and the nodes that it reads; nothing is computed yet."""

    def __init__(self, op, inputs=(), name="", value=None, **attrs):
        self.op, self.inputs, self.name, self.attrs = op, tuple(inputs), name, attrs
        self.value, self.line = value, caller()

    def apply(self, op, *inputs, **attrs):
        """Add a node for an operator: this is all that building is."""
        nodes = [x if isinstance(x, Node) else constant(x) for x in inputs]
        node = Node(op, nodes, **attrs)
        note("built", node, nodes)
        return node

    __array_ufunc__ = None  # an array on the left leaves the operator to the node


def constant(value):
    """A node for a number that is written in the formula."""
    return Node("Constant", value=np.asarray(value))


def method(op):
    """What makes a sign of Python, or a method, add a node."""
    return lambda self, *others, **attrs: self.apply(op, self, *others, **attrs)


SIGNS = "__add__ __radd__ __sub__ __mul__ __rmul__ __truediv__ __matmul__ __neg__ __gt__"
NAMES = "Add     Add      Sub     Mul     Mul      Div         MatMul     Neg     Greater"
SIGNS += " transpose sum exp log relu"
NAMES += " Transpose Sum Exp Log ReLU"
for sign, op in zip(SIGNS.split(), NAMES.split(), strict=True):
    setattr(Node, sign, method(op))


def caller():
    """The line of the user that is running: the first outside of this file."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    return f"{frame.f_globals.get('__name__')}, line {frame.f_lineno}: {text}"


def topological_order(outputs):  # ours
    """All nodes behind the outputs, each after those it reads; ValueError for a cycle."""
    order, state = [], {}

    def visit(node):
        if state.get(node) == "open":
            raise ValueError(f"{node.op} waits for itself: the graph has a cycle")
        if node not in state:
            state[node] = "open"
            for x in node.inputs:
                visit(x)
            state[node] = "done"
            order.append(node)

    for node in outputs:
        visit(node)
    return order


def run_in_order(order, known):  # ours
    """The values of all nodes of an order; `known` are those of its inputs."""
    values = dict(known)
    for node in order:
        if node not in values:
            values[node] = compute(node, [values[x] for x in node.inputs])
    return values


def compute(node, operands):
    """The value of one node."""
    if node.op == "Constant":
        return node.value
    try:
        value = COMPUTE[node.op](*operands, **node.attrs)
    except Exception as error:
        raise EngineError(EngineError.told(node, operands, error)) from error
    note("run", node, (value, operands))
    return value


# ---- L02: gradients --------------------------------------------------------------------------

RULES = {  # g is the gradient that arrives at y = op(a, b); one share for each operand
    "Add": lambda g, y, a, b: (g, g),
    "Sub": lambda g, y, a, b: (g, -g),
    "Neg": lambda g, y, a: (-g,),
    "Mul": lambda g, y, a, b: (g * b, g * a),
    "Greater": lambda g, y, a, b: (None, None),
    "Div": lambda g, y, a, b: (g / b, -g * y / b),
    "MatMul": lambda g, y, a, b: (g @ b.transpose(), a.transpose() @ g),
    "Transpose": lambda g, y, a: (g.transpose(),),
    "Sum": lambda g, y, a, axis=None: (g,),
    "Exp": lambda g, y, a: (g * y,),
    "Log": lambda g, y, a: (g / a,),
    "ReLU": lambda g, y, a: (g * (a > 0),),
}


def fit(g, x):  # ours
    """A gradient in the shape of what it belongs to: what was broadcast is added up."""
    g = np.broadcast_to(g, np.broadcast_shapes(np.shape(g), x.shape))
    axes = tuple(i for i in range(-g.ndim, 0) if -i > x.ndim or x.shape[i] < g.shape[i])
    return g.sum(axis=axes).reshape(x.shape) if axes else g


def fitted(share, x):
    """`fit` as one more node, or now: an array of its own, which `+=` may change."""
    return share.apply("Fit", share, x) if isinstance(share, Node) else np.array(fit(share, x))


def shares(node, g, values):
    """Each node that this one reads, with its share of the gradient g that arrived here."""
    if g is None or not node.inputs:
        return []
    if node.op not in RULES:
        raise EngineError(f"{node.op} has no gradient rule")
    operands = [values[x] for x in node.inputs]
    out = zip(node.inputs, RULES[node.op](g, values[node], *operands, **node.attrs), strict=True)
    return [(x, fitted(share, values[x])) for x, share in out if share is not None]


def backward(y, seed, values):  # ours
    """The gradient of y for every node behind it, last node first; shares that meet are added."""
    gradients = {y: seed}
    for node in reversed(topological_order([y])):
        for x, share in shares(node, gradients.get(node), values):
            gradients[x] = gradients[x] + share if x in gradients else share
            note("passed back", x, (node, share, gradients[x]))
    return gradients


# ---- L03: the dynamic graph ------------------------------------------------------------------


def at_once(self, op, *inputs, **attrs):  # yours
    tensors = [x if isinstance(x, Tensor) else Tensor(x) for x in inputs]
    recorded = 0
    for x in tensors:
        if x.requires_grad and Tensor.recording:
            recorded = 1
    node = Tensor(None, bool(recorded), op, tensors * recorded, **attrs)
    note("built", node, tensors)
    node.value = compute(node, [x.value for x in tensors])
    return node


def walk_back(self):  # yours
    if self.op != "Leaf" and (not self.inputs):
        raise EngineError("no graph is left: compute it again")
    order = topological_order([self])
    values = {node: node.value for node in order}
    gradients = backward(self, np.ones_like(self.value), values)
    for node in order:
        if node in gradients and node.op == "Leaf" and node.requires_grad:
            if node.grad is None:
                node.grad = gradients[node]
            else:
                node.grad += gradients[node]
        node.inputs = ()


class Tensor(Node):
    """A node that has its value from the start; what reads it is computed at once."""

    recording = True
    apply, backward = at_once, walk_back

    def __init__(self, value, requires_grad=False, op="Leaf", inputs=(), **attrs):
        super().__init__(op, inputs, **attrs)
        self.value, self.requires_grad, self.grad = np.asarray(value), requires_grad, None


@contextlib.contextmanager
def no_grad():  # yours
    before = bool(Tensor.recording)
    Tensor.recording = 0
    try:
        yield
    finally:
        Tensor.recording = before
