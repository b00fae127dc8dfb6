"""A small engine for both kinds of computation graphs, grown lesson by lesson.

Lines under a heading belong to that lesson; what is marked "yours" is what a learner writes.

Each lesson writes this file again. Of your changes, functions with the comment "# yours" at the
end of their def line stay. If you change anything else, a copy of your file is kept beside it, in
engine_edited_1.py. 每一课都会重写这个文件。你的改动中，def 行末尾带注释“# yours”的函数会保留；
如果还改了别处，原来的文件会在旁边另存一份：engine_edited_1.py。
"""

from __future__ import annotations

import contextlib
import linecache
import math
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


def dynamic(steps, x):  # yours
    """Build and run the steps (name, function) one by one; return the result."""
    for name, function in steps:
        note("built", name)
        x = function(x)
        note("run", name)
    return x


def static(steps):  # yours
    """Build all the steps first; return a function that only runs them."""
    for name, _ in steps:
        note("built", name)

    def run(x):
        for name, function in steps:
            x = function(x)
            note("run", name)
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

    def __repr__(self):
        return self.name or self.op

    def apply(self, op, *inputs, **attrs):
        """Add a node for an operator: this is all that building is."""
        nodes = [x if isinstance(x, Node) else constant(x) for x in inputs]
        node = Node(op, nodes, **attrs)
        note("built", node, nodes)
        return node

    __array_ufunc__ = None  # an array on the left leaves the operator to the node


def constant(value):
    """Create a node for a number that is written in the formula."""
    return Node("Constant", value=np.asarray(value))


SIGNS = "Add.__add__ Sub.__sub__ Mul.__mul__ Div.__truediv__ MatMul.__matmul__ Neg.__neg__ "
SIGNS += "Greater.__gt__ Transpose.transpose Sum.sum Exp.exp Log.log ReLU.relu"
for op, sign in (pair.split(".") for pair in SIGNS.split()):  # each of them adds a node
    # with a number on its left, as in 1.0 - node, a node is asked for __rsub__
    setattr(Node, sign.replace("__", "__r", 1), lambda self, x, op=op: self.apply(op, x, self))
    setattr(Node, sign, lambda self, *xs, op=op, **more: self.apply(op, self, *xs, **more))


