"""The site that runs in a browser: its list of packages, its parts, who lays out drawings there."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from lessons import ROOT

from viz.picture import layout

sys.path.insert(0, str(ROOT / "docs"))

import packages

PARTS = ROOT / "docs" / "lite"
CDN = "address/of/a/cdn/"
LOCK: dict[str, Any] = {
    "info": {"python": "3.14.2"},
    "packages": {
        "numpy": {"name": "numpy", "file_name": "numpy.whl", "depends": []},
        "stack_data": {"name": "stack_data", "file_name": "stack.whl", "depends": ["Pure_Eval"]},
        "pure-eval": {"name": "pure-eval", "file_name": "pure.whl", "depends": []},
        "comm": {"name": "comm", "file_name": "old.whl", "depends": ["numpy"]},
    },
}


def wheel(folder: Path, name: str, *needs: str) -> Path:
    """A wheel as far as anyone reads it here."""
    path = folder / f"{name.replace('-', '_')}-1.0-py3-none-any.whl"
    needed = "".join(f"Requires-Dist: {need}\n" for need in needs)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("one/__init__.py", "")
        file.writestr("one/sub/deep.py", "")
        file.writestr("two.py", "")
        file.writestr("one-1.0.dist-info/METADATA", f"Name: {name}\nVersion: 1.0\n{needed}\n")
    return path


@pytest.fixture
def whole(tmp_path: Path) -> dict[str, Any]:
    """Pyodide's list with two wheels of ours, one in the place of one of theirs."""
    needs = ("numpy>=2.0", "Stack.Data", "absent", "pure-eval; extra == 'more'")
    ours = [wheel(tmp_path, "Our-Lessons", *needs), wheel(tmp_path, "comm")]
    return packages.locked(LOCK, CDN, ours)


def test_the_list_of_packages_holds_ours_and_theirs(whole: dict[str, Any], tmp_path: Path) -> None:
    made = whole["packages"]["our-lessons"]
    data = (tmp_path / made["file_name"]).read_bytes()
    assert made["sha256"] == hashlib.sha256(data).hexdigest()
    assert made["version"] == "1.0"
    assert made["imports"] == ["one", "two"], "what `import` says, which then needs no %pip"
    assert made["depends"] == ["numpy", "stack-data"], "neither an extra nor what nobody has"
    assert whole["packages"]["numpy"]["file_name"] == CDN + "numpy.whl"
    assert whole["packages"]["comm"]["version"] == "1.0", "of two, ours"
    assert whole["info"] == LOCK["info"]
    assert LOCK["packages"]["numpy"]["file_name"] == "numpy.whl", "the given list stays as it is"


def test_what_a_package_needs_is_followed_to_its_end(whole: dict[str, Any]) -> None:
    found = packages.needed(whole, "our-lessons")
    assert found == {"our-lessons", "numpy", "stack-data", "pure-eval"}
    with pytest.raises(KeyError, match="absent"):
        packages.needed(whole, "absent")


# ---- Who lays out ---------------------------------------------------------------------------


@pytest.fixture
def in_a_browser(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Python as the site starts it: no programs, and Graphviz as a module beside it."""
    asked: list[str] = []

    def answer(source: str) -> SimpleNamespace:
        asked.append(source)
        wrong = "Error: syntax error in line 1" if "digraph" not in source else ""
        return SimpleNamespace(svg="<svg/>", error=wrong)

    beside = ModuleType(layout.BROWSER)
    beside.__spec__ = SimpleNamespace(name=layout.BROWSER)  # type: ignore[assignment]
    beside.layout = answer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, layout.BROWSER, beside)

    def none(*_: Any, **__: Any) -> None:
        raise OSError("no programs in a browser")

    monkeypatch.setattr(layout.subprocess, "run", none)
    return asked


def test_in_a_browser_what_came_beside_python_lays_out(in_a_browser: list[str]) -> None:
    assert layout.layout("digraph { a -> b }") == "<svg/>"
    assert in_a_browser == ["digraph { a -> b }"]
    assert layout.layout_problem() is None
    with pytest.raises(layout.LayoutError, match="syntax error in line 1"):
        layout.layout("nonsense")


# ---- Parts of the site ----------------------------------------------------------------------


def test_python_finds_the_layout_under_the_name_that_the_start_gives_it() -> None:
    start = (PARTS / "start.mjs").read_text("utf-8")
    assert f'registerJsModule("{layout.BROWSER}"' in start


def test_none_is_nothing_for_the_browser_in_either_of_its_words() -> None:
    """Jupyter hands Python's None over as null, Pyodide as undefined."""
    for script in (ROOT / "viz" / "assets").glob("*.js"):
        assert not re.search(r"[!=]== null", script.read_text("utf-8")), script.name


def test_the_first_page_speaks_both_languages_and_asks_nobody_else() -> None:
    text = (PARTS / "index.html").read_text("utf-8")
    assert text.count('lang="en"') == text.count('lang="zh"') + 1, "and that of the page"
    assert 'id="jupyter-config-data"' in text, "without it no page of JupyterLite opens"
    assert "@SIZE@ MB" in text, "what will be downloaded is said beforehand"
    for part in PARTS.iterdir():
        assert "//" not in part.read_text("utf-8").replace("// ", ""), "an address"


ZIP = """
import {{ bytesOf, zipped }} from {keep};
const records = {records};
const zip = zipped(records.map((record) => [record.path, bytesOf(record)]));
process.stdout.write(new Uint8Array(await zip.arrayBuffer()));
"""


@pytest.mark.skipif(not shutil.which("node"), reason="Node runs the site's own JavaScript")
def test_what_the_browser_keeps_comes_out_as_a_zip(tmp_path: Path) -> None:
    cells = {"cells": [{"source": "y = 2  # 引擎"}]}
    records = [
        {"path": "课/00.ipynb", "type": "notebook", "format": "json", "content": cells},
        {"path": "my_engine/引擎.py", "type": "file", "format": "text", "content": "x = 1\n"},
        {"path": "p.png", "type": "file", "format": "base64", "content": "AAEC/w=="},
        {"path": "empty", "type": "file", "format": "text", "content": None},
    ]
    program = tmp_path / "zip.mjs"
    keep = json.dumps((PARTS / "keep.mjs").as_uri())
    program.write_text(ZIP.format(keep=keep, records=json.dumps(records)), "utf-8")
    made = tmp_path / "made.zip"
    made.write_bytes(subprocess.run(["node", program], check=True, capture_output=True).stdout)
    with zipfile.ZipFile(made) as file:
        assert file.testzip() is None
        assert json.loads(file.read("课/00.ipynb")) == cells
        assert file.read("my_engine/引擎.py") == b"x = 1\n"
        assert file.read("p.png") == b"\x00\x01\x02\xff"
        assert file.read("empty") == b""
