"""The size of each wing is held: it may fall, and what makes one grow says why."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import size

HELD = tomllib.loads(Path(__file__).with_name("sizes.toml").read_text("utf-8"))
WINGS = [(package, wing) for package, wings in HELD.items() for wing in wings]


def test_every_wing_has_its_number() -> None:
    assert {*WINGS} == {
        (package, wing) for package in size.PACKAGES for wing in size.wings(package)
    }


@pytest.mark.parametrize(("package", "wing"), WINGS)
def test_no_wing_grows_unnoticed(package: str, wing: str) -> None:
    found, held = size.wings(package)[wing], HELD[package][wing]
    assert found <= held, (
        f"{package}/{wing} has {found} lines of code, {held} are held. Make it smaller, or write"
        f" the new number into tests/sizes.toml, with one sentence behind it on what it is for"
    )


def test_a_number_that_is_written_anew_keeps_its_reason() -> None:
    assert "\nops = " in size.report()
    told = size.report("[minigrad]\nops = 1  # one record each\n\n[viz]\nops = 2  # no wing\n")
    assert re.search(r"^ops = \d{3,}  # one record each$", told, re.MULTILINE)
    assert "no wing" not in told
    assert tomllib.loads(told).keys() == HELD.keys()


def test_the_report_of_the_tests_tells_every_size() -> None:
    command = [sys.executable, "-m", "pytest", "-q", __file__, "-k", "has_its_number"]
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
