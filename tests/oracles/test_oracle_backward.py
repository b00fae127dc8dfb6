"""What changes a gradient of a PyTorch model but not its values: the film shows PyTorch's."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import viz
from minigrad.interop.captured import TOLERANCE
from minigrad.interop.torch.reader import OPERATORS
from viz.page.player import Player

pytestmark = pytest.mark.oracle
Forward = Callable[[Any, torch.Tensor], torch.Tensor]


class Net(nn.Module):
    """Two layers, and a forward pass that a test brings."""

    def __init__(self, run: Forward, prepare: Callable[[Any], object] = lambda net: None) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)
        self.run = run
        prepare(self)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.run(self, x)


def plain(net: Any, x: torch.Tensor) -> torch.Tensor:
    y: torch.Tensor = net.b(torch.tanh(net.a(x)))
    return y


def inputs(rows: int = 4) -> torch.Tensor:
    return torch.randn(rows, 3, generator=torch.Generator().manual_seed(1))


def gradients(module: nn.Module, x: torch.Tensor) -> dict[str, Any]:
    """What `backward` gives the parameters of a copy, and its input; None where nothing flows."""
    module = copy.deepcopy(module)
    given = x.clone().requires_grad_(x.is_floating_point())
    module(given.clone()).sum().backward()
    leaves = {**dict(module.named_parameters()), "x": given}
    return {name: None if p.grad is None else p.grad.to_dense() for name, p in leaves.items()}


def shown(player: Player, side: int = 0) -> dict[str, Any]:
    film = player.films[side]
    assert film.error is None, film.error
    return {k[-1]: v for k, v in film.results.items() if k[0] == "gradient"}


def same(player: Player, expected: dict[str, Any]) -> None:
    """Both films give these gradients, and to nothing else; the verdict says that they do."""
    for side in range(len(player.films)):
        found = shown(player, side)
        for name, g in expected.items():
            ours = found.pop(name, None)
            assert (ours is None) == (g is None), name
            if g is not None:
                np.testing.assert_allclose(ours, g, rtol=1e-4, atol=1e-5, err_msg=name)
        assert not found
    assert player.data["equal"], player.text()[0].splitlines()[-1]


def check(module: nn.Module, x: torch.Tensor) -> None:
    """`step` and `compare` show PyTorch's gradients, and leave the module as it was."""
    before = {n: (id(p), p.clone()) for n, p in module.named_parameters(remove_duplicate=False)}
    expected = gradients(module, x)
    same(viz.step(module, x, whole=False), expected)
    same(viz.compare(module, x), expected)
    after = dict(module.named_parameters(remove_duplicate=False))
    assert {n: id(p) for n, p in after.items()} == {n: i for n, (i, _) in before.items()}
    assert all(torch.equal(after[n], p) and after[n].grad is None for n, (_, p) in before.items())


# ---- Tied parameters --------------------------------------------------------------------------


