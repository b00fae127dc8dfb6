"""Whole models of PyTorch and JAX in the explorer: what it tells is what they compute."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch import nn

import viz
from minigrad.interop.captured import seed
from minigrad.interop.torch.capture import capture
from viz.explorer.explorer import Explorer

pytestmark = pytest.mark.oracle


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x: Any) -> Any:
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Net(nn.Module):
    def __init__(self, blocks: int = 3) -> None:
        super().__init__()
        self.stem = nn.Linear(6, 8)
        self.blocks = nn.Sequential(*(Block(8) for _ in range(blocks)))
        self.head = nn.Linear(8, 4)

    def forward(self, x: Any, scale: Any = None, *, shift: Any = None) -> Any:
        x = self.head(self.blocks(self.stem(x)))
        x = x if scale is None else x * scale
        return {"y": x if shift is None else x + shift}


@pytest.fixture
def net() -> Net:
    torch.manual_seed(0)
    return Net()


def norm(made: Explorer, name: str) -> Any:
    data = made.data
    p = next(p for p in data["parameters"] if p["name"] == name)
    return data["portraits"][p["g"]]["norm"]


def test_gradients_are_those_of_pytorch(net: Net) -> None:
    x = torch.randn(5, 6)
    made = viz.step(net, x)
    assert isinstance(made, Explorer)
    y = net(x)["y"]
    y.backward(torch.as_tensor(seed(y.detach().numpy())))
    for name, p in net.named_parameters():
        assert norm(made, name) == pytest.approx(float(p.grad.norm()), rel=1e-3, abs=1e-6), name
    top = [made.data["nodes"][i]["name"] for i in made.data["nodes"][0]["children"]]
    assert top == ["stem", "blocks.0", "blocks.1", "blocks.2", "head"]


def test_a_loss_is_where_the_way_back_begins(net: Net) -> None:
    x, target = torch.randn(5, 6), torch.tensor([0, 1, 2, 3, 0])

    def loss(out: Any) -> Any:
        return nn.functional.cross_entropy(out["y"], target)

    made = viz.step(net, x, loss=loss)
    loss(net(x)).backward()
    assert isinstance(made, Explorer)
    for name, p in net.named_parameters():
        assert norm(made, name) == pytest.approx(float(p.grad.norm()), rel=1e-3)


def test_arguments_have_names(net: Net) -> None:
    x = torch.randn(5, 6)
    scaled = viz.step(net, x=x, scale=torch.tensor(2.0))
    assert [i["name"] for i in scaled.data["inputs"]] == ["x", "scale"]
    shifted = viz.step(net, x, shift=torch.ones(4))
    assert len(shifted.data["inputs"]) == 2
    assert "blocks.1" in shifted.text()[0]
    with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
        viz.step(net, x, y=x)


def test_arrays_of_numpy_are_taken(net: Net) -> None:
    x = np.linspace(-1, 1, 30).reshape(5, 6)
    made = viz.step(net, x)
    assert made.data["inputs"][0] | {"v": 0, "g": 0} == {
        "shape": [5, 6],
        "dtype": "float32",
        "name": "x",
        "v": 0,
        "g": 0,
    }
    assert "checked against PyTorch" in made.text()[0]
    assert isinstance(viz.compare(nn.Linear(6, 2), x), viz.Player)


def test_a_module_is_open_at_first(net: Net) -> None:
    made = viz.step(net, torch.randn(5, 6), focus="blocks.1")
    assert made.data["nodes"][made.data["start"]]["name"] == "blocks.1"
    with pytest.raises(ValueError, match=r"There is no module blocks\.7 here.*blocks\.2"):
        viz.step(net, torch.randn(5, 6), focus="blocks.7")


def test_small_models_are_played_one_by_one() -> None:
    assert isinstance(viz.step(nn.Linear(3, 2), torch.randn(1, 3)), viz.Player)
    assert isinstance(viz.step(nn.Linear(3, 2), torch.randn(1, 3), whole=True), Explorer)
    assert isinstance(viz.step(Net(), torch.randn(1, 6), whole=False), viz.Player)


def layer(p: Any, x: Any) -> Any:
    with jax.named_scope("norm"):
        x = (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-5)
    return jnp.tanh(x @ p["w"] + p["b"])


def jax_net(params: Any, x: Any) -> Any:
    for i, p in enumerate(params):
        with jax.named_scope(f"layer_{i}"):
            x = x + layer(p, x)
    return x.sum()


def wrong_params(params: Any) -> Any:
    """The weight of the second layer takes another width than the first gives."""
    second = params[1] | {"w": jnp.ones((5, 4))}
    return [params[0], second, *params[2:]]


@jax.custom_vjp
def clipped(x: Any) -> Any:
    return x


clipped.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -0.1, 0.1),))


def jax_odd(params: Any, x: Any) -> Any:
    """A teacher that gets no gradient, a rule for gradients, and an operator we don't have."""
    target = jax.lax.stop_gradient(layer(params[0], x))
    h = jnp.sort(clipped(layer(params[1], x)))
    return ((h - target) ** 2).sum()


