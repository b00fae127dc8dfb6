"""Programs in a process of their own, what was kept of them, and graphs that go through files."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import minigrad_lessons as lessons
import viz
from minigrad.diagnostics.messages import set_language
from minigrad_lessons import questions
from minigrad_lessons.lesson import elsewhere
from minigrad_lessons.lesson import my_engine as ours
from minigrad_lessons.questions import RecordedProgram

SEES = "print(__import__('os').listdir(), 'notebook' in globals())"


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> dict[str, RecordedProgram]:
    """Rows that the bank is said to have."""
    rows: dict[str, RecordedProgram] = {}
    monkeypatch.setattr(elsewhere, "find_recorded_program", rows.__getitem__)
    return rows


def test_a_program_runs_in_its_folder_and_knows_nothing_else(
    kept: dict[str, RecordedProgram], tmp_path: Path
) -> None:
    kept["a"] = RecordedProgram("a", (), "Python 3.0", "other")
    (tmp_path / "sent").write_text("x")
    found = lessons.elsewhere("a", tmp_path)(SEES)
    assert found.lines == ["['sent'] False"]
    assert "printed just now" in str(found)
    assert "Python 3.0" not in str(found)
    assert lessons.elsewhere("a", tmp_path)(
        "import minigrad; print(minigrad.tensor(1.0))"
    ).lines == ["tensor(1.)"]


def test_the_error_that_stops_it_is_its_last_line(
    kept: dict[str, RecordedProgram], tmp_path: Path
) -> None:
    kept["a"] = RecordedProgram("a", (), "Python 3.0", "other")
    told = lessons.elsewhere("a", tmp_path)("print(1)\nqqzz").lines
    assert told == ["1", "NameError: name 'qqzz' is not defined"]
    several = "import minigrad as mg\nwith mg.Session() as s: s.run(mg.Variable(1.0))"
    assert lessons.elsewhere("a", tmp_path)(several).lines[-1].startswith("minigrad.")
    quiet = "import warnings; warnings.warn('hm'); print('é≥中')"
    assert lessons.elsewhere("a", tmp_path)(quiet).lines == ["é≥中"]


@pytest.mark.parametrize("where", ["emscripten", "package"])
def test_what_cannot_run_here_is_shown_as_it_was_kept(
    where: str, kept: dict[str, RecordedProgram], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs = ("json", "nowhere_at_all") if where == "package" else ()
    kept["a"] = RecordedProgram("a", needs, "nowhere 1.0", "3 < 4\nso it was")
    if where == "emscripten":
        monkeypatch.setattr(sys, "platform", where)
    found = lessons.elsewhere("a", tmp_path)("print(2)")
    assert found.lines == ["3 < 4", "so it was"]
    html = found._repr_html_()
    for text in (str(found), html):
        assert "stored result, measured on" in text
        assert "nowhere 1.0" in text
        assert ("nowhere_at_all" in text) is (where == "package")
    assert "3 &lt; 4" in html
    set_language("zh")
    assert "保存下来" in str(found)
    set_language("en")


def test_a_row_of_the_bank_is_read_and_an_unknown_one_refused(tmp_path: Path) -> None:
    lesson = questions.parse(
        '[[kept]]\nid = "a"\nneeds = ["x"]\nversion = "1"\nprints = """\n2\n"""'
    )
    assert lesson.kept == {"a": RecordedProgram("a", ("x",), "1", "2")}
    with pytest.raises(KeyError, match="L77"):
        lessons.elsewhere("L77.x", tmp_path)
    page = lessons.elsewhere("examples.sum", tmp_path)("print(1 + 1)").save(tmp_path / "x.html")
    assert "printed just now" in page.read_text("utf-8")


# ---- A learner's engine ----------------------------------------------------------------------


def diamond(engine: Any) -> list[Any]:
    x, w = engine.placeholder("x"), engine.variable(np.float32([1, 2]), "w")
    part = x * w
    return [(part * part).sum(axis=(0, 1)), part]


def test_the_file_of_our_engine_is_plain_json_and_exact() -> None:
    number = 0.1 + 0.2
    data = ours.to_data([ours.placeholder("x") * number])
    text = json.dumps(data)
    assert json.loads(text) == data
    assert ours.from_data(json.loads(text))[0].inputs[1].value == number


# ---- Minigrad's files ------------------------------------------------------------------------


def sum_file(folder: Path) -> Path:
    with mg.Graph():
        x = mg.placeholder("x", shape=(10, 20))
        mg.build_graph(x, x + mg.Variable(np.ones((10, 20), np.float32), name="w")).save(
            folder / "sum.graph"
        )
    return folder / "sum.graph"


def test_a_changed_file_is_loaded_or_refused_as_that_change_deserves(tmp_path: Path) -> None:
    path = sum_file(tmp_path)
    before = path.read_bytes()
    assert lessons.load_changed(path, "Add", "Sub").outputs[0].op.name == "Sub"
    assert lessons.load_changed(path, "Add", "Add").text() == mg.load_graph(path).text()
    middle = len(before) // 2
    for change in [("Add", "Evil"), (middle, "?"), (middle, None)]:
        with pytest.raises(mg.FormatError, match=r"changed\.graph was refused"):
            lessons.load_changed(path, *change)
    assert path.read_bytes() == before
    other = lessons.box()
    assert other.is_dir()
    assert other != lessons.box()


def test_the_contents_of_a_file_are_listed_as_they_stand_there(tmp_path: Path) -> None:
    found = viz.contents(sum_file(tmp_path))
    assert str(found).splitlines()[0] == "in the file: graph.json, arrays/0.npy"
    assert str(found).splitlines()[-1] == "2 | Add | Add | 0, 1"
    assert found.parts == ["Add", "w", "x", "Add", "1"]
    onnx = pytest.importorskip("onnx")
    model = mg.load_graph(tmp_path / "sum.graph").to_onnx()
    onnx.save(model, tmp_path / "sum.onnx")
    operators, arrays, inputs, _, version = viz.contents(tmp_path / "sum.onnx").parts
    assert (operators.split()[0], arrays, inputs) == ("Add", "w", "x")
    assert version.isdigit()


def test_an_engine_runs_alone_by_what_it_was_sent(kept: dict[str, RecordedProgram]) -> None:
    kept["a"] = RecordedProgram("a", (), "Python 3.0", "other")
    found = lessons.alone("a", ours, lambda e: diamond(e)[1:], {"x": [[1.0, 2.0]]})
    assert found.lines == ["[[1. 4.]]", "minigrad imported: False"]


def test_who_reads_whom_is_told_by_numbers() -> None:
    found = lessons.reads(lambda x: mg.exp(x) + -x)
    assert found == {"0 Placeholder": [], "1 Exp": [0], "2 Neg": [0], "3 Add": [1, 2]}


def test_the_step_of_each_pixel_is_the_one_that_was_saved_or_else_the_kept_one(
    tmp_path: Path,
) -> None:
    file, guest = tmp_path / "step.npy", lessons.Guest("2026")
    (before, after, step), labels = guest.steps(file)
    assert len(labels) == 3
    assert before.shape == (48, 192)
    moved = np.abs(after - before)
    assert 0 < moved.max() < 0.0201, "a hundredth of the way from -1 to 1"
    assert (moved > 0).mean() > 0.9
    np.testing.assert_allclose(step, 50 * (after - before), atol=1e-5)
    np.save(file, np.zeros((1, 3, 48, 192), np.int8))
    assert np.array_equal(*guest.steps(file)[0][:2])