class TiedWeights(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(10, 4)
        self.out = nn.Linear(4, 10, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.out(torch.tanh(self.embed(x)))
        return y


def tie_modules(net: Any) -> None:
    net.b = net.a
    net.c = nn.Sequential(net.a, nn.Tanh(), net.b)


def tie_three(net: Any) -> None:
    net.c = nn.Linear(3, 3)
    net.b.weight = net.c.weight = net.a.weight
    net.register_buffer("u", torch.full((3,), 2.0))
    net.register_buffer("v", net.u)


def tie_frozen(net: Any) -> None:
    tie_three(net)
    net.a.weight.requires_grad_(False)


def share_memory(net: Any) -> None:
    """Two parameters on one memory, of which one is frozen, are not tied."""
    net.b.weight = nn.Parameter(net.a.weight.data, requires_grad=False)


TIED: dict[str, tuple[Callable[[Any], object], Forward]] = {
    "a module under three names": (tie_modules, lambda net, x: net.c(net.b(torch.tanh(net.a(x))))),
    "three names and a buffer": (tie_three, lambda n, x: n.c(n.b(torch.tanh(n.a(x))) * n.u) + n.v),
    "three names, frozen": (tie_frozen, lambda n, x: n.c(n.b(torch.tanh(n.a(x))) * n.u) + n.v),
    "one memory, half of it frozen": (share_memory, plain),
    "a weight used twice": (lambda net: None, lambda net, x: F.linear(net.a(x), net.a.weight.t())),
}


@pytest.mark.parametrize("name", TIED)
def test_the_gradient_of_a_tied_tensor_is_the_sum_over_its_uses(name: str) -> None:
    torch.manual_seed(3)
    prepare, run = TIED[name]
    check(Net(run, prepare), inputs(2))


def test_a_tied_weight_is_one_node_and_all_its_names_are_told() -> None:
    torch.manual_seed(0)
    module, x = TiedWeights(), torch.randint(0, 10, (2, 3))
    check(module, x)
    player = viz.step(module, x, whole=False)
    names = [n.name for n in player.films[0].picture.nodes if n.kind == "variable"]
    assert names == ["embed.weight"]
    told = "embed.weight = out.weight"
    assert all(told in text.splitlines()[-1] for text in player.text())


# ---- Frozen, detached, without a gradient -------------------------------------------------------


class Features(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(3, 3)

    @torch.no_grad()
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.line(x).relu()
        return y


def no_grad(net: Any, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        h = torch.tanh(net.a(x))
    y: torch.Tensor = net.b(h) + net.b(x)
    return y


def enabled_inside(net: Any, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        h = net.a(x)
        with torch.enable_grad():
            k = net.a(h)
    y: torch.Tensor = net.b(h * k * x)
    return y


def inference(net: Any, x: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        largest = net.a(x).abs().max()
    y: torch.Tensor = net.b(x) / largest.clone()
    return y


def detached(net: Any, x: torch.Tensor) -> torch.Tensor:
    h = net.a(x)
    y: torch.Tensor = net.b(h * h.detach())
    return y


def by_data(net: Any, x: torch.Tensor) -> torch.Tensor:
    h = net.a(x)
    y: torch.Tensor = F.linear(h * h.data, net.b.weight.data)
    return y


def straight_through(net: Any, x: torch.Tensor) -> torch.Tensor:
    h = net.a(x) * 3
    y: torch.Tensor = net.b(h + (h.round() - h).detach())
    return y


FROZEN: dict[str, tuple[Callable[[Any], object], Forward]] = {
    "the first layer": (lambda net: net.a.requires_grad_(False), plain),
    "the last layer": (lambda net: net.b.requires_grad_(False), plain),
    "a bias": (lambda net: net.a.bias.requires_grad_(False), plain),
    "all": (lambda net: net.requires_grad_(False), plain),
    "no_grad": (lambda net: None, no_grad),
    "no_grad as a decorator, in a submodule": (
        lambda net: net.add_module("part", Features()),
        lambda net, x: net.b(net.part(net.a(x))) + net.a(x).sum(),
    ),
    "enable_grad inside no_grad": (lambda net: None, enabled_inside),
    "inference_mode": (lambda net: None, inference),
    "detach": (lambda net: None, detached),
    "data": (lambda net: None, by_data),
    "a straight-through estimator by detach": (lambda net: None, straight_through),
}


@pytest.mark.parametrize("name", FROZEN)
def test_nothing_flows_where_pytorch_lets_nothing_flow(name: str) -> None:
    torch.manual_seed(3)
    prepare, run = FROZEN[name]
    check(Net(run, prepare), inputs(2))


# ---- A backward pass of one's own ---------------------------------------------------------------


class Round(torch.autograd.Function):
    """A straight-through estimator."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return torch.round(x)

    @staticmethod
    def backward(ctx: Any, *g: torch.Tensor) -> torch.Tensor:
        return g[0]


class Reverse(torch.autograd.Function):
    """The reversal of a gradient."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, share: float) -> torch.Tensor:
        ctx.share = share
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *g: torch.Tensor) -> tuple[torch.Tensor, None]:
        return -ctx.share * g[0], None


class Scale(torch.autograd.Function):
    """Two results, of which one has no gradient, and a context that is set up apart."""

    @staticmethod
    def forward(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x * w, x > 0

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx: Any, *g: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x, w = ctx.saved_tensors
        return 3 * g[0] * w, g[0] * x


def scaled(net: Any, x: torch.Tensor) -> torch.Tensor:
    y, positive = Scale.apply(net.a(x), net.a.bias)  # type: ignore[no-untyped-call]
    z: torch.Tensor = net.b(torch.where(positive, y, -y))
    return z


CUSTOM: dict[str, Forward] = {
    "Round": lambda net, x: net.b(Round.apply(net.a(x) * 3)),  # type: ignore[no-untyped-call]
    "Reverse": lambda net, x: net.b(Reverse.apply(net.a(x), 0.5)),  # type: ignore[no-untyped-call]
    "Scale": scaled,
}


@pytest.mark.parametrize("name", CUSTOM)
def test_a_custom_function_keeps_its_own_backward_pass(name: str) -> None:
    torch.manual_seed(3)
    net, x = Net(CUSTOM[name]), inputs()
    apply = torch.autograd.Function.apply
    check(net, x)
    assert torch.autograd.Function.apply == apply
    assert f"PyTorch itself is called: {name}." in viz.step(net, x, whole=False).text()[0]


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpointed_part_is_shown_like_any_other(reentrant: bool) -> None:
    torch.manual_seed(3)
    check(Net(lambda net, x: net.b(checkpoint(net.a, x, use_reentrant=reentrant))), inputs())


def test_hooks_on_gradients_are_named_and_where_gradients_start_to_differ() -> None:
    def hooked(net: Any, x: torch.Tensor) -> torch.Tensor:
        h = net.a(x)
        h.register_hook(lambda g: g * 2)
        y: torch.Tensor = net.b(h)
        return y

    torch.manual_seed(3)
    net = Net(hooked)
    net.b.weight.register_hook(lambda g: g * 2)
    player = viz.step(net, inputs(), whole=False)
    english, chinese = (text.splitlines()[-1] for text in player.text())
    assert not player.data["equal"]
    assert english.startswith("This is not quite what PyTorch computes")
    assert "Going back from the output, gradients start to differ at b.weight." in english
    assert "hooks on gradients, which aren't part of the graph: b.weight, " in english
    assert "h.register_hook(lambda g: g * 2)" in english
    assert "从输出往回走，梯度从 b.weight 开始不同。" in chinese


# ---- Writing into tensors -----------------------------------------------------------------------


def written(do: Callable[[Any, torch.Tensor, torch.Tensor], object]) -> Forward:
    """A forward pass that writes to a hidden layer, as `do(net, x, hidden)` says."""

    def run(net: Any, x: torch.Tensor) -> torch.Tensor:
        h = net.a(x) * 1.0
        do(net, x, h)
        y: torch.Tensor = net.b(h)
        return y

    return run


def fill_by_rows(net: Any, x: torch.Tensor) -> torch.Tensor:
    out = torch.zeros(3, 3)
    for i in range(3):
        out[i] = net.a(x)[0] * i
    return out


def copy_into_new(net: Any, x: torch.Tensor) -> torch.Tensor:
    out = torch.empty(2, 4, 3)
    out.copy_(net.a(x))
    y: torch.Tensor = net.b(out)
    return y


def views_of_views(net: Any, x: torch.Tensor, h: torch.Tensor) -> None:
    view = h.view(2, 2, 3)[0].t()
    view[1] = net.a.bias[0] * x[0, :2]
    h.T[0] -= 1


def add_to_slices(net: Any, x: torch.Tensor, h: torch.Tensor) -> None:
    h[1:] += net.a(x)[:-1]
    h[0] *= 2


def set_where(net: Any, x: torch.Tensor, h: torch.Tensor) -> None:
    h[h < 0] = 0
    h[x > 1] = net.a.bias.sum()


def set_steps(net: Any, x: torch.Tensor, h: torch.Tensor) -> None:
    h[::2] = net.a(x)[1::2]
    h[-1, -1] = 4
    h[:, 0] = 0.0
    h[..., :-1] = net.a(x)[..., 1:]


def write_without_grad(net: Any, x: torch.Tensor) -> torch.Tensor:
    h = net.a(x) * 1
    with torch.no_grad():
        m = h.clone()
        m[:, 0] = 0.0
    y: torch.Tensor = net.b(h * m)
    return y


def write_to_input(net: Any, x: torch.Tensor) -> torch.Tensor:
    h = x * 2
    x[:, 1] = net.a(h)[:, 0]
    y: torch.Tensor = net.b(x)
    return y


FIRST, PAIRS = torch.tensor([0, 0]), torch.tensor([[0, 0], [1, 2], [2, 0], [1, 1]])
WRITES: dict[str, Forward] = {
    "rows of a new tensor": fill_by_rows,
    "copy_ into a new tensor": copy_into_new,
    "slices": written(set_steps),
    "views of views": written(views_of_views),
    "+= on slices": written(add_to_slices),
    "where a mask is true": written(set_where),
    "in no_grad": write_without_grad,
    "the input": write_to_input,
    "fill_": written(lambda net, x, h: h[1].fill_(net.a.bias.sum())),
    "zero_": written(lambda net, x, h: h[1].zero_()),
    "masked_fill_": written(lambda net, x, h: h.masked_fill_(h < 0, 0.5)),
    "masked_scatter_": written(lambda net, x, h: h.masked_scatter_(x > 0, net.a(x) * 2)),
    "index_put_, added": written(lambda n, x, h: h.index_put_((FIRST,), n.a(x)[2:], True)),
    "columns": written(lambda net, x, h: h.index_copy_(1, FIRST[:1] + 2, net.a(x)[:, :1])),
    "index_add_": written(lambda net, x, h: h.index_add_(0, FIRST, net.a(x)[:2])),
    "index_fill_": written(lambda net, x, h: h.index_fill_(0, FIRST[:1], 3.0)),
    "scatter_": written(lambda net, x, h: h.scatter_(1, PAIRS[:, :1], net.a(x)[:, :1])),
    "scatter_add_": written(lambda net, x, h: h.scatter_add_(1, PAIRS, net.a(x)[:, :2])),
    "put_": written(lambda net, x, h: h.put_(torch.tensor([1, 5]), net.a.bias[:2])),
    "a diagonal": written(lambda net, x, h: h[:3].diagonal().copy_(net.a.bias)),
    "fill_diagonal_": written(lambda net, x, h: h.fill_diagonal_(0.0)),
    "as_strided": written(lambda net, x, h: h.as_strided((2, 2), (3, 1)).mul_(3)),
    "as_strided, of columns": written(lambda net, x, h: h.T.as_strided((2, 2), (1, 3), 3).mul_(3)),
    "an operator in place on a slice": written(lambda net, x, h: h[:, 1:].exp_()),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_gradient_flows_through_what_is_written_into_a_tensor(name: str) -> None:
    torch.manual_seed(3)
    check(Net(WRITES[name]), inputs())


BOXES: dict[str, Forward] = {
    "sort": lambda net, x: net.b(torch.sort(net.a(x), -1)[0]),
    "lgamma": lambda net, x: net.b(torch.lgamma(net.a(x).exp() + 1)),
    "bucketize": lambda n, x: torch.bucketize(n.a(x), torch.tensor([-1.0, 0, 1])) + n.b(x),
}


@pytest.mark.parametrize("name", BOXES)
def test_an_operator_without_a_counterpart_has_pytorchs_gradient(name: str) -> None:
    torch.manual_seed(3)
    check(Net(BOXES[name]), inputs())


def test_an_operator_without_a_derivative_is_named_and_the_rest_has_its_gradient() -> None:
    def run(net: Any, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = net.b(torch.igamma(net.a(x).exp(), x.exp().detach()) + x)
        return y

    torch.manual_seed(3)
    net, x = Net(run), inputs()
    with pytest.raises(NotImplementedError, match="derivative for 'igamma"):
        gradients(net, x)
    player = viz.step(net, x, whole=False)
    assert {*shown(player)} == {"b.weight", "b.bias", "x"}
    np.testing.assert_allclose(shown(player)["b.bias"], [4, 4, 4], rtol=1e-6)
    assert player.data["equal"]
    assert "has no derivative for igamma, so nothing flows back through it" in player.text()[0]
    assert "没有 igamma 的导数" in player.text()[1]


def test_a_model_that_pytorch_cannot_differentiate_says_so() -> None:
    torch.manual_seed(3)
    player = viz.step(Net(written(lambda net, x, h: h.exp_().mul_(2))), inputs())
    assert player.data["equal"]
    assert "because PyTorch cannot differentiate this function: one of the var" in player.text()[0]


# ---- Embeddings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [{"sparse": True}, {"scale_grad_by_freq": True}])
def test_embeddings_with_gradients_of_their_own_kind(how: dict[str, Any]) -> None:
    torch.manual_seed(3)
    check(nn.Sequential(nn.Embedding(10, 4, padding_idx=3, **how)), torch.tensor([[1, 1, 2, 3]]))


# ---- Kinks, and rounding ------------------------------------------------------------------------

POINTS = torch.tensor([-25.0, -6.0, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0, 25.0])
ROWS = torch.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [2.0, -2.0, 2.0]])
LABELS = torch.tensor([0, -100, 2])
LOW, HIGH = torch.tensor(-1.0), torch.tensor(3.0)
KINKS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], torch.Tensor]] = {
    **{
        name: (getattr(F, name), POINTS)
        for name in (
            *("relu", "relu6", "hardtanh", "hardsigmoid", "hardswish", "leaky_relu", "elu"),
            *("selu", "celu", "softplus", "softshrink", "hardshrink"),
        )
    },
    "clamp": (lambda x: torch.clamp(x, -1, 3), POINTS),
    "clamp by tensors": (lambda x: torch.clamp(x, LOW, HIGH), POINTS),
    "abs": (torch.abs, POINTS),
    "maximum": (lambda x: torch.maximum(x, x.flip(0)), ROWS),
    "amax": (lambda x: x.amax(-1), ROWS),
    "max": (lambda x: x.max(-1)[0], ROWS),
    "norm": (lambda x: x.norm(dim=-1), ROWS),
    "norm of order 3": (lambda x: x.norm(3, dim=-1), ROWS),
    "normalize": (lambda x: F.normalize(x, dim=-1), ROWS),
    "std": (lambda x: x.std(-1), ROWS),
    "cross entropy, a label ignored": (lambda x: F.cross_entropy(x, LABELS), ROWS),
    "max_pool2d": (lambda x: F.max_pool2d(x.reshape(1, 1, 3, 3), 2, 1), ROWS),
}


@pytest.mark.parametrize("name", KINKS)
def test_at_a_kink_the_gradient_is_the_one_that_pytorch_takes(name: str) -> None:
    function, x = KINKS[name]
    given = x.clone().requires_grad_()
    function(given).sum().backward()
    player = viz.step(lambda x: function(x), x)
    np.testing.assert_allclose(shown(player)["x"], given.grad, rtol=1e-5, atol=1e-6)
    assert player.data["equal"], player.text()[0].splitlines()[-1]


def test_a_gap_that_rounding_alone_makes_is_checked_in_float64() -> None:
    torch.manual_seed(0)
    norms = [nn.BatchNorm1d(4), nn.BatchNorm1d(4)]
    net = nn.Sequential(nn.Linear(3, 4), norms[0], nn.Linear(4, 4), norms[1])
    player = viz.step(net, torch.randn(2, 3) * 1e-3)  # two rows that are almost the same
    english, chinese = (text.splitlines()[-1] for text in player.text())
    assert player.data["equal"]
    assert english.startswith("checked against PyTorch in float64")
    assert "it magnifies rounding" in english
    assert "会放大舍入误差" in chinese
    apart = float(english.split("they differ by ")[1].split(" and ")[1].split(",")[0])
    assert TOLERANCE < apart < math.inf


def test_a_wrong_value_is_named_by_its_operator_and_layer() -> None:
    torch.manual_seed(0)
    with pytest.MonkeyPatch.context() as patch:
        right = OPERATORS["tanh"]
        patch.setitem(OPERATORS, "tanh", lambda x: right(x) * 1.001)
        net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))
        player = viz.step(net, inputs(), whole=False)
    english = player.text()[0].splitlines()[-1]
    assert english.startswith("This is not quite what PyTorch computes")
    assert "Values start to differ at Mul (layer: 1: Tanh; " in english
