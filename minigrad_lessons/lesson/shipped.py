"""Graphs that go through files: what a learner's engine and minigrad write, read and refuse.

`alone` uses a learner's engine, the others minigrad. `shipped` makes a page that needs neither.
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
from viz.page.document import write_page
from viz.words.text import row

__all__ = ["alone", "box", "load_changed", "reads", "shipped"]

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


class Shipped:
    """A graph as JavaScript, in `source`; `str` of it has its steps, which are what computes."""

    def __init__(self, graph: mg.Graph, inputs: Mapping[Any, Any], session: Any) -> None:
        given = {getattr(key, "name", key): np.asarray(x) for key, x in inputs.items()}
        graph = graph.optimize([mg.passes.with_shapes({k: x.shape for k, x in given.items()})])
        self.source = mg.compile(graph, executor="js", session=session).source
        shapes: dict[str, Any] = {graph.labels[x]: x.shape for x in graph.placeholders}
        filled = {name: np.zeros(shape) for name, shape in shapes.items()} | given
        self._start = [filled[name].ravel().tolist() for name in shapes]

    def __repr__(self) -> str:
        return self.source.partition("const steps = [\n")[2].partition("\n  ];\n")[0]

    def save(self, path: str | os.PathLike[str]) -> Shipped:
        """Write one HTML file, .html, that runs the graph without Python and without a network."""
        texts = {name: row(f"shipped_{name}") for name in ("inputs", "outputs", "wrong")}
        script = Path(__file__).with_suffix(".js").read_text("utf-8")
        data = {"data": {"texts": texts, "start": self._start}}
        module = f"const make = {self.source.rstrip()};\n{script}"
        write_page(Path(path), row("shipped"), module=module, values=data)
        return self


def shipped(graph: mg.Graph, inputs: Any = None, session: Any = None) -> Shipped:
    """Turn a graph into JavaScript; `.save("model.html")` writes a page that runs it anywhere.

    The page has a field and a slider for each number that goes in, and a table of what comes out.
    inputs: a mapping of what it begins with, by name or placeholder, else 0; their shapes are those
    of the page. session: what holds the values of the variables, if they were trained.

    >>> with mg.Graph():
    ...     x = mg.placeholder("x", shape=(2,))
    ...     page = shipped(mg.build_graph(x, mg.tanh(x)))
    >>> "Math.tanh" in str(page)
    True
    """
    return Shipped(graph, inputs or {}, session)
