"""Each package has a ceiling: a number of lines of code that it stays below."""

from __future__ import annotations

from collections.abc import Callable
from unittest import mock

import pytest
import size


@pytest.mark.parametrize("package", [*size.PACKAGES, size.JAVASCRIPT])
def test_a_package_stays_below_its_ceiling(
    package: str, record_property: Callable[[str, object], None]
) -> None:
    found, most = size.packages()[package], size.ceilings()[package]
    record_property(size.LINES, f"{package}: {found} of {most}")
    assert found <= most, (
        f"{package} has {found} lines of code; tests/sizes.toml allows {most}. Take something out,"
        " or raise the ceiling there and say in the commit what the lines are for."
    )


def test_who_goes_over_a_ceiling_is_told_what_to_write_where(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(size, "packages", lambda: {"viz": 1_000_000})
    with pytest.raises(
        AssertionError, match=r"has 1000000 lines of code; tests/sizes\.toml allows"
    ):
        test_a_package_stays_below_its_ceiling("viz", lambda *_: None)


@pytest.mark.parametrize("ran", [True, False])
def test_the_summary_of_a_run_reports_every_size(request: pytest.FixtureRequest, ran: bool) -> None:
    conftest = request.config.pluginmanager.get_plugin(str(size.ROOT / "tests" / "conftest.py"))
    summary = mock.Mock(stats={})
    here = mock.Mock(user_properties=[(size.LINES, "viz: 3 of 5")] if ran else [("other", "")])
    summary.getreports.side_effect = lambda kind: [here] if kind == "passed" else []
    conftest.pytest_terminal_summary(summary, mock.Mock(stash={}))
    said = [call.args[0] for call in summary.write_line.call_args_list]
    assert said == (["viz: 3 of 5"] if ran else [])


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('"""About it."""\n\n# why\nx = 1  # one\n', 1),
        ('def f():\n    """Two\n    lines."""\n    return (\n        1\n    )\n', 4),
        ('text = """two\nlines"""\n', 2),
        ('class A:\n    x: int\n    """What x is."""\n', 2),
        ("", 0),
        ('x = (\n    "one"\n    \'"""\'  # two\n)\n', 4),
        ('x = "# no comment"\n"""About\nx."""  # a "comment"\n', 1),
        ('x = """\\"""\n\n# text\n"""\nr"""alone\n"""\n', 4),
        ('x = \\\n    "no text of its own"\n', 2),
    ],
)
def test_a_line_of_code_holds_a_token(source: str, count: int) -> None:
    assert size.lines(source) == count
