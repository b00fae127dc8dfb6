"""A small engine for both kinds of computation graphs, grown lesson by lesson.

Lines under a heading belong to that lesson; what is marked "yours" is what a learner writes.

Each lesson writes this file again. Of your changes, functions with the comment "# yours" at the
end of their def line stay. If you change anything else, a copy of your file is kept beside it, in
engine_edited_1.py. 每一课都会重写这个文件。你的改动中，def 行末尾带注释“# yours”的函数会保留；
如果还改了别处，原来的文件会在旁边另存一份：engine_edited_1.py。
"""

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
        note("run", name, x)
    return x


def static(steps):  # yours
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
    """A node for a number that is written in the formula."""
    return Node("Constant", value=np.asarray(value))


SIGNS = "Add.__add__ Sub.__sub__ Mul.__mul__ Div.__truediv__ MatMul.__matmul__ Neg.__neg__ "
SIGNS += "Greater.__gt__ Transpose.transpose Sum.sum Exp.exp Log.log ReLU.relu"
for op, sign in (pair.split(".") for pair in SIGNS.split()):  # each of them adds a node
    # with a number on its left, as in 1.0 - node, a node is asked for __rsub__
    setattr(Node, sign.replace("__", "__r", 1), lambda self, x, op=op: self.apply(op, x, self))
    setattr(Node, sign, lambda self, *xs, op=op, **more: self.apply(op, self, *xs, **more))


