"""What is kept of programs that need packages is what they print where these are installed.

pip install --no-deps rapidocr-onnxruntime
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import pytest
from lessons import LESSONS, code_cells, number, run_cell

import minigrad as mg
import minigrad_lessons as lessons
import viz
from minigrad_lessons.questions import all_lessons

pytestmark = pytest.mark.oracle
KEEPING = [path for path in LESSONS if all_lessons()[number(path)].kept]


@pytest.mark.parametrize("path", KEEPING, ids=lambda p: p.stem)
def test_what_is_kept_is_what_programs_print(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, found = lessons.elsewhere, {}

    def seen(id: str, folder: Any) -> Any:
        return lambda program: found.setdefault(id, real(id, folder)(program))

    monkeypatch.setattr(viz, "elsewhere", seen)
    names: dict[str, Any] = {"__name__": "lesson"}
    with mg.Graph(), contextlib.redirect_stdout(io.StringIO()):
        for place, cell in enumerate(code_cells(path)):
            run_cell(cell.source, names, f"cell {place}")
    assert found.keys() == all_lessons()[number(path)].kept.keys()
    for id, shown in found.items():
        assert shown.printed == shown.kept.prints, id
    lacking = {id: shown.lack for id, shown in found.items() if shown.lack}
    if lacking:
        pytest.skip(f"not run, as packages are missing: {lacking}")
