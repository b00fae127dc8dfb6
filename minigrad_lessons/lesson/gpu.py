"""The training step of lesson L15 on a GPU: stored figures, or those of the card that is here."""

from __future__ import annotations

import statistics
import time
import timeit
import tomllib
from importlib import import_module, resources, util
from shutil import which
from typing import Any

__all__ = ["on_gpu"]


def on_gpu(make: Any = None, capture: Any = None, *, card: str = "H100") -> dict[str, Any]:
    """Return the times of a training step on a GPU: of the card that is here, or stored ones.

    make: takes torch and a width, and returns the step; capture: takes torch and a step, and
    returns its replay. They are called where PyTorch finds a CUDA device. Elsewhere, and without
    them, the figures are those of an H100 or an H200; KeyError for another card. Times are in µs:
    first quartile, median, third quartile.

    >>> for card in ("H100", "H200"):
    ...     found = on_gpu(card=card)
    ...     print(found["machine"]["card"], found["step"]["captured"][1])
    NVIDIA H100 80GB HBM3 64.754
    NVIDIA H200 61.468
    """
    torch = make and which("nvidia-smi") and util.find_spec("torch") and import_module("torch")
    if not torch or not torch.cuda.is_available():
        stored = resources.files(__package__).joinpath("gpu.toml").read_text("utf-8")
        return dict(tomllib.loads(stored)[card.lower()])
    rows, activities = {}, [torch.profiler.ProfilerActivity.CUDA]
    for width in (32, 128, 512, 2048, 8192, 32768):
        step = make(torch, width)
        times = {"eager": timed(torch, step), "captured": timed(torch, capture(torch, step))}
        with torch.profiler.profile(activities=activities, acc_events=True) as p:
            step()
            torch.cuda.synchronize()
        ran = [e for e in p.events() if e.device_type.name == "CUDA" and e.name[:3] != "Mem"]
        busy = sum(kernel.device_time for kernel in ran)
        rows[width] = {"width": width, **times, "kernels": len(ran), "busy": busy}
    machine = {"card": torch.cuda.get_device_name(), "date": time.strftime("%Y-%m-%d")}
    machine["versions"] = f"PyTorch {torch.__version__}"
    return {"machine": machine, "step": rows[128], "widths": [*rows.values()]}


def timed(torch: Any, run: Any) -> list[float]:
    """Return the quartiles of 31 readings, each of 20 calls, in µs per call, after a warm-up."""

    def twenty() -> None:
        for _ in range(20):
            run()
        torch.cuda.synchronize()

    return [5e4 * x for x in statistics.quantiles(timeit.repeat(twenty, repeat=32, number=1)[1:])]
