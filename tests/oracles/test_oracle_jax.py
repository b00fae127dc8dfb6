"""JAX functions in the player: those without a backward pass, and those with rules of their own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import io_callback

import minigrad as mg
import viz
from minigrad.interop.jax.capture import capture
from minigrad.interop.jax.recognise import mentions_jax
from minigrad.static.run import Interpreter

pytestmark = pytest.mark.oracle

X = jnp.float32([1.0, 3.0, 2.0])
Z = jnp.float32([0.5, -3.0, 2.0])
A = jnp.float32([[4.0, 1.0], [1.0, 3.0]])
B = jnp.float32([1.0, 2.0])
Case = tuple[Callable[..., Any], tuple[Any, ...]]


@pytest.fixture(autouse=True)
def of_32_bits() -> Iterator[None]:
    """JAX as it comes; other files let it compute in 64 bits, in the same process."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", False)
    yield
    jax.config.update("jax_enable_x64", before)


def shown(function: Any, *inputs: Any) -> tuple[list[Any], dict[str, Any], str]:
    """The results and gradients that the player shows, and the last line that it says."""
    player = viz.step(function, *inputs, whole=False)
    results = player.films[0].results
    values = [v for k, v in results.items() if k[0] == "output"]
    gradients = {k[-1]: v for k, v in results.items() if k[0] == "gradient"}
    return values, gradients, player.text()[0].splitlines()[-1]


def expect(values: list[Any], function: Any, *inputs: Any) -> None:
    """These are the values, the data types and the shapes that JAX computes."""
    theirs = jax.tree_util.tree_leaves(function(*inputs))
    assert len(values) == len(theirs)
    for ours, y in zip(values, theirs, strict=True):
        expected = np.asarray(y)
        assert ours.shape == expected.shape
        assert ours.dtype == expected.dtype or not hasattr(y, "dtype")
        np.testing.assert_allclose(ours, expected, rtol=1e-5)


# ---- No backward pass -------------------------------------------------------------------------


def test_a_box_that_jax_refuses_to_differentiate_says_so() -> None:
    found = capture(lambda x: lax.nextafter(x, x + 1).sum(), [X])
    with found.graph:
        slopes = mg.gradients(list(found.outputs), list(found.leaves.values()))
    with pytest.raises(mg.GradientError, match=r"JAX does not differentiate it.*'nextafter'"):
        Interpreter([g for g in slopes if g is not None])(dict(found.feeds), {})


def test_folding_by_a_function_is_no_call_of_it() -> None:
    def fold(x: Any) -> Any:
        return lax.reduce(x, np.float32(1), lambda a, b: a * jnp.abs(b), (0,))

    values, _, said = shown(fold, X)
    expect(values, fold, X)
    assert "JAX itself is called: reduce" in said


def as_array(x: jax.Array) -> Any:
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def doubled_in_loop(x: jax.Array) -> jax.Array:
    return lax.while_loop(lambda c: c.sum() < 50, lambda c: c * 2, x)


