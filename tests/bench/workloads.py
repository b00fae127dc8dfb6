"""What is measured, by whom, and what was aimed at: the table that `run.py` goes through."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import chains
import clicks
import first
import flow
import live
import mine
import networks
import threads
import viewer
from measure import Make, Side, Target, Workload
from mine import EAGER, static
from models import CONVNET, MLP, TINY, Conv, Model

import minigrad as mg

NUMPY, C = static("numpy"), static("c")
HAND, TORCH, COMPILED = "NumPy by hand", "PyTorch eager", "torch.compile"
SCRIPT, JAX, RUNTIME = "TorchScript", "JAX jit", "ONNX Runtime"
TORCH_TUTORIAL, JAX_TUTORIAL = "PyTorch, tutorial", "JAX jit, tutorial"
PEERS = (TORCH, COMPILED, SCRIPT, JAX, RUNTIME, TORCH_TUTORIAL, JAX_TUTORIAL)
LAZY = "minigrad lazily batched"


@dataclass(frozen=True)
class Sizes:
    """How large the long workloads are; the tests take small ones."""

    elements: int = 1_000_000
    nodes: int = 100_000
    few: int = 1_000
    drawing: tuple[int, ...] = (30, 300, 1000)


def peer(module: str, function: str, *arguments: Any, **more: Any) -> Make:
    """A side of another library, which is imported only when its turn comes."""
    return lambda: getattr(importlib.import_module(module), function)(*arguments, **more)


def each(make: Callable[..., Side], *arguments: Any) -> dict[str, Make]:
    """The static side, once for each executor."""
    return {static(name): partial(make, *arguments, name) for name in mine.executors()}


def both(make: Callable[[Any], Side], theirs: str = TORCH) -> dict[str, Make]:
    """The dynamic graph, ours and PyTorch's, from the same lines."""
    return {EAGER: lambda: make(mg), theirs: lambda: make(importlib.import_module("torch"))}


def collect(sizes: Sizes) -> list[Workload]:
    return [
        *scalars(sizes),
        *models(),
        *elementwise(sizes),
        *changing(),
        *control_flow(),
        *beginnings(),
        *memory(),
        *long_graphs(sizes),
        *threads.collect(MLP),
        *drawings(sizes),
    ]


def uncompared(make: Callable[..., Side], *arguments: Any) -> Side:
    """A side that does another amount of the same work, and so has other results."""
    return replace(make(*arguments), values=None)


# ---- One operation after the other ------------------------------------------------------------


def scalars(sizes: Sizes) -> Iterable[Workload]:
    aims = (Target(EAGER, 0.3, TORCH),)
    yield Workload(
        "x*x + 3, recorded and walked back",
        {**both(chains.expression), HAND: chains.expression_by_hand},
        aims,
    )
    few = sizes.few
    yield Workload(
        f"{few:,} scalar operations and back, per operation",
        {
            **both(lambda engine: chains.recorded(chains.chain, engine, few)),
            HAND: lambda: chains.chain_by_hand(few),
        },
        aims,
    )
    yield Workload("1,000 × tanh of 64 numbers and back, per tanh", both(chains.tanh_chain))
    yield Workload("100 × relu((4, 16) @ (16, 16)) and back, per layer", both(chains.products))
    yield Workload(
        f"{chains.SMALL_LAYERS} × tanh(y @ w + b) on 8 × 8, forward and backward",
        {
            **both(chains.small),
            HAND: chains.small_by_hand,
            JAX: peer("jax_peers", "small", chains.SMALL_LAYERS, *chains.small_arrays()),
        },
        aims,
    )


# ---- Models -----------------------------------------------------------------------------------