def caller():
    """Return the line of the user's code that is running: the first outside this file."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    return f"{frame.f_globals.get('__name__')}, line {frame.f_lineno}: {text}"


def topological_order(outputs):  # yours
    """Return all nodes the outputs need, each after its inputs; raise ValueError for a cycle."""
    order = []

    def visit(nodes, waiting):
        for node in nodes:
            if node in waiting:
                raise ValueError(f"{node} waits for itself: the graph has a cycle")
            if node not in order:
                visit(node.inputs, [*waiting, node])
                order.append(node)

    visit(outputs, [])
    return order


def run_in_order(order, known):  # yours
    """Compute the values of all nodes of an order; `known` are those of its inputs."""
    values = dict(known)
    for node in order:
        if node not in values:
            values[node] = compute(node, [values[x] for x in node.inputs])
    return values


def compute(node, operands):
    """Compute the value of one node."""
    if node.op == "Constant":
        return node.value
    if node.op not in COMPUTE:
        raise EngineError(f"{node.op} {node.name!r} is not computed: its value has to be known")
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


def fit(g, x):  # yours
    """Reduce a gradient to the shape of x by summing over the broadcast axes."""
    g = np.broadcast_to(g, np.broadcast_shapes(np.shape(g), x.shape))
    axes = tuple(i for i in range(-g.ndim, 0) if -i > x.ndim or x.shape[i] != g.shape[i])
    return g.sum(axis=axes).reshape(x.shape) if axes else g


def fitted(share, x):
    """Apply `fit` as one more node, or now: to a new array, which `+=` may change."""
    return share.apply("Fit", share, x) if isinstance(share, Node) else np.array(fit(share, x))


def shares(node, g, values):
    """Return each input of a node with its share of the gradient g of this node."""
    if g is None or not node.inputs:
        return []
    if node.op not in RULES:
        raise EngineError(f"{node.op} has no gradient rule")
    operands = [values[x] for x in node.inputs]
    out = zip(node.inputs, RULES[node.op](g, values[node], *operands, **node.attrs), strict=True)
    return [(x, fitted(share, values[x])) for x, share in out if share is not None]


def backward(y, seed, values):  # yours
    """Compute the gradient of y for each node it depends on, last node first; shares are added."""
    gradients = {y: seed}
    for node in reversed(topological_order([y])):
        for x, share in shares(node, gradients.get(node), values):
            gradients[x] = gradients[x] + share if x in gradients else share
            note("passed back", x, (node, share, gradients[x]))
    return gradients


# ---- L03: the dynamic graph ------------------------------------------------------------------


class Tensor(Node):
    """A node that has its value from the start; what reads it is computed at once."""

    def __init__(self, value, requires_grad=False, op="Leaf", inputs=(), **attrs):
        super().__init__(op, inputs, **attrs)
        self.value, self.requires_grad, self.grad = np.asarray(value), requires_grad, None


def at_once(self, op, *inputs, **attrs):  # yours
    """Compute at once; remember the operands only if a gradient may be needed."""
    tensors = [x if isinstance(x, Tensor) else Tensor(x) for x in inputs]
    recorded = Tensor.recording and any(x.requires_grad for x in tensors)
    node = Tensor(None, recorded, op, tensors if recorded else (), **attrs)
    if recorded:
        note("built", node, tensors)
    node.value = compute(node, [x.value for x in tensors])
    return node


def walk_back(self):  # yours
    """Add the gradient to `.grad` of each leaf that wants one, then let go of the graph."""
    order = topological_order([self])
    asked = [node for node in order if node.requires_grad or node is self]
    if any(node.op != "Leaf" and not node.inputs for node in asked):
        raise EngineError(f"{self.op}: no graph is left to walk back; compute it again")
    gradients = backward(self, np.ones_like(self.value), {x: x.value for x in order})
    for node in order:
        if node.op == "Leaf" and node.requires_grad and node in gradients:
            node.grad = gradients[node] if node.grad is None else node.grad + gradients[node]
        node.inputs = ()


Tensor.recording, Tensor.apply, Tensor.backward = True, at_once, walk_back


@contextlib.contextmanager
def no_grad():  # yours
    """Compute tensors in this context without recording them."""
    before, Tensor.recording = Tensor.recording, False
    try:
        yield
    finally:
        Tensor.recording = before


# ---- L04: the static graph -------------------------------------------------------------------

COMPUTE["Fit"] = fit


def placeholder(name):
    """Create an input whose value is given in each run."""
    return Node("Placeholder", name=name)


def variable(value, name):
    """Create an input that keeps its value between runs, starting with `value`."""
    return Node("Variable", name=name, first=np.asarray(value))


def gradients(y, xs):
    """Build nodes for the gradients of y: the same backward pass, on nodes instead of arrays."""
    found = backward(y, constant(1.0), {node: node for node in topological_order([y])})
    return [found[x] for x in xs]


def run_graph(self, outputs, feed=(), updates=()):  # yours
    """Compute the outputs; then do all updates, pairs of a variable and a node, at once."""
    order = topological_order([*outputs, *(node for _, node in updates)])
    known = {**self.state, **dict(feed)}
    if lacks := [n for n in order if n.op in ("Placeholder", "Variable") and n not in known]:
        raise EngineError(f"{lacks[0].op} {lacks[0].name!r} has no value in this run")
    values = run_in_order(order, known)
    self.state |= {variable: values[node] for variable, node in updates}
    return [values[node] for node in outputs]


def descent(loss, variables, rate):  # yours
    """Return updates that move each variable a step downhill, against its gradient."""
    return [(v, v - rate * g) for v, g in zip(variables, gradients(loss, variables), strict=True)]


class Session:
    """Runs graphs, and keeps the values of variables from one run to the next."""

    run = run_graph

    def __init__(self, *variables):
        self.state = {variable: variable.attrs["first"] for variable in variables}


# ---- L05: branches and loops -----------------------------------------------------------------


def body(function, inputs):
    """Build the graph inside a node: a placeholder for each input, and a function's output."""
    places = tuple(placeholder(f"input {i}") for i in range(len(inputs)))
    return places, function(*places)


