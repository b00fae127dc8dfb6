"""Models in PyTorch of every form: what they return, what they read from tensors, where they stop.

Each value and gradient is compared with the one that PyTorch computes.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import importlib
from collections import OrderedDict, UserDict, namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import minigrad as mg
import viz
from minigrad.interop.torch.capture import capture

pytestmark = pytest.mark.oracle

Step = Callable[[torch.Tensor, torch.Tensor], Any]
Pair = namedtuple("Pair", "result count")


@dataclasses.dataclass
class Output:
    """As the output of a model of Hugging Face, and nothing that PyTorch knows."""

    logits: torch.Tensor
    loss: torch.Tensor | None = None
    count: int = 3


class Model(nn.Module):
    """A layer, and a function of what it computes and of the input."""

    def __init__(self, step: Step) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(3, 3)
        self.step = step

    def forward(self, x: torch.Tensor) -> Any:
        return self.step(self.layer(x), x)


def some_input() -> torch.Tensor:
    return torch.tensor([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]])


def tensors_of(result: Any) -> list[torch.Tensor]:
    """The tensors in containers of any kind."""
    if isinstance(result, torch.Tensor):
        return [result]
    if dataclasses.is_dataclass(result):
        result = [getattr(result, field.name) for field in dataclasses.fields(result)]
    if isinstance(result, (dict, UserDict)):
        result = list(result.values())
    return [y for x in result for y in tensors_of(x)] if isinstance(result, (list, tuple)) else []


def plays(model: nn.Module, *inputs: torch.Tensor) -> str:
    """Both players show PyTorch's own values and gradients; returns what `viz.step` says."""
    own = copy.deepcopy(model)
    given = [x.clone().requires_grad_(x.is_floating_point()) for x in inputs]
    results = tensors_of(own(*given))
    ends = [y for y in results if y.requires_grad and y.is_floating_point()]
    if ends:
        torch.autograd.backward([y.sum() for y in ends])
    expected = {n: p.grad.numpy() for n, p in own.named_parameters() if p.grad is not None}
    if given[0].grad is not None:
        expected["x"] = given[0].grad.numpy()
    players = viz.step(model, *inputs), viz.compare(model, *inputs)
    for film in (f for player in players for f in player.films):
        assert film.error is None
        shown = {k[1] if k[0] == "output" else k[-1]: v for k, v in film.results.items()}
        for i, y in enumerate(results):
            np.testing.assert_allclose(shown.pop(str(i)), y.detach().numpy(), rtol=1e-5, atol=1e-6)
        for name, gradient in expected.items():
            if name in shown or results[0] is not given[0]:  # else no operator passes it back
                np.testing.assert_allclose(shown.pop(name), gradient, rtol=1e-4, atol=1e-5)
        assert not [name for name, found in shown.items() if np.any(found)]
    for player in players:
        for half in player.text():
            assert half.splitlines()[-1].startswith(("checked against PyTorch", "已与 PyTorch"))
    return players[0].text()[0]


BESIDE: dict[str, tuple[Step, str]] = {
    "an integer": (lambda h, x: (h, x.shape[0]), "also returns 2."),
    "a float": (lambda h, x: (h, 0.5), "also returns 0.5."),
    "a boolean": (lambda h, x: (True, h), "also returns True."),
    "a string": (lambda h, x: (h, "logits"), "also returns 'logits'."),
    "a size": (lambda h, x: (h, x.shape), "also returns 2, 3."),
    "a type and a device": (
        lambda h, x: (h, h.dtype, h.device),
        "also returns torch.float32, device(type='cpu').",
    ),
    "None": (lambda h, x: (None, h), ""),
    "an empty tuple": (lambda h, x: (h, ()), ""),
    "a dict": (lambda h, x: {"b": h, "a": 1, "c": h * 2}, "also returns 1."),
    "an ordered dict": (lambda h, x: OrderedDict(a=h), ""),
    "a dict of the user's": (lambda h, x: UserDict(a=h), ""),
    "a named tuple": (lambda h, x: Pair(h, 2), "also returns 2."),
    "a dataclass": (lambda h, x: Output(h), "also returns 3."),
    "a dataclass with a loss": (lambda h, x: Output(h, h.sum()), "also returns 3."),
    "nested containers": (lambda h, x: [(h, [h + 1]), {"x": {"y": h * 2}}], ""),
    "an object": (lambda h, x: (h, Model), "also returns"),
}