def models() -> Iterable[Workload]:
    yield training(
        "MLP training step, 64 × 784 → 128 → 10, SGD",
        MLP,
        (
            Target(NUMPY, 1.0, HAND),
            Target(NUMPY, 0.85, TORCH),
            Target(NUMPY, 0.97, JAX),
            Target(EAGER, 1.15, HAND),
        ),
    )
    yield training(
        "tiny MLP training step, 16 × 4 → 16 → 3, SGD",
        TINY,
        (
            Target(NUMPY, 0.28, TORCH),
            Target(NUMPY, 0.6, JAX),
            Target(EAGER, 0.55, TORCH),
            Target(C, 0.1, TORCH),
        ),
    )
    yield inference("MLP inference, batch 64", MLP, (Target(NUMPY, 1.03, HAND),))
    yield training(
        "convnet training step, 64 × 16 × 16 digits, SGD",
        CONVNET,
        (
            Target(NUMPY, 1.1, HAND),
            Target(NUMPY, 1.0, TORCH),
            Target(C, 0.45, TORCH),
            Target(C, 1.0, COMPILED),
            Target(C, 1.0, JAX),
        ),
    )
    yield inference(
        "convnet inference, 64 × 16 × 16 digits",
        CONVNET,
        (
            Target(NUMPY, 1.1, HAND),
            Target(NUMPY, 0.75, TORCH),
            Target(C, 0.3, TORCH),
            Target(C, 1.0, COMPILED),
            Target(C, 1.0, JAX),
            Target(C, 1.0, RUNTIME),
        ),
    )
    yield inference(
        "convnet inference, a single image of 16 × 16",
        replace(CONVNET, batch=(1, *CONVNET.batch[1:])),
        (Target(C, 1.0, RUNTIME), Target(NUMPY, 1.0, SCRIPT), Target(EAGER, 1.0, TORCH)),
    )


def training(name: str, model: Model, targets: tuple[Target, ...]) -> Workload:
    sides: dict[str, Make] = {
        EAGER: lambda: mine.training(model),
        **each(mine.training_compiled, model),
        HAND: peer("numpy_peers", "training", model),
        TORCH: peer("torch_peers", "training", model),
        TORCH_TUTORIAL: peer("torch_peers", "training_as_in_tutorials", model),
        COMPILED: peer("torch_peers", "training", model, compiled=True),
        JAX: peer("jax_peers", "training", model),
    }
    if any(isinstance(layer, Conv) for layer in model.layers):
        sides[JAX_TUTORIAL] = peer("jax_peers", "training", model, tutorial=True)
    return Workload(name, sides, targets)


def inference(name: str, model: Model, targets: tuple[Target, ...]) -> Workload:
    sides: dict[str, Make] = {
        EAGER: lambda: mine.inference(model),
        **each(mine.inference_compiled, model),
        HAND: peer("numpy_peers", "inference", model),
        TORCH: peer("torch_peers", "inference", model),
        TORCH_TUTORIAL: peer("torch_peers", "inference", model, "tutorial"),
        COMPILED: peer("torch_peers", "inference", model, "compiled"),
        SCRIPT: peer("torch_peers", "inference", model, "script"),
        JAX: peer("jax_peers", "inference", model),
        RUNTIME: peer("onnx_peers", "inference", model),
    }
    return Workload(name, sides, targets)


def elementwise(sizes: Sizes) -> Iterable[Workload]:
    count = sizes.elements
    for backward, name, by_hand, c_to_jax in (
        (False, "forward", 0.75, 1.0),
        (True, "forward and backward", 0.7, 0.4),
    ):
        sides: dict[str, Make] = {
            EAGER: partial(mine.elementwise, count, backward),
            **each(mine.elementwise_compiled, count, backward),
            HAND: peer("numpy_peers", "elementwise", count, backward),
            TORCH: peer("torch_peers", "elementwise", count, backward),
            COMPILED: peer("torch_peers", "elementwise", count, backward, compiled=True),
            JAX: peer("jax_peers", "elementwise", count, backward),
        }
        if not backward:
            sides[RUNTIME] = peer("onnx_peers", "elementwise", count)
        yield Workload(
            f"σ(ax + b)·tanh(cx + d) + x, {count:,} elements, {name}",
            sides,
            (
                Target(NUMPY, by_hand, HAND),
                Target(NUMPY, 0.6, TORCH),
                Target(C, c_to_jax, JAX),
            ),
        )


