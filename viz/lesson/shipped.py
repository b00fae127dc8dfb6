"""Graphs that go through files: `described`, `shipped`, `refusals`, `reads` and `rewritten`.

The first three ask a learner's engine, the others minigrad.
"""

from __future__ import annotations

import copy
import io
import json
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

import minigrad as mg

__all__ = ["described", "reads", "refusals", "rewritten", "shipped"]


def described(
    engine: ModuleType, outputs: Sequence[Any], feed: Mapping[str, Any]
) -> dict[str, Any]:
    """What a graph of a learner's engine is, whatever the order of its nodes, and what it gives.

    outputs: nodes of the engine; feed: values for placeholders, by name. Raises what the engine
    raises.

    >>> from viz.lesson import my_engine
    >>> x = my_engine.placeholder("x")
    >>> described(my_engine, [x * x], {"x": 3.0})["output 0"]
    9.0
    """
    nodes = engine.topological_order(outputs)
    variables = [node for node in nodes if node.op == "Variable"]
    numbers = [node.attrs["first"] for node in variables]
    numbers += [node.value for node in nodes if node.op == "Constant"]
    named = {node: feed[node.name] for node in nodes if node.op == "Placeholder"}
    values = engine.Session(*variables).run(outputs, named)
    types = sorted(np.asarray(value).dtype.name for value in numbers)
    return {
        "nodes": len(nodes),
        "operators": " ".join(sorted(node.op for node in nodes)),
        "names": " ".join(sorted(node.name for node in nodes if node.name)),
        "types of variables and constants": " ".join(types),
        **{f"output {i}": value for i, value in enumerate(values)},
    }


def shipped(engine: ModuleType, outputs: Sequence[Any], feed: Mapping[str, Any]) -> dict[str, Any]:
    """The same of the graph that comes back: by `to_data`, as JSON, by `from_data`.

    Its nodes are those in the file. Raises what the engine raises, and what JSON refuses.

    >>> from viz.lesson import my_engine
    >>> x = my_engine.placeholder("x")
    >>> shipped(my_engine, [x * x], {"x": 3.0})["nodes"]
    2
    """
    data = json.loads(json.dumps(engine.to_data(outputs)))
    found = described(engine, engine.from_data(data), feed)
    return found | {"nodes": len(data["nodes"])}


def refusals(engine: ModuleType, outputs: Sequence[Any]) -> dict[str, Any]:
    """How `from_data` of a learner's engine takes a graph that was damaged in its file.

    The last node has to read something. Told is what ran while the whole file was read, and which
    damage is not refused by an EngineError, and how it ends; None where all are.

    >>> from viz.lesson import my_engine
    >>> x = my_engine.placeholder("x")
    >>> refusals(my_engine, [x + x])
    {'run while reading': 0, 'not refused': None}
    """
    data = engine.to_data(outputs)
    engine.EVENTS.clear()
    engine.from_data(copy.deepcopy(data))
    ran = sum(kind == "run" for kind, _, _ in engine.EVENTS)
    endings = (_ending(engine, copy.deepcopy(data), *change) for change in _changes(data))
    return {"run while reading": ran, "not refused": next(filter(None, endings), None)}


def _changes(data: Mapping[str, Any]) -> list[tuple[str, int | None, str, Any]]:
    """What is damaged: its name, the node's number (None: the file), the key, and the value."""
    last = len(data["nodes"]) - 1
    reader = next(i for i, node in enumerate(data["nodes"]) if node["inputs"])
    return [
        ("an operator Evil", last, "op", "Evil"),
        ("an operator __import__", last, "op", "__import__"),
        ("a node that reads itself", last, "inputs", [last]),
        ("a node that reads a later one", reader, "inputs", [last, last]),
        ("a node that reads node -1", last, "inputs", [-1]),
        (f"an output {last + 1} of {last + 1} nodes", None, "outputs", [last + 1]),
        ("an output -1", None, "outputs", [-1]),
    ]


def _ending(engine: ModuleType, data: Any, name: str, place: int | None, key: str, x: Any) -> str:
    """How the reading of data with one change ends, if not as it should."""
    (data if place is None else data["nodes"][place])[key] = x
    try:
        engine.from_data(data)
    except engine.EngineError:
        return ""
    except Exception as error:  # noqa: BLE001 - whatever the learner's code raises is told
        return f"{name}: {type(error).__name__}"
    return name


def reads(formula: Callable[[Any], Any]) -> dict[str, list[int]]:
    """For each node of a formula's graph, by number and operator, the numbers of what it reads.

    >>> reads(lambda x: x * x)
    {'0 Placeholder': [], '1 Mul': [0, 0]}
    """
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        nodes = mg.build_graph(x, formula(x)).nodes
    number = {node: i for i, node in enumerate(nodes)}
    return {f"{i} {node.op}": [number[x] for x in node.inputs] for node, i in number.items()}


def rewritten(path: str | os.PathLike[str], old: str, new: str) -> bytes:
    """The archive of a saved graph with another text in it, and checksums that fit again.

    >>> import minigrad as mg, tempfile
    >>> with mg.Graph(), tempfile.TemporaryDirectory() as folder:
    ...     x = mg.placeholder("x", shape=())
    ...     mg.build_graph(x, x + 3).save(f"{folder}/sum.graph")
    ...     data = rewritten(f"{folder}/sum.graph", "Add", "Sub")
    >>> b'"op": "Sub"' in data
    True
    """
    file = io.BytesIO()
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(file, "w") as copied:
        for name in whole.namelist():
            copied.writestr(name, whole.read(name).replace(old.encode(), new.encode()))
    return file.getvalue()
