"""Graphs that go through files: what a learner's engine and minigrad write, read and refuse.

`described`, `refusals` and `alone` ask a learner's engine, the others minigrad.
"""

from __future__ import annotations

import atexit
import contextlib
import copy
import inspect
import io
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.diagnostics.source import INSIDE
from viz.lesson.answers import equal
from viz.lesson.elsewhere import Elsewhere, elsewhere

__all__ = ["alone", "box", "described", "load_changed", "reads", "refusals"]

INSIDE[__file__] = True  # a file is loaded where the user asks for it, and not here


def box() -> Path:
    """A new, empty folder for what is shipped; it goes when Python ends.

    >>> list(box().iterdir())
    []
    """
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def described(
    engine: ModuleType, outputs: Sequence[Any], feed: Mapping[str, Any], *, shipped: bool = False
) -> dict[str, Any]:
    """What a graph of a learner's engine is, whatever the order of its nodes, and what it gives.

    outputs: nodes of the engine; feed: values for placeholders, by name. shipped: the graph is the
    one that comes back: by `to_data`, as JSON, by `from_data`. Its nodes are then those in the
    file, and "a change of the graph" is told of one that `to_data` has not left as it was. One that
    still holds what is packed is told of those nodes and not run. Raises what the engine raises,
    and what JSON refuses.

    >>> from viz.lesson import my_engine
    >>> x = my_engine.placeholder("x")
    >>> described(my_engine, [x * x], {"x": 3.0})["output 0"]
    9.0
    """
    if shipped:
        before = _inside(engine, outputs)
        data = json.loads(json.dumps(engine.to_data(outputs)))
        changed = not equal(_inside(engine, outputs), before, 0.0)
        found = described(engine, engine.from_data(data), feed) | {"nodes": len(data["nodes"])}
        return found | ({"a change of the graph": True} if changed else {})
    nodes = engine.topological_order(outputs)
    held = {node: [node.value, *node.attrs.values()] for node in nodes}
    if packed := [node.op for node in nodes if dict in map(type, held[node])]:
        return {"still packed": packed}
    variables = [node for node in nodes if node.op == "Variable"]
    numbers = [node.attrs["first"] for node in variables]
    numbers += [node.value for node in nodes if node.op == "Constant"]
    named = {node: feed[node.name] for node in nodes if node.op == "Placeholder"}
    values = engine.Session(*variables).run(outputs, named)
    types = sorted(np.asarray(value).dtype.name for value in numbers)
    return {
        "still packed": [],
        "nodes": len(nodes),
        "operators": " ".join(sorted(node.op for node in nodes)),
        "names": " ".join(sorted(node.name for node in nodes if node.name)),
        "types of variables and constants": " ".join(types),
        **{f"output {i}": value for i, value in enumerate(values)},
    }


def _inside(engine: ModuleType, outputs: Sequence[Any]) -> list[Any]:
    """What the nodes of a graph hold, in order; none where it is a graph no more."""
    with contextlib.suppress(Exception):
        nodes = engine.topological_order(outputs)
        return [
            [node.value, {**node.attrs}, [nodes.index(x) for x in node.inputs]] for node in nodes
        ]
    return []


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


# Besides one that nobody knows: names that Python, a node, NumPy and a part of a word have.
STRANGERS = ("Evil", "__import__", "__init__", "Init", "apply", "Save", "Const")


def _changes(data: Mapping[str, Any]) -> list[tuple[str, int | None, str, Any]]:
    """What is damaged: its name, the node's number (None: the file), the key, and the value."""
    last = len(data["nodes"]) - 1
    reader = next(i for i, node in enumerate(data["nodes"]) if node["inputs"])
    return [
        *((f"an operator {op}", last, "op", op) for op in STRANGERS),
        ("a node that reads itself", last, "inputs", [last]),
        ("a node that reads a later one", reader, "inputs", [last, 0]),
        ("a node that reads a later one", reader, "inputs", [0, last]),
        ("a node that reads node -1", last, "inputs", [-1]),
        ("a node that reads node -2", last, "inputs", [-2]),
        ("a node that reads node -2", reader, "inputs", [0, -2]),
        (f"a node that reads node {-last - 1}", last, "inputs", [-last - 1, 0]),
        (f"an output {last + 1} of {last + 1} nodes", None, "outputs", [last + 1, last]),
        (f"an output {last + 1} of {last + 1} nodes", None, "outputs", [last, last + 1]),
        ("an output -1", None, "outputs", [-1]),
        ("an output -2", None, "outputs", [-2]),
        ("an output -2", None, "outputs", [last, -2]),
        (f"an output {-last - 1}", None, "outputs", [-last - 1, last]),
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


def load_changed(
    path: str | os.PathLike[str], old: str | int = 0, new: str | None = ""
) -> mg.Graph:
    """What `mg.load_graph` makes of a saved graph with one change, and raises.

    old, new: a text that becomes another one, with checksums that fit again. Or old is a place:
    the byte there becomes the character new, and without one the file ends there.

    >>> import minigrad as mg
    >>> path = box() / "sum.graph"
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", shape=())
    ...     mg.build_graph(x, x + 3).save(path)
    >>> print(load_changed(path, "Add", "Sub").outputs[0].op)
    Sub
    """
    data = Path(path).read_bytes()
    if isinstance(old, str):
        data = _rewritten(path, old, str(new))
    else:
        data = data[:old] + (b"" if new is None else new.encode() + data[old + len(new) :])
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("changed.graph").write_bytes(data)
        return mg.load_graph("changed.graph")


def _rewritten(path: str | os.PathLike[str], old: str, new: str) -> bytes:
    """The archive with another text in it, and checksums that fit again."""
    file = io.BytesIO()
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(file, "w") as copied:
        for name in whole.namelist():
            copied.writestr(name, whole.read(name).replace(old.encode(), new.encode()))
    return file.getvalue()


def alone(
    id: str,
    engine: ModuleType,
    program: Callable[[ModuleType], Sequence[Any]],
    feed: Mapping[str, Any],
) -> Elsewhere:
    """A graph of a learner's engine, run by a Python that gets two files and nothing else.

    id: a row of the bank, as for `elsewhere`. engine: written as `engine.py`; the outputs that
    `program` builds with it, as JSON, by its `to_data`. feed: values for placeholders, by name.
    Printed are the outputs, and whether minigrad was imported there.

    >>> from viz.lesson import my_engine
    >>> alone("examples.sum", my_engine, lambda e: [e.placeholder("x") + 1.0], {"x": [1.0]}).lines
    ['[2.]', 'minigrad imported: False']
    """
    folder = box()
    (folder / "engine.py").write_text(inspect.getsource(engine), "utf-8")
    numbers = {name: np.asarray(value).tolist() for name, value in feed.items()}
    sent = {"graph": engine.to_data(program(engine)), "feed": numbers}
    (folder / "sent.json").write_text(json.dumps(sent), "utf-8")
    return elsewhere(id, folder)(RECEIVER)


RECEIVER = """
import json, sys, numpy as np, engine
sent = json.load(open("sent.json"))
outputs = engine.from_data(sent["graph"])
nodes = engine.topological_order(outputs)
session = engine.Session(*[n for n in nodes if n.op == "Variable"])
feed = {n: np.array(sent["feed"][n.name]) for n in nodes if n.op == "Placeholder"}
print(*session.run(outputs, feed), sep=chr(10))
print("minigrad imported:", "minigrad" in sys.modules)
"""
