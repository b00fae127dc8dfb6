"""docs/your_model.md: what it says is what a reader's own PyTorch model shows."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("english")]
PAGE = Path(__file__).parents[2] / "docs" / "your_model.md"


def test_each_answer_runs_as_it_stands() -> None:
    options = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, optionflags=options)
    assert failed == 0
    assert tried > 25


def test_each_question_is_one_that_was_asked_and_has_its_answer_in_both_languages() -> None:
    questions = re.split(r"(?m)^## \d+\. ", PAGE.read_text("utf-8").split("\n## Are these")[0])[1:]
    assert len(questions) == 10
    for question in questions:
        english, chinese = question.splitlines()[0].split(" · ")
        assert not re.search("[\u4e00-\u9fff]", english)
        assert re.search("[\u4e00-\u9fff]", chinese)
        asked = re.findall(r"https://github\.com/[\w/-]+/issues/\d+", question)
        assert asked
        assert asked[: len(asked) // 2] == asked[len(asked) // 2 :]
        assert ">>> " in question
