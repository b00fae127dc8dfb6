"""A learner's own models in the player: what it shows is what PyTorch and JAX compute."""

from __future__ import annotations

import copy
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent / "models"))
import jax
import jax.numpy as jnp
import torch
import torch.nn.functional as F
from jax_models import MODELS as JAX_MODELS
from torch import nn
from torch_models import MODELS as TORCH_MODELS

import minigrad as mg
import viz
from minigrad.interop.captured import TOLERANCE
from minigrad.interop.torch.reader import OPERATORS, SEED

pytestmark = pytest.mark.oracle


def largest(arrays: Any) -> float:
    return max((float(np.max(np.abs(a), initial=0.0)) for a in arrays), default=0.0)


def agree(player: viz.Player, values: list[Any], gradients: dict[str, Any]) -> None:
    """What the player shows are the values and gradients of the original, and no others.

    A gradient may be as far from the original as 1e-5 of the largest one, which is that of a step
    downhill: a gradient that is 0 but for rounding has no magnitude of its own.
    """
    film = player.films[0]
    assert film.error is None, film.error
    shown = {("output", k[1]) if k[0] == "output" else k[-1]: v for k, v in film.results.items()}
    for i, value in enumerate(values):
        ours = shown.pop(("output", str(i)))
        assert ours.shape == value.shape
        np.testing.assert_allclose(ours, value, rtol=0, atol=TOLERANCE * largest(values))
    steepest = largest(gradients.values())
    assert steepest > 0
    for name, gradient in gradients.items():
        ours = shown.pop(name, np.zeros_like(gradient))
        assert ours.shape == gradient.shape, name
        np.testing.assert_allclose(ours, gradient, rtol=0, atol=TOLERANCE * steepest, err_msg=name)
    assert not shown
    assert "checked against" in player.text()[0].splitlines()[-1]


def torch_oracle(module: nn.Module, inputs: Any) -> tuple[list[Any], dict[str, Any]]:
    """Results, and the gradients of their sum by `backward`, of a copy that draws as ours does."""
    module = copy.deepcopy(module)
    named = [n for n in module.forward.__code__.co_varnames[1:] if n not in ("args", "kwargs")]
    given = [x.clone().requires_grad_(x.is_floating_point()) for x in inputs]
    with torch.random.fork_rng():
        torch.manual_seed(SEED)
        results = module(*given)
    results = results if isinstance(results, tuple) else (results,)
    sum(y.sum() for y in results).backward()
    leaves = {**dict(module.named_parameters()), **dict(zip(named, given, strict=False))}
    found = {name: x.grad.numpy() for name, x in leaves.items() if x.grad is not None}
    return [y.detach().numpy() for y in results], found


@pytest.mark.parametrize("name", TORCH_MODELS)
def test_a_module_plays_forward_and_backward(name: str) -> None:
    module, inputs = TORCH_MODELS[name]()
    before = copy.deepcopy(module.state_dict())
    player = viz.step(module, *inputs, whole=False)
    agree(player, *torch_oracle(module, inputs))
    operators = {n.op for n in player.films[0].picture.nodes}
    assert not [op for op in operators if op.startswith("PyTorch")]  # no box
    assert all(torch.equal(before[k], v) for k, v in module.state_dict().items())
    assert all(p.grad is None for p in module.parameters())


def jax_oracle(function: Any, inputs: Any) -> tuple[list[Any], dict[str, Any]]:
    """Results, and the gradients of their sum by `jax.grad`, for each leaf of the inputs."""
    flat, tree = jax.tree_util.tree_flatten(inputs)
    real = [i for i, x in enumerate(flat) if jnp.issubdtype(x.dtype, jnp.floating)]

    def total(leaves: Any) -> Any:
        given = dict(zip(real, leaves, strict=True))
        return sum(
            jnp.sum(y)
            for y in jax.tree_util.tree_leaves(
                function(*tree.unflatten([given.get(i, x) for i, x in enumerate(flat)]))
            )
        )

    found = jax.grad(total)([flat[i] for i in real])
    names = [name for name, _ in captured_names(function, inputs)]
    values = jax.tree_util.tree_leaves(function(*inputs))
    slopes = {names[i]: np.asarray(g) for i, g in zip(real, found, strict=True)}
    return [np.asarray(y) for y in values], slopes


def captured_names(function: Any, inputs: Any) -> list[tuple[str, Any]]:
    """The leaves of the inputs, called by the argument and the keys that lead to them."""
    told = list(inspect.signature(function).parameters)
    found = []
    for path, x in jax.tree_util.tree_flatten_with_path(inputs)[0]:
        rest = jax.tree_util.keystr(path[1:], simple=True, separator=".")
        found.append((f"{told[path[0].idx]}.{rest}".rstrip("."), x))
    return found


@pytest.mark.parametrize("name", JAX_MODELS)
def test_a_jax_function_plays_forward_and_backward(name: str) -> None:
    function, inputs = JAX_MODELS[name]()
    player = viz.step(function, *inputs, whole=False)
    agree(player, *jax_oracle(function, inputs))
    operators = {n.op for n in player.films[0].picture.nodes}
    assert not [op for op in operators if op.startswith("JAX")]  # no box


def test_there_are_twenty_models_and_ten() -> None:
    assert (len(TORCH_MODELS), len(JAX_MODELS)) == (20, 10)


def test_equations_bear_the_users_own_lines_and_stand_in_their_functions() -> None:
    function, inputs = JAX_MODELS["gpt2_block"]()
    nodes = viz.step(function, *inputs, whole=False).films[0].picture.nodes
    scaled = next(n for n in nodes if n.op == "MatMul" and "swapaxes(-1, -2)" in n.line)
    assert "jax_models.py" in scaled.line
    assert scaled.group == "self_attention"
    groups = {n.group for n in nodes}
    inner = {"self_attention", "self_attention/dense", "self_attention/dense (2)"}
    assert groups == {"", "layer_norm", "layer_norm (2)", "dense", "dense (2)", *inner}
    assert {n.name for n in nodes if n.kind == "variable"} >= {"params.wte", "params.up.w"}


