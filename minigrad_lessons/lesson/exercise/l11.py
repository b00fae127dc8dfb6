"""L11: a graph as plain data, and the graph again, unless the data is damaged."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from minigrad_lessons.lesson.exercise.graphs import names_of, random_graph
from minigrad_lessons.lesson.exercise.property import Names, Property
from minigrad_lessons.lesson.exercise.running import Unquoted
from minigrad_lessons.lesson.exercise.shrinking import Program, Rng

GIVEN = ('x = placeholder("x")', 'w = variable([[3.0], [0.1]], "w")')
FORMULAS = (
    *("{a} + {b}", "{a} - 1 / 3", "{a} * {b}", "{a}.sum(axis=0)", "{a}.sum(axis=(0, 1))"),
    *("{a} / np.float32([3, 7])", '{a} * variable(np.float32([1, 2]), "w")', "({a} > 0.0) * {b}"),
    "-{a}",
)
BY_JSON = "data = json.loads(json.dumps(to_data(outputs)))"


def save_program(rng: Rng) -> Program:
    lines = random_graph(rng, GIVEN, FORMULAS)
    outputs = ", ".join(rng.choices(names_of(lines)[::-1], 2, 1))
    return ("import json", *lines, f"outputs = [{outputs}]", BY_JSON, "new = from_data(data)")


def load_facts(made: Names, engine: ModuleType) -> Names:
    """Return the properties of the restored graph's nodes, and its results."""
    e: Any = engine
    order = e.topological_order(list(made["new"]))
    ran = sum(kind == "run" for kind, *_ in e.EVENTS)
    facts: Names = {'len(data["nodes"])': len(made["data"]["nodes"]), "len(new)": len(made["new"])}
    for i, row in enumerate(made["data"]["nodes"]):
        facts[f'sorted(data["nodes"][{i}])'] = sorted(row)
    facts["sorted(data)"] = sorted(made["data"])
    facts["ops"] = sorted(node.op for node in order)
    facts["names"] = sorted((node.name for node in order), key=str)
    inside = [x for n in order for x in (n.value, n.attrs.get("first", n.value))]
    facts["types"] = sorted(Unquoted(type(x).__name__) for x in inside)
    facts["dtypes"] = sorted(Unquoted(x.dtype) for x in inside if isinstance(x, np.ndarray))
    facts["attrs"] = sorted(repr(node.attrs) for node in order if "axis" in node.attrs)
    variables = [node for node in order if node.op == "Variable"]
    feed = {node: np.ones((2, 2)) for node in order if node.op == "Placeholder"}
    facts["results"] = e.Session(*variables).run(made["new"], feed)
    return facts | {"run": ran} | ({"calls": made["calls"]} if "calls" in made else {})


CORE = Property(
    save_program,
    always=(
        (
            *("import json", *GIVEN, "part = (x @ w + 1 / 3 - x) / np.float32([3, 7])"),
            'part = part * variable(np.float32([1, 2]), "w")',
            *("outputs = [(part * (part > 0.0)).sum(axis=0), part]", BY_JSON),
            "new = from_data(data)",
        ),
    ),
    look=load_facts,
)

# Besides one that nobody knows: names that Python, a node, NumPy and a part of a word have.
STRANGERS = (
    *("Evil", "__import__", "__init__", "Init", "apply", "Save"),
    *("Const", "add", "Add ", "MyAdd", "Mu", "", "AddX", "ConstantX", "VariableX"),
)
NUMBERS = ('len(data["nodes"])', "-1", "-2", "-100", "-1, 0", "0, 1, -1", "10**6")
# 1.0 and True equal the number of a node.
NO_NUMBERS = ('"0"', "1.5", "None", "1.0", "True", "[0]", "[]", '{"a": 0}', "-0.5", '""')
DAMAGE = (
    *(f'data["nodes"][-1]["op"] = "{op}"' for op in STRANGERS),
    'data["nodes"][0]["op"] = "Evil"',  # in the middle, and where nothing reads it
    'data["nodes"].append(data["nodes"][-1] | {"op": "Evil"})',
    *(
        f'data["nodes"][-1]["inputs"] = [{number}]'
        for number in ('len(data["nodes"]) - 1', *NUMBERS, *NO_NUMBERS)
    ),
    *(f'data["outputs"] = [{number}]' for number in (*NUMBERS, "0, -1", *NO_NUMBERS)),
    *(f'data["nodes"][{i}]["inputs"] = [{n}]' for i, n in ((0, 0), (0, 1), (1, -1))),
    'data["nodes"][2]["inputs"] = [0, 2]',
)


def damaged_program(rng: Rng) -> Program:
    lines = random_graph(rng, GIVEN, FORMULAS[:5])
    harm = (rng.choice(DAMAGE),) if rng.below(2) else ()
    last = f"outputs = [{names_of(lines)[-1]} + x * w{rng.choice(('', ', x', ', x, w, x'))}]"
    return (*("import json", *lines, last, BY_JSON), *harm, "new = from_data(data)")


STRETCH = Property(
    damaged_program,
    always=tuple(
        (*("import json", *GIVEN, "outputs = [x + w]", BY_JSON), harm, "new = from_data(data)")
        for harm in DAMAGE
    )
    + CORE.always,
    look=load_facts,
    raises=("EngineError",),
)
