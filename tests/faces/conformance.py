"""Small programs in the words of other systems, run on the faces and on the systems themselves.

A program, a cell of `programs/SYSTEM.py`, is written for the system itself; for the face only its
imports are exchanged. What it binds to `answers`, and what it prints, is compared. The answers of
the real systems are kept in `answers/`, so that every test run compares with them:

    python tests/faces/conformance.py          writes docs/conformance.md and the README's tables
    python tests/faces/conformance.py torch    first asks the real torch, in a process of its own

A system that cannot share the environment of the others gets one of its own in `build/systems/`;
`--python` names another Python to ask.
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib
import json
import math
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
import types
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from asked import HEIRS, HERE, SYSTEMS, Program, System, answers, plain, programs, version

ROOT = HERE.parents[1]
OWN = ROOT / "build" / "systems"


@functools.cache
def answers_of_face(program: Program) -> Any:
    """What a program answers with the imports of the face."""
    return answers(program, SYSTEMS[program.system])


def differences(ours: Any, theirs: Any) -> list[str]:
    """The names of the answers that differ."""
    return [k for k in {**ours, **theirs} if not alike(ours.get(k, k), theirs.get(k, k))]


def alike(a: Any, b: Any) -> bool:
    """Equal texts, lengths and numbers, apart from the last places of a float32."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return not differences(a, b)
    if isinstance(a, bool) or isinstance(b, bool) or not isinstance(a, (int, float)):
        return type(a) is type(b) and bool(a == b)
    return isinstance(b, (int, float)) and math.isclose(a, b, rel_tol=2e-5, abs_tol=2e-6)


# ---- The real systems ---------------------------------------------------------------------------


SETTINGS = {  # so that each says no more than it is asked, and Theano needs no compiler
    "JAX_PLATFORMS": "cpu",
    "PYTENSOR_FLAGS": f"cxx=,linker=py,base_compiledir={OWN / 'pytensor' / 'compiled'}",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "THEANO_FLAGS": f"cxx=,blas__ldflags=,base_compiledir={OWN / 'theano' / 'compiled'}",
}


def ask(name: str, python: str | None = None) -> dict[str, Any]:
    """All answers of a real system, from a process of its own."""
    environment = {**os.environ, **SETTINGS}
    command = [python or python_of(name), str(HERE / "asked.py"), name]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def python_of(name: str) -> str:
    """The Python that has a system: this one, or that of the system's own environment."""
    system = (SYSTEMS | HEIRS)[name]
    if version(system):
        return sys.executable
    if not system.own:
        raise NotHere(f"{system.title} is not installed")
    folder = OWN / name
    stamp, made_of = folder / "made-of.json", json.dumps([sys.version, *system.own])
    if not stamp.exists() or stamp.read_text("utf-8") != made_of:
        make(folder, system.own)
        stamp.write_text(made_of, "utf-8")
    return python_in(folder)


def make(folder: Path, wheels: tuple[str, ...]) -> None:
    """An environment with these wheels and nothing else; NotHere where there are none."""
    venv.create(folder, clear=True)
    if shutil.which("uv"):
        command = ["uv", "pip", "install", "--python", python_in(folder)]
    else:
        command = [sys.executable, "-m", "pip", "--python", python_in(folder), "install"]
    command += ["--only-binary", ":all:", *wheels]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        raise NotHere(f"{' '.join(wheels)} could not be installed: {done.stderr.strip()}")


def python_in(folder: Path) -> str:
    """The Python of an environment."""
    return str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


class NotHere(Exception):
    """A system that cannot be asked on this machine, and why."""


def kept(name: str) -> dict[str, Any]:
    """What the real system answered when it was last asked.

    Where there is no wheel of it: what its documentation says it answers, which each program
    cites and holds as `documented`.
    """
    if not (SYSTEMS | HEIRS)[name].wheels:
        found = {program.name: documented(program) for program in programs(name)}
        return {"version": UNRUN[0], "answers": found}
    answered: dict[str, Any] = json.loads((HERE / "answers" / f"{name}.json").read_text("utf-8"))
    return answered


def documented(program: Program) -> Any:
    """The answers that a program cites; nothing of it is run for that."""
    for line in ast.parse(program.source).body:
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "documented":
            return plain(ast.literal_eval(line.value))
    raise ValueError(f"{program.name} cites no answers")


