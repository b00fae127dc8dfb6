"""The engine on a Python of 32 bits, whose NumPy counts in int32."""

from __future__ import annotations

import tempfile
from pathlib import Path

import bits32
import pytest


@pytest.mark.bits
def test_the_engine_passes_its_tests_on_32_bits() -> None:
    with tempfile.TemporaryDirectory() as folder:
        code, said = bits32.run_tests(Path(folder) / "root")
    assert code == 0, said
    assert " passed" in said


def test_what_runs_there_is_there() -> None:
    assert len(bits32.files()) == len(bits32.NAMES)


def test_it_runs_where_it_is_asked_for_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bits32.bare, "obstacle", lambda: "be root")
    monkeypatch.delenv("MINIGRAD_REQUIRE_BITS", raising=False)
    assert "MINIGRAD_REQUIRE_BITS=1" in str(bits32.obstacle())
    monkeypatch.setenv("MINIGRAD_REQUIRE_BITS", "1")
    monkeypatch.setattr(bits32.platform, "machine", lambda: "arm64")
    assert "x86" in str(bits32.obstacle())
    monkeypatch.setattr(bits32.platform, "machine", lambda: "x86_64")
    assert bits32.obstacle() == "be root"
