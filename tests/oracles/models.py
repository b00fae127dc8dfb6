"""Real models in the explorer: how near they are to the original, how long, how large a page.

    python tests/oracles/models.py            every model whose package is installed
    python tests/oracles/models.py resnet     those whose name holds this
    python tests/oracles/models.py --write    docs/models.md, too

Sizes are reduced where a model allows it, weights are random. Seconds are those of this machine:
what the model's own system needs to export it stands apart. No part of the test suite: it needs
packages that nobody has to install.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib.util
import io
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import viz
from minigrad.interop.captured import TOLERANCE
from minigrad.interop.torch import capture as torch_capture
from viz.explorer.content import Content
from viz.explorer.explorer import Explorer
from viz.explorer.witness import Witness
from viz.views.explore import name_of
from viz.views.models import captured, verdict

TARGET = Path(viz.__file__).parents[1] / "docs" / "models.md"
LIMIT = 120  # seconds for one model
Model = tuple[Any, tuple[Any, ...]]

VISION = {
    "alexnet": 64, "vgg11": 32, "resnet18": 64, "resnet50": 64, "resnext50_32x4d": 64,
    "wide_resnet50_2": 64, "densenet121": 64, "squeezenet1_1": 64, "googlenet": 64,
    "inception_v3": 96, "mobilenet_v2": 64, "mobilenet_v3_small": 64, "shufflenet_v2_x1_0": 64,
    "mnasnet1_0": 64, "efficientnet_b0": 64, "efficientnet_v2_s": 64, "regnet_y_400mf": 64,
    "convnext_tiny": 64, "swin_t": 64, "swin_v2_t": 64, "vit_b_16": 224,
}  # fmt: skip
SEGMENTATION = ("fcn_resnet50", "deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large")
TIMM = {
    "resnet10t": 64, "seresnet18": 64, "mixer_s32_224": 224, "gmlp_s16_224": 224,
    "pit_ti_224": 224, "deit_tiny_patch16_224": 224, "levit_128s": 224, "mobilevit_xxs": 64,
    "ghostnet_100": 64, "hrnet_w18_small": 64, "poolformer_s12": 64, "repvgg_a0": 64,
    "coat_lite_tiny": 224, "cait_xxs24_224": 224, "edgenext_xx_small": 64, "dla34": 64,
    "tf_efficientnet_lite0": 64, "resmlp_12_224": 224, "vgg11_bn": 64, "convmixer_768_32": 64,
}  # fmt: skip
SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 200}
WIDE = {"intermediate_size": 128}
TEXT: dict[str, dict[str, Any]] = {
    "BertModel": SMALL | WIDE, "RobertaModel": SMALL | WIDE, "ElectraModel": SMALL | WIDE,
    "AlbertModel": SMALL | WIDE | {"embedding_size": 32},
    "DistilBertModel": {
        "dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 128, "vocab_size": 200,
    },
    "MobileBertModel": {"num_hidden_layers": 2, "vocab_size": 200},
    "MPNetModel": SMALL | WIDE, "ConvBertModel": SMALL | WIDE, "FNetModel": SMALL | WIDE,
    "GPT2LMHeadModel": {"n_embd": 64, "n_layer": 12, "n_head": 4, "vocab_size": 200},
    "GPTNeoXForCausalLM": SMALL | WIDE, "OPTForCausalLM": SMALL | {"ffn_dim": 128},
    "BloomForCausalLM": {"hidden_size": 64, "n_layer": 2, "n_head": 4, "vocab_size": 200},
    "LlamaForCausalLM": SMALL | WIDE | {"num_key_value_heads": 2},
    "MistralForCausalLM": SMALL | WIDE | {"num_key_value_heads": 2},
    "Qwen2ForCausalLM": SMALL | WIDE | {"num_key_value_heads": 2},
    "PhiForCausalLM": SMALL | WIDE, "GemmaForCausalLM": SMALL | WIDE | {"head_dim": 16},
    "FalconForCausalLM": SMALL, "GPTJForCausalLM": {
        "n_embd": 64, "n_layer": 2, "n_head": 4, "rotary_dim": 8, "vocab_size": 200,
    },
}  # fmt: skip


def _torch() -> Any:
    import torch

    return torch


def _picture(size: int) -> tuple[Any, ...]:
    return (_torch().randn(1, 3, size, size),)


def _vision(name: str, size: int) -> Model:
    import torchvision

    more = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    return getattr(torchvision.models, name)(**more).eval(), _picture(size)


def _segmentation(name: str) -> Model:
    import torchvision

    made = getattr(torchvision.models.segmentation, name)
    return made(weights=None, weights_backbone=None).eval(), _picture(64)


def _timm(name: str, size: int) -> Model:
    import timm

    return timm.create_model(name, pretrained=False).eval(), _picture(size)


def _text(name: str, sizes: dict[str, Any]) -> Model:
    import transformers

    kind = getattr(transformers, name)
    model = kind(kind.config_class(**sizes, attn_implementation="eager")).eval()
    return model, (_torch().randint(0, 200, (1, 16)),)


def _layers() -> Iterator[tuple[str, Callable[[], Model]]]:
    """Layers of torch.nn that are models of their own."""
    torch = _torch()
    nn = torch.nn
    steps = torch.randn(6, 2, 8)
    yield "nn.LSTM", lambda: (nn.LSTM(8, 12, 2), (steps,))
    yield "nn.GRU", lambda: (nn.GRU(8, 12, 2), (steps,))
    yield "nn.RNN", lambda: (nn.RNN(8, 12, 2, bidirectional=True), (steps,))

    def encoder() -> Any:
        return nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    yield "nn.TransformerEncoder", lambda: (nn.TransformerEncoder(encoder(), 3).eval(), (steps,))
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 2).eval()
    yield "nn.TransformerDecoder", lambda: (decoder, (steps, steps))
    yield "nn.Transformer", lambda: (nn.Transformer(8, 2, 2, 2, 16).eval(), (steps, steps))


def models() -> Iterator[tuple[str, str, Callable[[], Model]]]:
    """The package, the name, and what makes each model with its inputs."""
    have = importlib.util.find_spec
    if not have("torch"):
        return
    for name, make in _layers():
        yield "torch", name, make
    if have("torchvision"):
        for name, size in VISION.items():
            yield "torchvision", name, lambda n=name, s=size: _vision(n, s)
        for name in SEGMENTATION:
            yield "torchvision", name, lambda n=name: _segmentation(n)
    if have("timm"):
        for name, size in TIMM.items():
            yield "timm", name, lambda n=name, s=size: _timm(n, s)
    if have("transformers"):
        for name, sizes in TEXT.items():
            yield "transformers", name, lambda n=name, s=sizes: _text(n, s)


def measured(make: Callable[[], Model]) -> dict[str, Any]:
    """How a model fares: gaps, operators, boxes, seconds, megabytes."""
    _torch().manual_seed(0)
    model, inputs = make()
    exporting = 0.0
    before = torch_capture._exported

    def timed(*args: Any) -> Any:
        nonlocal exporting
        start = time.perf_counter()
        try:
            return before(*args)
        finally:
            exporting += time.perf_counter() - start

    torch_capture._exported = timed
    try:
        start = time.perf_counter()
        graph = captured(model, inputs)
        assert graph is not None
        seen = Witness(graph)
        content = Content(name_of(model), graph, seen)
        made = Explorer(content, verdict(graph))
        spent = time.perf_counter() - start
    finally:
        torch_capture._exported = before
    values, gradients = graph.gaps()
    with tempfile.TemporaryDirectory() as folder:
        page = made.save(Path(folder) / "page.html").stat().st_size
    top = len(content.nodes[0]["children"])
    return {
        "values": values,
        "gradients": gradients,
        "operators": len(content.operators),
        "boxes": ", ".join(graph.boxes),
        "export": exporting,
        "rest": spent - exporting,
        "page": page / 1e6,
        "top": top,
    }


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """No model takes longer than the limit."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"more than {LIMIT} s")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(LIMIT)
    try:
        yield
    finally:
        signal.alarm(0)