def keep(name: str, python: str | None) -> None:
    """Ask the real system and keep what it answers, one answer a line.

    What it was asked before and could not be asked now, because a package is missing, is kept.
    """
    file, found = HERE / "answers" / f"{name}.json", ask(name, python)
    before = kept(name)["answers"] if file.exists() else {}
    there = {program.name for program in programs(name)}
    found["answers"] = {
        one: found["answers"].get(one, before.get(one))
        for one in sorted(there & {*found["answers"], *before})
    }
    file.write_text(spread(found, 3) + "\n", "utf-8")


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
Of a system that has no wheel any more, the answers are those that its documentation prints and its
own tests expect; each program says where.

"""
UNRUN = ("not run: values from its documentation", "没有运行：数值取自它的文档")
ROW = re.compile(r"^\| `minigrad\.faces\..*\n", re.MULTILINE)


class Result(NamedTuple):
    """A program, what it shows, how many answers it gives, and which of them differ."""

    program: Program
    shows: str
    count: int
    differ: list[str]


def compared(name: str) -> Iterator[Result]:
    """Each program of a system, run on the face and held against what is kept."""
    theirs = kept(name)["answers"]
    for program in programs(name):
        ours, answered = answers_of_face(program), theirs[program.name]
        shows = str(ast.get_docstring(ast.parse(program.source))).split("\n")[0]
        yield Result(program, shows, len(answered), differences(ours, answered))


def modules(name: str) -> list[types.ModuleType]:
    """The modules of a face that the system has as well, and not those they are made of."""
    face = importlib.import_module(SYSTEMS[name].face)
    inner = pkgutil.walk_packages(getattr(face, "__path__", ()), f"{face.__name__}.")
    found = [face, *(importlib.import_module(module.name) for module in inner)]
    return [module for module in found if "face" in vars(module)]


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
    file = results[0].program.file.relative_to(ROOT).as_posix()
    lines = [
        f"## {system.title}: `{system.face}`\n",
        f"{kept(name)['version']}: {agree} of {len(results)} [programs](../{file}) agree.\n",
        "| program | what it shows | answers | differ |\n|---|---|--:|---|",
    ]
    for program, shows, count, differ in results:
        lines.append(f"| {program.name} | {shows} | {count} | {', '.join(differ) or '–'} |")
    lines += [
        f"\n- `{program.name}`, {found}: {why[program.name][found]}."
        for program, _, _, differ in results
        for found in differ
    ]
    lines += [
        f"\n{inherited(heir, theirs)}" for heir, theirs in HEIRS.items() if theirs.module == name
    ]
    lines.append("\nWhat the face knows:\n")
    lines += [f"- `{face_name(m)}`: {', '.join(f'`{n}`' for n in dir(m))}" for m in modules(name)]
    return "\n".join(lines) + "\n"


def inherited(heir: str, system: System) -> str:
    """What the heir of a system makes of the same programs, beside what that answers."""
    found, before = kept(heir), kept(system.module)["answers"]
    told = []
    for stem, now in found["answers"].items():
        differ = differences(now, before[stem])
        about = now.get("given up") or ", ".join(differ)
        told += [f"`{stem}` ({about})"] if differ else []
    alike = len(before) - len(told)
    return (
        f"{found['version']}, which goes on where {SYSTEMS[system.module].title} stopped, answers"
        f" {alike} of {len(before)} programs alike. Not alike: {'; '.join(told)}.\n"
    )


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
        version = kept(name)["version"]
        for i in range(2):
            said = UNRUN[i] if version == UNRUN[0] else version
            tables[i] += f"| `{face}` | {names(name)} | {said} | {agree} / {len(found)} |\n"
    halves = iter(tables)
    return re.sub(rf"(?:{ROW.pattern})+", lambda _: next(halves), readme, flags=re.MULTILINE)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("systems", nargs="*", help=f"asked anew: {', '.join(SYSTEMS | HEIRS)}")
    parser.add_argument("--python", help="one that has the system, in place of this or its own")
    options = parser.parse_args()
    for system in options.systems:
        keep(system, options.python)
    found = {name: list(compared(name)) for name in SYSTEMS}
    PAGE.write_text(page(found), "utf-8")
    README.write_text(written(README.read_text("utf-8"), found), "utf-8")