# ---- Graphs that change from sample to sample -------------------------------------------------


def changing() -> Iterable[Workload]:
    lengths = "RNN, 10 sequences of 5 to 50 steps, hidden 64"
    yield Workload(
        lengths,
        {
            **both(networks.sequences, TORCH_TUTORIAL),
            LAZY: partial(networks.sequences, mg, lazily=True),
            HAND: networks.sequences_by_hand,
            TORCH: peer("torch_peers", "sequences"),
            JAX: peer("jax_peers", "sequences"),
        },
        (Target(EAGER, 0.35, TORCH_TUTORIAL), Target(LAZY, 0.15, TORCH_TUTORIAL)),
    )
    yield Workload(
        f"{lengths}, nothing recorded",
        {
            **both(networks.unrecorded, TORCH_TUTORIAL),
            TORCH: peer("torch_peers", "sequences", recorded=False),
            JAX: peer("jax_peers", "sequences", recorded=False),
        },
    )
    yield Workload(
        "10 random trees of 4 to 19 words, hidden 64",
        {
            **both(networks.trees),
            LAZY: partial(networks.trees, mg, lazily=True),
            HAND: networks.trees_by_hand,
        },
        (Target(EAGER, 0.35, TORCH), Target(LAZY, 0.15, TORCH)),
    )


# ---- Branches and loops -----------------------------------------------------------------------


def control_flow() -> Iterable[Workload]:
    steps = flow.STEPS
    rows: tuple[tuple[str, Callable[..., Any], list[tuple[int, ...]], float], ...] = (
        (f"scan of {steps} steps, hidden 8", flow.scanned, [(steps, 8), (8,), (8, 8)], 0.3),
        (f"while of {steps} steps on 64 numbers", flow.repeated, [(64,)], 0.15),
        ("cond on 64 numbers", flow.chosen, [(64,)], 0.7),
    )
    for name, f, shapes, aim in rows:
        sides: dict[str, Make] = {
            EAGER: partial(flow.eager, f, *shapes),
            NUMPY: partial(flow.compiled, f, *shapes),
        }
        yield Workload(name, sides, (Target(NUMPY, aim, EAGER),))


# ---- What comes before the first result, and what is alive ------------------------------------


def beginnings() -> Iterable[Workload]:
    engine, viewer = "minigrad, beside NumPy", "minigrad's viz, beside both"
    drawing = "minigrad and its viz, with the first drawing"
    yield Workload(
        "import in a fresh process",
        {
            engine: partial(first.imported, "minigrad", "numpy"),
            viewer: partial(first.imported, "viz", "numpy", "minigrad"),
            drawing: partial(first.imported, "minigrad, viz", "numpy", then=first.DRAWING),
        },
        (Target(engine, 0.08), Target(viewer, 0.25)),
        timed=False,
        once=True,
    )
    yield Workload(
        "from the start of Python to a first gradient",
        {
            EAGER: partial(first.gradient, "minigrad"),
            HAND: partial(first.gradient, "numpy"),
            TORCH: partial(first.gradient, "torch"),
            JAX: partial(first.gradient, "jax"),
        },
        (Target(EAGER, 1.0, TORCH),),
    )
    yield Workload(
        "MLP step: time to the first result",
        {**each(first.compiled), JAX: first.jitted},
        (Target(NUMPY, 1 / 50, JAX),),
    )
    if "c" in mine.executors():
        cold, warm = f"{C}, nothing cached", f"{C}, from the cache"
        yield Workload(
            "MLP step: time to the first result in a fresh process",
            {
                cold: partial(first.fresh, "c", cached=False),
                warm: partial(first.fresh, "c", cached=True),
            },
            (Target(cold, 0.5), Target(warm, 0.01)),
            timed=False,
            seconds=0,
        )
    yield Workload(
        "MLP step: break-even against eager",
        each(first.break_even),
        (Target(NUMPY, 60),),
        unit="steps",
        timed=False,
    )


