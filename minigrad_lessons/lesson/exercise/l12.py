"""L12: a tracer, what it does with an `if`, and a cache of what it made."""

from __future__ import annotations

import re
from types import ModuleType

from minigrad_lessons.lesson.exercise.property import Names, Property
from minigrad_lessons.lesson.exercise.shrinking import Program, Rng

FORMULAS = (
    *("x * n - w", "(x - w) * n", "-x if n > 2 else x / w", "w / x", "x * x * n - w"),
    "(x - w).exp().sum() * n",
)
ORDERS = ("x, n, w", "n, x, w", "w, x, n")
ARRAYS = ("np.array([1.0, 2.0])", "np.array([4.0, 0.5])", "np.array([3.0, 3.0])")


def trace_program(rng: Rng) -> Program:
    formula, order, n = rng.choice(FORMULAS), rng.choice(ORDERS), 1 + rng.below(4)
    calls = [
        args(order, rng.choice(ARRAYS), n, rng.choice(ARRAYS)) for _ in range(rng.length(3, 1))
    ]
    return trace_lines(formula, order, *calls)


def trace_lines(formula: str, order: str, *calls: str) -> Program:
    """Return a program that traces a formula with the first arguments, and replays all."""
    return (
        "ran = []",
        f"f = lambda {order}: ran.append('traced') or {formula}",
        f"output, replay = trace(f, {calls[0]})",
        "ops = [node.op for node in topological_order([output]) if node.inputs]",
        f"results = [{', '.join(f'replay({text})' for text in calls)}]",
    )


def args(order: str, x: str, n: int, w: str) -> str:
    return ", ".join({"x": x, "n": str(n), "w": w}[name] for name in order.split(", "))


def trace_facts(made: Names, engine: ModuleType) -> Names:
    return {name: made[name] for name in ("ops", "results", "ran") if name in made}


CORE = Property(trace_program, look=trace_facts)

CONDITIONS = ("x - 1.0", "x > 2.0", "5.0 * x - 15.0", "x * x > 4.0")


def if_program(rng: Rng) -> Program:
    test = rng.choice(CONDITIONS)
    if rng.below(2):
        numbers = rng.choices((1.0, 3.0, -3.0, 0.0, 2.0), 3, 1)
        return (f"ask = lambda x: bool({test})", f"results = [ask(Tensor(n)) for n in {numbers}]")
    x = rng.choice(('placeholder("x")', "constant(2.0)"))
    test = "x" if x[0] == "c" else test  # a constant itself: its value is there, a node's is not
    return (
        *(f"x = {x}", f"asked = {test}", "try:", "    if asked: x = -x"),
        *("except EngineError as error:", "    lines = str(error).splitlines()"),
    )


def if_facts(made: Names, engine: ModuleType) -> Names:
    if "results" in made:
        return {"results": made["results"]}
    if not (lines := made.get("lines")):
        return {"EngineError is raised": False}
    facts: Names = {"EngineError is raised": True, "len(lines)": len(lines)}
    facts["lines[0].split()[0]"] = re.split(r"\W", lines[0].lstrip(), flags=re.ASCII)[0]
    spaced = [re.sub(r"^\s*(\w+)\s*:\s*", r"\1: ", line).rstrip() for line in lines]
    return facts | {f"lines[{i}]": line for i, line in enumerate(spaced) if i}


IF = Property(if_program, look=if_facts, examples=60)

PIECES = (
    *("np.array([1.0, 2.0])", "np.array([3.0, 5.0])", "np.array([[1.0, 2.0]])"),
    *("np.array([[1.0], [2.0]])", "np.array([1, 2])", "np.float32([1, 2])", "np.ones(3)"),
)
CONSTANTS = ("1", "1.0", "True", "'1'", "2")


def cache_program(rng: Rng) -> Program:
    calls = [
        f"({rng.choice(PIECES)}, {rng.choice(CONSTANTS)}, {rng.choice(CONSTANTS)})"
        for _ in range(rng.length(5, 1))
    ]
    return (
        "ran = []",
        "f = lambda x, n, m: ran.append('traced') or x.sum() * float(n) - float(m) * x.shape[-1]",
        "fast = compiled(f)",
        f"calls = [{', '.join(calls)}]",
        "results = [(fast(*args), len(ran)) for args in calls]",
    )


STRETCH = Property(cache_program)
