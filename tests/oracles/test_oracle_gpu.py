"""The lesson on GPUs, as far as a processor goes: its step descends, as do those of docs/gpu.py."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lessons import LESSONS, code_cells

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
ROOT = Path(__file__).parents[2]


class OnProcessor:
    """PyTorch, whose CUDA device is the processor; it notes the losses."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.nn = self

    functional = property(lambda self: self)

    def cross_entropy(self, *args: Any) -> Any:
        loss = torch.nn.functional.cross_entropy(*args)
        self.losses.append(loss.item())
        return loss

    def device(self, name: str) -> Any:
        assert name == "cuda"
        return torch.device("cpu")

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)


def test_the_step_of_the_lesson_descends() -> None:
    (path,) = (path for path in LESSONS if path.stem == "15_gpu")
    (source,) = (c.source for c in code_cells(path) if c.source.startswith("def training_step("))
    names: dict[str, Callable[..., Any]] = {}
    exec(source, names)
    here = OnProcessor()
    step = names["training_step"](here, 32)
    for _ in range(20):
        step()
    assert here.losses == sorted(here.losses, reverse=True)


def test_the_steps_of_the_script_agree_with_float64() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "gpu.py"))
    step, _ = script["training_step"]("cpu")
    assert script["error"]([float(step()) for _ in range(5)]) < 1e-6
    low, middle, high = script["timed"](step, 1, lambda: None)
    assert 0 < low <= middle <= high


def test_the_step_in_jax_agrees_too(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jax")
    script = runpy.run_path(str(ROOT / "docs" / "gpu.py"))
    found = script["jit"]()
    assert found["error"] < 1e-4
    assert found["jit"][1] > 0


def test_what_is_used_of_a_card_exists_where_there_is_none() -> None:
    for name in ("CUDAGraph", "Stream", "graph", "stream", "synchronize", "get_device_name"):
        assert hasattr(torch.cuda, name), name
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, acc_events=True) as profile:
        torch.ones(2) + 1
    assert torch.profiler.ProfilerActivity.CUDA
    assert {event.device_type.name for event in profile.events()} == {"CPU"}
    assert all(event.device_time == 0 for event in profile.events())