HEAD = (
    "| package | model | operators | values | gradients | calls PyTorch | export, s | rest, s "
    "| page, MB |\n|---|---|--:|--:|--:|---|--:|--:|--:|"
)


def row(package: str, name: str, told: dict[str, Any]) -> str:
    """One line of the table."""
    if "error" in told:
        return f"| {package} | {name} | | | | {told['error']} | | | |"
    far = ["values", "gradients"]
    gaps = [f"**{told[k]:.1e}**" if told[k] > TOLERANCE else f"{told[k]:.1e}" for k in far]
    cells = [package, name, told["operators"], *gaps, told["boxes"]]
    seconds = [f"{told[k]:.1f}" for k in ("export", "rest")]
    return "| " + " | ".join(map(str, [*cells, *seconds, f"{told['page']:.2f}"])) + " |"


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("names", nargs="*")
    reader.add_argument("--write", action="store_true")
    asked = reader.parse_args()
    warnings.simplefilter("ignore")
    rows, right, seen, end = [], 0, 0, "No model was asked for."
    print(HEAD, flush=True)
    for package, name, make in models():
        if asked.names and not any(part in name for part in asked.names):
            continue
        try:
            with limited(), contextlib.redirect_stderr(io.StringIO()):
                told = measured(make)
        except Exception as error:  # noqa: BLE001 whatever a package raises
            told = {"error": f"{type(error).__name__}: {str(error).splitlines()[:1]}"[:120]}
        else:
            seen += 1
            right += max(told["values"], told["gradients"]) <= TOLERANCE
        rows.append(row(package, name, told))
        print(rows[-1], flush=True)
        gc.collect()
        end = f"{len(rows)} models: {seen} seen whole, {right} within {TOLERANCE:g}."
        if asked.write:  # after each, so that what was measured is kept
            page = f"{TEXT_OF_PAGE}\n{end}\n\n{HEAD}\n" + "\n".join(rows) + "\n"
            TARGET.write_text(page, "utf-8")
    print(f"\n{end}")


TEXT_OF_PAGE = """# Real models · 真实模型

`python tests/oracles/models.py --write` makes this table. Each model runs forward and backward in
its own system and here, with random weights and small inputs. *values* and *gradients* are the
largest difference relative to the largest magnitude, bold above 1e-5. *calls PyTorch* lists
operators without a counterpart here, which call the original. *export* is what `torch.export`
takes, *rest* is everything else until the explorer is there, on one thread of the machine that made
the table; *page* is the saved page.

下表由 `python tests/oracles/models.py --write` 生成。
每个模型用随机权重和较小的输入，分别在原系统和这里做一遍前向和反向。
values 和 gradients 是相对于最大幅值的最大差，超过 1e-5 的用粗体。
calls PyTorch 列出这里没有对应、直接调用原系统的算子。
export 是 `torch.export` 用的时间，rest 是到看到模型为止其余的时间（单线程）。
page 是保存的页面大小。
"""


if __name__ == "__main__":
    sys.exit(main())