def run_body(places, output, values):
    """Compute the output of a body for these values."""
    return run_in_order(topological_order([output]), dict(zip(places, values, strict=True)))[output]


def cond(chosen, yes, no, *inputs):  # yours
    """Branch now if `chosen` has a value, else build a node that keeps both bodies."""
    if isinstance(chosen, Tensor):
        return (yes if chosen.value else no)(*inputs)
    return chosen.apply("Cond", chosen, *inputs, yes=body(yes, inputs), no=body(no, inputs))


def run_cond(chosen, *values, yes, no):  # yours
    """Run one of two bodies."""
    return run_body(*(yes if chosen else no), values)


def while_loop(test, step, x):  # yours
    """Loop now if x has a value, else build a node that keeps the test and the step."""
    if isinstance(x, Tensor):
        while test(x).value:
            x = step(x)
        return x
    return x.apply("While", x, test=body(test, [x]), step=body(step, [x]))


def run_while(value, *, test, step):  # yours
    """Run a body as long as the test holds."""
    while run_body(*test, [value]):
        value = run_body(*step, [value])
    return value


COMPUTE |= {"Cond": run_cond, "While": run_while}


# ---- L06: rows of different lengths ----------------------------------------------------------

COMPUTE["Where"] = np.where
RULES["Where"] = lambda g, y, m, a, b: (None, where(m, g, 0.0), where(m, 0.0, g))


def where(mask, a, b):
    """Select numbers of a where the mask is true, of b elsewhere."""
    node = next((x for x in (mask, a, b) if isinstance(x, Node)), None)
    return node.apply("Where", mask, a, b) if node is not None else np.where(mask, a, b)


def pad(rows, filler=0.0):  # yours
    """Pad rows to one array; return it with a mask that is true where a number is real."""
    longest = max(map(len, rows))
    padded = [[*row, *[filler] * (longest - len(row))] for row in rows]
    return np.array(padded, float), np.arange(longest) < np.array([[len(row)] for row in rows])


def masked_mean(x, mask):  # yours
    """Compute the mean of each row over its real numbers, whatever the filler is."""
    return where(mask, x, 0.0).sum(axis=1) / where(mask, 1.0, 0.0).sum(axis=1)


# ---- L07: errors that help -------------------------------------------------------------------


def told(node, operands, error):  # yours
    """Describe what failed, for which shapes, where it was built, and where it ran."""
    shapes = ", ".join(str(np.shape(value)) for value in operands)
    return f"{node.op} of shapes {shapes}: {error}\n  built: {node.line}\n  run: {caller()}"


def first_anomaly(events):  # yours
    """Return the first node, in the order of running, that is NaN or infinite, or None."""
    ran = ((node, more[0]) for kind, node, more in events if kind == "run")
    return next((node for node, value in ran if not np.isfinite(value).all()), None)


EngineError.told = staticmethod(told)


# ---- L08: a pass: the same work is done once -------------------------------------------------


def on(node, inputs):
    """Return the node with these inputs: itself if they are the same, else a copy with its line."""
    moved = Node(node.op, inputs, node.name, node.value, **node.attrs)
    moved.line = node.line
    return node if moved.inputs == node.inputs else moved


def bits(x):
    """Return the exact bits of a constant, with type and shape; None for other nodes."""
    return (x.value.dtype, x.value.shape, x.value.tobytes()) if x.op == "Constant" else None


