"""The same five models in other tools: how long each takes, and how large what it makes is.

    python tests/oracles/viewers.py                 every tool that is installed
    python tests/oracles/viewers.py torchview       those named, again; the rest stays as measured

Each is called as its documentation shows it, in a process of its own, and its files stay in
build/viewers to be looked at: what each shows, docs/models.md says. Seconds are processor time, of
all processes, after the packages are imported. No part of the test suite.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import io
import json
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
ROOT = Path(__file__).parents[2]
FILES, TARGET = ROOT / "build" / "viewers", ROOT / "docs" / "models.md"
START, STOP = "<!-- made by tests/oracles/viewers.py -->", "<!-- end of what it measures -->"
Made = tuple[Any, Any]
Row = dict[str, Any]


# ---- The models -------------------------------------------------------------------------------


def resnet() -> Made:
    import torch
    from torchvision.models import resnet18

    return resnet18().eval(), torch.randn(1, 3, 64, 64)


def gpt2() -> Made:
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(n_embd=64, n_layer=12, n_head=4, vocab_size=200, use_cache=False)
    config._attn_implementation = "eager"
    return GPT2LMHeadModel(config).eval(), torch.randint(0, 200, (1, 16))


def unet() -> Made:
    import torch

    smp = importlib.import_module("segmentation_models_pytorch")
    return smp.Unet("resnet18", encoder_weights=None).eval(), torch.randn(1, 3, 64, 64)


def vit() -> Made:
    import torch
    from torchvision.models import VisionTransformer

    return VisionTransformer(64, 8, 6, 4, 64, 128).eval(), torch.randn(1, 3, 64, 64)


def lstm() -> Made:
    import torch
    from torch import nn

    class Tagger(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm, self.tags = nn.LSTM(8, 12, 2), nn.Linear(12, 4)

        def forward(self, x: Any) -> Any:
            return self.tags(self.lstm(x)[0])

    return Tagger(), torch.randn(6, 1, 8)


MODELS = {"ResNet-18": resnet, "GPT-2": gpt2, "U-Net": unet, "ViT": vit, "LSTM": lstm}


# ---- The tools: each gives the file that it makes -----------------------------------------------


def ours(model: Any, x: Any, place: Path) -> Path:
    import viz

    return Path(viz.step(model, x, whole=True).save(place.with_suffix(".html")))


def torchlens(model: Any, x: Any, place: Path) -> Path:
    """Values and gradients are kept, as `draw_combined` wants them."""
    import torchlens as tl

    options = tl.options.CaptureOptions(save_grads=True, backward_ready=True)
    trace = tl.trace(model, x, capture=options)
    last = trace[trace.output_layers[0]].out
    trace.log_backward(last.sum())
    trace.draw(vis_outpath=str(place), vis_save_only=True, vis_fileformat="svg")
    return place.with_suffix(".svg")


def torchvista(model: Any, x: Any, place: Path) -> Path:
    from torchvista import trace_model

    trace_model(model, x, export_path=str(place.with_suffix(".html")))
    return place.with_suffix(".html")


def torchview(model: Any, x: Any, place: Path) -> Path:
    from torchview import draw_graph

    graph = draw_graph(model, input_data=x, depth=10, expand_nested=True).visual_graph
    return Path(graph.render(place, format="svg"))


def netron(model: Any, x: Any, place: Path) -> Path:
    """It reads files, so the model has to be exported; no server is started for that."""
    import torch

    path = place.with_suffix(".onnx")
    torch.onnx.export(model, (x,), str(path), dynamo=True, external_data=False, verbose=False)
    return path


def model_explorer(model: Any, x: Any, place: Path) -> Path:
    """What its server hands to the browser."""
    import torch
    from model_explorer import config

    exported = torch.export.export(model, (x,))
    told = config().add_model_from_pytorch(place.name, exported).get_transferrable_data()
    path = place.with_suffix(".json")
    path.write_text(told["graphs_list"], "utf-8")
    return path


TOOLS: dict[str, tuple[Callable[[Any, Any, Path], Path], str]] = {
    "viz.step": (ours, ""),
    "TorchLens": (torchlens, "torchlens"),
    "torchvista": (torchvista, "torchvista"),
    "torchview": (torchview, "torchview"),
    "Netron": (netron, "netron"),
    "Model Explorer": (model_explorer, "ai-edge-model-explorer"),
}
FORKLESS = {"TorchLens"}  # it refuses to work in a process that was forked


# ---- Measured -----------------------------------------------------------------------------------


def spent() -> float:
    """Processor time of this process and of those it has started, such as Graphviz."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def measured(tool: str, name: str) -> Row:
    """Seconds and megabytes of a tool on a model, or why there is nothing."""
    place = FILES / f"{tool}-{name}"
    quiet = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())
    try:
        import torch

        torch.manual_seed(0)
        with quiet[0], quiet[1]:
            model, x = MODELS[name]()
            start = spent()
            path = TOOLS[tool][0](model, x, place)
        return {"seconds": spent() - start, "size": path.stat().st_size / 1e6}
    except Exception as error:  # noqa: BLE001 whatever a tool raises
        return {"error": f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"[:90]}


def measured_apart(tool: str, name: str) -> Row:
    """The same in a process of its own, so that no tool finds what another has left."""
    context = multiprocessing.get_context("fork")
    answer, sent = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sent.send(measured(tool, name)))
    process.start()
    sent.close()
    try:
        return dict(answer.recv())
    except EOFError:
        return {"error": "the process ended"}
    finally:
        process.join()


def warmed() -> None:
    """Import everything, and what PyTorch imports at its first export; run nothing backward."""
    names = ["viz", "torchlens", "torchvista", "torchview", "onnxscript", "model_explorer"]
    for name in [*names, "torchvision", "transformers", "segmentation_models_pytorch"]:
        importlib.import_module(name)
    import torch

    torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),)).run_decompositions()


def run(tools: list[str]) -> None:
    warmed()
    for tool in tools:
        for name in MODELS:
            row = (measured if tool in FORKLESS else measured_apart)(tool, name)
            row |= {"load": os.getloadavg()[0], "date": time.strftime("%Y-%m-%d")}
            (FILES / f"{tool}-{name}.row").write_text(json.dumps(row), "utf-8")
            print(tool, name, row, flush=True)


def table() -> str:
    """Seconds and megabytes of each tool on each model."""
    found = [f"| | version | {' | '.join(MODELS)} |", "|---|---|" + "--:|" * len(MODELS)]
    for tool, (_, package) in TOOLS.items():
        cells = []
        for name in MODELS:
            row = json.loads((FILES / f"{tool}-{name}.row").read_text("utf-8"))
            done = "error" not in row
            cells.append(f"{row['seconds']:.2g} s, {row['size']:.2g} MB" if done else row["error"])
        version = importlib.metadata.version(package) if package else "–"
        found.append(f"| {tool} | {version} | {' | '.join(cells)} |")
    return "\n".join(found)


def main() -> None:
    FILES.mkdir(parents=True, exist_ok=True)
    asked = sys.argv[1:] or [t for t in TOOLS if not (FILES / f"{t}-LSTM.row").exists()]
    run([tool for tool in TOOLS if tool in asked])
    before, rest = TARGET.read_text("utf-8").split(START)
    page = f"{before}{START}\n\n{table()}\n\n{STOP}{rest.split(STOP)[1]}"
    TARGET.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