def memory() -> Iterable[Workload]:
    for name, layers, least, eager, planned in (
        ("tanh", live.tanh, live.LAYERS, 4, 2),
        ("linear", live.linear, 0, 4, 2),
    ):
        yield Workload(
            f"{live.LAYERS} {name} layers, training: live arrays at the peak",
            {
                EAGER: partial(live.eager, layers),
                **each(live.compiled, layers),
            },
            (Target(EAGER, least + eager), Target(NUMPY, least + planned)),
            unit="arrays",
            timed=False,
            seconds=0,
        )

    lengths = {count: f"minigrad numpy, {count} layers" for count in (live.LAYERS, 4 * live.LAYERS)}
    yield Workload(
        "tanh layers, training, forward values computed anew: live arrays at the peak",
        {name: partial(live.recomputed, count) for count, name in lengths.items()},
        tuple(Target(name, math.ceil(2 * math.sqrt(count)) + 4) for count, name in lengths.items()),
        unit="arrays",
        timed=False,
        seconds=0,
    )


def long_graphs(sizes: Sizes) -> Iterable[Workload]:
    long, few = sizes.nodes, sizes.few
    here, there, short = f"{EAGER}, {long:,}", f"{TORCH}, {long:,}", f"{EAGER}, {few:,}"
    for name, build in (("chain", chains.chain), ("DAG", chains.dag)):

        def made(engine: str, count: int, build: Any = build) -> Side:
            return chains.recorded(build, importlib.import_module(engine), count)

        yield Workload(
            f"{name} of {long:,}, recorded and walked back, per node",
            {
                here: partial(made, "minigrad", long),
                there: partial(made, "torch", long),
                short: partial(uncompared, made, "minigrad", few),
            },
            (Target(here, 0.2, there), Target(here, 1.7, short)),
            rtol=1e-3,
        )
    whole, part = f"minigrad, {long:,}", f"minigrad, {few:,}"
    yield Workload(
        f"static chain of {long:,}: build, differentiate, optimise, per node",
        {whole: partial(chains.prepared, long), part: partial(chains.prepared, few)},
        (Target(whole, 60e-6), Target(whole, 1.7, part)),
        once=True,
    )
    yield Workload(f"static chain of {few:,} in parts, per node", chains.phases(few))


# ---- The visualiser ---------------------------------------------------------------------------


def drawings(sizes: Sizes) -> Iterable[Workload]:
    limits = {300: 1.0, 1000: 3.0}
    for size in sizes.drawing:
        yield Workload(
            f"viewer: layout of {size:,} nodes, and folded to their groups",
            {
                "viz": partial(viewer.layout, size),
                "viz, folded": partial(viewer.layout, size, folded=True),
            },
            (Target("viz, folded" if size >= 1000 else "viz", limits[size]),)
            if size in limits
            else (),
        )
    size = sizes.drawing[1]
    yield Workload(
        f"viewer: frames and drawing of {size} nodes, until it can be shown",
        {"viz.step": partial(viewer.player, size)},
        (Target("viz.step", 1.0),),
    )
    yield Workload(
        f"viewer: what the browser gets for {size} nodes, once",
        {"viz.step": partial(viewer.player_bytes, size)},
        (Target("viz.step", 1e6),),
        unit="bytes",
        timed=False,
        seconds=0,
    )
    for what in clicks.TARGETS:
        yield Workload(
            f"viewer: click on {what} among {size} nodes, until the frame is painted",
            {"viz.step in Chromium": partial(clicks.click, what, size)},
            (Target("viz.step in Chromium", 0.05),),
            timed=False,
            cores=True,
        )