REFUSED: dict[str, Case] = {
    "while": (doubled_in_loop, (X,)),
    "fori_loop": (
        jax.jit(lambda x, n: lax.fori_loop(0, n, lambda i, c: c + x[i], 0.0)),
        (X, jnp.int32(3)),
    ),
    "nested": (
        lambda x: lax.while_loop(lambda c: c.sum() < 90, lambda c: doubled_in_loop(c) + 1, x),
        (X,),
    ),
    "never": (lambda x: lax.while_loop(lambda c: c.sum() < 0, lambda c: c * 2, x), (X,)),
    "partly": (lambda x: (x * 2).sum() + doubled_in_loop(x).sum(), (X,)),
    "pure_callback": (lambda x: jax.pure_callback(np.sin, as_array(x), x) * 2, (X,)),
    "io_callback": (lambda x: io_callback(np.sin, as_array(x), x) * 2, (X,)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_jax_does_not_differentiate_plays_forward_and_says_why(name: str) -> None:
    function, inputs = REFUSED[name]
    values, gradients, said = shown(function, *inputs)
    expect(values, function, *inputs)
    assert not gradients
    assert "checked against JAX" in said
    assert "There is no backward pass, because JAX cannot differentiate" in said
    assert "test_oracle_jax.py, line" in said
    chinese = viz.step(function, *inputs, whole=False).text()[1].splitlines()[-1]
    assert "没有反向传播，因为 JAX 无法对" in chinese


def test_a_loop_of_jax_is_played_step_by_step() -> None:
    text = viz.step(doubled_in_loop, jnp.array([1.0, 2.0])).text()[0]
    assert "While begins step 5 of its loop" in text
    assert "Mul = arg0 × 2 = [16, 32] × 2 = [32, 64]" in text


def test_a_loop_of_whole_numbers_does_not_keep_a_gradient_away() -> None:
    def f(x: jax.Array) -> jax.Array:
        return x * lax.while_loop(lambda i: i < 5, lambda i: i + 1, x.argmax())

    _, gradients, said = shown(f, X)
    assert gradients["x"].tolist() == jax.grad(lambda x: f(x).sum())(X).tolist() == [5, 5, 5]
    assert "no backward pass" not in said


WITHOUT: dict[str, Case] = {
    "argmax": (lambda x: x.argmax(), (X,)),
    "x > 1": (lambda x: x > 1, (X,)),
    "count": (lambda x: (x > 1).sum(), (X,)),
    "argsort": (lambda x: jnp.argsort(x), (X,)),
    "whole numbers": (lambda n: n * 2 + n.sum(), (jnp.array([1, 2]),)),
    "bytes": (lambda n: (n + 10, n.sum()), (jnp.array([250, 2], jnp.uint8),)),
    "bits": (lambda n: (n << 1) | 1, (jnp.array([1, 2]),)),
    "bools": (lambda b: (~b, b.sum()), (jnp.array([True, False]),)),
    "fft": (lambda x: jnp.fft.fft(x), (X,)),
    "many complex": (lambda x: jnp.fft.rfft(x), (jnp.arange(20.0),)),
    "complex input": (lambda z: jnp.abs(z) + z.real, (jnp.array([1 + 2j, 3 - 1j]),)),
    "stopped": (lambda x: lax.stop_gradient(x) * 2, (X,)),
    "constant": (lambda x: jnp.ones(3), (X,)),
    "no input": (lambda: jnp.ones(3) * 2, ()),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_what_has_no_gradient_plays_forward_and_says_so(name: str) -> None:
    function, inputs = WITHOUT[name]
    values, gradients, said = shown(function, *inputs)
    expect(values, function, *inputs)
    assert not gradients
    assert "There is no backward pass: " in said


OUTPUTS: dict[str, Callable[[jax.Array], Any]] = {
    "dict": lambda x: {"a": x * 2, "b": x.sum()},
    "with a mask": lambda x: (x * 2, x > 1),
    "with None": lambda x: (x * 2, None),
    "with numbers": lambda x: (x * 2, 3, 0.5, True),
    "with a shape": lambda x: (x * 2, x.shape),
    "with an array of NumPy": lambda x: (x * 2, np.ones(2, np.float32)),
    "twice the same": lambda x: (lambda y: (y, y))(x * 2),
    "an input": lambda x: x,
    "an input beside": lambda x: (x, x * 2),
    "complex beside": lambda x: (jnp.fft.rfft(x), x * 2),
}


def slopes(function: Any, *inputs: Any) -> dict[str, Any]:
    """The gradients of the sum of the real results by each input, as `jax.grad` computes them."""

    def total(*xs: Any) -> Any:
        ys = jax.tree_util.tree_leaves(function(*xs))
        real = [y for y in ys if isinstance(y, jax.Array) and y.dtype.kind == "f"]
        return sum(jnp.sum(y) for y in real)

    found = jax.grad(total, tuple(range(len(inputs))))(*map(jnp.asarray, inputs))
    return dict(zip("xyz", map(np.asarray, found), strict=False))


@pytest.mark.parametrize("name", OUTPUTS)
def test_results_of_any_kind_are_played(name: str) -> None:
    function = OUTPUTS[name]
    values, gradients, said = shown(function, X)
    expect(values, function, X)
    np.testing.assert_allclose(gradients["x"], slopes(function, X)["x"], rtol=1e-5)
    assert "checked against JAX" in said


def test_a_word_beside_an_array_is_left_out_and_nothing_at_all_is_refused() -> None:
    assert shown(lambda x: (x * 2, "logits"), X)[0][0].tolist() == [2, 6, 4]
    for nothing in (None, (), {}):
        with pytest.raises(mg.TraceError, match="returns no array and no number"):
            viz.step(lambda x, nothing=nothing: nothing, X)


# ---- Gradients that are JAX's own ---------------------------------------------------------------


@jax.custom_vjp
def rounded(x: Any) -> Any:
    return jnp.round(x)


rounded.defvjp(lambda x: (jnp.round(x), None), lambda _, g: (g,))


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def clipped(x: Any, most: float) -> Any:
    return x


clipped.defvjp(lambda x, most: (x, None), lambda most, _, g: (jnp.clip(g, -most, most),))


@jax.custom_vjp
def of_norm_one(x: Any, y: Any) -> Any:
    return x, y


def _norm_one(_: Any, gs: Any) -> Any:
    norm = jnp.sqrt(sum(jnp.sum(g**2) for g in gs))
    return tuple(g / jnp.maximum(1.0, norm) for g in gs)


of_norm_one.defvjp(lambda x, y: ((x, y), None), _norm_one)


@jax.custom_jvp
def steep(x: Any) -> Any:
    return jnp.sin(x)


steep.defjvp(lambda xs, dxs: (jnp.sin(xs[0]), 3 * dxs[0]))


@jax.jit
def relu(x: Any) -> Any:
    """Leaky, and called as one of JAX's own."""
    return jnp.maximum(x, 0.1 * x)


def norm_one_twice(x: Any, y: Any) -> Any:
    a, b = of_norm_one(x, y)
    return (a**2).sum() + (b * 3).sum()


RULES: dict[str, Case] = {
    "straight through": (lambda x: rounded(x * 2) * x, (Z,)),
    "compiled": (jax.jit(lambda x: rounded(x * 2) * x), (Z,)),
    "clipped": (lambda x: clipped(x, 0.5) ** 2, (Z,)),
    "several at once": (norm_one_twice, (Z, X)),
    "steep": (lambda x: steep(x) * 2, (Z,)),
    "in a scan": (lambda x: lax.scan(lambda c, a: (rounded(c + a), steep(c)), 0.0, x), (Z,)),
    "in a branch": (lambda x: lax.cond(x[0] > 0, rounded, steep, x), (Z,)),
    "in a switch": (
        lambda x: lax.switch(x.argmax(), [lambda y: y, lambda y: y * 2, rounded], x),
        (Z,),
    ),
    "in vmap": (jax.vmap(lambda x: rounded(x) * steep(x)), (Z,)),
    "computed again": (jax.checkpoint(lambda x: rounded(x) * jnp.sin(x)), (Z,)),
    "custom_gradient": (jax.custom_gradient(lambda x: (x**2, lambda g: (g * x,))), (Z,)),
    "a function called relu": (lambda x: relu(x), (Z,)),
    "relu": (jax.nn.relu, (jnp.array([-1.0, 0.0, 2.0]),)),
    "relu6": (jax.nn.relu6, (jnp.array([-1.0, 0.0, 6.0, 7.0]),)),
    "softplus": (jax.nn.softplus, (Z,)),
    "logsumexp": (jax.nn.logsumexp, (Z,)),
    "stopped": (lambda x: x + lax.stop_gradient(jnp.round(x) - x), (Z,)),
    "safe where": (
        lambda x: jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1.0)), 0.0),
        (jnp.array([-1.0, 0.0, 4.0]),),
    ),
    "where with NaN": (lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0), (jnp.array([0.0, 4.0]),)),
    "corner": (jnp.abs, (jnp.array([0.0, -1.0]),)),
    "a bound that is given": (
        lambda x: lax.fori_loop(0, jnp.int32(3), lambda i, c: c + x[i], 0.0),
        (X,),
    ),
    "0 to the 0": (lambda x, y: x**y, (jnp.array([0.0, 2.0]), jnp.array([0.0, 2.0]))),
    "saturated": (jnp.tanh, (jnp.array([3.0, 3.0]),)),
    "spectrum": (lambda x: jnp.abs(jnp.fft.rfft(x)).sum(), (X,)),
    "back from a spectrum": (lambda x: jnp.fft.irfft(jnp.fft.rfft(x) * 2, 3), (X,)),
    "phase": (lambda x: jnp.exp(1j * x).real.sum() + jnp.angle(x + 1j).sum(), (X,)),
    "complex twice": (lambda x: (lambda z: (jnp.abs(z) + z.real).sum())(jnp.fft.fft(x)), (X,)),
}
LINEAR: dict[str, Case] = {
    "solve": (jnp.linalg.solve, (A, B)),
    "inv": (jnp.linalg.inv, (A,)),
    "cholesky": (jnp.linalg.cholesky, (A,)),
    "triangular": (lambda x, y: jax.scipy.linalg.solve_triangular(x, y, lower=True), (A, B)),
    "eigh": (jnp.linalg.eigh, (A,)),
    "svd": (lambda x: jnp.linalg.svd(x), (A,)),
    "qr": (lambda x: jnp.linalg.qr(x), (A,)),
    "expm": (jax.scipy.linalg.expm, (A,)),
    "cg": (lambda x, y: jax.scipy.sparse.linalg.cg(lambda v: x @ v, y)[0], (A, B)),
    "custom": (
        lambda x, y: lax.custom_linear_solve(
            lambda v: x @ v, y, lambda _, b: jnp.linalg.solve(x, b), symmetric=True
        ),
        (A, B),
    ),
}


