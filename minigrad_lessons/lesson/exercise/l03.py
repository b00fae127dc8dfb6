"""L03: operators that compute at once and are recorded, and the walk back from a result."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from minigrad_lessons.lesson.exercise.graphs import names_of, random_graph
from minigrad_lessons.lesson.exercise.property import Names, Property
from minigrad_lessons.lesson.exercise.running import Unquoted, event_log, named_nodes
from minigrad_lessons.lesson.exercise.shrinking import Program, Rng

LEAVES = ("x = Tensor(2.0, requires_grad=True)", "c = Tensor(3.0)")
EAGER = ("{a} * {b}", "{a} - {b}", "{a} + 1.0", "1.0 / {a}", "2.0 * {a}", "-{a}", "{a}.sum(axis=0)")


def nested_no_grad(depth: int, error: str) -> Program:
    """Return nested `no_grad` blocks that note whether recording is on; an error may leave them."""
    note = "{} = bool(Tensor.recording)"
    lines = [f"{'    ' * i}with no_grad():" for i in range(depth)]
    lines += [f"{'    ' * i}{note.format(f'inside{i}')}" for i in range(depth, 0, -1)]
    if error:
        lines = ["try:", *(f"    {line}" for line in (*lines, f"    raise {error}"))]
        lines += [f"except {error}:", "    caught = True"]
    return (*lines, note.format("after"))


SWITCH = Property(
    lambda rng: nested_no_grad(1 + rng.below(3), rng.choice(("", "ZeroDivisionError"))),
    always=(nested_no_grad(2, ""),),
    examples=10,
)


def no_grad_program(rng: Rng) -> Program:
    lines = random_graph(rng, LEAVES, EAGER, most=4)
    names = names_of(lines)
    off = f"with no_grad(): off = {rng.choice(names)} * {rng.choice(names)}"
    return (*lines, *[(), (off,), (off, f"on = off + {rng.choice(names)}")][rng.below(3)])


def tensor_facts(made: Names, engine: ModuleType) -> Names:
    """Return what each tensor keeps, and which events were recorded as built and run."""
    named = {id(node): name for name, node in named_nodes(made).items()}
    events: Any = vars(engine)["EVENTS"]
    facts: Names = {}
    for name, node in made.items():
        facts[f"type({name}).__name__"] = Unquoted(type(node).__name__)
        for part in ("value", "requires_grad", "attrs", "grad"):
            x = getattr(node, part, None)
            if part == "requires_grad":  # whatever else it is would keep nodes alive
                x = bool(x) if x is None or hasattr(x, "__int__") else Unquoted(type(x).__name__)
            facts[f"{name}.{part}"] = x
        facts[f"{name}.inputs"] = [node_name(x, named) for x in getattr(node, "inputs", ())]
        facts[f"{name}.value.dtype"] = Unquoted(getattr(facts[f"{name}.value"], "dtype", None))
    facts["EVENTS"] = event_log(made, engine)
    for i, (kind, what, more) in enumerate(events):
        if kind == "built":
            facts[f"EVENTS[{i}][1] is returned"] = id(what) in named
            facts[f"EVENTS[{i}][2]"] = [Unquoted(getattr(x, "op", repr(x))) for x in more or ()]
    return facts


def node_name(x: Any, named: dict[int, str]) -> Unquoted:
    return Unquoted(named.get(id(x)) or getattr(x, "op", repr(x)))


CORE = Property(no_grad_program, look=tensor_facts, raises=("EngineError",))

TWO = (LEAVES[0], "c = Tensor(3.0, requires_grad=True)")
BACK = ("{a} * {b}", "{a} + {b}", "2.0 * {a}", "-{a}")


def backward_program(rng: Rng) -> Program:
    """Return a program that runs backward from a result, and perhaps again, or from another."""
    lines = random_graph(rng, TWO if rng.below(2) else LEAVES, BACK, most=4)
    names = names_of(lines)
    y, kind = names[-1], rng.below(5)
    second = f"more = {rng.choice((y, rng.choice(names), 'x', 'c'))} * {rng.choice(('x', 'c', y))}"
    again = [(), (f"{y}.backward()",), (second, "more.backward()")][min(kind, 2)]
    return (*lines, f"{y}.backward()", *again)


def gradient_facts(made: Names, engine: ModuleType) -> Names:
    """Return the gradients that are kept, and the inputs that each node still has."""
    named = {id(node): name for name, node in named_nodes(made).items()}
    facts: Names = {}
    for name, node in named_nodes(made).items():
        facts[f"{name}.grad"] = repr(node.grad) if isinstance(node.grad, list) else node.grad
        facts[f"{name}.inputs"] = node.inputs and [node_name(x, named) for x in node.inputs]
        facts[f"{name}.value"] = node.value
        facts[f"{name}.grad.dtype"] = Unquoted(getattr(node.grad, "dtype", None))
    return facts


STRETCH = Property(backward_program, look=gradient_facts, raises=("EngineError",), examples=150)
