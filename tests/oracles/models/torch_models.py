"""Twenty small models as their users write them in PyTorch, each with inputs to play it with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Made = tuple[nn.Module, tuple[Any, ...]]
MODELS: dict[str, Callable[[], Made]] = {}


def model(make: Callable[[], Made]) -> Callable[[], Made]:
    """Enter a model in the list; its weights are the same every time."""

    def made() -> Made:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return make()

    MODELS[make.__name__] = made
    return made


class LinearRegression(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(3, 1)

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        prediction = self.line(x)
        return ((prediction - target) ** 2).mean()


@model
def linear_regression() -> Made:
    return LinearRegression(), (torch.randn(5, 3), torch.randn(5, 1))


class LogisticRegression(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scores = nn.Linear(4, 1)

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(self.scores(x).squeeze(-1), target)


@model
def logistic_regression() -> Made:
    return LogisticRegression(), (torch.randn(6, 4), torch.randint(0, 2, (6,)).float())


class MLP(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(4, 8)
        self.drop = nn.Dropout(0.5)
        self.out = nn.Linear(8, 3)

    def forward(self, x: Tensor, labels: Tensor) -> Tensor:
        h = torch.relu(self.hidden(x))
        return F.cross_entropy(self.out(self.drop(h)), labels)


@model
def mlp() -> Made:
    return MLP(), (torch.randn(5, 4), torch.tensor([0, 2, 1, 1, 0]))


class LeNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 5, padding=2),
            nn.Tanh(),
            nn.AvgPool2d(2),
            nn.Conv2d(4, 6, 3),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(
            nn.Flatten(), nn.Linear(6 * 2 * 2, 10), nn.Tanh(), nn.Linear(10, 3)
        )

    def forward(self, x: Tensor) -> Tensor:
        return F.log_softmax(self.classifier(self.features(x)), dim=1)


@model
def lenet() -> Made:
    return LeNet(), (torch.randn(2, 1, 12, 12),)


class ResidualBlock(nn.Module):
    def __init__(self, channels: int, out: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, 3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.shortcut = nn.Sequential(
            nn.Conv2d(channels, out, 1, stride=2, bias=False), nn.BatchNorm2d(out)
        )

    def forward(self, x: Tensor) -> Tensor:
        h = F.relu(self.bn1(self.conv1(x)), inplace=True)
        h = self.bn2(self.conv2(h))
        h += self.shortcut(x)
        return F.relu(h)


@model
def resnet_block() -> Made:
    return ResidualBlock(2, 4), (torch.randn(2, 2, 6, 6),)


class Tagger(nn.Module):
    def __init__(self, kind: type[nn.RNNBase]) -> None:
        super().__init__()
        self.embedding = nn.Embedding(7, 4)
        self.rnn = kind(4, 5, batch_first=True)
        self.tags = nn.Linear(5, 3)

    def forward(self, words: Tensor) -> Tensor:
        states, _ = self.rnn(self.embedding(words))
        return self.tags(states)


@model
def lstm() -> Made:
    return Tagger(nn.LSTM), (torch.tensor([[1, 4, 2], [0, 4, 6]]),)


@model
def gru() -> Made:
    return Tagger(nn.GRU), (torch.tensor([[1, 4, 2], [0, 4, 6]]),)


class Attention(nn.Module):
    """Attention written out, as in lectures."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        return scores.softmax(dim=-1) @ v


@model
def attention() -> Made:
    return Attention(4), (torch.randn(2, 3, 4),)


class GPTBlock(nn.Module):
    def __init__(self, words: int, width: int, heads: int, length: int) -> None:
        super().__init__()
        self.heads = heads
        self.wte = nn.Embedding(words, width)
        self.wpe = nn.Embedding(length, width)
        self.ln_1 = nn.LayerNorm(width)
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width)
        )
        self.register_buffer("mask", torch.tril(torch.ones(length, length)) == 0)

    def attend(self, x: Tensor) -> Tensor:
        n, length, width = x.shape
        q, k, v = self.c_attn(x).split(width, dim=2)
        q, k, v = (
            t.view(n, length, self.heads, width // self.heads).transpose(1, 2) for t in (q, k, v)
        )
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        scores = scores.masked_fill(self.mask[:length, :length], float("-inf"))
        y = F.softmax(scores, dim=-1) @ v
        return self.c_proj(y.transpose(1, 2).contiguous().view(n, length, width))

    def forward(self, ids: Tensor) -> Tensor:
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1]))
        x = x + self.attend(self.ln_1(x))
        x = x + self.mlp(self.ln_2(x))
        return x @ self.wte.weight.T  # weights tied, as in GPT-2


@model
def gpt2_block() -> Made:
    return GPTBlock(9, 8, 2, 6), (torch.tensor([[3, 1, 4, 1], [5, 8, 2, 6]]),)