@pytest.mark.parametrize("name", [*RULES, *LINEAR])
def test_the_gradient_is_the_one_that_jax_computes(name: str) -> None:
    function, inputs = {**RULES, **LINEAR}[name]
    values, gradients, said = shown(function, *inputs)
    expect(values, function, *inputs)
    theirs = slopes(function, *inputs)
    assert len(gradients) == len(theirs)
    for ours, (name, expected) in zip(gradients.values(), theirs.items(), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=2e-4, atol=1e-6, err_msg=name)
    assert "checked against JAX" in said


def test_a_rule_of_its_own_is_named_with_its_line() -> None:
    english, chinese = viz.step(lambda x: rounded(x), Z).text()
    said = "These have a custom gradient, so JAX itself is called: rounded ("
    assert said + "test_oracle_jax.py, line" in english
    assert "下列函数带有自定义梯度，因此由 JAX 自己计算：rounded" in chinese
    (box,) = [n for n in viz.step(lambda x: rounded(x), Z).films[0].picture.nodes if "JAX" in n.op]
    assert box.title == ("a gradient rule of its own: calls JAX", "自带梯度规则：调用 JAX")


# ---- Inputs -------------------------------------------------------------------------------------

TABLE = {"sin": jnp.sin}


class Layer:
    def __init__(self) -> None:
        self.activation = jnp.sin

    def __call__(self, x: Any) -> Any:
        return self.activation(x)