@pytest.mark.parametrize("name", BESIDE)
def test_what_a_model_returns_beside_its_tensors_is_named(name: str) -> None:
    step, named = BESIDE[name]
    said = plays(Model(step), some_input())
    assert (named in said) if named else ("also returns" not in said)
    assert "can't export" not in said


RETURNED: dict[str, Step] = {
    "its input": lambda h, x: x,
    "its input beside": lambda h, x: (x, h),
    "a tensor twice": lambda h, x: (h, h),
    "a constant beside": lambda h, x: (h, torch.ones(2)),
    "a position beside": lambda h, x: h.max(1),
    "a detached tensor beside": lambda h, x: (h.detach(), h),
    "nothing but a shape": lambda h, x: h[:0],
    "another float": lambda h, x: (h.double(), h.half()),
}


@pytest.mark.parametrize("name", RETURNED)
def test_a_model_returns(name: str) -> None:
    plays(Model(RETURNED[name]), some_input())


def test_a_model_returns_its_parameter() -> None:
    class Parameter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.tensor([1.0, 2.0]))

        def forward(self, x: torch.Tensor) -> Any:
            return self.weight, x * self.weight

    plays(Parameter(), torch.tensor([3.0, 4.0]))


FORWARD_ONLY: dict[str, Step] = {
    "argmax": lambda h, x: h.argmax(1),
    "a comparison": lambda h, x: h > 0,
    "a count": lambda h, x: (h > 0).sum(),
    "a spectrum": lambda h, x: torch.fft.rfft(h),
    "a detached tensor": lambda h, x: h.detach() * 2,
    "a constant": lambda h, x: torch.ones(2),
}


@pytest.mark.parametrize("name", FORWARD_ONLY)
def test_without_a_gradient_only_the_forward_pass_is_played(name: str) -> None:
    said = plays(Model(FORWARD_ONLY[name]), some_input())
    assert "There is no backward pass" in said
    assert "passes back" not in said


