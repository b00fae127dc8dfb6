"""Small programs in the words of other systems, run on the faces and on the systems themselves.

A program in `programs/SYSTEM/` is written for the system itself; for the face only its imports are
exchanged. What it binds to `answers`, and what it prints, is compared. The answers of the real
systems are kept in `answers/`, so that every test run compares with them:

    python tests/faces/conformance.py          writes docs/conformance.md and the README's tables
    python tests/faces/conformance.py torch    first asks the real torch, in a process of its own
"""

from __future__ import annotations

import ast
import contextlib
import importlib.metadata
import io
import json
import linecache
import math
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


class System(NamedTuple):
    """What a system is called, its module and its face, and the distributions that hold it."""

    title: str
    module: str
    face: str
    wheels: tuple[str, ...] = ()


SYSTEMS = {
    "torch": System("PyTorch", "torch", "minigrad.faces.torch", ("torch",)),
    "tensorflow1": System(
        "TensorFlow 1 (`tensorflow.compat.v1`)",
        "tensorflow.compat.v1",
        "minigrad.faces.tensorflow1",
        ("tensorflow-cpu", "tensorflow"),
    ),
    "jax": System("JAX", "jax", "minigrad.faces.jax", ("jax",)),
}


def programs(system: str) -> list[Path]:
    """The programs that are there for a system."""
    return sorted((HERE / "programs" / system).glob("*.py"))


def on_face(source: str, system: System) -> str:
    """A program with the imports of the face, line for line."""
    module = re.escape(system.module)
    source = re.sub(rf"^from {module}\b", f"from {system.face}", source, flags=re.MULTILINE)
    plain = rf"^import {module}((?:\.\w+)*) as "
    source = re.sub(plain, rf"import {system.face}\1 as ", source, flags=re.MULTILINE)
    return re.sub(
        rf"^import {module}$", f"import {system.face} as {module}", source, flags=re.MULTILINE
    )


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


def answers(path: Path, face: bool) -> Any:
    """What a program answers on the face, or on the real system."""
    source = path.read_text("utf-8")
    if face:
        source = on_face(source, SYSTEMS[path.parent.name])
    printed = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("ignore")
        module = types.ModuleType(f"{path.parent.name}_{path.stem}")
        execute(source, str(path), module.__dict__)
        found = plain(module.__dict__["answers"])
    return found | ({"printed": printed.getvalue().split("\n")[:-1]} if printed.getvalue() else {})


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


def differences(ours: Any, theirs: Any) -> list[str]:
    """The names of the answers that differ."""
    return [k for k in {**ours, **theirs} if not alike(ours.get(k, k), theirs.get(k, k))]


def alike(a: Any, b: Any) -> bool:
    """Equal texts, lengths and numbers, apart from the last places of a float32."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, bool) or isinstance(b, bool) or not isinstance(a, (int, float)):
        return type(a) is type(b) and bool(a == b)
    return isinstance(b, (int, float)) and math.isclose(a, b, rel_tol=2e-5, abs_tol=2e-6)


# ---- The real systems ---------------------------------------------------------------------------


def version(system: System) -> str | None:
    """The version that is installed here."""
    for wheel in system.wheels:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            return f"{wheel} {importlib.metadata.version(wheel)}"
    return None


def ask(name: str) -> dict[str, Any]:
    """All answers of a real system, from a process of its own."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, __file__, "--here", name]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def asked_here(name: str) -> str:
    """The same in this process, as one line."""
    found = {path.stem: answers(path, face=False) for path in programs(name)}
    return json.dumps({"version": version(SYSTEMS[name]), "answers": found}, ensure_ascii=False)


def kept(name: str) -> dict[str, Any]:
    """What the real system answered when it was last asked."""
    found: dict[str, Any] = json.loads((HERE / "answers" / f"{name}.json").read_text("utf-8"))
    return found


def keep(name: str) -> None:
    """Ask the real system and keep what it answers, one answer a line."""
    text = spread(ask(name), 3) + "\n"
    (HERE / "answers" / f"{name}.json").write_text(text, "utf-8")


def spread(value: Any, levels: int, indent: str = "") -> str:
    """JSON with one key a line, down to that many levels."""
    if not (isinstance(value, dict) and levels and value):
        return json.dumps(value, ensure_ascii=False)
    inner = indent + " "
    rows = [f"{inner}{json.dumps(k)}: {spread(v, levels - 1, inner)}" for k, v in value.items()]
    return "{\n" + ",\n".join(rows) + f"\n{indent}}}"


