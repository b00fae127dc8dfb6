"""Further cases of the exercises: our engine answers all of them, the same each time."""

from __future__ import annotations

import pytest

from viz.lesson.answers import equal
from viz.lesson.probe import CASES, probe


@pytest.mark.parametrize("id", CASES)
def test_our_engine_tells_something_of_each_case_and_the_same_again(id: str) -> None:
    facts = probe(id)
    assert facts
    assert equal(probe(id), facts, 0.0)


def test_a_check_without_further_cases_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        probe("L00.core")
