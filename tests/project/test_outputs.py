"""What `tests/outputs.py` stores: the same on every machine, whoever runs it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import nbformat
import outputs
import pytest

from viz.picture import layout
from viz.words import user_files

CELLS = (
    "import minigrad_lessons as lessons, viz\nviz.language()",
    "from minigrad_lessons.lesson import learner_engine as e\n"
    "e.parts_written()['L00'], lessons.progress()",
    "lessons.engine('L01').dynamic([], 3)",
    "from viz.picture.layout import layout\nlayout('digraph { a -> b }')[:9]",
    "import os\nsorted(name for name in os.environ if name.startswith('MINIGRAD'))",
)
OWN = '''# ---- L00: what happened, in order ----


def dynamic(steps, x):  # yours
    """A learner's own."""
    return "mine"
'''


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A notebook beside a learner's engine and choices, on a machine with settings of its own."""
    folder = tmp_path / "my_engine"
    folder.mkdir()
    (folder / "engine.py").write_text(OWN, "utf-8")
    chosen = {"language": {"language": "zh", "instead": "en"}, "progress": {}}
    (tmp_path / ".minigrad.json").write_text(json.dumps(chosen), "utf-8")
    monkeypatch.delenv(user_files.FOLDER)
    monkeypatch.setenv("MINIGRAD_LANGUAGE", "zh")
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    path = tmp_path / "00_notebook.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def texts(path: Path) -> list[str]:
    """What each cell gives, as text."""
    found = []
    for cell in nbformat.read(path, as_version=4).cells:
        data = [o.get("data", {}).get("text/plain", "") for o in cell.outputs]
        found.append("\n".join([*data, *(o.get("text", "") for o in cell.outputs)]).strip())
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="a script stands for `dot`")
def test_nothing_of_the_learner_and_the_machine_is_stored(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dot = tmp_path / "bin" / "dot"
    dot.parent.mkdir()
    dot.write_text("#!/bin/sh\necho of this machine\n")
    dot.chmod(0o755)
    monkeypatch.setenv("PATH", f"{dot.parent}{os.pathsep}{os.environ['PATH']}")
    before = sorted(x.name for x in tmp_path.rglob("*"))
    outputs.refresh(notebook)
    language, kept, engine, drawn, variables = texts(notebook)
    assert language == "Language: English"
    assert "'dynamic': False" in kept
    assert "No answers are kept" in kept
    assert "ours, until you've written your own: dynamic, static" in engine
    assert engine.startswith("3\n") or engine.endswith("\n3")
    assert drawn in ("'<?xml ver'", "'<svg widt'")
    assert variables == str(sorted(["MINIGRAD_LANGUAGE", user_files.FOLDER, layout.PINNED]))
    assert sorted(x.name for x in tmp_path.rglob("*")) == before
    assert (tmp_path / "my_engine" / "engine.py").read_text("utf-8") == OWN


def test_without_the_pinned_program_nothing_is_stored(
    notebook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "bundled_dot", lambda: None)
    before = notebook.read_bytes()
    with pytest.raises(SystemExit, match="graphviz-pure"):
        outputs.refresh(notebook)
    assert notebook.read_bytes() == before