def same_work(a, b):  # yours
    """Return whether two nodes always have the same value, whatever is fed."""
    if a.op in ("Placeholder", "Variable"):
        return a is b
    about = [(x.op, x.inputs, x.attrs, bits(x)) for x in (a, b)]
    return about[0] == about[1]


def merge_common(outputs, same=same_work):  # yours
    """Return the same outputs in a new graph, in which no two nodes do the same work."""
    new = {}
    for node in topological_order(outputs):
        moved = on(node, [new[x] for x in node.inputs])
        new[node] = next((x for x in new.values() if same(x, moved)), moved)
    return [new[y] for y in outputs]


# ---- L09: where results lie: a plan of memory ------------------------------------------------


def lifetimes(order, kept):  # yours
    """Return the first and last step of each value of an order; kept values live to the end."""
    ends = {x: step for step, node in enumerate(order) for x in (node, *node.inputs)}
    ends |= dict.fromkeys(kept, len(order))
    return {node: (step, ends[node]) for step, node in enumerate(order)}


def plan(lives, sizes):  # yours
    """Place values in memory, largest first, so that those alive at once do not overlap."""
    offsets = {}
    for new in sorted(lives, key=sizes.get, reverse=True):
        offsets[new] = 0
        for old in sorted(offsets, key=offsets.get):
            at_once = lives[old][0] <= lives[new][1] and lives[new][0] <= lives[old][1]
            if old is not new and at_once and offsets[new] + sizes[new] > offsets[old]:
                offsets[new] = max(offsets[new], offsets[old] + sizes[old])
    return offsets


def run_in_arena(order, known, kept):
    """Run in one block of memory, with sizes from a first run; return kept values and its bytes."""
    first, values = run_in_order(order, known), {}
    offsets = plan(lifetimes(order, kept), {node: first[node].nbytes for node in order})
    arena = np.empty(max(offsets[node] + first[node].nbytes for node in order), np.uint8)
    for node in order:
        new = known[node] if node in known else compute(node, [values[x] for x in node.inputs])
        lies = np.empty_like(new).strides  # as before, if transposed, too: same bits
        values[node] = np.ndarray(new.shape, new.dtype, arena, offsets[node], lies)
        values[node][...] = new
    return [values[node] for node in kept], arena.nbytes


# ---- L10: who computes what, and when --------------------------------------------------------


def ranks(waits, seconds):  # yours
    """Return the length of the longest path in seconds from the start of each node to the end."""
    rank = dict(seconds)
    for node in reversed(list(waits)):
        for x in waits[node]:
            rank[x] = max(rank[x], seconds[x] + rank[node])
    return rank


def list_schedule(waits, seconds, workers, rank):  # yours
    """Return each node's worker, start and end; of those ready, the largest rank goes first."""
    free, plan = [0] * workers, {}
    while len(plan) < len(waits):
        able = [x for x in waits if x not in plan and all(y in plan for y in waits[x])]
        start = {x: max([min(free), *(plan[y][2] for y in waits[x])]) for x in able}
        node = min(start, key=lambda x: (start[x], -rank[x]))
        worker = free.index(min(free))
        free[worker] = start[node] + seconds[node]
        plan[node] = worker, start[node], free[worker]
    return plan


def schedule(waits, seconds, workers):
    """Schedule the nodes; `waits` maps each to what it waits for, in topological order."""
    return list_schedule(waits, seconds, workers, ranks(waits, seconds))


# ---- L11: a graph as a file ------------------------------------------------------------------


def packed(x):
    """Convert an array to what JSON can write: its numbers, and the name of their type."""
    return {"type": x.dtype.name, "numbers": x.tolist()} if isinstance(x, np.ndarray) else x


def unpacked(x):
    """Restore an array from `packed`, and several axes to a tuple; return the rest as it is."""
    if isinstance(x, dict):
        return np.array(x["numbers"], x["type"])
    return tuple(x) if isinstance(x, list) else x