def explained(name: str) -> dict[str, dict[str, str]]:
    """For each program the answers that differ, and why."""
    table = tomllib.loads((HERE / "disagreements.toml").read_text("utf-8"))
    found: dict[str, dict[str, str]] = table.get(name, {})
    return found


# ---- The page and the tables of the README ------------------------------------------------------

PAGE, README = ROOT / "docs" / "conformance.md", ROOT / "README.md"
HEAD = """# What the faces do beside the systems whose words they speak

Written by `python tests/faces/conformance.py`; a name behind it, such as `torch`, asks that system
anew. Each program is written for the system itself and runs on the face with other imports. What it
answers (values, gradients, shapes, kinds of errors, counts of traces) is compared, numbers to 2e-5.

"""
ROW = re.compile(r"^\| `minigrad\.faces\..*\n", re.MULTILINE)


class Result(NamedTuple):
    """A program, what it shows, how many answers it gives, and which of them differ."""

    path: Path
    shows: str
    count: int
    differ: list[str]


def compared(name: str) -> Iterator[Result]:
    """Each program of a system, run on the face and held against what is kept."""
    theirs = kept(name)["answers"]
    for path in programs(name):
        ours = answers(path, face=True)
        shows = str(ast.get_docstring(ast.parse(path.read_text("utf-8")))).split("\n")[0]
        yield Result(path, shows, len(theirs[path.stem]), differences(ours, theirs[path.stem]))


def modules(name: str) -> list[types.ModuleType]:
    """The modules of a face."""
    face = importlib.import_module(SYSTEMS[name].face)
    inner = pkgutil.walk_packages(getattr(face, "__path__", ()), f"{face.__name__}.")
    return [face, *(importlib.import_module(found.name) for found in inner)]


def names(name: str) -> int:
    """How many names a face knows, modules left out."""
    return sum(
        not isinstance(getattr(module, found), types.ModuleType)
        for module in modules(name)
        for found in dir(module)
    )


def section(name: str, results: list[Result]) -> str:
    """What the page says of one system."""
    system, why = SYSTEMS[name], explained(name)
    agree = sum(not result.differ for result in results)
    lines = [
        f"## {system.title}: `{system.face}`\n",
        f"{kept(name)['version']}: {agree} of {len(results)} programs agree.\n",
        "| program | what it shows | answers | differ |\n|---|---|--:|---|",
    ]
    for path, shows, count, differ in results:
        link = f"[{path.stem}](../{path.relative_to(ROOT).as_posix()})"
        lines.append(f"| {link} | {shows} | {count} | {', '.join(differ) or '–'} |")
    lines += [
        f"\n- `{path.stem}`, {found}: {why[path.stem][found]}."
        for path, _, _, differ in results
        for found in differ
    ]
    lines.append("\nWhat the face knows:\n")
    lines += [f"- `{face_name(m)}`: {', '.join(f'`{n}`' for n in dir(m))}" for m in modules(name)]
    return "\n".join(lines) + "\n"


def face_name(module: types.ModuleType) -> str:
    """What users of the system call a module of a face."""
    return str(vars(module)["face"].place)


def page(results: dict[str, list[Result]]) -> str:
    """The whole page."""
    return HEAD + "\n".join(section(name, found) for name, found in results.items())


def written(readme: str, results: dict[str, list[Result]]) -> str:
    """The README with its two tables of faces as they should be."""
    tables = ["", ""]
    for name, found in results.items():
        face, agree = SYSTEMS[name].face, sum(not result.differ for result in found)
        about = f"| {names(name)} | {kept(name)['version']} | {agree} / {len(found)} |\n"
        for i in range(2):
            tables[i] += f"| `{face}` {about}"
    halves = iter(tables)
    return re.sub(rf"(?:{ROW.pattern})+", lambda _: next(halves), readme, flags=re.MULTILINE)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        print(asked_here(sys.argv[2]))
    else:
        for system in sys.argv[1:]:
            keep(system)
        found = {name: list(compared(name)) for name in SYSTEMS}
        PAGE.write_text(page(found), "utf-8")
        README.write_text(written(README.read_text("utf-8"), found), "utf-8")