def test_scopes_of_jax_are_modules_and_its_gradients_are_there() -> None:
    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    params = [{"w": jax.random.normal(k, (4, 4)), "b": jnp.zeros(4)} for k in keys]
    x = jax.random.normal(keys[0], (2, 4))
    made = viz.step(jax_net, params, x)
    assert isinstance(made, Explorer)
    names = [n["name"] for n in made.data["nodes"] if n.get("children")]
    assert {"layer_0", "layer_1", "layer_2", "norm"} <= set(names)
    found = jax.grad(jax_net)(params, x)
    for i in range(3):
        expected = float(np.linalg.norm(found[i]["w"]))
        assert norm(made, f"params.{i}.w") == pytest.approx(expected, rel=1e-3)


class Wrong(Net):
    """The third block gives another width than its last layer takes."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks[1].down = nn.Linear(15, 8)


@pytest.fixture(autouse=True)
def no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine prints no line about progress, which is no part of what went wrong."""
    monkeypatch.setattr("viz.words.progress.WAIT", float("inf"))


def test_a_model_that_raises_shows_what_ran(capfd: pytest.CaptureFixture[str]) -> None:
    made = viz.step(Wrong(), torch.randn(5, 6), whole=True)
    data = made.data
    failed = data["operators"][data["failed"]]
    assert failed["op"] == "linear"
    assert data["operators"][failed["reads"][0]]["op"] == "ReLU"
    names = [n.get("name") for n in data["nodes"]]
    assert {"blocks.2", "head"} <= set(names)  # outlines of what is behind it
    assert all("v" in o for o in data["operators"][: data["failed"]])
    assert "It stops in `blocks.1.down`" in str(made.error)
    assert isinstance(made.error.__cause__, RuntimeError)
    assert "It stops in `blocks.1.down`" in made.text()[0]
    assert capfd.readouterr() == ("", "")


def jax_params(count: int = 3) -> tuple[Any, Any]:
    keys = jax.random.split(jax.random.PRNGKey(0), count)
    params = [{"w": jax.random.normal(k, (4, 4)), "b": jnp.zeros(4)} for k in keys]
    return params, jax.random.normal(keys[0], (2, 4))


def jitted(params: Any, x: Any) -> Any:
    return jax.jit(jax_net)(params, x)


def mapped(params: Any, x: Any) -> Any:
    return jax.vmap(lambda row: jax_net(params, row))(x)


def halved(params: Any, x: Any) -> Any:
    x = jax_net(params, x)
    return x / 2 if x > 0 else x  # only with a value


def test_what_ran_before_a_failure_is_what_runs_without_it() -> None:
    """BatchNorm also counts its batches, which no result is made of."""

    def added(width: int) -> int:
        net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(width, 2))
        data = viz.step(net, torch.ones(5, 6), whole=True).data
        assert ("failed" in data) == (width != 8)
        names = [o["op"] for o in data["operators"]]
        return names[: names.index("ReLU")].count("Add")

    assert added(9) == added(8) == 2


