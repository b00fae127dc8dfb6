"""One list of names: each module says what is public, and packages hand it on."""

from __future__ import annotations

import ast
import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import pytest

import minigrad as mg
from minigrad import functions, ops

ROOT = Path(__file__).parents[1]
PACKAGES = ("minigrad", "minigrad.functions", "minigrad.ops")


def parsed(name: str) -> ast.Module:
    found = importlib.import_module(name).__file__
    return ast.parse(Path(found).read_text("utf-8"))


def handed_on(package: str) -> list[str]:
    """The modules whose names a package takes as they are."""
    imports = [n for n in parsed(package).body if isinstance(n, ast.ImportFrom)]
    return [str(n.module) for n in imports if n.names[0].name == "*"]


MODULES = sorted({m for package in PACKAGES for m in handed_on(package)} - {*PACKAGES})


@pytest.mark.parametrize("name", MODULES)
def test_each_module_lists_its_public_names(name: str) -> None:
    module = importlib.import_module(name)
    assert len(set(module.__all__)) == len(module.__all__)
    assert set(module.__all__) <= set(vars(module))


@pytest.mark.parametrize("name", [m for m in MODULES if m.startswith("minigrad.functions.")])
def test_a_function_without_an_underscore_is_public(name: str) -> None:
    module = importlib.import_module(name)
    own = {n for n, f in vars(module).items() if isinstance(f, FunctionType) and f.__doc__}
    own = {n for n in own if getattr(module, n).__module__ == name and not n.startswith("_")}
    assert own == set(module.__all__)


def named(package: str) -> Iterator[str]:
    """Every name that the source of a package writes out."""
    for node in ast.walk(parsed(package)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.alias):
            yield node.name.rpartition(".")[2]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_repeats_no_name(package: str) -> None:
    found = list(named(package))
    repeated = {name for module in handed_on(package) for name in mg_names(module)}
    assert repeated.isdisjoint(found)
    public = [name for name in found if name in mg.__all__]
    assert len(set(public)) == len(public)


def mg_names(module: str) -> list[str]:
    names: list[str] = importlib.import_module(module).__all__
    return names


def test_what_is_handed_on_is_public_and_nothing_else() -> None:
    alone = {a.asname for n in ast.walk(parsed("minigrad")) for a in getattr(n, "names", [])}
    taken = {name for module in handed_on("minigrad") for name in mg_names(module)}
    assert set(mg.__all__) == taken | (alone - {None})
    assert set(functions.__all__) == {n for m in handed_on(PACKAGES[1]) for n in mg_names(m)}
    assert {n for m in handed_on(PACKAGES[2]) for n in mg_names(m)} <= set(vars(ops))


RECORD = """
softsign = smooth(
    "Softsign",
    lambda out, x: np.divide(x, 1 + np.abs(x), out=out),
    vjp=(lambda g, y, x: g / ((1 + abs(x)) * (1 + abs(x))),),
    title=("softsign", "软符号函数"),
    formula="{0} / (1 + |{0}|)",
)
"""
FUNCTION = '''
def softsign(x: Any) -> Any:
    """x / (1 + |x|), between −1 and 1.

    >>> import minigrad as mg
    >>> mg.softsign(mg.tensor([1.0, -3.0]))
    tensor([ 0.5 , -0.75])
    """
    return ops.softsign(x)
'''


def grown(path: Path, text: str) -> None:
    """Write a definition, and its name into the list of its module."""
    before = path.read_text("utf-8")
    after = before.replace("__all__ = [", '__all__ = ["softsign", ', 1)
    assert after != before
    path.write_text(after.replace("import exp\n", "import abs, exp\n") + text, "utf-8")


def test_a_new_operator_is_its_record_and_its_function(tmp_path: Path) -> None:
    for package in ("minigrad", "viz", "docs"):
        shutil.copytree(ROOT / package, tmp_path / package)
    (tmp_path / "tests").mkdir()
    for name in ("every_op", "functions", "reference", "special_values"):
        shutil.copy(ROOT / "tests" / f"test_{name}.py", tmp_path / "tests")
    grown(tmp_path / "minigrad" / "ops" / "activations.py", RECORD)
    grown(tmp_path / "minigrad" / "functions" / "elementwise.py", FUNCTION)
    chosen = ["-k", "softsign or Softsign", "-rA", "-p", "no:cacheprovider"]
    documented = ["--doctest-modules", "minigrad/functions/elementwise.py"]
    said = subprocess.run(
        [sys.executable, "-m", "pytest", "tests", *documented, *chosen],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert said.returncode == 0, said.stdout
    for test in ("every_op.py", "exported_and", "elementwise.softsign", "shows_what_it", "quietly"):
        assert [x for x in said.stdout.splitlines() if "PASSED" in x and test in x], test