def helped(x: Any) -> Any:
    return helper(x) * 2


def helper(x: Any) -> Any:
    return jnp.sin(x)


@pytest.mark.parametrize(
    ("function", "inputs", "names"),
    [
        (lambda x: jnp.sum(jnp.sin(x)), (np.array([1.0, 2.0]),), ["x"]),
        (lambda x: jnp.sin(x) * x, (2.0,), ["x"]),
        (lambda x: jnp.sin(x[0]) * x[1], ([1.0, 2.0],), ["x.0", "x.1"]),
        (lambda p, x: p["w"] @ x + jnp.sin(p["b"]), ({"w": np.ones(3), "b": 1.0}, np.ones(3)), []),
        (lambda x, n: jnp.reshape(x, (n, 1)) * n, (np.ones(3), 3), ["x"]),
        (lambda x, flag: x * 2 if flag else x, (X, True), ["x"]),
        (lambda x, rate: x * rate if rate > 0 else x, (X, 0.5), ["x"]),
        (lambda x, name: getattr(jax.nn, name)(x), (X, "relu"), ["x"]),
        (lambda x, f: f(x), (X, jnp.sin), ["x"]),
        (lambda x, n: lax.fori_loop(0, n, lambda i, c: c * 2, x), (X, 3), ["x"]),
        (jax.jit(lambda x, n: x.reshape(n, 1), static_argnums=1), (np.ones(3), 3), ["x"]),
        (lambda x: TABLE["sin"](x), (np.ones(2),), ["x"]),
        (Layer(), (np.ones(2),), ["x"]),
        (Layer().__call__, (np.ones(2),), ["x"]),
        (helped, (np.ones(2),), ["x"]),
        (functools.partial(helped), (np.ones(2),), ["x"]),
        (lambda x, k: x * jax.random.uniform(k), (X, jax.random.PRNGKey(0)), ["x"]),
        (lambda x, n: x * jax.random.uniform(jax.random.key(n)), (X, jnp.int32(3)), ["x"]),
        (
            lambda x, k: lax.cond(
                x[0] > 0, lambda y: y * jax.random.uniform(jax.random.fold_in(k, 1)), jnp.sin, x
            ),
            (X, jax.random.PRNGKey(0)),
            ["x"],
        ),
    ],
)
def test_numbers_arrays_and_containers_are_inputs(function: Any, inputs: Any, names: Any) -> None:
    values, gradients, said = shown(function, *inputs)
    theirs = [np.asarray(y) for y in jax.tree_util.tree_leaves(function(*inputs))]
    for ours, expected in zip(values, theirs, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-5)
    assert gradients
    assert sorted(gradients) == (names or sorted(gradients))
    assert "checked against JAX" in said
    assert "no backward pass" not in said


