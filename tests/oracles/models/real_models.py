"""Real models as their packages make them: random weights, and inputs as small as they allow."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

Made = tuple[Any, tuple[Any, ...]]
Entry = tuple[str, str, Callable[[], Made]]  # the package, the name, and what makes the model

LAYERS = ("LSTM", "GRU", "RNN", "TransformerEncoder", "TransformerDecoder", "Transformer")
VISION = {
    "alexnet": 64, "vgg11": 32, "resnet18": 64, "resnet50": 64,
    "densenet121": 64, "squeezenet1_1": 64, "googlenet": 64, "inception_v3": 96,
    "mobilenet_v2": 64, "mobilenet_v3_small": 64, "shufflenet_v2_x1_0": 64, "mnasnet1_0": 64,
    "efficientnet_b0": 64, "regnet_y_400mf": 64, "convnext_tiny": 64, "swin_t": 64,
    "swin_v2_t": 64, "vit_b_16": 64, "resnext50_32x4d": 64, "wide_resnet50_2": 64,
    "efficientnet_v2_s": 64, "maxvit_t": 224,
}  # fmt: skip
OPTIONS = {
    "googlenet": {"init_weights": False},
    "inception_v3": {"init_weights": False},
    "vit_b_16": {"image_size": 64},
}
SCENES = ("fcn_resnet50", "deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large")
TIMM = {
    "resnet10t": 64, "seresnet18": 64, "mixer_s32_224": 224, "gmlp_s16_224": 224,
    "pit_ti_224": 224, "deit_tiny_patch16_224": 224, "levit_128s": 224, "mobilevit_xxs": 64,
    "ghostnet_100": 64, "hrnet_w18_small": 64, "poolformer_s12": 64, "repvgg_a0": 64,
    "coat_lite_tiny": 224, "resmlp_12_224": 224, "coatnet_nano_rw_224": 224,
    "edgenext_xx_small": 64, "convmixer_768_32": 64, "fastvit_t8": 64,
}  # fmt: skip
SMP = ("Unet", "FPN", "Linknet", "DeepLabV3Plus", "MAnet", "PSPNet", "UnetPlusPlus")
SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 200}
WIDE = SMALL | {"intermediate_size": 128}
GROUPED = WIDE | {"num_key_value_heads": 2}
SEEING = {
    "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128,
    "image_size": 32, "patch_size": 8,
}  # fmt: skip
BOTH = {
    "d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "vocab_size": 200,
    "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "encoder_ffn_dim": 128, "decoder_ffn_dim": 128,
}  # fmt: skip
TEXT: dict[str, dict[str, Any]] = {
    "BertModel": WIDE, "RobertaModel": WIDE, "ElectraModel": WIDE,
    "AlbertModel": WIDE | {"embedding_size": 32},
    "DistilBertModel": {
        "dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 128, "vocab_size": 200,
    },
    "MobileBertModel": {"num_hidden_layers": 2, "vocab_size": 200},
    "MPNetModel": WIDE, "ConvBertModel": WIDE, "FNetModel": WIDE,
    "GPT2LMHeadModel": {"n_embd": 64, "n_layer": 12, "n_head": 4, "vocab_size": 200},
    "GPTNeoXForCausalLM": WIDE, "OPTForCausalLM": SMALL | {"ffn_dim": 128},
    "BloomForCausalLM": {"hidden_size": 64, "n_layer": 2, "n_head": 4, "vocab_size": 200},
    "LlamaForCausalLM": GROUPED, "MistralForCausalLM": GROUPED, "Qwen2ForCausalLM": GROUPED,
    "PhiForCausalLM": WIDE, "GemmaForCausalLM": GROUPED | {"head_dim": 16},
    "FalconForCausalLM": SMALL, "DebertaV2Model": WIDE,
    "MambaForCausalLM": {"hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 200},
    "GPTJForCausalLM": {
        "n_embd": 64, "n_layer": 2, "n_head": 4, "rotary_dim": 8, "vocab_size": 200,
    },
}  # fmt: skip


def models() -> Iterator[Entry]:
    """Every model whose package is installed; nothing is made yet."""
    lists = {
        "torch": layers,
        "torchvision": torchvision_models,
        "timm": timm_models,
        "segmentation_models_pytorch": smp_models,
        "transformers": text_models,
        "flax": flax_models,
        "equinox": equinox_models,
    }
    for package, listed in lists.items():
        if find_spec(package):
            for name, make in listed():
                yield package, name, make


def picture(size: int) -> tuple[Any, ...]:
    import torch

    return (torch.randn(1, 3, size, size),)


def layers() -> Iterator[tuple[str, Callable[[], Made]]]:
    """Layers of torch.nn that are models of their own."""

    def layer(name: str) -> Made:
        import torch
        from torch import nn

        steps = torch.randn(6, 2, 8)
        encoder = partial(nn.TransformerEncoderLayer, 8, 2, 16, batch_first=True)
        decoder = partial(nn.TransformerDecoderLayer, 8, 2, 16)
        made = {
            "LSTM": lambda: nn.LSTM(8, 12, 2),
            "GRU": lambda: nn.GRU(8, 12, 2),
            "RNN": lambda: nn.RNN(8, 12, 2, bidirectional=True),
            "TransformerEncoder": lambda: nn.TransformerEncoder(encoder(), 3).eval(),
            "TransformerDecoder": lambda: nn.TransformerDecoder(decoder(), 2).eval(),
            "Transformer": lambda: nn.Transformer(8, 2, 2, 2, 16).eval(),
        }[name]()
        return made, (steps,) * (2 if name in ("TransformerDecoder", "Transformer") else 1)

    yield from ((f"nn.{name}", partial(layer, name)) for name in LAYERS)


def torchvision_models() -> Iterator[tuple[str, Callable[[], Made]]]:
    def vision(name: str, size: int) -> Made:
        from torchvision import models

        return getattr(models, name)(**OPTIONS.get(name, {})).eval(), picture(size)

    def scene(name: str) -> Made:
        from torchvision.models import segmentation

        model = getattr(segmentation, name)(weights=None, weights_backbone=None)
        return model.eval(), picture(64)

    yield from ((name, partial(vision, name, size)) for name, size in VISION.items())
    yield from ((name, partial(scene, name)) for name in SCENES)


def timm_models() -> Iterator[tuple[str, Callable[[], Made]]]:
    def model(name: str, size: int) -> Made:
        import timm

        return timm.create_model(name, pretrained=False).eval(), picture(size)

    yield from ((name, partial(model, name, size)) for name, size in TIMM.items())


def smp_models() -> Iterator[tuple[str, Callable[[], Made]]]:
    def model(name: str, encoder: str) -> Made:
        smp = importlib.import_module("segmentation_models_pytorch")
        return getattr(smp, name)(encoder, encoder_weights=None).eval(), picture(64)

    yield from ((name, partial(model, name, "resnet18")) for name in SMP)


def text_models() -> Iterator[tuple[str, Callable[[], Made]]]:
    def model(name: str, sizes: dict[str, Any], given: Callable[[], tuple[Any, ...]]) -> Made:
        import transformers

        kind = getattr(transformers, name)
        return kind(kind.config_class(**sizes, attn_implementation="eager")).eval(), given()

    yield from ((name, partial(model, name, sizes, tokens)) for name, sizes in TEXT.items())
    yield from ((name, partial(model, name, *more)) for name, more in MORE.items())


def tokens() -> tuple[Any, ...]:
    import torch

    return (torch.randint(0, 200, (1, 16)),)


def noise(*shape: int) -> Any:
    import torch

    return torch.randn(*shape)


# Models of transformers that read something else than tokens, or more: their sizes, their inputs.
MORE: dict[str, tuple[dict[str, Any], Callable[[], tuple[Any, ...]]]] = {
    "T5Model": (
        {
            "d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2, "num_heads": 4,
            "vocab_size": 200,
        },
        lambda: (*tokens(), None, *tokens()),
    ),
    "BartModel": (BOTH | {"max_position_embeddings": 64}, lambda: (*tokens(), None, *tokens())),
    "WhisperModel": (
        BOTH | {
            "num_mel_bins": 8, "max_source_positions": 32, "max_target_positions": 32,
            "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1,
        },
        lambda: (noise(1, 8, 64), None, *tokens()),
    ),
    "CLIPModel": (
        {
            "text_config": WIDE | {"max_position_embeddings": 32, "eos_token_id": 2},
            "vision_config": SEEING, "projection_dim": 32,
        },
        lambda: (*tokens(), noise(1, 3, 32, 32)),
    ),
    "ViTModel": (SEEING, lambda: (noise(1, 3, 32, 32),)),
    "SegformerModel": (
        {
            "hidden_sizes": [16, 32, 64, 64], "depths": [1, 1, 1, 1],
            "num_attention_heads": [1, 2, 4, 4],
        },
        lambda: (noise(1, 3, 64, 64),),
    ),
    "Wav2Vec2Model": (
        WIDE | {
            "conv_dim": (32, 32), "conv_kernel": (10, 3), "conv_stride": (5, 2),
            "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 16,
            "num_conv_pos_embedding_groups": 4,
        },
        lambda: (noise(1, 800),),
    ),
}  # fmt: skip


def flax_models() -> Iterator[tuple[str, Callable[[], Made]]]:
    """As the guides of Flax write them: with its older interface, linen, and its newer one, nnx."""
    names = ("linen CNN", "linen ResNet", "linen Transformer", "linen LSTM", "nnx CNN")
    yield from ((name, partial(flax_model, name)) for name in names)


def flax_model(name: str) -> Made:
    import jax
    from flax import linen, nnx

    key = jax.random.key(0)
    images, steps = jax.random.normal(key, (2, 14, 14, 1)), jax.random.normal(key, (2, 6, 16))

    class CNN(linen.Module):
        @linen.compact
        def __call__(self, x: Any) -> Any:
            for features in (8, 16):
                x = linen.relu(linen.Conv(features, (3, 3))(x))
                x = linen.avg_pool(x, (2, 2), strides=(2, 2))
            x = linen.relu(linen.Dense(32)(x.reshape(x.shape[0], -1)))
            return linen.Dense(10)(x)

    class ResNet(linen.Module):
        @linen.compact
        def __call__(self, x: Any) -> Any:
            for features in (8, 16, 32):
                y = linen.relu(linen.GroupNorm(4)(linen.Conv(features, (3, 3), (2, 2))(x)))
                y = linen.GroupNorm(4)(linen.Conv(features, (3, 3))(y))
                x = linen.relu(y + linen.Conv(features, (1, 1), (2, 2))(x))
            return linen.Dense(10)(x.mean((1, 2)))

    class Transformer(linen.Module):
        @linen.compact
        def __call__(self, x: Any) -> Any:
            for _ in range(3):
                y = linen.LayerNorm()(x)
                x = x + linen.MultiHeadDotProductAttention(num_heads=4)(y, y)
                y = linen.gelu(linen.Dense(32)(linen.LayerNorm()(x)))
                x = x + linen.Dense(x.shape[-1])(y)
            return x

    class NewCNN(nnx.Module):  # type: ignore[misc]
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.conv1 = nnx.Conv(1, 8, (3, 3), rngs=rngs)
            self.conv2 = nnx.Conv(8, 16, (3, 3), rngs=rngs)
            self.linear1 = nnx.Linear(144, 32, rngs=rngs)
            self.linear2 = nnx.Linear(32, 10, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            for conv in (self.conv1, self.conv2):
                x = nnx.avg_pool(nnx.relu(conv(x)), (2, 2), strides=(2, 2))
            return self.linear2(nnx.relu(self.linear1(x.reshape(x.shape[0], -1))))

    if name == "nnx CNN":
        definition, state = nnx.split(NewCNN(nnx.Rngs(0)))

        def call(state: Any, x: Any) -> Any:
            return nnx.merge(definition, state)(x)

        return call, (nnx.to_pure_dict(state), images)
    if name == "linen LSTM":
        model, x = linen.RNN(linen.OptimizedLSTMCell(16)), steps
    else:
        images_of = {"linen CNN": CNN, "linen ResNet": ResNet}
        model, x = (images_of[name](), images) if name in images_of else (Transformer(), steps)

    def apply(variables: Any, x: Any) -> Any:
        return model.apply(variables, x)

    return apply, (model.init(key, x), x)


def equinox_models() -> Iterator[tuple[str, Callable[[], Made]]]:
    """As the examples of Equinox write them: the arrays of the model are the first argument."""
    names = ("MLP", "CNN", "MultiheadAttention", "GRU", "LSTM")
    yield from ((name, partial(equinox_model, name)) for name in names)


def equinox_model(name: str) -> Made:
    import equinox as eqx
    import jax

    keys = jax.random.split(jax.random.key(0), 4)
    steps = jax.random.normal(keys[0], (6, 16))

    class RNN(eqx.Module):
        cell: Any
        linear: Any

        def __call__(self, xs: Any) -> Any:
            h = jax.numpy.zeros(self.cell.hidden_size)
            h = (h, h) if isinstance(self.cell, eqx.nn.LSTMCell) else h
            h, _ = jax.lax.scan(lambda h, x: (self.cell(x, h), None), h, xs)
            return self.linear(h[0] if isinstance(h, tuple) else h)

    def called(model: Any, *inputs: Any) -> Made:
        arrays, rest = eqx.partition(model, eqx.is_array)

        def call(model: Any, *inputs: Any) -> Any:
            return eqx.combine(model, rest)(*inputs)

        return call, (arrays, *inputs)

    if name == "MLP":
        return called(eqx.nn.MLP(16, 10, 32, 3, key=keys[1]), steps[0])
    if name in ("GRU", "LSTM"):
        kind = eqx.nn.GRUCell if name == "GRU" else eqx.nn.LSTMCell
        cell, linear = kind(16, 12, key=keys[1]), eqx.nn.Linear(12, 4, key=keys[2])
        return called(RNN(cell, linear), steps)
    if name == "MultiheadAttention":
        return called(eqx.nn.MultiheadAttention(4, 16, key=keys[1]), steps, steps, steps)
    relu, pool = eqx.nn.Lambda(jax.nn.relu), eqx.nn.MaxPool2d(2, 2)
    ends = [eqx.nn.Lambda(jax.numpy.ravel), eqx.nn.Linear(288, 10, key=keys[2])]
    model = eqx.nn.Sequential([eqx.nn.Conv2d(1, 8, 3, key=keys[1]), pool, relu, *ends])
    return called(model, jax.random.normal(keys[3], (1, 14, 14)))