COMPLEX: dict[str, Step] = {
    "the magnitudes of a spectrum": lambda h, x: torch.fft.rfft(h).abs().sum(),
    "the real part": lambda h, x: torch.fft.fft(h).real.sum(),
    "a convolution": lambda h, x: torch.fft.irfft(torch.fft.rfft(h) * torch.fft.rfft(x), n=3),
    "a square": lambda h, x: (torch.complex(h, x) ** 2).imag,
    "a value read three times": lambda h, x: (lambda z: (z * z + z.conj() * 3).abs())(
        torch.fft.fft(h)
    ),
    "polar coordinates": lambda h, x: torch.view_as_real(torch.polar(h.abs(), x)),
    "angles": lambda h, x: torch.fft.fft(h).angle(),
    "a product of matrices": lambda h, x: (h.to(torch.complex64) @ h.T.to(torch.complex64)).real,
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers_inside_a_model_pass_gradients_on(name: str) -> None:
    assert "PyTorch itself is called" in plays(Model(COMPLEX[name]), some_input())


NOTHING: dict[str, Step] = {
    "an empty tuple": lambda h, x: (),
    "None": lambda h, x: None,
    "a number": lambda h, x: 3,
    "a string": lambda h, x: "logits",
    "an array": lambda h, x: h.detach().numpy(),
    "a distribution": lambda h, x: torch.distributions.Normal(h, 1.0),
}


@pytest.mark.parametrize("verb", [viz.step, viz.compare])
@pytest.mark.parametrize("name", NOTHING)
def test_a_model_that_returns_no_tensor_is_refused_at_its_return(name: str, verb: Any) -> None:
    with pytest.raises(mg.TraceError, match="holds no tensor") as caught:
        verb(Model(NOTHING[name]), some_input())
    assert "return self.step(self.layer(x), x)" in str(caught.value)


READ: dict[str, Step] = {
    "item": lambda h, x: h * h.sum().item(),
    "float": lambda h, x: h * float(h.detach().sum()),
    "int": lambda h, x: h * int(x.sum() * 10),
    "tolist": lambda h, x: h * h.tolist()[0][0],
    "numpy": lambda h, x: h * torch.from_numpy(x.detach().numpy()),
    "a number that decides": lambda h, x: h if h.sum().item() > 100 else h * x,
    "a length": lambda h, x: sum(h * i for i in range(int(x.max()) + 1)),
    "a slice": lambda h, x: h[:, : int(x[0, 0])],
    "equal": lambda h, x: h if torch.equal(h, x) else h * 2,
    "a text": lambda h, x: (h, f"{h.sum():.2f}"),
    "a mask": lambda h, x: h[x > 0],
    "the mean of a mask": lambda h, x: h[x > 0].mean(),
    "a mask reshaped": lambda h, x: h[x > 0].view(-1, 1),
    "nonzero": lambda h, x: x.nonzero(),
    "nonzero as positions": lambda h, x: h[(x > 0).nonzero(as_tuple=True)],
    "constants at such positions": lambda h, x: (
        torch.arange(9.0)[(x > 0).nonzero()[:, 1]] * h.sum()
    ),
    "where": lambda h, x: h[torch.where(x > 0)],
    "masked_select": lambda h, x: torch.masked_select(h, x > 0),
    "unique": lambda h, x: torch.unique(x.long()),
    "repeat_interleave": lambda h, x: torch.repeat_interleave(h, (x[:, 0] > 0.5).long() + 1, 0),
    "bincount": lambda h, x: torch.bincount(x.abs().long().view(-1)),
    "one_hot": lambda h, x: nn.functional.one_hot(x.abs().long()) * h.sum(),
}


@pytest.mark.parametrize("name", READ)
def test_what_depends_on_values_plays_as_one_run(name: str) -> None:
    said = plays(Model(READ[name]), some_input())
    assert "the graph shows one run with these inputs" in said


@pytest.mark.parametrize(
    "step", [lambda h, x: h * torch.from_numpy(x.numpy()), lambda h, x: h * float(h.sum())]
)
def test_an_input_is_read_as_the_user_reads_it(step: Step) -> None:
    """Here it asks for a gradient: `numpy` would refuse it, `float` would warn."""
    assert "the graph shows one run" in plays_forward(Model(step))


def test_nothing_slides_where_values_are_fixed() -> None:
    def free(x: torch.Tensor) -> torch.Tensor:
        return x * 3

    def fixed(x: torch.Tensor) -> torch.Tensor:
        return x * x.item()

    x = torch.tensor(2.0)
    assert len(viz.step(free, x).sliders) == 1
    assert not viz.step(fixed, x).sliders


def test_a_recorded_run_stops_gradients_where_pytorch_does() -> None:
    class Partly(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)
            self.frozen = nn.Linear(3, 3).requires_grad_(False)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                scale = torch.tanh(self.first(x))
            return self.frozen(self.second(x) * scale) * x.sum().item() + self.first(x).detach()

    said, beside = (verb(Partly(), some_input()).text()[0] for verb in (viz.step, viz.compare))
    for text in (said, beside):
        assert text.splitlines()[-1].startswith("checked against PyTorch")
    assert "passes back to second.weight" in said
    assert "passes back to first.weight" not in said


class Fivefold(torch.autograd.Function):
    """A copy whose gradient counts five times."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 1

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        return gradients[0] * 5


def writes(h: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = h * 2
    y[:, 0] = x[:, 1] * 3
    return y.mul_(x.max().item())


OWN_GRADIENTS: dict[str, Step] = {
    "what is written to": writes,
    "data": lambda h, x: h.data * x.sum().item() + h * 2,
    "a custom function": lambda h, x: Fivefold.apply(h) * x.sum().item(),
    "a checkpoint": lambda h, x: checkpoint(torch.tanh, h, use_reentrant=True) * x.sum().item(),
    "complex numbers": lambda h, x: COMPLEX["a value read three times"](h, x) * x.sum().item(),
    "ignored labels": lambda h, x: nn.functional.cross_entropy(
        h, torch.tensor([-100, int(x.max().item()) - 2])
    ),
}


@pytest.mark.parametrize("name", OWN_GRADIENTS)
def test_a_recorded_run_has_the_gradients_of_pytorch(name: str) -> None:
    assert "the graph shows one run" in plays(Model(OWN_GRADIENTS[name]), some_input())


@pytest.mark.parametrize("factor", [lambda x: 2.0, lambda x: x.sum().item()])
def test_an_operand_without_a_derivative_that_is_frozen_is_no_obstacle(
    factor: Callable[[torch.Tensor], float],
) -> None:
    class Gamma(Model):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            h = self.layer(x)
            return torch.igamma(self.shape, h.abs() + 1) * factor(x) + h

    model = Gamma(lambda h, x: h)
    model.shape = nn.Parameter(torch.ones(3), requires_grad=False)
    assert "has no derivative" not in plays(model, some_input())


@pytest.mark.parametrize("factor", [lambda x: 2.0, lambda x: x.sum().item()])
def test_nothing_flows_through_an_operator_without_a_derivative(
    factor: Callable[[torch.Tensor], float],
) -> None:
    """Not to its other operands either, for which PyTorch has one."""
    player = viz.step(
        Model(lambda h, x: torch.igamma(h.abs() + 1, x.abs() + 1) * factor(x) + h), some_input()
    )
    assert player.data["equal"]
    assert "has no derivative for igamma, so nothing flows back through it" in player.text()[0]
    (found,) = (v for k, v in player.films[0].results.items() if k[-1] == "layer.bias")
    np.testing.assert_allclose(found, [2, 2, 2])


def test_hooks_that_a_recorded_run_registers_are_named() -> None:
    def hooked(h: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        h.register_hook(lambda g: g * 2)
        return h * x.sum().item()

    player = viz.step(Model(hooked), some_input())
    assert not player.data["equal"]
    said = player.text()[0]
    assert "h.register_hook(lambda g: g * 2)" in said
    assert "Going back from the output, gradients start to differ at layer." in said


def test_where_values_start_to_differ_is_known_of_a_recorded_run() -> None:
    captured = capture(Model(writes), [some_input()])
    assert captured.about.recorded
    assert captured.first_value_apart() is None
    known, (node,) = captured.about.originals, captured.outputs
    captured.about.originals = {**known, node: known[node] + 1}
    assert captured.first_value_apart() is node


def decides(h: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    if h.sum() > 0:  # decides
        return h
    return x


def loops(h: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    while h.abs().max() < 10:  # loops
        h = h * 2
    return h


@pytest.mark.parametrize("verb", [viz.step, viz.compare])
@pytest.mark.parametrize("step", [decides, loops])
def test_a_tensor_that_decides_is_refused_at_that_line(step: Step, verb: Any) -> None:
    with pytest.raises(
        mg.TraceError, match=r"the value of a tensor decides.*torch\.cond"
    ) as caught:
        verb(Model(step), some_input())
    assert f"# {step.__name__}" in str(caught.value)


def test_a_derivative_that_pytorch_lacks_is_named() -> None:
    said = plays_forward(Model(lambda h, x: torch.unique(h)))
    assert "PyTorch cannot differentiate _unique2" in said


def plays_forward(model: nn.Module) -> str:
    said = viz.step(model, some_input()).text()[0]
    assert said.splitlines()[-1].startswith("checked against PyTorch")
    return said


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (lambda h, x: h.bfloat16(), "bfloat16"),
        (lambda h, x: h.bfloat16().float(), "bfloat16"),
        (lambda h, x: h.to_sparse().to_dense(), "float32 sparse_coo"),
    ],
)
def test_a_tensor_that_numpy_does_not_have_is_refused(step: Step, kind: str) -> None:
    with pytest.raises(mg.TraceError, match=f"a {kind} tensor can't be drawn") as caught:
        viz.step(Model(step), some_input())
    assert f"(lambda h, x: h.{'to_sparse' if 'sparse' in kind else 'bfloat16'}" in str(caught.value)


def test_a_tensor_that_numpy_learned_of_from_jax_is_refused_as_well() -> None:
    importlib.import_module("ml_dtypes")  # JAX's types, which NumPy knows from now on
    assert np.dtype("bfloat16").name == "bfloat16"
    with pytest.raises(mg.TraceError, match="a bfloat16 tensor can't be drawn"):
        viz.step(Model(lambda h, x: h.bfloat16().float()), some_input())


def test_as_strided_beyond_its_tensor_is_refused() -> None:
    step: Step = lambda h, x: h[:, :2].as_strided((2, 3), (3, 1))  # noqa: E731
    with pytest.raises(mg.TraceError, match=r"as_strided reaches beyond(.|\n)*as_strided\(\(2"):
        viz.step(Model(step), some_input())


class Wrong(nn.Module):
    """The second layer does not take what the first one gives."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 16)
        self.second = nn.Linear(15, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(x)))  # does not fit