def test_a_function_of_jax_on_numpy_runs_no_more_often_than_one_on_its_arrays() -> None:
    runs: list[int] = []

    def f(x: Any) -> Any:
        runs.append(1)
        return jnp.sin(x)

    viz.step(f, X)
    often = len(runs)
    viz.step(f, np.ones(3))
    assert len(runs) == 2 * often


def test_a_function_of_ours_stays_ours_beside_jax() -> None:
    x = mg.tensor(3.0, requires_grad=True)
    assert "3 × 3 = 9" in viz.step(lambda a: a * a, x).text()[0]
    assert "checked against JAX" not in viz.step(lambda a: mg.tensor(a) * 2, 3.0).text()[0]


def test_numbers_that_numpy_does_not_have_are_refused_by_name() -> None:
    with pytest.raises(mg.TraceError, match=r"in bfloat16.*float32"):
        viz.step(lambda x: x * 2, jnp.ones(2, jnp.bfloat16))
    with pytest.raises(mg.TraceError, match=r"in bfloat16(.|\n)*line \d+:  viz.step\(lambda x"):
        viz.step(lambda x: x.astype(jnp.bfloat16).sum(), X)


def test_there_is_no_second_way_to_compare_with() -> None:
    with pytest.raises(mg.TraceError, match=r"one way only.*viz\.step\(f, x\)"):
        viz.compare(lambda x: jnp.sin(x), X)


# ---- Errors -------------------------------------------------------------------------------------


class Refusal(Exception):
    pass


def raising(x: Any) -> Any:
    raise Refusal("too cold")


def in_a_callback(x: Any) -> Any:
    def callback(a: Any) -> Any:
        raise RuntimeError("boom")

    return jax.pure_callback(callback, as_array(x), x)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x: jnp.dot(x, jnp.ones(4)), [r"\(3,\) and \(4,\)", "jnp.dot"]),
        (lambda x: x @ jnp.ones((4, 2)), [r"\(3,\) and \(4,\)"]),
        (lambda x: x + jnp.ones(4), [r"\(3,\), \(4,\)", r"x: float32\[3\]"]),
        (jax.jit(lambda x: x + jnp.ones(4)), [r"\(3,\), \(4,\)"]),
        (lambda x: {}["weight"], ["KeyError: 'weight'"]),
        (lambda x: x.nothing, ["AttributeError"]),
        (lambda x: 1 / 0, ["ZeroDivisionError"]),
        (raising, ["Refusal: too cold", "raise Refusal"]),
        (in_a_callback, ["RuntimeError: boom", "raise RuntimeError"]),
        (lambda x, y: x, ["missing 1 required positional argument: 'y'"]),
        (
            lambda x: lax.cond(True, lambda: jnp.ones(2), lambda: jnp.ones(3)),
            [r"float32\[2\]", r"float32\[3\]"],
        ),
    ],
)
def test_an_error_names_the_line_the_shapes_and_a_remedy_that_fits(
    function: Any, said: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    for x in (X, np.ones(3, np.float32)):
        if isinstance(x, np.ndarray) and not mentions_jax(function):
            continue
        with pytest.raises(mg.TraceError) as caught:
            viz.step(function, x, whole=False)
        for pattern in (
            *said,
            r"Remedy: call (it|<lambda>) by itself",
            r"test_oracle_jax.py, line \d+",
        ):
            assert caught.match(pattern)
        assert "step.py" not in str(caught.value)
        assert "解决办法" in caught.value.pair[1]
    assert capfd.readouterr().err == ""


def test_a_decision_by_values_names_its_line() -> None:
    def decide(x: Any) -> Any:
        if x.sum() > 0:
            return x
        return -x

    with pytest.raises(mg.TraceError, match=r"jax\.lax\.cond(.|\n)*line \d+:  if x\.sum\(\) > 0:"):
        viz.step(decide, X, whole=False)
