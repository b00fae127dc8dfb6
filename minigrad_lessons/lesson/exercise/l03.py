"""L03: operators that compute at once and are recorded, and the walk back from a result."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from minigrad_lessons.lesson.exercise.cases import Draw, Program
from minigrad_lessons.lesson.exercise.graphs import graph, names_of
from minigrad_lessons.lesson.exercise.property import Names, Property
from minigrad_lessons.lesson.exercise.trial import Name, log, nodes_of

LEAVES = ("x = Tensor(2.0, requires_grad=True)", "c = Tensor(3.0)")
EAGER = ("{a} * {b}", "{a} - {b}", "{a} + 1.0", "1.0 / {a}", "2.0 * {a}", "-{a}", "{a}.sum(axis=0)")


ERRORS = ("ZeroDivisionError", "EngineError", "ValueError", "KeyError", "TypeError")


def nested(depth: int, error: str) -> Program:
    """Return nested `no_grad` blocks that note whether recording is on; an error may leave them."""
    note = "{} = bool(Tensor.recording)"
    lines = [f"{'    ' * i}with no_grad():" for i in range(depth)]
    lines += [f"{'    ' * i}{note.format(f'inside{i}')}" for i in range(depth, 0, -1)]
    if error:
        lines = ["try:", *(f"    {line}" for line in (*lines, f"    raise {error}"))]
        lines += [f"except {error}:", "    caught = True"]
    return (*lines, note.format("after"))


SWITCH = Property(
    lambda draw: nested(1 + draw.below(3), draw.one(("", "ZeroDivisionError"))),
    always=(nested(2, ""), *(nested(1, error) for error in ERRORS)),
    examples=10,
)


def paused(draw: Draw) -> Program:
    lines = graph(draw, LEAVES, EAGER, most=4)
    names = names_of(lines)
    off = f"with no_grad(): off = {draw.one(names)} * {draw.one(names)}"
    return (*lines, *[(), (off,), (off, f"on = off + {draw.one(names)}")][draw.below(3)])


def tensors(made: Names, engine: ModuleType) -> Names:
    """Return what each tensor keeps, and which events were recorded as built and run."""
    named = {id(node): name for name, node in nodes_of(made).items()}
    events: Any = vars(engine)["EVENTS"]
    facts: Names = {}
    for name, node in made.items():
        facts[f"type({name}).__name__"] = Name(type(node).__name__)
        for part in ("value", "requires_grad", "attrs"):
            x = getattr(node, part, None)
            facts[f"{name}.{part}"] = bool(x) if part == "requires_grad" else x
        facts[f"{name}.inputs"] = [called(x, named) for x in getattr(node, "inputs", ())]
    facts["EVENTS"] = log(made, engine)
    for i, (kind, what, more) in enumerate(events):
        if kind == "built":
            facts[f"EVENTS[{i}][1] is returned"] = id(what) in named
            facts[f"EVENTS[{i}][2]"] = [Name(getattr(x, "op", repr(x))) for x in more or ()]
    return facts


def called(x: Any, named: dict[int, str]) -> Name:
    return Name(named.get(id(x)) or getattr(x, "op", repr(x)))


CORE = Property(
    paused,
    always=(
        (*LEAVES, "s = x * c", "p = -c * c", "q = p + s"),
        (*LEAVES, "with no_grad(): off = x * x", "s = (off + c).sum(axis=0)"),
        ("x = Tensor(np.array([[0.0, 1.0], [2.0, 0.0]]))", "c = x + 1.0", "m = x @ c"),
        *(
            (*LEAVES, 'COMPUTE["Where"] = np.where', f's = c.apply("Where", c > 1.0, {two})')
            for two in ("x, c", "c, x")
        ),
    ),
    look=tensors,
)

TWO = (LEAVES[0], "c = Tensor(3.0, requires_grad=True)")
BACK = ("{a} * {b}", "{a} + {b}", "2.0 * {a}", "-{a}")


def walks(draw: Draw) -> Program:
    """Return a program that runs backward from a result, and perhaps again, or from another."""
    lines = graph(draw, TWO if draw.below(2) else LEAVES, BACK, most=4)
    names = names_of(lines)
    y, kind = names[-1], draw.below(5)
    second = f"more = {draw.one((y, draw.one(names), 'x', 'c'))} * {draw.one(('x', 'c', y))}"
    again = [(), (f"{y}.backward()",), (second, "more.backward()")][min(kind, 2)]
    return (*lines, f"{y}.backward()", *again)


def walked(made: Names, engine: ModuleType) -> Names:
    """Return the gradients that are kept, and the inputs that each node still has."""
    named = {id(node): name for name, node in nodes_of(made).items()}
    facts: Names = {}
    for name, node in nodes_of(made).items():
        inputs = node.inputs
        facts[f"{name}.grad"] = node.grad
        facts[f"{name}.inputs"] = inputs and [called(x, named) for x in inputs]
        facts[f"{name}.value"] = node.value
    return facts


STRETCH = Property(
    walks,
    look=walked,
    raises=("EngineError",),
    examples=150,
)