def to_data(outputs):  # yours
    """Convert a graph to plain data: its nodes in order, with the numbers of their inputs."""
    order, rows = topological_order(outputs), []
    for n in order:
        row = {"op": n.op, "name": n.name, "inputs": [order.index(x) for x in n.inputs]}
        row["attrs"] = {key: packed(x) for key, x in n.attrs.items()}
        rows.append(row | {"value": packed(n.value)})
    return {"nodes": rows, "outputs": [order.index(n) for n in outputs]}


def from_data(data):  # yours
    """Rebuild the graph without running it; return its outputs. EngineError for a damaged one."""
    nodes = []

    def pick(numbers):
        if wrong := [i for i in numbers if not (type(i) is int and 0 <= i < len(nodes))]:
            raise EngineError(f"no earlier node has the number {wrong[0]}")
        return [nodes[i] for i in numbers]

    for row in data["nodes"]:
        if row["op"] not in {*COMPUTE, "Constant", "Placeholder", "Variable"}:
            raise EngineError(f"node {len(nodes)}: there is no operator {row['op']!r}")
        attrs = {key: unpacked(x) for key, x in {**row["attrs"], "value": row["value"]}.items()}
        nodes.append(Node(row["op"], pick(row["inputs"]), row["name"], **attrs))
    return pick(data["outputs"])


# ---- L12: a tracer ---------------------------------------------------------------------------


def decide(node):  # yours
    """Return the truth value of a tensor, for Python's `if`; raise EngineError for other nodes."""
    if isinstance(node, Tensor):
        return bool(node.value)
    raise EngineError(f"{node.op} has no value yet\n  built: {node.line}\n  asked: {caller()}")


Node.__bool__ = decide


def stand_in(x):
    """Create a placeholder with the shape and type of an array; return anything else as it is."""
    if not isinstance(x, np.ndarray):
        return x
    place = placeholder("array")
    place.shape, place.dtype = x.shape, x.dtype
    return place


def trace(f, *args):  # yours
    """Run f once, on stand-ins: the node that it returns, and a function that runs its graph."""
    given = [stand_in(x) for x in args]
    output = f(*given)

    def replay(*args):
        feed = {p: x for p, x in zip(given, args, strict=True) if isinstance(p, Node)}
        return Session().run([output], feed)[0]

    return output, replay


def guard(x):  # yours
    """Return what must be the same in a later call for a trace to be reused."""
    return (x.shape, x.dtype) if isinstance(x, np.ndarray) else (type(x), x)


def cached(make):  # yours
    """Return a function that makes a replay for each new kind of argument, and reuses it."""
    cache = {}

    def call(*args):
        key = tuple(guard(x) for x in args)
        if key not in cache:
            cache[key] = make(*args)
        return cache[key](*args)

    return call


def compiled(f):
    """Return f, traced once for each kind of argument."""
    return cached(lambda *args: trace(f, *args)[1])


# ---- L13: honest measuring -------------------------------------------------------------------


def break_even(cost, slow, fast):  # yours
    """Return after how many calls a one-time cost is recovered; None if that never happens."""
    return math.ceil(cost / (slow - fast)) if slow > fast else None


def median_ratio(rounds):  # yours
    """Return the median, lowest and highest ratio second / first, each within its round."""
    ratios = [second / first for first, second in rounds]
    return np.median(ratios), min(ratios), max(ratios)


# ---- L14: a training run ---------------------------------------------------------------------


def momentum(w, g, speed, rate, share):  # yours
    """Take one step with momentum, on arrays or nodes; return the new weight and the new speed."""
    speed = share * speed + g
    return w - rate * speed, speed


# ---- L15: a graph of launches ----------------------------------------------------------------


def graphed(program, x):  # yours
    """Record what a program launches; return a function that replays it with new numbers in x."""
    calls = []
    program(lambda *call: calls.append(call))

    def replay(numbers):
        x[:] = numbers
        for kernel, *arrays in calls:
            kernel(*arrays)

    return replay
