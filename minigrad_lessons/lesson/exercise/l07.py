"""L07: errors that name two lines, and the first result that is not finite."""

from __future__ import annotations

import re
from types import ModuleType

from minigrad_lessons.lesson.exercise.graphs import names_of, random_graph
from minigrad_lessons.lesson.exercise.property import Names, Property
from minigrad_lessons.lesson.exercise.running import Unquoted, named_nodes
from minigrad_lessons.lesson.exercise.shrinking import Program, Rng

SHAPES = ("(2, 5)", "(7, 3)", "(4, 6)", "(9,)", "(8,)")
WRONG = ("x @ y", "x - y", "x / y")
WORDS = ("MatMul", "Sub", "Div", "Sum", "Greater", "mismatch", "broadcast", "axis", "Error(")


def error_program(rng: Rng) -> Program:
    """Return a program that fails in a run or at once, or that describes one to three arrays."""
    kind = rng.below(4)
    if kind == 0:
        arrays = ", ".join(f"np.ones({shape})" for shape in rng.sample(SHAPES, 3, 1))
        return ('x = placeholder("x")', f"arrays = [{arrays}]", *TOLD)  # no shapes in its line
    a, b = rng.choice(SHAPES[:3]), rng.choice(SHAPES[:3])  # NumPy writes these in another way
    line = f"z = {rng.choice(WRONG)}" if a != b else "z = x.sum(axis=5)"
    if kind == 1:
        made = (f"x = Tensor(np.ones({a}))", f"y = Tensor(np.ones({b}))", "try:")
        return (*made, f"    {line}", *CAUGHT)
    feed = f"feed = {{x: np.ones({a}), y: np.ones({b})}}"
    nodes = ('x = placeholder("x")', 'y = placeholder("y")', line, feed, "try:")
    return (*nodes, "    Session().run([z], feed)", *CAUGHT)


TOLD = ('numpy_error = ValueError("Too long by 2")', "text = told(x.sum(), arrays, numpy_error)")
CAUGHT = (
    "except EngineError as error:",
    "    text = str(error)",
    "    numpy_error = str(error.__cause__)",
)


def message_facts(made: Names, engine: ModuleType) -> Names:
    """Return which words the text has, the order of its shapes, and the two lines it names."""
    text, kind = str(made["text"]), type(made["text"]).__name__
    lines = [line.strip() for line in text.split("\n")]
    facts: Names = {"type(text).__name__": Unquoted(kind)}
    facts |= {f"{word!r} in text": word in text for word in (*WORDS, *SHAPES)}
    found = [*re.findall("[A-Za-z0-9]+", lines[0]), *(x for x in SHAPES if x in lines[0])]
    facts |= {f"{word!r} in line 1": word in found for word in (*WORDS[:5], *SHAPES)}
    shapes = re.findall(r"(?<!\w)\((?:\d+,(?: \d+)?)?\)", text)
    facts["numpy_error in line 1"] = str(made["numpy_error"]).strip() in lines[0]
    facts["shapes"] = [Unquoted(shape) for shape in shapes if shape in (*SHAPES, "()", "(0, 3)")]
    facts[r"len(text.split('\n'))"] = len(lines)
    for word, line in zip(("built:", "run:"), lines[1:], strict=False):
        facts[f"{word} …"] = line.partition(word)[2].strip()
    return facts


CORE = Property(
    error_program,
    always=(('x = placeholder("x")', "arrays = [np.ones(9), np.ones((2, 5)), np.ones(9)]", *TOLD),),
    look=message_facts,
    examples=60,
)

FORMULAS = (
    *("{a}.exp()", "{a} / {b}", "1.0 / {a}", "{a}.log()", "{a} - {b}", "{a} * {b}"),
    *("{a}.sum()", "({a} > {b}) * 1.0"),
)


def anomaly_program(rng: Rng) -> Program:
    numbers = rng.choices((1.0, -800.0, 0.0, 710.0, 2.0, "np.inf"), 3, 1)
    array = f"np.array([{', '.join(map(str, numbers))}])"
    if rng.below(2):
        lines = random_graph(rng, [f"x = Tensor({array})"], FORMULAS)
        return (*lines, "first = first_anomaly(EVENTS)")
    lines = random_graph(rng, ['x = placeholder("x")'], FORMULAS)
    run = f"results = Session().run([{', '.join(names_of(lines)[::-1])}], {{x: {array}}})"
    return (*lines, run, "first = first_anomaly(EVENTS)")


def anomaly_facts(made: Names, engine: ModuleType) -> Names:
    names = {id(node): name for name, node in named_nodes(made).items() if name != "first"}
    return {"first": Unquoted(names.get(id(made["first"]), repr(made["first"])))}


STRETCH = Property(anomaly_program, look=anomaly_facts)
