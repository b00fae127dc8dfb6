"""What is kept of the answers of other systems is what they answer today."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "faces"))

import asked
import conformance

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("name", [*conformance.SYSTEMS, *conformance.HEIRS])
def test_the_real_system_answers_as_it_did(name: str) -> None:
    try:
        found = conformance.ask(name)["answers"]
    except conformance.NotHere as missing:
        pytest.skip(str(missing))
    kept = conformance.kept(name)["answers"]
    now = {program.name for program in filter(asked.here, conformance.programs(name))}
    assert {*found} == now <= {*kept}
    for stem, answers in found.items():
        assert conformance.differences(answers, kept[stem]) == [], stem