@pytest.mark.parametrize("function", [jax_net, jitted, mapped, halved])
def test_a_jax_function_that_raises_shows_what_ran(
    function: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    params, x = jax_params()
    made = viz.step(
        function, wrong_params(params) if function is not halved else params, x, whole=True
    )
    data = made.data
    failed = data["operators"][data["failed"]]
    names = [n.get("name") for n in data["nodes"]]
    line = data["lines"][failed["line"]][2]
    ran = data["operators"][: data["failed"]]
    assert all("v" in o for o in ran)
    expected = np.asarray(layer(params[0], x) + x)
    norms = [data["portraits"][o["v"]].get("norm") for o in ran]
    assert pytest.approx(float(np.linalg.norm(expected)), rel=1e-3) in norms
    if function is halved:
        assert "x > 0" in line
        assert isinstance(made.error.__cause__, jax.errors.TracerBoolConversionError)
    else:
        assert failed["op"] == "matmul"
        assert "tanh(x @ p" in line
        assert data["parameters"][failed["weights"][0]]["name"] == "params.1.w"
        assert {"layer_1", "params.2"} <= set(names)
        assert "(5, 4)" in str(made.error)
        assert isinstance(made.error.__cause__, TypeError)
    assert capfd.readouterr() == ("", "")


def test_a_jax_module_that_holds_its_arrays_has_parameters() -> None:
    @jax.tree_util.register_pytree_with_keys_class
    class Layer:
        def __init__(self, w: Any, rate: float) -> None:
            self.w, self.rate = w, rate

        def __call__(self, x: Any) -> Any:
            return jnp.tanh(x @ self.w).sum() if self.rate else x  # a number, as Python needs it

        def tree_flatten_with_keys(self) -> Any:
            key = jax.tree_util.GetAttrKey
            return [(key("w"), self.w), (key("rate"), self.rate)], None

        @classmethod
        def tree_unflatten(cls, _: Any, held: Any) -> Layer:
            return cls(*held)

    w, x = jnp.full((3, 2), 0.5), jnp.arange(6.0).reshape(2, 3)
    made = viz.step(Layer(w, 0.5), x, whole=True)
    assert [i["name"] for i in made.data["inputs"]] == ["x"]
    expected = jax.grad(lambda layer: layer(x))(Layer(w, 0.5)).w
    assert norm(made, "model.w") == pytest.approx(float(np.linalg.norm(expected)), rel=1e-3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda net: net.half(), "in float32 instead of float16"),
        (lambda net: net.bfloat16(), "in float32 instead of bfloat16"),
        (lambda net: net.to("meta"), "on the meta device and had no values"),
        (lambda net: net.append(nn.Dropout(0.5)).train(), "in train() mode"),
    ],
)
def test_what_was_changed_to_play_a_model_is_told(change: Any, said: str) -> None:
    net = change(nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 2)))
    before = [(p.dtype, p.device) for p in net.parameters()]
    english, chinese = viz.step(net, torch.randn(3, 6).to(before[0][0]), whole=True).text()
    assert said in english
    assert "checked against PyTorch" in english
    assert chinese.splitlines()[-1].startswith("已与 PyTorch")
    assert [(p.dtype, p.device) for p in net.parameters()] == before


def test_what_differs_is_marked(net: Net) -> None:
    for p in net.blocks[0].parameters():
        p.requires_grad_(False)
    net.blocks[1].register_forward_hook(lambda module, args, y: y.detach())
    made = viz.step(net, torch.randn(5, 6))
    kept = {p["name"] for p in made.data["parameters"] if p.get("kept") == "frozen"}
    assert {f"blocks.0.{name}" for name, _ in net.blocks[0].named_parameters()} <= kept
    told = [f["text"][0] for f in made.data["findings"]]
    assert any("is frozen (requires_grad=False)" in text for text in told)
    assert any("under no_grad or detached" in text for text in told)


