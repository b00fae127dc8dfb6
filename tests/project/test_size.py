"""Each package has a ceiling: a number of lines of code that it stays below."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest
import size


@pytest.mark.parametrize("package", size.PACKAGES)
def test_a_package_stays_below_its_ceiling(package: str) -> None:
    found, most = size.packages()[package], tomllib.loads(size.CEILINGS.read_text("utf-8"))[package]
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
        test_a_package_stays_below_its_ceiling("viz")


def test_the_summary_of_a_run_reports_every_size() -> None:
    command = [sys.executable, "-m", "pytest", "-q", __file__, "-k", "ceiling"]
    said = subprocess.run(command, capture_output=True, text=True, encoding="utf-8").stdout
    assert size.report() in said


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('"""About it."""\n\n# why\nx = 1  # one\n', 1),
        ('def f():\n    """Two\n    lines."""\n    return (\n        1\n    )\n', 4),
        ('text = """two\nlines"""\n', 2),
        ('class A:\n    x: int\n    """What x is."""\n', 2),
        ("", 0),
    ],
)
def test_a_line_of_code_holds_a_token(source: str, count: int) -> None:
    assert size.lines(source) == count
