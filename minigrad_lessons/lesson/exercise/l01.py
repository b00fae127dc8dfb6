"""L01: the values of all nodes in an order, and such an order."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from minigrad_lessons.lesson.exercise.graphs import names_of, random_graph
from minigrad_lessons.lesson.exercise.property import Names, Property
from minigrad_lessons.lesson.exercise.running import named_nodes
from minigrad_lessons.lesson.exercise.shrinking import Program, Rng

INPUTS = ('x = Node("Placeholder", name="x")', 'y = Node("Placeholder", name="y")')
NODES = (
    'Node("Add", [{a}, {b}], name="{name}")',
    'Node("Neg", [{a}], name="{name}")',
    'Node("Mul", [{a}, {b}], name="{name}")',
    'Node("Sub", [{a}, {b}], name="{name}")',
    'Node("Constant", name="{name}", value=np.asarray(2.5))',
)


def run_program(rng: Rng) -> Program:
    """Return a program that runs a graph once or twice; some inner values may be known."""
    lines = random_graph(rng, INPUTS, NODES)
    names, text = names_of(lines), []
    for run in ("values", "again")[: 1 + rng.below(2)]:
        known = [name for name in names if name in "xy" or rng.below(4) == 3]
        fed = ", ".join(f"{name}: {rng.below(8) - 3}" for name in known)
        text.append(f"{run} = run_in_order([{', '.join(names)}], {{{fed}}})")
    return (*lines, *text)


CORE = Property(run_program, events=True)


def order_program(rng: Rng) -> Program:
    """Return nodes that read earlier ones, and sometimes one more edge, which may make a cycle."""
    names = "abcdef"[: rng.length(6, 1)]
    reads = {name: rng.choices(names[:i], 3) if i else [] for i, name in enumerate(names)}
    if rng.below(2):
        reads[rng.choice(names)].append(rng.choice(names))
    lines = [f'{name} = Node("Add")' for name in names]
    lines += [f"{n}.inputs = ({', '.join(some)},)" for n, some in reads.items() if some]
    outputs = rng.choices(names[::-1], 3, 1)
    return (*lines, f"outputs = [{', '.join(outputs)}]", "order = topological_order(outputs)")


def order_facts(made: Names, engine: ModuleType) -> Names:
    """Return how often each node the outputs need is in the order, and if pairs are in order."""
    order, needed, todo = list(made["order"]), set[Any](), list(made["outputs"])
    while todo:
        if (node := todo.pop()) not in needed:
            needed.add(node)
            todo += node.inputs
    nodes = {name: node for name, node in named_nodes(made).items() if node in needed}
    facts: Names = {"len(order)": len(order)} if len(needed) > len(nodes) else {}
    facts |= {f"order.count({name})": order.count(node) for name, node in nodes.items()}
    for name, node in nodes.items():
        for read, x in nodes.items():
            if x in node.inputs and x in order and node in order:
                text = f"order.index({read}) < order.index({name})"
                facts[text] = order.index(x) < order.index(node)
    return facts | {"len(order)": len(order)}


STRETCH = Property(
    order_program, look=order_facts, raises=("ValueError",), examples=150, lines=100_000
)
