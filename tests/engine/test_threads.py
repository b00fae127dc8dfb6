"""Threads of matrix products: one unless the user says otherwise, in whichever way."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import minigrad as mg
from minigrad.core import events, threads
from minigrad.faces import torch

needs_two = pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="BLAS starts one thread here")


@pytest.fixture(autouse=True)
def unchanged() -> Iterator[None]:
    pytest.importorskip("threadpoolctl")
    before = mg.get_num_threads()
    if before is None:
        pytest.skip("threadpoolctl does not know this BLAS")
    yield
    mg.set_num_threads(before)


def in_a_fresh_process(code: str, **variables: str) -> list[str]:
    """What a program prints that was started with these variables and no others of the kind."""
    clean = {k: v for k, v in os.environ.items() if k not in threads.VARIABLES}
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**clean, **variables},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()


BEFORE_AND_AFTER = """
import numpy
from threadpoolctl import threadpool_info
print(threadpool_info()[0]["num_threads"])
import minigrad as mg
print(mg.get_num_threads(), threadpool_info()[0]["num_threads"])
"""


@needs_two
def test_importing_the_engine_leaves_one_thread() -> None:
    before, *after = in_a_fresh_process(BEFORE_AND_AFTER)
    assert int(before) > 1
    assert after == ["1", "1"]


@needs_two
@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"])
def test_a_number_set_by_the_user_stays(name: str) -> None:
    assert in_a_fresh_process(BEFORE_AND_AFTER, **{name: "2"}) == ["2", "2", "2"]


def test_the_number_can_be_set_and_is_that_of_blas() -> None:
    info = pytest.importorskip("threadpoolctl").threadpool_info
    for count in (2, 1):
        mg.set_num_threads(count)
        assert mg.get_num_threads() == count
        assert count in {x["num_threads"] for x in info() if x["user_api"] == "blas"}


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "2", None])
def test_other_numbers_are_refused(count: Any) -> None:
    with pytest.raises(mg.ArgumentError, match=r"set_num_threads: count=.*whole number from 1"):
        mg.set_num_threads(count)


def test_in_a_block_blas_has_one_thread_and_then_what_it_had() -> None:
    mg.set_num_threads(2)
    with threads.one_blas_thread():
        assert mg.get_num_threads() == 1
    assert mg.get_num_threads() == 2


def test_without_threadpoolctl_blas_keeps_its_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    threads._libraries.cache_clear()
    with monkeypatch.context() as inside:
        inside.setitem(sys.modules, "threadpoolctl", None)
        try:
            assert mg.get_num_threads() is None
            with threads.one_blas_thread():
                assert mg.get_num_threads() is None
            assert torch.get_num_threads() == 1, "PyTorch always has a number"
            with pytest.raises(
                mg.GraphError, match=r"cannot be identified.*OMP_NUM_THREADS"
            ) as told:
                mg.set_num_threads(1)
        finally:
            threads._libraries.cache_clear()
    assert told.value.ran.filename == __file__


def test_a_schedule_gives_blas_one_thread_and_then_what_it_had() -> None:
    seen: list[int | None] = []
    with mg.Graph():
        x = mg.placeholder("x", shape=(4, 4))
        program = mg.build_graph(x, x @ x).compile()
    schedule = program.schedule(devices=1, costs=lambda node: 1.0)
    mg.set_num_threads(2)

    def look(event: events.Event) -> None:
        if event.kind == "run":
            seen.append(mg.get_num_threads())

    with events.listen(look):
        schedule.run({x: [[1.0] * 4] * 4})
    assert seen == [1]
    assert mg.get_num_threads() == 2