def caller():
    """The line of the user that is running: the first outside of this file."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    return f"{frame.f_globals.get('__name__')}, line {frame.f_lineno}: {text}"


def topological_order(outputs):  # yours
    """All nodes behind the outputs, each after those it reads; ValueError for a cycle."""
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


def backward(y, seed, values):  # yours
    """The gradient of y for every node behind it, last node first; shares that meet are added."""
    gradients = {y: seed}
    for node in reversed(topological_order([y])):
        for x, share in shares(node, gradients.get(node), values):
            gradients[x] = gradients[x] + share if x in gradients else share
            note("passed back", x, (node, share, gradients[x]))
    return gradients


# ---- L03: the dynamic graph ------------------------------------------------------------------


def at_once(self, op, *inputs, **attrs):  # yours
    """Compute at once; remember the operands only if somebody may ask for a gradient."""
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


class Tensor(Node):
    """A node that has its value from the start; what reads it is computed at once."""

    recording = True
    apply, backward = at_once, walk_back

    def __init__(self, value, requires_grad=False, op="Leaf", inputs=(), **attrs):
        super().__init__(op, inputs, **attrs)
        self.value, self.requires_grad, self.grad = np.asarray(value), requires_grad, None


@contextlib.contextmanager
def no_grad():  # yours
    """Inside, tensors are computed and nothing is remembered."""
    before, Tensor.recording = Tensor.recording, False
    try:
        yield
    finally:
        Tensor.recording = before


# ---- L04: the static graph -------------------------------------------------------------------

COMPUTE["Fit"] = fit


def placeholder(name):
    """An input whose value comes with each run."""
    return Node("Placeholder", name=name)


def variable(value, name):
    """An input whose value stays from run to run; it has one from its initialisation on."""
    return Node("Variable", name=name, first=np.asarray(value))


def gradients(y, xs):
    """Nodes for the gradients of y: the same walk back, on nodes in the place of arrays."""
    found = backward(y, constant(1.0), {node: node for node in topological_order([y])})
    return [found[x] for x in xs]


def run_graph(self, outputs, feed=(), updates=()):  # yours
    """The values of the outputs; then all updates, pairs of a variable and a node, at once."""
    order = topological_order([*outputs, *(node for _, node in updates)])
    known = {**self.state, **dict(feed)}
    if lacks := [n for n in order if n.op in ("Placeholder", "Variable") and n not in known]:
        raise EngineError(f"{lacks[0].op} {lacks[0].name!r} has no value in this run")
    values = run_in_order(order, known)
    self.state |= {variable: values[node] for variable, node in updates}
    return [values[node] for node in outputs]


def descent(loss, variables, rate):  # yours
    """Updates that take each variable a step downhill, against its gradient."""
    return [(v, v - rate * g) for v, g in zip(variables, gradients(loss, variables), strict=True)]


class Session:
    """Runs graphs, and keeps the values of variables from one run to the next."""

    run = run_graph

    def __init__(self, *variables):
        self.state = {variable: variable.attrs["first"] for variable in variables}


# ---- L05: branches and loops -----------------------------------------------------------------


def body(function, inputs):
    """A graph inside of a node: a placeholder for each input, and what a function makes of them."""
    places = tuple(placeholder(f"input {i}") for i in range(len(inputs)))
    return places, function(*places)


def run_body(places, output, values):
    """What a body makes of these values."""
    return run_in_order(topological_order([output]), dict(zip(places, values, strict=True)))[output]


def cond(chosen, yes, no, *inputs):  # yours
    """A branch: decided now where there is a value, else a node that keeps both bodies."""
    if isinstance(chosen, Tensor):
        return (yes if chosen.value else no)(*inputs)
    return chosen.apply("Cond", chosen, *inputs, yes=body(yes, inputs), no=body(no, inputs))


def run_cond(chosen, *values, yes, no):  # yours
    """Run one of two bodies."""
    return run_body(*(yes if chosen else no), values)


def while_loop(test, step, x):  # yours
    """A loop: made now where there is a value, else a node that keeps the test and the step."""
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
    """Numbers of a where the mask is true, of b elsewhere."""
    node = next((x for x in (mask, a, b) if isinstance(x, Node)), None)
    return node.apply("Where", mask, a, b) if node is not None else np.where(mask, a, b)


def pad(rows, filler=0.0):  # yours
    """Rows of different lengths as one array, and a mask that is true where a number is real."""
    longest = max(map(len, rows))
    padded = [[*row, *[filler] * (longest - len(row))] for row in rows]
    return np.array(padded), np.arange(longest) < np.array([[len(row)] for row in rows])


def masked_mean(x, mask):  # yours
    """The mean of each row over its real numbers, whatever the filler is."""
    return where(mask, x, 0.0).sum(axis=1) / where(mask, 1.0, 0.0).sum(axis=1)


# ---- L07: errors that help -------------------------------------------------------------------


def told(node, operands, error):  # yours
    """What failed, on which shapes, where it was built, and where it ran."""
    shapes = ", ".join(str(np.shape(value)) for value in operands)
    return f"{node.op} of shapes {shapes}: {error}\n  built: {node.line}\n  run: {caller()}"


def first_anomaly(events):  # yours
    """The node that first came out NaN or infinite, in the order of running; None without one."""
    ran = ((node, more[0]) for kind, node, more in events if kind == "run")
    return next((node for node, value in ran if not np.isfinite(value).all()), None)


EngineError.told = staticmethod(told)


# ---- L08: a pass: the same work is done once -------------------------------------------------


def on(node, inputs):
    """The node on these operands: itself, or where they are others a copy, with its line."""
    moved = Node(node.op, inputs, node.name, node.value, **node.attrs)
    moved.line = node.line
    return node if moved.inputs == node.inputs else moved


def bits(node):
    """The number of a constant, to the last bit; None for other nodes."""
    if node.op == "Constant":
        return node.value.dtype, node.value.shape, node.value.tobytes()


def same_work(a, b):  # yours
    """Whether one of two nodes is enough, whatever is fed."""
    if a.op in ("Placeholder", "Variable"):
        return a is b
    about = [(x.op, x.inputs, x.attrs, bits(x)) for x in (a, b)]
    return about[0] == about[1]


def merge_common(outputs, same=same_work):  # yours
    """The same outputs in a new graph, in which no two nodes do the same work."""
    new = {}
    for node in topological_order(outputs):
        moved = on(node, [new[x] for x in node.inputs])
        new[node] = next((x for x in new.values() if same(x, moved)), moved)
    return [new[y] for y in outputs]


# ---- L09: where results lie: a plan of memory ------------------------------------------------


def lifetimes(order, kept):  # yours
    """The first and last step of each value of an order; what the caller keeps lives to the end."""
    ends = {x: step for step, node in enumerate(order) for x in (node, *node.inputs)}
    ends |= dict.fromkeys(kept, len(order))
    return {node: (step, ends[node]) for step, node in enumerate(order)}


def plan(lives, sizes):  # yours
    """Where in memory each value begins, the largest first: what lives at once is not mixed up."""
    offsets = {}
    for new in sorted(lives, key=sizes.get, reverse=True):
        offsets[new] = 0
        for old in sorted(offsets, key=offsets.get):
            at_once = lives[old][0] <= lives[new][1] and lives[new][0] <= lives[old][1]
            if old is not new and at_once and offsets[new] + sizes[new] > offsets[old]:
                offsets[new] = max(offsets[new], offsets[old] + sizes[old])
    return offsets


def run_in_arena(order, known, kept):
    """What is kept, computed in one block of memory, and its bytes; a first run tells the sizes."""
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
    """How long it takes from the start of each node to the end, by the longest way."""
    rank = dict(seconds)
    for node in reversed(list(waits)):
        for x in waits[node]:
            rank[x] = max(rank[x], seconds[x] + rank[node])
    return rank


def list_schedule(waits, seconds, workers, rank):  # yours
    """For each node its worker, start and end; of those ready, the largest rank goes first."""
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
    """A plan for the nodes: `waits` has what each one waits for, and each after those."""
    return list_schedule(waits, seconds, workers, ranks(waits, seconds))


# ---- L11: a graph as a file ------------------------------------------------------------------


def packed(x):
    """What JSON can write: an array becomes its numbers, and the name of their type."""
    return {"type": x.dtype.name, "numbers": x.tolist()} if isinstance(x, np.ndarray) else x


def unpacked(x):
    """The array again; several axes are a tuple again; the rest stays what it is."""
    if isinstance(x, dict):
        return np.array(x["numbers"], x["type"])
    return tuple(x) if isinstance(x, list) else x


def to_data(outputs):  # yours
    """A graph as plain data: its nodes in order, and of what they read the numbers."""
    order, rows = topological_order(outputs), []
    for n in order:
        row = {"op": n.op, "name": n.name, "inputs": [order.index(x) for x in n.inputs]}
        row["attrs"] = {key: packed(x) for key, x in n.attrs.items()}
        rows.append(row | {"value": packed(n.value)})
    return {"nodes": rows, "outputs": [order.index(n) for n in outputs]}


def from_data(data):  # yours
    """The outputs of the graph again, with nothing run; EngineError for a damaged one."""
    nodes = []

    def pick(numbers):
        if wrong := [i for i in numbers if i not in range(len(nodes))]:
            raise EngineError(f"{wrong[0]} is none of the {len(nodes)} nodes before it")
        return [nodes[i] for i in numbers]

    for row in data["nodes"]:
        if row["op"] not in {*COMPUTE, "Constant", "Placeholder", "Variable"}:
            raise EngineError(f"node {len(nodes)}: there is no operator {row['op']!r}")
        attrs = {key: unpacked(x) for key, x in {**row["attrs"], "value": row["value"]}.items()}
        nodes.append(Node(row["op"], pick(row["inputs"]), row["name"], **attrs))
    return pick(data["outputs"])


# ---- L12: a tracer ---------------------------------------------------------------------------


def decide(node):  # yours
    """What Python's `if` asks of a node: a tensor's value answers, any other node refuses."""
    if isinstance(node, Tensor):
        return bool(node.value)
    raise EngineError(f"{node} has no value yet\n  built: {node.line}\n  asked: {caller()}")


Node.__bool__ = decide


def stand_in(x):
    """A placeholder that knows shape and type of an array; whatever else stays what it is."""
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
    """What has to be the same in a later call, so that a trace may be used again."""
    return (x.shape, x.dtype) if isinstance(x, np.ndarray) else (type(x), x)


def cached(make):  # yours
    """A function that makes a replay for each new kind of arguments, and finds it again later."""
    cache = {}

    def call(*args):
        key = tuple(guard(x) for x in args)
        if key not in cache:
            cache[key] = make(*args)
        return cache[key](*args)

    return call


def compiled(f):
    """f, traced once for each kind of arguments."""
    return cached(lambda *args: trace(f, *args)[1])


# ---- L13: honest measuring -------------------------------------------------------------------


def break_even(cost, slow, fast):  # yours
    """After how many calls a cost that is paid once is won back; None if that never happens."""
    return math.ceil(cost / (slow - fast)) if slow > fast else None


def median_ratio(rounds):  # yours
    """Of the ratios second / first, each within its round: the median, the lowest, the highest."""
    ratios = [second / first for first, second in rounds]
    return np.median(ratios), min(ratios), max(ratios)


# ---- L14: a training run ---------------------------------------------------------------------


def momentum(w, g, speed, rate, share):  # yours
    """One step with a memory, of arrays or of nodes: the new weight and the new speed."""
    speed = share * speed + g
    return w - rate * speed, speed