def test_what_differs_in_jax_is_marked() -> None:
    made = viz.step(jax_odd, *jax_params(), whole=True)
    marks = {o["op"]: o["mark"] for o in made.data["operators"] if "mark" in o}
    assert marks == {"StopGradient": "cut", "JAX_clipped": "rule", "JAX_sort": "box"}
    told = made.text()[0]
    assert "No path leads back to params.0.b, so it gets no gradient (2 parameters in all)" in told


def test_pytorch_misreads_a_gradient_where_ours_is_right() -> None:
    """docs/models.md says so of LeViT: once PyTorch is mended, this fails, and that can go."""

    class Tokens(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.BatchNorm2d(3)

        def forward(self, x: Any) -> Any:
            return self.norm(x).flatten(2).transpose(1, 2)

    made = Tokens().eval()
    x = torch.arange(12.0).reshape(1, 3, 2, 2)
    found = capture(made, [x])
    weights = torch.tensor(seed(found.outputs[0]))

    def total(bias: torch.Tensor) -> float:
        y = torch.func.functional_call(made, {"norm.bias": bias}, (x,))
        return float((y * weights).sum().detach())

    slopes = [total(row / 2) - total(-row / 2) for row in torch.eye(3)]  # exact: it is linear
    np.testing.assert_allclose(found._computed[1]["norm.bias"], slopes, rtol=1e-5)
    assert found.gaps()[1] > 0.1, "PyTorch's own gradient is another one"


class Checked(Net):
    """The user's own code refuses the input before anything ran."""

    def forward(self, x: Any) -> Any:  # type: ignore[override]
        assert x.shape[1] == 6, "six features, please"
        return super().forward(x)


def checked(params: Any, x: Any) -> Any:
    rows, columns, channels = x.shape
    return jax_net(params, x.reshape(rows, columns * channels))


@pytest.mark.parametrize(
    ("model", "inputs", "operator", "line", "said"),
    [
        (Net, [torch.ones(5, 7)], "linear", "self.stem(x)", "(5, 7), (8, 6)"),
        (Checked, [torch.ones(5, 7)], "assert x.shape[1]", "six features", "AssertionError"),
        (Net, [], "Net", "", "missing 1 required positional argument: 'x'"),
        (jax_net, [*jax_params()[:1], jnp.ones((2, 5))], "matmul", "tanh(x @ p", "(2, 5), (4, 4)"),
        (checked, jax_params(), "rows, columns, channels", "= x.shape", "not enough values"),
        (jax_net, jax_params()[:1], "jax_net", "", "missing 1 required positional argument: 'x'"),
    ],
)
def test_a_wrong_input_gives_a_page(
    model: Any,
    inputs: Any,
    operator: str,
    line: str,
    said: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The call fails before or in the first operator of a module: all is there as outlines."""
    made = viz.step(model() if model in (Net, Checked) else model, *inputs)
    data = made.data
    failed = data["operators"][data["failed"]]
    assert failed["op"].startswith(operator)
    assert line in data["lines"][failed["line"]][2]
    assert said in str(made.error)
    if line:
        assert "test_oracle_explorer.py, line" in str(made.error)
        assert "viz.step(model" not in str(made.error)
    assert all("v" in o for o in data["operators"][: data["failed"]])
    names = {n.get("name") for n in data["nodes"]}
    assert names >= ({"params.1", "params.2"} if model in (jax_net, checked) else {"stem", "head"})
    count = sum(p["size"] for p in data["parameters"])
    assert count == (980 if model in (Net, Checked) else 60)
    attached = {w for o in data["operators"] for w in o.get("weights", ())}
    assert len(attached) == len(data["parameters"]) or model is jax_net
    assert f"parameters: {count} · " in data["heading"][0]
    assert capfd.readouterr() == ("", "")
