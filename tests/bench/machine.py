"""What the figures were measured on, and how many threads were allowed."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

PEERS = {"torch": "PyTorch", "jax": "JAX", "onnxruntime": "ONNX Runtime"}


def threads(count: int) -> dict[str, str]:
    """The environment in which every library starts so many threads, and no more."""
    number = str(count)
    names = ("OMP", "OPENBLAS", "MKL", "VECLIB", "BLIS")
    return {f"{name}_NUM_THREADS": number for name in names} | {
        "VECLIB_MAXIMUM_THREADS": number,
        "TORCHINDUCTOR_COMPILE_THREADS": number,
        "XLA_FLAGS": f"--xla_cpu_multi_thread_eigen={'true' if count > 1 else 'false'}",
        "TORCH_LOGS": "-all",
    }


def environment(count: int) -> dict[str, str]:
    """This program's environment with so many threads, and the kernels that each library likes."""
    return without_threads(os.environ) | threads(count)


def without_threads(given: Mapping[str, str]) -> dict[str, str]:
    """The environment of somebody who has said nothing of threads, and nothing of kernels."""
    unwanted = {*threads(1), "OPENBLAS_CORETYPE"}  # an old core type may cost half of the speed
    return {name: value for name, value in given.items() if name not in unwanted}


@contextmanager
def one_core() -> Iterator[None]:
    """What starts in the block runs on a single core, whatever threads it makes."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def describe() -> dict[str, str]:
    """The machine, the versions and the settings, as this program finds them."""
    import numpy as np
    import threadpoolctl

    build = np.show_config(mode="dicts")
    blas = build["Build Dependencies"]["blas"]
    found = {
        "processor": processor(),
        "cores": str(cores()),
        "system": f"{system()}, {platform.machine()}",
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "vectors": ", ".join(build.get("SIMD Extensions", {}).get("found", [])) or "baseline",
        "BLAS": f"{blas['name']} {blas['version']}",
        "BLAS kernels": ", ".join(
            sorted({pool.get("architecture", "?") for pool in threadpoolctl.threadpool_info()})
        ),
    }
    for module, name in PEERS.items():
        installed = importlib.util.find_spec(module) is not None
        found[name] = importlib.metadata.version(module) if installed else "not installed"
    bound = "all on one core" if hasattr(os, "sched_setaffinity") else "not bound to a core"
    found["threads"] = f"one for each library, {bound}"
    found["settings"] = " ".join(f"{name}={value}" for name, value in threads(1).items())
    return found


def cores() -> int:
    """Cores that this process may use, which in a container are fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor() -> str:
    """The name of the processor; with its model where the name alone says little."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        text = info.read_text("utf-8", errors="replace")
        facts = dict(re.findall(r"^(model name|model|cpu family)\s*: (.+)$", text, re.MULTILINE))
        if "model name" in facts:
            family = f" (family {facts['cpu family']}, model {facts['model']})"
            return facts["model name"] + (family if "model" in facts else "")
    return platform.processor() or platform.machine()


def system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, AttributeError):
        return f"{platform.system()} {platform.release()}"
