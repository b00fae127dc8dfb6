"""Graphs that go through files: what a learner's engine and minigrad write, read and refuse.

`alone` uses a learner's engine, the others minigrad.
"""

from __future__ import annotations

import atexit
import contextlib
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
from minigrad_lessons.lesson.elsewhere import Elsewhere, elsewhere

__all__ = ["alone", "box", "load_changed", "reads"]

mg.treat_as_user_code(__file__, False)  # a file is loaded where the user asks for it, and not here


def box() -> Path:
    """Create an empty folder for saved files; it is deleted when Python ends.

    >>> list(box().iterdir())
    []
    """
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def reads(formula: Callable[[Any], Any]) -> dict[str, list[int]]:
    """Map each node of a formula's graph, by number and operator, to its inputs' numbers.

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
    """Load a saved graph after one change; return or raise what `mg.load_graph` does.

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
        data = _rewrite_file(path, old, str(new))
    else:
        data = data[:old] + (b"" if new is None else new.encode() + data[old + len(new) :])
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("changed.graph").write_bytes(data)
        return mg.load_graph("changed.graph")


def _rewrite_file(path: str | os.PathLike[str], old: str, new: str) -> bytes:
    """Return the archive with a text replaced, and with valid checksums."""
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
    """Run a graph of a learner's engine in a new Python process that gets only two files.

    id: a row of the bank, as for `elsewhere`. engine: written as `engine.py`; the outputs that
    `program` builds with it, as JSON, by its `to_data`. feed: values for placeholders, by name.
    Printed are the outputs, and whether minigrad was imported there.

    >>> from minigrad_lessons.lesson import my_engine
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
