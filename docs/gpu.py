"""Measure what a captured graph is worth on a GPU: python docs/gpu.py [SECTION ...] > mine.json.

It needs PyTorch and a CUDA device; `jit` needs JAX, too. It prints one JSON object: times in µs as
first quartile, median, third quartile of 31 readings. Lesson L15 stores the figures of an H100 and
of an H200 in `minigrad_lessons/lesson/gpu.toml`; `compiled` was measured on the H200 only.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

Run = Callable[[], Any]
IMAGES, PIXELS, HIDDEN, CLASSES, RATE = 64, 784, 128, 10, 0.1
WIDTHS = (32, 128, 512, 2048, 8192, 32768)
TOKENS, LAYERS, FEATURES, HEADS = (1, 16, 256, 2048), 8, 1024, 16
READINGS, WARM_UP, STEPS = 31, 3, 5

rng = np.random.default_rng(0)
X = rng.standard_normal((IMAGES, PIXELS), np.float32)
LABELS = rng.integers(0, CLASSES, IMAGES)
START = [
    rng.standard_normal((PIXELS, HIDDEN), np.float32) * 0.05,
    np.zeros(HIDDEN, np.float32),
    rng.standard_normal((HIDDEN, CLASSES), np.float32) * 0.05,
    np.zeros(CLASSES, np.float32),
]


# ---- The clock -------------------------------------------------------------------------------


def timed(run: Run, calls: int = 20, wait: Run = torch.cuda.synchronize) -> list[float]:
    """Return the quartiles in µs per call; `wait` returns when the device has done its work."""
    for _ in range(WARM_UP):
        run()
    wait()
    readings = []
    for _ in range(READINGS):
        start = time.perf_counter()
        for _ in range(calls):
            run()
        wait()
        readings.append(1e6 * (time.perf_counter() - start) / calls)
    return [round(quartile, 3) for quartile in statistics.quantiles(readings, n=4)]


def captured(run: Run) -> tuple[torch.cuda.CUDAGraph, Any]:
    """Warm up on another stream, capture a call as a CUDA graph; return it and its output."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(WARM_UP):
            run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = run()
    return graph, output


def profiled(run: Run) -> tuple[int, float]:
    """Return how many kernels a call runs, and for how many µs they keep the card busy."""
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, acc_events=True) as profile:
        run()
        torch.cuda.synchronize()
    events = [event for event in profile.events() if event.device_type.name == "CUDA"]
    kernels = [e for e in events if "Memcpy" not in e.name and "Memset" not in e.name]
    return len(kernels), sum(kernel.device_time for kernel in kernels)


# ---- The training step -----------------------------------------------------------------------