class Block(nn.Module):
    def __init__(self, n: int, k: int) -> None:
        super().__init__()
        self.layer = nn.Linear(n, k)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.layer(x))  # in the block


class Deep(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(3, 3), Block(3, 2), Block(3, 3)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return x


def raises(h: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    raise ValueError("too small")  # by the user


def misses(h: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return {"a": h}["b"]  # no such key


STOPPED: dict[str, tuple[Callable[[], nn.Module], tuple[Any, ...], type[Exception], list[str]]] = {
    "layers that do not fit": (
        Wrong,
        (torch.ones(2, 3),),
        RuntimeError,
        ["`second` (Linear)", "(2, 16)", "(4, 15)", "# does not fit"],
    ),
    "a block in a loop": (
        Deep,
        (torch.ones(2, 3),),
        RuntimeError,
        ["`blocks.2.layer` (Linear)", "(2, 2)", "(3, 3)", "# in the block"],
    ),
    "layers of PyTorch's alone": (
        lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.Conv2d(4, 8, 3)),
        (torch.ones(1, 3, 8, 8),),
        RuntimeError,
        ["`1` (Conv2d)", "(1, 8, 6, 6)", "(8, 4, 3, 3)", "verb(make(), *inputs)"],
    ),
    "another data type": (
        Wrong,
        (torch.ones(2, 3, dtype=torch.long),),
        RuntimeError,
        ["`first` (Linear)", "int64 (2, 3)", "float32 (16, 3)", "# does not fit"],
    ),
    "a position that is not there": (
        lambda: nn.Embedding(3, 2),
        (torch.tensor([5]),),
        IndexError,
        ["Embedding", "index out of range"],
    ),
    "too few inputs": (Wrong, (), TypeError, ["Wrong", "missing 1 required", "viz.step(model, x"]),
    "too many inputs": (
        Wrong,
        (torch.ones(2, 3), torch.ones(2, 3)),
        TypeError,
        ["Wrong", "positional arguments", "viz.step(model, x"],
    ),
    "an error of the user's": (
        lambda: Model(raises),
        (torch.ones(2, 3),),
        ValueError,
        ["Model", "ValueError: too small", "# by the user"],
    ),
    "a missing key": (
        lambda: Model(misses),
        (torch.ones(2, 3),),
        KeyError,
        ["Model", "KeyError: 'b'", "# no such key"],
    ),
    "a missing attribute": (
        lambda: Model(lambda h, x: h.nothing),
        (torch.ones(2, 3),),
        AttributeError,
        ["Model", "no attribute 'nothing'", "h.nothing"],
    ),
    "a module without forward": (
        lambda: nn.ModuleList([nn.Linear(3, 3)]),
        (torch.ones(2, 3),),
        NotImplementedError,
        ["ModuleList", "forward"],
    ),
}


@pytest.mark.parametrize("verb", [functools.partial(viz.step, whole=False), viz.compare])
@pytest.mark.parametrize("name", STOPPED)
def test_a_model_that_stops_names_module_operands_and_line(
    name: str, verb: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    make, inputs, kind, named = STOPPED[name]
    with pytest.raises(mg.TraceError, match="PyTorch itself can't run this model") as caught:
        verb(make(), *inputs)
    english, chinese = caught.value.pair
    assert not [text for text in named if text not in english]
    assert not [text for text in named if text.startswith("(") and text not in chinese]
    assert "torch.cond" not in english
    assert isinstance(caught.value.__cause__, kind)
    assert capfd.readouterr() == ("", "")


def test_what_ran_before_a_model_stopped_is_drawn() -> None:
    with pytest.raises(mg.TraceError) as caught:
        viz.step(Wrong(), torch.ones(2, 3), whole=False)
    lines = viz.error(caught.value).text()[0].splitlines()
    boxes = [line.split()[-1] for line in lines if line.strip().startswith(("✓", "✗"))]
    assert boxes == ["Transpose", "MatMul", "Add", "ReLU", "PyTorch_linear"]


def test_a_function_that_stops_is_called_by_its_name() -> None:
    def product(x: torch.Tensor) -> torch.Tensor:
        return x @ x

    with pytest.raises(mg.TraceError, match="It stops in product: RuntimeError") as caught:
        viz.step(product, torch.ones(2, 3), whole=False)
    assert "return x @ x" in str(caught.value)


def test_a_model_prints_and_logs_no_more_than_by_itself(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def prints(h: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        print("shape", tuple(h.shape))
        return h * float(h.sum().detach())

    viz.compare(Model(prints), some_input())
    assert capfd.readouterr() == ("shape (2, 3)\n", "")


NAMES = [
    "class",
    "lambda",
    "None",
    "a'b",
    'a"b',
    "a\nb",
    "a\\b",
    "a b",
    "a/b",
    "{x}",
    "图层",
    "self",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_module_may_have_any_name_that_pytorch_takes(name: str) -> None:
    class Named(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.parts = nn.ModuleDict({name: nn.Linear(3, 3)})
            self.numbers = nn.ParameterDict({name: torch.ones(3)})

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.parts[name](x) * self.numbers[name]

    player = viz.step(Named(), some_input())
    assert player.text()[0].splitlines()[-1].startswith("checked against PyTorch")
    shown = {"a/b": "a∕b", "a\nb": r"a\nb"}.get(name, name)
    expected = {f"parts.{shown}.weight", f"parts.{shown}.bias", f"numbers.{shown}"}
    assert {n.name for n in player.films[0].picture.nodes if n.kind == "variable"} == expected
    groups = {n.group for n in player.films[0].picture.nodes}
    assert f"parts: ModuleDict/{shown}: Linear" in groups
    viz.compare(Named(), some_input())


@pytest.mark.parametrize("scale", [True, False])
def test_a_function_that_is_mapped_has_its_gradients(scale: bool) -> None:
    def step(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        with torch.set_grad_enabled(scale):
            factor = torch.func.vmap(torch.tanh)(y)
        return torch.func.vmap(lambda row, f: torch.relu(row) * f)(y, factor)

    found = capture(Model(step), [some_input()])
    assert max(found.gaps()) < 1e-5
    assert any(n.op.name == "StopGradient" for n in found.graph.nodes) is not scale


def test_a_frame_on_some_sides_is_an_operator_of_ours() -> None:
    told = plays(Model(lambda h, x: nn.functional.pad(h, (0, 1))), some_input())
    assert "Pad = " in told
    assert "PyTorch_" not in told


def test_kernels_with_wide_gaps_are_those_of_pytorch() -> None:
    torch.manual_seed(0)
    for kernel, pads, gaps, groups in (((3, 3), (6, 5), (6, 5), 1), ((2, 3), (36, 8), (30, 7), 3)):
        made = nn.Conv2d(3, 6, kernel, padding=pads, dilation=gaps, groups=groups)
        found = capture(made, [torch.randn(2, 3, 9, 7)])
        assert max(found.gaps()) < 1e-5
        assert not found.boxes


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_a_scripted_module_is_refused_with_a_remedy() -> None:
    with pytest.raises(mg.TraceError, match=r"Linear was compiled by torch\.jit.*Remedy: pass"):
        viz.step(torch.jit.script(nn.Linear(3, 2)), some_input(), whole=True)