class BERTLike(nn.Module):
    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.word = nn.Embedding(words, width)
        self.position = nn.Embedding(8, width)
        self.norm = nn.LayerNorm(width)
        self.encoder = nn.TransformerEncoderLayer(
            width, 2, 12, dropout=0.0, activation="gelu", batch_first=True
        )
        self.pooler = nn.Linear(width, width)

    def forward(self, ids: Tensor, padding: Tensor) -> Tensor:
        places = torch.arange(ids.size(1)).expand_as(ids)
        x = self.norm(self.word(ids) + self.position(places))
        x = self.encoder(x, src_key_padding_mask=padding)
        return torch.tanh(self.pooler(x[:, 0]))


@model
def bert_like() -> Made:
    padding = torch.tensor([[False, False, False], [False, False, True]])
    return BERTLike(9, 8), (torch.tensor([[3, 1, 4], [5, 8, 0]]), padding)


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), nn.ReLU())
        self.pool = nn.MaxPool2d(2)
        self.bottom = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.GroupNorm(2, 6), nn.ReLU())
        self.up = nn.ConvTranspose2d(6, 3, 2, stride=2)
        self.out = nn.Conv2d(6, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        skip = self.down(x)
        deep = self.bottom(self.pool(skip))
        return self.out(torch.cat([skip, self.up(deep)], dim=1))


@model
def unet_block() -> Made:
    return UNet(), (torch.randn(1, 1, 6, 6),)


class VAE(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Linear(6, 8)
        self.mean, self.log_variance = nn.Linear(8, 2), nn.Linear(8, 2)
        self.decoder = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 6), nn.Sigmoid())

    def forward(self, x: Tensor) -> Tensor:
        h = F.softplus(self.encoder(x))
        mean, log_variance = self.mean(h), self.log_variance(h)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)
        error = F.binary_cross_entropy(self.decoder(z), x, reduction="sum")
        divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
        return error + divergence


@model
def vae() -> Made:
    return VAE(), (torch.rand(3, 6),)


class Autoencoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, 4), nn.SiLU(), nn.Linear(4, 2))
        self.decoder = nn.Sequential(nn.Linear(2, 4), nn.ELU(), nn.Linear(4, 6))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        code = self.encoder(x)
        again = self.decoder(code)
        return again, F.mse_loss(again, x)


@model
def autoencoder() -> Made:
    return Autoencoder(), (torch.randn(3, 6),)


class Separable(nn.Module):
    def __init__(self, channels: int, out: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(channels, channels, 3, padding=1, groups=channels, bias=False)
        self.pointwise = nn.Conv2d(channels, out, 1)
        self.norm = nn.BatchNorm2d(out)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu6(self.norm(self.pointwise(self.depthwise(x))))


@model
def separable_conv() -> Made:
    return Separable(4, 6).eval(), (torch.randn(2, 4, 5, 5),)


class SqueezeExcite(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.squeeze = nn.AdaptiveAvgPool2d(1)
        self.reduce = nn.Conv2d(channels, 2, 1)
        self.expand = nn.Conv2d(2, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        scale = F.hardsigmoid(self.expand(F.hardswish(self.reduce(self.squeeze(x)))))
        return x * scale


@model
def squeeze_excite() -> Made:
    return SqueezeExcite(4), (torch.randn(2, 4, 5, 5),)


class BagOfWords(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(9, 4, mode="mean")
        self.scores = nn.Linear(4, 2)

    def forward(self, words: Tensor, starts: Tensor) -> Tensor:
        return self.scores(self.bag(words, starts))


@model
def embedding_bag() -> Made:
    return BagOfWords(), (torch.tensor([1, 5, 2, 5, 8]), torch.tensor([0, 2]))


class Siamese(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tower = nn.Sequential(nn.Linear(5, 6), nn.PReLU(), nn.Linear(6, 3))

    def forward(self, one: Tensor, other: Tensor, same: Tensor) -> Tensor:
        distance = F.pairwise_distance(self.tower(one), self.tower(other))
        return (same * distance**2 + (1 - same) * F.relu(1.0 - distance) ** 2).mean()


@model
def siamese() -> Made:
    return Siamese(), (torch.randn(4, 5), torch.randn(4, 5), torch.tensor([1.0, 0, 1, 0]))


class Discriminator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 4, 4, 2, 1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(4, 6, 4, 2, 1),
            nn.InstanceNorm2d(6, affine=True),
            nn.LeakyReLU(0.2),
            nn.Conv2d(6, 1, 2),
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.sigmoid(self.net(x)).view(-1)


@model
def gan_discriminator() -> Made:
    return Discriminator(), (torch.randn(2, 1, 8, 8),)


class MixtureOfExperts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(4, 3)
        self.experts = nn.ModuleList(nn.Linear(4, 5) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        weights = F.softmax(self.gate(x), dim=-1)
        outputs = torch.stack([torch.tanh(expert(x)) for expert in self.experts], dim=1)
        return torch.einsum("be,beo->bo", weights, outputs)


@model
def mixture_of_experts() -> Made:
    return MixtureOfExperts(), (torch.randn(3, 4),)


class Highway(nn.Module):
    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.plain = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.gates = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x: Tensor) -> Tensor:
        for plain, gate in zip(self.plain, self.gates, strict=True):
            t = torch.sigmoid(gate(x))
            x = t * F.relu(plain(x)) + (1 - t) * x
        return x


@model
def highway() -> Made:
    return Highway(4, 2), (torch.randn(3, 4),)