def loss_of(p: Sequence[torch.Tensor], x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.cross_entropy(torch.relu(x @ p[0] + p[1]) @ p[2] + p[3], t)


def training_step(device: str, start: Sequence[np.ndarray] = START) -> tuple[Run, list[Any]]:
    """Return a step of gradient descent in PyTorch, and the parameters that it changes."""
    x, t = torch.tensor(X, device=device), torch.tensor(LABELS, device=device)
    p = [torch.tensor(value, device=device, requires_grad=True) for value in start]

    def step() -> torch.Tensor:
        loss = loss_of(p, x, t)
        with torch.no_grad():
            for w, g in zip(p, torch.autograd.grad(loss, p), strict=True):
                w -= RATE * g
        return loss.detach()

    return step, p


def reference() -> list[float]:
    """Return the losses of a few steps, computed by NumPy in float64."""
    p, losses = [value.astype(np.float64) for value in START], []
    for _ in range(STEPS):
        a = X @ p[0] + p[1]
        h = np.maximum(a, 0)
        z = h @ p[2] + p[3]
        e = np.exp(z - z.max(1, keepdims=True))
        d = e / e.sum(1, keepdims=True)
        losses.append(float(-np.log(d[np.arange(IMAGES), LABELS]).mean()))
        d[np.arange(IMAGES), LABELS] -= 1
        d /= IMAGES
        back = d @ p[2].T * (a > 0)
        for w, g in zip(p, (X.T @ back, back.sum(0), h.T @ d, d.sum(0)), strict=True):
            w -= RATE * g
    return losses


def error(losses: Sequence[float]) -> float:
    """Return by how much of their size losses differ at most from the reference."""
    return max(abs(a - b) / b for a, b in zip(losses, reference(), strict=True))


# ---- What is measured ------------------------------------------------------------------------


def step() -> dict[str, Any]:
    """The training step: on one core of the processor, eager on the card, and captured."""
    torch.set_num_threads(1)
    on_processor, _ = training_step("cpu")
    found: dict[str, Any] = {"processor": timed(on_processor, wait=lambda: None)}
    eager, p = training_step("cuda")
    found["eager_error"] = error([float(eager()) for _ in range(STEPS)])
    found["eager"] = timed(eager)
    graph, loss = captured(eager)
    with torch.no_grad():
        for w, value in zip(p, START, strict=True):
            w.copy_(torch.tensor(value))
    losses = []
    for _ in range(STEPS):
        graph.replay()
        losses.append(float(loss))
    return {**found, "captured_error": error(losses), "captured": timed(graph.replay, 50)}


def jit() -> dict[str, Any]:
    """The training step in JAX, compiled as a whole."""
    import jax  # noqa: PLC0415, needed here only
    import jax.numpy as jnp  # noqa: PLC0415

    x, right = jnp.asarray(X), jax.nn.one_hot(LABELS, CLASSES)

    def loss_in_jax(p: Any) -> Any:
        hidden = jax.nn.relu(jnp.dot(x, p[0], precision="highest") + p[1])
        return -jnp.mean(jnp.sum(right * jax.nn.log_softmax(hidden @ p[2] + p[3]), 1))

    @jax.jit
    def step(p: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_in_jax)(p)
        return [w - RATE * g for w, g in zip(p, gradients, strict=True)], loss

    state, losses = [jnp.asarray(value) for value in START], []
    for _ in range(STEPS):
        state, loss = step(state)
        losses.append(float(loss))
    kept = [state]

    def one() -> None:
        kept[0], _ = step(kept[0])

    return {"error": error(losses), "jit": timed(one, 50, lambda: jax.block_until_ready(kept[0]))}


def widths() -> list[dict[str, Any]]:
    """The training step over the width of the hidden layer: launch-bound, then compute-bound."""
    rows = []
    for width in WIDTHS:
        shapes = (PIXELS, width), (width,), (width, CLASSES), (CLASSES,)
        start = [rng.standard_normal(shape, np.float32) * 0.02 for shape in shapes]
        run, _ = training_step("cuda", start)
        eager = timed(run)
        graph, _ = captured(run)
        kernels, busy = profiled(run)
        times = {"eager": eager, "captured": timed(graph.replay)}
        rows.append({"width": width, **times, "kernels": kernels, "busy": round(busy, 3)})
    return rows


def layers() -> list[dict[str, Any]]:
    """Eight transformer layers in float16, over how many tokens they are given at once."""
    torch.manual_seed(0)
    options: dict[str, Any] = {"batch_first": True, "dropout": 0.0, "dtype": torch.float16}
    stack = [
        torch.nn.TransformerEncoderLayer(FEATURES, HEADS, 4 * FEATURES, device="cuda", **options)
        for _ in range(LAYERS)
    ]
    model, rows = torch.nn.Sequential(*stack).eval(), []
    for tokens in TOKENS:
        x = torch.randn(1, tokens, FEATURES, device="cuda", dtype=torch.float16)
        with torch.no_grad():
            eager, wanted = timed(lambda x=x: model(x), 10), model(x)
            graph, y = captured(lambda x=x: model(x))
        graph.replay()
        torch.cuda.synchronize()
        times = {"eager": eager, "captured": timed(graph.replay, 10)}
        rows.append({"tokens": tokens, **times, "equal": torch.equal(y, wanted)})
    return rows


def frozen() -> dict[str, Any]:
    """What a captured graph of y = 2 * x + 1 has frozen."""
    x, says = torch.ones(4, device="cuda"), []

    def line() -> torch.Tensor:
        says.append("Python ran")
        return x * 2 + 1

    graph, y = captured(line)
    found, before = [], len(says)
    for change in (lambda x: x, lambda x: x.fill_(10.0), lambda x: torch.full_like(x, 100.0)):
        x = change(x)
        graph.replay()
        torch.cuda.synchronize()
        found.append(float(y[0]))
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            if y.sum() > 0:
                y * 2
        refused = ""
    except RuntimeError as raised:
        refused = f"{type(raised).__name__}: {str(raised).splitlines()[0]}"
    return {"y": found, "python": 1 + len(says) - before, "if_on_a_value": refused}


def compiled() -> dict[str, Any]:
    """The step as one function that changes nothing, as `torch.compile` likes it best."""
    x, t = torch.tensor(X, device="cuda"), torch.tensor(LABELS, device="cuda")
    gradients = torch.func.grad_and_value(loss_of)

    def step(p: list[torch.Tensor]) -> tuple[list[torch.Tensor], torch.Tensor]:
        found, loss = gradients(p, x, t)
        return [w - RATE * g for w, g in zip(p, found, strict=True)], loss

    ways: dict[str, Any] = {
        "eager": step,
        "default": torch.compile(step, fullgraph=True),
        "reduce_overhead": torch.compile(step, fullgraph=True, mode="reduce-overhead"),
    }
    found: dict[str, Any] = {}
    for name, way in ways.items():
        p = [torch.tensor(value, device="cuda") for value in START]

        def one(way: Any = way, p: Any = p) -> torch.Tensor:
            torch.compiler.cudagraph_mark_step_begin()
            new, loss = way(p)
            for old, value in zip(p, new, strict=True):
                old.copy_(value)
            return loss

        start = time.perf_counter()
        losses = [float(one())]
        found[f"{name}_first_call_s"] = round(time.perf_counter() - start, 2)
        losses += [float(one()) for _ in range(STEPS - 1)]
        found |= {f"{name}_error": error(losses), name: timed(one, 50)}
    return found


SECTIONS = {f.__name__: f for f in (step, jit, widths, layers, compiled, frozen)}


def machine() -> dict[str, str]:
    return {
        "card": torch.cuda.get_device_name(),
        "date": time.strftime("%Y-%m-%d"),
        "versions": f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}",
    }


if __name__ == "__main__":
    chosen = sys.argv[1:] or SECTIONS
    found = {"machine": machine(), **{name: SECTIONS[name]() for name in chosen}}
    print(json.dumps(found, indent=1))