def test_a_decision_of_jax_is_a_branch_of_the_graph() -> None:
    def f(x: jax.Array) -> jax.Array:
        return jax.lax.cond(x.sum() > 0, lambda y: y * 2, lambda y: y - 1, x)

    for x in (jnp.ones(3), -jnp.ones(3)):
        player = viz.step(f, x)
        agree(player, *jax_oracle(f, (x,)))
        assert "Cond" in {n.op for n in player.films[0].picture.nodes}


@pytest.mark.parametrize("name", ["mlp", "lstm", "gpt2_block", "vae"])
def test_pytorch_as_it_runs_stands_beside_its_exported_graph(name: str) -> None:
    module, inputs = TORCH_MODELS[name]()
    player = viz.compare(module, *inputs)
    eager, exported = (film.picture for film in player.films)
    assert (eager.kind, exported.kind) == ("dynamic", "static")
    assert player.data["equal"], player.text()[0].splitlines()[-1]
    assert "Run as it stands (dynamic) and as the exported graph (static)" in player.text()[0]
    ran = {n.op for n in eager.nodes}
    assert "Transpose" in ran  # PyTorch turns the weights of a layer round before the product
    assert {n.group for n in eager.nodes if n.kind == "operator"} - {""}
    (links,) = player.links
    assert len(links) > len(exported.nodes) / 4


def test_what_jax_has_and_we_have_not_is_a_box() -> None:
    def f(x: jax.Array) -> jax.Array:
        return jax.lax.lgamma(x * 2.0) + 1.0

    x = jnp.array([0.7, 1.3])
    player = viz.step(f, x)
    agree(player, *jax_oracle(f, (x,)))
    (box,) = [n for n in player.films[0].picture.nodes if n.op.startswith("JAX")]
    assert (box.op, box.title[0]) == ("JAX_lgamma", "no counterpart here: calls JAX")


def test_a_jax_function_that_decides_by_values_is_refused_with_a_remedy() -> None:
    with pytest.raises(mg.TraceError, match=r"JAX cannot capture this model.*jax\.lax\.cond"):
        viz.step(lambda x: x * 2 if x.sum() > 0 else x, jnp.ones(3), whole=False)


def test_operators_bear_the_users_own_lines_and_stand_in_their_modules() -> None:
    module, inputs = TORCH_MODELS["gpt2_block"]()
    nodes = viz.step(module, *inputs, whole=False).films[0].picture.nodes
    places = {n.op: n for n in nodes}
    assert "F.softmax(scores, dim=-1) @ v" in places["Softmax"].line
    assert "torch_models.py" in places["Softmax"].line
    assert places["GELU"].group == "mlp: Sequential/1: GELU"
    assert {n.name for n in nodes if n.kind == "variable"} >= {"wte.weight", "c_attn.bias"}


def test_neither_package_imports_pytorch_or_jax_by_itself() -> None:
    code = (
        "import sys, minigrad, viz; viz.step(lambda: minigrad.tensor(2.0, requires_grad=True) * 3)"
    )
    code += "; print({'torch', 'jax'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_function_plays_with_the_module_that_it_calls() -> None:
    net = nn.Linear(3, 2)
    x = torch.randn(4, 3)

    def loss(x: torch.Tensor) -> torch.Tensor:
        return F.mse_loss(net(x), torch.ones(4, 2))

    player = viz.step(loss, x)
    net.zero_grad()
    wanted = loss(x)
    wanted.backward()
    results = player.films[0].results
    np.testing.assert_allclose(results["output", "0"], wanted.detach(), rtol=1e-6)
    shown = {k[-1]: v for k, v in results.items()}
    assert net.weight.grad is not None
    np.testing.assert_allclose(shown["net.weight"], net.weight.grad, rtol=1e-5, atol=1e-6)


class Odd(nn.Module):
    """What no operator of ours can do stands among what they can."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.lgamma(self.line(x).exp() + 1.0) * 2.0


def test_what_has_no_counterpart_is_a_box_that_calls_the_original_and_says_so() -> None:
    torch.manual_seed(0)
    module, x = Odd(), torch.randn(2, 4)
    player = viz.step(module, x, whole=False)
    agree(player, *torch_oracle(module, (x,)))
    (box,) = [n for n in player.films[0].picture.nodes if n.op.startswith("PyTorch")]
    assert box.op == "PyTorch_lgamma"
    assert box.title == ("no counterpart here: calls PyTorch", "这里没有对应的算子：调用 PyTorch")
    english, chinese = player.text()
    assert english.endswith("PyTorch itself is called: lgamma.")
    assert chinese.endswith("由 PyTorch 自己计算的有：lgamma。")


def test_a_model_that_decides_by_values_is_refused_with_a_remedy() -> None:
    def decide(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.sum() > 0 else x

    with pytest.raises(mg.TraceError, match=r"PyTorch cannot capture this model.*torch\.cond"):
        viz.step(decide, torch.ones(3))


def test_a_graph_that_computes_something_else_is_told() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(OPERATORS, "tanh", lambda x: mg.tanh(x) * 1.001)
        player = viz.step(torch.tanh, torch.tensor([0.5]))
    assert player.text()[0].splitlines()[-1].startswith("This is not quite what PyTorch computes")
    assert player.text()[1].splitlines()[-1].startswith("这里与 PyTorch 的计算不完全一致")
