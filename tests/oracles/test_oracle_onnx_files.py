"""Models that packages of PyPI carry: read, held against ONNX Runtime, optimised, differentiated.

    pip install --no-deps magika rapidocr-onnxruntime silero-vad

Nothing of these packages is imported: only their files are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import viz

pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

RANDOM = np.random.default_rng(0)
BYTES = RANDOM.integers(0, 256, (2, 2048)).astype(np.int32)
IMAGE = RANDOM.normal(size=(1, 3, 48, 96)).astype(np.float32)
TIME = np.arange(576) / 16000
TONES = [np.sin(2 * np.pi * 140 * k * TIME) / k for k in range(1, 12)]  # as a voice has them
NOISE = RANDOM.normal(size=576) * 0.05  # without which the root of no power has no slope
SOUND = (0.2 * np.sum(TONES, axis=0) + NOISE).astype(np.float32)[None]
STATE = np.zeros((2, 1, 128), np.float32)

# For each file: its place, feeds, inputs that are held, shapes, and the inputs that stay open.
FILES: dict[str, tuple[str, str, dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "magika": ("magika", "models/*/model.onnx", {"bytes": BYTES}, {}, {}),
    "PP-OCR recogniser": (
        "rapidocr_onnxruntime",
        "models/ch_PP-OCRv4_rec_infer.onnx",
        {"x": IMAGE},
        {},
        {},
    ),
    "PP-OCR classifier": (
        "rapidocr_onnxruntime",
        "models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
        {"x": IMAGE},
        {},
        {},
    ),
    # It holds an If whose other arm, for 8 kHz, does not fit the input.
    "silero-vad": (
        "silero_vad",
        "data/silero_vad.onnx",
        {"input": SOUND, "state": STATE, "sr": np.array(16000)},
        {"sr": 16000},
        {"input": SOUND.shape, "state": STATE.shape},
    ),
}


def found(package: str, pattern: str) -> Path:
    """The file of an installed package, or a reason to skip."""
    spec = find_spec(package)
    for folder in spec.submodule_search_locations or () if spec is not None else ():
        for path in sorted(Path(folder).glob(pattern)):
            return path
    pytest.skip(f"{package} is not installed: pip install --no-deps {package.replace('_', '-')}")


def loaded(name: str) -> tuple[Path, mg.Graph, dict[str, Any], dict[str, Any]]:
    package, pattern, feeds, known, shapes = FILES[name]
    path = found(package, pattern)
    graph = mg.from_onnx(path, known=known, shapes=shapes)
    return path, graph, feeds, {k: v for k, v in feeds.items() if k not in known}


def close(actual: Any, expected: Any, tolerance: float = 1e-5) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("name", FILES)
def test_a_real_file_agrees_with_onnx_runtime_and_is_differentiated(name: str) -> None:
    path, graph, feeds, own = loaded(name)
    expected = ort.InferenceSession(path).run(None, feeds)
    for run in (graph, graph.optimize()):
        results = mg.run(run, own)
        for a, b in zip([results] if graph.single else results, expected, strict=True):
            close(a, b)
    compiled = graph.compile()(own)
    close(compiled if graph.single else compiled[0], expected[0])
    again = ort.InferenceSession(graph.to_onnx().SerializeToString())
    close(again.run(None, {k: own[k] for k in own})[0], expected[0])
    differentiated(graph, own)


def differentiated(graph: mg.Graph, feeds: Mapping[str, Any]) -> None:
    """The slope along its own direction against the difference of two runs near by."""
    floats = [x for x in (*graph.inputs, *graph.variables) if x.dtype.kind == "f"]
    loss = mg.sum(graph.outputs[0] * graph.outputs[0])
    slopes = mg.gradients(loss, floats)
    assert all(g is not None for g in slopes)
    values = mg.run(mg.build_graph(graph.inputs, slopes), feeds)
    assert all(np.isfinite(v).all() for v in values)
    assert any(np.any(v) for v in values)
    if floats[0] not in set(graph.inputs):
        return
    name, slope = graph.labels[floats[0]], values[0].astype(np.float64)
    steepness = np.sqrt((slope * slope).sum())
    runs, step = mg.build_graph(graph.inputs, loss), min(1, 1 / steepness) / 500
    ahead, behind = (
        float(mg.run(runs, {**feeds, name: feeds[name] + np.float32(h / steepness) * values[0]}))
        for h in (step, -step)
    )
    assert (ahead - behind) / (2 * step) == pytest.approx(steepness, rel=0.05)


@pytest.mark.parametrize("name", FILES)
def test_a_real_file_is_drawn_and_stepped(name: str) -> None:
    _, graph, _, own = loaded(name)
    drawn = viz.draw(graph)
    assert len(drawn.picture.nodes) > 5
    player = viz.step(graph, own)
    captions = [frame.caption[0] for frame in player.frames]
    assert len(captions) > len(graph.nodes) / 2
