"""Ask a system what the programs in its words answer; print it as one line of JSON.

    python tests/faces/asked.py torch

The Python that is asked may be an old one of an environment of its own: it needs NumPy, the system,
and nothing of minigrad.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import io
import json
import linecache
import math
import os
import re
import sys
import types
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HERE = Path(__file__).parent


class System(NamedTuple):
    """What a system is called, its module and its face, and the distributions that hold it.

    own: what pip installs for it into an environment of its own, where it cannot share ours.
    """

    title: str
    module: str
    face: str
    wheels: tuple[str, ...] = ()
    own: tuple[str, ...] = ()


SYSTEMS = {
    "torch": System("PyTorch", "torch", "minigrad.faces.torch", ("torch",)),
    "tensorflow1": System(
        "TensorFlow 1 (`tensorflow.compat.v1`)",
        "tensorflow.compat.v1",
        "minigrad.faces.tensorflow1",
        ("tensorflow-cpu", "tensorflow"),
    ),
    "tensorflow": System(
        "TensorFlow 2",
        "tensorflow",
        "minigrad.faces.tensorflow",
        ("tensorflow-cpu", "tensorflow"),
    ),
    "jax": System("JAX", "jax", "minigrad.faces.jax", ("jax",)),
    "theano": System(
        "Theano",
        "theano",
        "minigrad.faces.theano",
        ("Theano-PyMC",),
        (
            *("--no-deps", "--no-binary", "theano-pymc"),
            *("theano-pymc==1.1.2", "numpy==1.23.5", "scipy==1.10.1", "filelock", "setuptools<60"),
        ),
    ),
    "dynet": System("DyNet", "dynet", "minigrad.faces.dynet", ("dynet38",), ("dynet38==2.2",)),
    "cntk": System("CNTK", "cntk", "minigrad.faces.cntk"),
}
# What goes on where a system stopped: its programs are asked with other imports, as on a face.
HEIRS = {
    "pytensor": System("PyTensor", "theano", "pytensor", ("pytensor",), ("pytensor==3.0.7",)),
}


class Program(NamedTuple):
    """A program in the words of a system: a cell of the file that holds all of them.

    source: its lines below as many empty ones as there are above it in the file, so that its
    errors and functions have the lines of the file.
    """

    system: str
    name: str
    source: str

    @property
    def file(self) -> Path:
        return HERE / "programs" / f"{self.system}.py"


def programs(system: str) -> list[Program]:
    """Read the programs of a system, or of what it is the heir of; `# %% name` begins each."""
    words = HEIRS[system].module if system in HEIRS else system
    text = (HERE / "programs" / f"{words}.py").read_text("utf-8")
    heads = list(re.finditer(r"^# %% (\w+)\n", text, re.MULTILINE))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return [
        Program(words, head[1], "\n" * text.count("\n", 0, head.end()) + text[head.end() : end])
        for head, end in zip(heads, ends)  # noqa: B905  # an old Python may be asked
    ]


def on_face(source: str, system: System) -> str:
    """A program with the imports of the face, line for line."""
    module = re.escape(system.module)
    source = re.sub(rf"^from {module}\b", f"from {system.face}", source, flags=re.MULTILINE)
    plain = rf"^import {module}((?:\.\w+)*) as "
    source = re.sub(plain, rf"import {system.face}\1 as ", source, flags=re.MULTILINE)
    return re.sub(
        rf"^import {module}$", f"import {system.face} as {module}", source, flags=re.MULTILINE
    )


def of_heir(name: str, program: Program) -> Any:
    """What the heir of a system answers, or that it has given something up."""
    try:
        return answers(program, HEIRS[name])
    except Exception as error:  # noqa: BLE001  # whatever it says of what it has no longer
        return {"given up": str(error).split(" (")[0].split(". ")[0]}


def version(system: System) -> str | None:
    """The version that is installed here."""
    for wheel in system.wheels:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            return f"{wheel} {importlib.metadata.version(wheel)}"
    return None


def here(program: Program) -> bool:
    """Whether what a program names under "needs" beside the system is installed."""
    needed = re.findall(r"^# needs (\w+)$", program.source, re.MULTILINE)
    return all(importlib.util.find_spec(module) for module in needed)


def answers(program: Program, on: System | None = None) -> Any:
    """What a program answers, and what it prints, when it runs with the imports of a face."""
    printed = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("ignore")
        module = types.ModuleType(f"{program.system}_{program.name}")
        source = on_face(program.source, on) if on else program.source
        execute(source, str(program.file), module.__dict__)
        found = plain(module.__dict__["answers"])
    lines = printed.getvalue().split("\n")[:-1]
    return {**found, "printed": lines} if lines else found


def execute(source: str, file: str, place: dict[str, Any]) -> None:
    """Run lines as those of a module whose source and classes can be asked for."""
    module = types.ModuleType(place["__name__"])
    module.__file__, module.__dict__["__name__"] = file, place["__name__"]
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, file, "exec"), place)
    finally:
        del sys.modules[module.__name__], linecache.cache[file]


def plain(value: Any) -> Any:
    """Numbers, texts and lists, whatever they were."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (str, bool)):
        return value
    array = np.asarray(value.detach().numpy() if hasattr(value, "detach") else value)
    return plain(array.tolist()) if array.dtype.kind in "OV" else _numbers(array.tolist())


def _numbers(value: Any) -> Any:
    """Floats as short as they compare, and with names for those that JSON does not have."""
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.7g}") if math.isfinite(value) else str(value)
    return value


if __name__ == "__main__":
    (name,) = sys.argv[1:]
    del sys.argv[1:]  # which some systems read as well
    if importlib.util.find_spec("tf_keras"):  # which has the cells of TensorFlow 1
        os.environ["TF_USE_LEGACY_KERAS"] = str(int(name == "tensorflow1"))
    asked = filter(here, programs(name))
    if name in HEIRS:
        found = {program.name: of_heir(name, program) for program in asked}
    else:
        found = {program.name: answers(program) for program in asked}
    told = version((SYSTEMS | HEIRS)[name])
    print(json.dumps({"version": told, "answers": found}, ensure_ascii=False))
