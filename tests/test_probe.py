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


def test_the_ladder_has_more_paths_than_an_answer_may_run_lines() -> None:
    """The gradient of its input counts the paths, with the sign of 25 negations."""
    facts = probe("L02.core.once")
    assert facts == {"gradients": 76, "x": -(2**25)}


def test_a_check_without_further_cases_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        probe("L00.core")
