"""Convolution and pooling: against loops written by hand, in both modes, to second order."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from bits import same_bits
from covering import each
from directions import check_gradients
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

import minigrad as mg
from minigrad import ops
from minigrad.ops import conv

RANDOM = np.random.default_rng(0)
Pair = tuple[int, int]
COMPILED = pytest.mark.compiler


def drawn(*shape: int) -> Any:
    return RANDOM.standard_normal(shape)


def test_stride_and_padding_may_be_given_by_their_places() -> None:
    """In the order of torch.nn.functional.conv2d."""
    x, w, b = drawn(2, 4, 7, 7), drawn(2, 2, 3, 3), drawn(2)
    named = mg.conv2d(x, w, b, stride=2, padding=1, dilation=2, groups=2)
    np.testing.assert_array_equal(mg.conv2d(x, w, b, 2, 1, 2, 2), named)


def windows(x: Any, size: Pair, stride: Pair, pads: tuple[Pair, Pair], fill: float) -> Any:
    """Every window of the images, by loops: (n, c, rows, columns, *size)."""
    x = np.pad(x, ((0, 0), (0, 0), *pads), constant_values=fill)
    rows = range(0, x.shape[2] - size[0] + 1, stride[0])
    columns = range(0, x.shape[3] - size[1] + 1, stride[1])
    lines = [
        np.stack([x[:, :, r : r + size[0], c : c + size[1]] for c in columns], 2) for r in rows
    ]
    return np.stack(lines, 2)


def convolved(x: Any, w: Any, stride: Pair, pads: tuple[Pair, Pair]) -> Any:
    return np.einsum("ncrsij,ocij->nors", windows(x, w.shape[2:], stride, pads, 0), w)


def both_modes(f: Any, *arrays: Any, form: Any = None) -> tuple[list[Any], list[Any]]:
    """The value and all gradients of f, dynamic and static; all axes are open unless told."""
    xs = [mg.tensor(a, requires_grad=True) for a in arrays]
    y = f(*xs)
    seed = np.random.default_rng(1).standard_normal(y.shape).astype(y.dtype)
    y.backward(seed)
    with mg.Graph():
        shapes = [[None] * a.ndim if form is None else form(a.shape) for a in arrays]
        nodes = [mg.placeholder(None, s, a.dtype) for s, a in zip(shapes, arrays, strict=True)]
        out = f(*nodes)
        graph = mg.build_graph(nodes, [out, *mg.gradients(out, nodes, grad_ys=seed)]).verify()
    found = mg.run(graph, dict(zip(nodes, arrays, strict=True)))
    return [y.data, *(x.grad.data for x in xs)], found


# ---- Convolution ----------------------------------------------------------------------------

GEOMETRIES = [
    (size, stride, pads)
    for size, stride, pads in itertools.product(
        ((1, 1), (3, 3), (2, 3), (4, 1)), ((1, 1), (2, 2), (1, 3)), ((0, 0), (1, 1), (2, 0), (3, 4))
    )
]


@each(GEOMETRIES)
def test_convolution_is_the_sum_over_windows(size: Pair, stride: Pair, pads: Pair) -> None:
    x, w = drawn(2, 3, 6, 5), drawn(4, 3, *size)
    expected = convolved(x, w, stride, tuple((p, p) for p in pads))
    actual = mg.conv2d(x, w, stride=stride, padding=pads)
    assert actual.transpose(1, 2, 3, 0).flags.c_contiguous
    np.testing.assert_allclose(actual, expected, atol=1e-12)


@each(GEOMETRIES)
def test_the_gradients_are_its_transposes(size: Pair, stride: Pair, pads: Pair) -> None:
    """y = A(x, w) is linear in both: ⟨g, A(h, w)⟩ = ⟨dx, h⟩ and ⟨g, A(x, h)⟩ = ⟨dw, h⟩."""
    x, w = drawn(2, 3, 6, 5), drawn(4, 3, *size)
    attrs = {"stride": stride, "padding": pads}
    g = drawn(*mg.conv2d(x, w, **attrs).shape)
    dx, dw = ops.conv2d_input(g, w, x, **attrs), ops.conv2d_weight(g, x, w, **attrs)
    hx, hw = drawn(*x.shape), drawn(*w.shape)
    assert np.sum(g * mg.conv2d(hx, w, **attrs)) == pytest.approx(np.sum(dx * hx), rel=1e-9)
    assert np.sum(g * mg.conv2d(x, hw, **attrs)) == pytest.approx(np.sum(dw * hw), rel=1e-9)


def test_same_padding_keeps_height_and_width() -> None:
    x = drawn(1, 1, 5, 6)
    for size in ((3, 3), (2, 4), (1, 5)):
        y = mg.conv2d(x, drawn(1, 1, *size), padding="same")
        assert y.shape == x.shape
    w = drawn(1, 1, 2, 4)  # what is odd goes below and to the right
    expected = convolved(x, w, (1, 1), ((0, 1), (1, 2)))
    np.testing.assert_allclose(mg.conv2d(x, w, padding="same"), expected, atol=1e-12)
    np.testing.assert_allclose(
        mg.conv2d(x, w, padding="valid"), mg.conv2d(x, w, padding=0), atol=1e-12
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("attrs", [{}, {"padding": 1}, {"stride": 2, "padding": (0, 2)}])
def test_both_modes_convolve_alike(attrs: Any, dtype: Any) -> None:
    def f(x: Any, w: Any, b: Any) -> Any:
        return mg.conv2d(x, w, b, **attrs)

    arrays = [a.astype(dtype) for a in (drawn(2, 2, 6, 7), drawn(3, 2, 3, 3), drawn(3))]
    for form in (None, lambda shape: shape, lambda shape: (None, *shape[1:])):
        same_bits(*both_modes(f, *arrays, form=form))


@pytest.mark.parametrize("attrs", [{"padding": 1}, {"stride": 2}])
def test_convolution_has_gradients_of_second_order(attrs: Any) -> None:
    def f(x: Any, w: Any) -> Any:
        y = mg.conv2d(x, w, **attrs)
        return mg.conv2d(y * y, w, padding=1)  # both operands matter twice

    assert check_gradients(f, drawn(1, 2, 5, 4), drawn(2, 2, 3, 3)) < 1e-6


def test_zero_lengths_convolve_to_zeros_or_nothing() -> None:
    nobody, no_channels = np.zeros((0, 2, 4, 4)), np.zeros((3, 0, 4, 4))
    assert mg.conv2d(nobody, drawn(5, 2, 3, 3)).shape == (0, 5, 2, 2)
    assert (
        mg.conv2d(no_channels, np.zeros((5, 0, 3, 3))).tolist() == np.zeros((3, 5, 2, 2)).tolist()
    )
    (value, dx, dw), _ = both_modes(mg.conv2d, nobody, drawn(5, 2, 3, 3))
    assert (value.shape, dx.shape) == ((0, 5, 2, 2), nobody.shape)
    assert dw.tolist() == np.zeros((5, 2, 3, 3)).tolist()


def test_infinity_stays_where_it_is_seen() -> None:
    """Kernels read a little too far and throw it away: nothing of it may show."""
    x = drawn(1, 1, 4, 4)
    x[0, 0, 2, 0] = np.inf
    y = mg.conv2d(x, np.ones((1, 1, 3, 3)), padding=1)
    seen = np.zeros((4, 4), bool)
    seen[1:4, :2] = True
    assert np.isinf(y[0, 0]).tolist() == seen.tolist()
    dw = ops.conv2d_weight(np.ones((1, 1, 2, 2)), x, np.ones((1, 1, 3, 3)))
    assert np.isinf(dw[0, 0]).tolist() == [[False] * 3, [True, False, False], [True, False, False]]


@pytest.mark.parametrize("executor", ["graph", "numpy", pytest.param("c", marks=COMPILED)])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize(("stride", "padding"), [(1, 0), (1, 1), (2, 0), ((2, 1), (0, 2))])
def test_a_weight_that_is_not_finite_is_met_by_what_it_lay_upon(
    executor: str, value: float, stride: Any, padding: Any
) -> None:
    options = {"stride": stride, "padding": padding}
    x, w = (drawn(*shape).astype(np.float32) for shape in ((2, 2, 8, 8), (3, 2, 3, 3)))
    marks = np.zeros_like(w)
    marks[1, 0, 2, 1] = 1
    image = mg.placeholder("image", (None, *x.shape[1:]))
    kernel = mg.placeholder("kernel", w.shape)
    y = mg.conv2d(image, kernel, **options)
    graph = mg.build_graph([image, kernel], mg.gradients(y, [image])[0])
    run = (lambda f: mg.run(graph, f)) if executor == "graph" else graph.compile(executor=executor)
    touched = run({image: x, kernel: marks}) == 1
    assert 0 < touched.sum() < touched.size / 2
    finite = run({image: x, kernel: w})
    bad = np.where(marks == 1, np.float32(value), w)
    found = run({image: x, kernel: bad})
    assert (np.isfinite(found) == ~touched).all()
    np.testing.assert_allclose(found[~touched], finite[~touched], rtol=1e-5, atol=1e-5)
    assert np.isnan(found[touched]).all() if np.isnan(value) else (found[touched] == np.inf).all()
    leaf = mg.tensor(x, requires_grad=True)
    mg.conv2d(leaf, bad, **options).sum().backward()
    assert executor != "graph" or leaf.grad.data.tobytes() == found.tobytes()


@pytest.mark.parametrize(("size", "stride", "pads"), GEOMETRIES)
def test_patches_lie_within_the_memory_of_the_frame(
    size: Pair, stride: Pair, pads: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def guarded(frame: Any, *args: Any, **options: Any) -> Any:
        view = as_strided(frame, *args, **options)
        whole = frame if frame.base is None else frame.base
        (low, high), (first, last) = byte_bounds(view), byte_bounds(whole)
        seen.append(first <= low <= high <= last)
        return view

    monkeypatch.setattr(conv, "as_strided", guarded)
    x, w = mg.randn(1, 2, 6, 5, requires_grad=True), mg.randn(2, 2, *size, requires_grad=True)
    mg.conv2d(x, w, stride=stride, padding=pads).sum().backward()
    assert seen == [True] * 2, "for the result, and for the gradient of the kernels"


def test_many_images_are_taken_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    x, w, g = drawn(7, 2, 6, 5), drawn(3, 2, 3, 3), drawn(7, 3, 4, 3)
    whole = [mg.conv2d(x, w), ops.conv2d_input(g, w, x), ops.conv2d_weight(g, x, w)]
    for scratch in (1, 3 * 18 * 12, 1 << 30):
        monkeypatch.setattr(conv, "SCRATCH", scratch)
        parts = [mg.conv2d(x, w), ops.conv2d_input(g, w, x), ops.conv2d_weight(g, x, w)]
        for a, b in zip(parts, whole, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("padding", [0, 1])
def test_the_batch_is_last_in_memory_and_images_may_lie_in_any_order(padding: int) -> None:
    """A convolution and what follows it read long runs; what was fed is turned round once."""
    x, w = drawn(5, 2, 6, 4), drawn(3, 2, 3, 3)
    options = {"kernel_size": 2, "padding": padding}

    def results(lay: Any) -> list[Any]:
        y = mg.conv2d(lay(x), w, padding=padding)
        top = mg.max_pool2d(lay(y), **options)
        g, h = lay(top * 2), lay(y + 1)
        return [
            *(y, ops.conv2d_input(h, w, lay(x), padding=padding)),
            *(top, ops.max_pool2d_input(g, top, lay(y), **options)),
            *(mg.avg_pool2d(lay(y), **options), ops.avg_pool2d_input(g, lay(y), **options)),
            *(ops.max_pool2d_pick(h, top, lay(y), **options), mg.relu(y * 2 + np.ones((3, 1, 1)))),
        ]

    found = results(np.asarray)
    assert all(a.transpose(1, 2, 3, 0).flags.c_contiguous for a in found)
    same_bits(results(np.ascontiguousarray), found)


def test_integers_become_floats() -> None:
    y = mg.conv2d(np.ones((1, 1, 3, 3), int), np.ones((1, 1, 3, 3), int))
    assert (y.dtype, y.item()) == (mg.float32, 9)


# ---- Shapes and errors ----------------------------------------------------------------------


def test_open_lengths_stay_open_and_known_ones_are_inferred() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=(None, 3, 8, None))
        w = mg.placeholder("w", shape=(None, 3, 3, 3))
        assert mg.conv2d(x, w).shape == (None, None, 6, None)
        assert mg.conv2d(x, np.ones((4, 3, 3, 3)), stride=2, padding=1).shape == (None, 4, 4, None)
        y = mg.conv2d(x, np.ones((4, 3, 3, 3)), padding=1)
        assert y.spec.shape[3] is x.spec.shape[3], "3 × 3 with padding 1 keeps the width"
        assert y.spec.shape[0] is x.spec.shape[0]
        assert mg.max_pool2d(x, 2).shape == (None, 3, 4, None)
        assert mg.avg_pool2d(mg.placeholder("y"), 2).shape is None


def test_the_eighth_unpadded_layer_does_not_fit_and_says_so_while_building() -> None:
    with mg.Graph(), mg.record() as log:
        y = mg.placeholder("digits", shape=(None, 1, 16, 16))
        heights = []
        layers = [mg.nn.Conv2d(1, 1, 3) for _ in range(8)]
        for layer in layers[:-1]:
            y = layer(y)
            heights.append(y.shape[2])
        with pytest.raises(mg.ShapeError, match="3 × 3 does not fit") as caught:
            layers[-1](y)
    assert heights == [14, 12, 10, 8, 6, 4, 2], "so the eighth fails"
    assert log.counts.run == 0
    text = str(caught.value)
    for words in ("2 × 2", "(None, 1, 2, 2)", "no eighth layer", "padding=1", "test_conv.py"):
        assert words in text
    assert "放不下第八层" in caught.value.pair[1]


X, W = np.ones((2, 3, 8, 8), np.float32), np.ones((4, 3, 3, 3), np.float32)
BAD: list[tuple[Any, tuple[Any, ...], str]] = [
    (mg.conv2d, (X, W[:, :2]), r"\(2, 3, 8, 8\), \(4, 2, 3, 3\).*3 channels.*take 2"),
    (mg.conv2d, (X[0], W), r"expected an operand with 4 axes \(batch.*\(3, 8, 8\)"),
    (mg.conv2d, (X, W[0]), r"4 axes \(kernels.*\(3, 3, 3\)"),
    (lambda x, w: mg.conv2d(x, w, stride=0), (X, W), "stride=0 is not possible.*from 1"),
    (lambda x, w: mg.conv2d(x, w, stride=(1, 2, 3)), (X, W), r"stride=\(1, 2, 3\)"),
    (lambda x, w: mg.conv2d(x, w, padding=-1), (X, W), "padding=-1 is not possible.*from 0"),
    (lambda x, w: mg.conv2d(x, w, padding="full"), (X, W), "padding='full' is not possible"),
    (lambda x, w: mg.conv2d(x, w, stride=2, padding="same"), (X, W), r"stride \(2, 2\)"),
    (lambda x: mg.max_pool2d(x, 9), (X,), r"MaxPool2d.*9 × 9 does not fit.*8 × 8"),
    (lambda x: mg.max_pool2d(x, 2, padding=2), (X,), "more than half of the window 2"),
    (lambda x: mg.avg_pool2d(x, 1.5), (X,), "AvgPool2d: kernel_size=1.5"),
    (lambda x: mg.avg_pool2d(x, 2, stride=0), (X,), "AvgPool2d: stride=0"),
    (lambda x: mg.max_pool2d(x[0], 2), (X,), r"MaxPool2d.*4 axes.*\(3, 8, 8\)"),
]


@each(BAD)
def test_what_does_not_fit_is_refused_alike_in_both_modes(f: Any, arrays: Any, says: str) -> None:
    with pytest.raises(mg.ShapeError, match=says) as dynamic:
        f(*map(mg.tensor, arrays))
    with mg.Graph(), pytest.raises(mg.ShapeError, match=says) as static:
        f(*[mg.placeholder(None, a.shape) for a in arrays])
    english, chinese = dynamic.value.pair
    same = [line.split("\n")[0] for line in static.value.pair]
    assert [english.split("\n")[0], chinese.split("\n")[0]] == same


def test_gradient_operators_check_shapes_before_they_read_memory() -> None:
    g = np.ones((2, 4, 60, 60))
    for op, operands in (
        (ops.conv2d_input, (g, W, X)),
        (ops.conv2d_weight, (g, X, W)),
    ):
        with pytest.raises(mg.ShapeError, match=r"\(2, 4, 60, 60\).*\(2, 4, 6, 6\)"):
            op(*operands)
    wrong = np.ones((2, 3, 5, 5))
    for pool, others in ((ops.max_pool2d_input, (X[:, :, ::2, ::2],)), (ops.avg_pool2d_input, ())):
        with pytest.raises(mg.ShapeError, match=r"\(2, 3, 5, 5\).*\(2, 3, 4, 4\)"):
            pool(wrong, *others, X, kernel_size=2)
    with pytest.raises(mg.ShapeError, match=r"\(2, 3, 5, 5\).*\(2, 3, 8, 8\)"):
        ops.max_pool2d_pick(wrong, X[:, :, ::2, ::2], X, kernel_size=2)


# ---- Pooling --------------------------------------------------------------------------------

POOLS = [
    {"kernel_size": 2},
    {"kernel_size": (3, 2), "stride": (1, 2)},
    {"kernel_size": 3, "stride": 2, "padding": 1},
    {"kernel_size": (1, 4), "stride": 3, "padding": (0, 2)},
]


def options(kernel_size: Any, stride: Any = None, padding: Any = 0) -> tuple[Any, Any, Any]:
    size, steps, pads = (
        n if isinstance(n, tuple) else (n, n)
        for n in (kernel_size, kernel_size if stride is None else stride, padding)
    )
    return size, steps, tuple((p, p) for p in pads)


@pytest.mark.parametrize("attrs", POOLS)
def test_pools_take_the_largest_or_the_mean_of_each_window(attrs: Any) -> None:
    x = drawn(2, 3, 7, 6)
    largest = windows(x, *options(**attrs), fill=-np.inf).max(axis=(-2, -1))
    assert mg.max_pool2d(x, **attrs).tolist() == largest.tolist()
    mean = windows(x, *options(**attrs), fill=0).mean(axis=(-2, -1))
    np.testing.assert_allclose(mg.avg_pool2d(x, **attrs), mean, rtol=1e-12)


@pytest.mark.parametrize("pool", [mg.max_pool2d, mg.avg_pool2d])
@pytest.mark.parametrize("attrs", POOLS)
def test_both_modes_pool_alike_to_second_order(pool: Any, attrs: Any) -> None:
    x = RANDOM.permutation(84).reshape(1, 2, 7, 6).astype(np.float32)  # no two are equal
    for form in (None, lambda shape: shape):
        same_bits(*both_modes(lambda v: pool(v, **attrs), x, form=form))
    small = x[:, :1, :5, :4] / 10
    assert check_gradients(lambda v: pool(v * v, **attrs) ** 2, small) < 1e-6


def test_the_gradient_of_a_tie_goes_to_the_first() -> None:
    x = mg.tensor([[[[1.0, 3.0, 3.0], [3.0, 0.0, 3.0]]]], requires_grad=True)
    mg.max_pool2d(x, 2, stride=1).sum().backward()
    assert x.grad.tolist() == [[[[0, 2, 0], [0, 0, 0]]]]
    zeros = mg.zeros(1, 1, 2, 2, requires_grad=True)
    mg.max_pool2d(zeros, 2).sum().backward()
    assert zeros.grad.tolist() == [[[[1, 0], [0, 0]]]]


def test_padding_is_never_the_largest_and_counts_in_the_mean() -> None:
    x = np.full((1, 1, 2, 2), -5.0)
    assert mg.max_pool2d(x, 2, padding=1).tolist() == np.full((1, 1, 2, 2), -5).tolist()
    assert mg.avg_pool2d(x, 2, padding=1).tolist() == np.full((1, 1, 2, 2), -1.25).tolist()
    assert np.all(mg.max_pool2d(np.full((1, 1, 2, 2), -7), 2, padding=1) == -7)
    assert mg.max_pool2d(np.zeros((1, 1, 2, 2), bool), 2).dtype == bool


def test_nan_is_the_largest_and_passes_no_gradient_on() -> None:
    x = mg.tensor([[[[1.0, np.nan], [2.0, 3.0]]]], requires_grad=True)
    y = mg.max_pool2d(x, 2)
    assert np.isnan(y.item())
    y.sum().backward()
    assert x.grad.tolist() == [[[[0, 0], [0, 0]]]]


# ---- Layers ---------------------------------------------------------------------------------


def network() -> mg.nn.Sequential:
    return mg.nn.Sequential(
        mg.nn.Conv2d(1, 4, 3, padding=1, seed=0),
        mg.nn.ReLU(),
        mg.nn.MaxPool2d(2),
        mg.nn.Conv2d(4, 6, 3, stride=2, bias=False, seed=1),
        mg.nn.AvgPool2d((3, 1), stride=1),
        mg.nn.Flatten(),
        mg.nn.Linear(18, 3, seed=2),
    )


def test_a_small_network_for_images_is_the_same_in_both_modes() -> None:
    model, data = network(), RANDOM.random((5, 1, 16, 16), np.float32)
    loss = mg.cross_entropy(model(mg.tensor(data)), mg.tensor([0, 1, 2, 0, 1]))
    loss.backward()
    with mg.Graph(), mg.Session() as session:
        x = mg.placeholder("x", shape=(None, 1, 16, 16))
        scores = model(x)
        assert scores.shape == (None, 3)
        static = mg.cross_entropy(scores, np.array([0, 1, 2, 0, 1]))
        grads = mg.gradients(static, model.parameters())
        session.run(mg.global_variables_initializer())
        value, *found = session.run([static, *grads], {x: data})
    same_bits([value, *found], [loss.data, *(p.grad.data for p in model.parameters())])


def test_layers_for_images_start_in_bounds_and_describe_themselves() -> None:
    layer = mg.nn.Conv2d(2, 8, (3, 5), seed=0)
    assert layer.weight.shape == (8, 2, 3, 5)
    for p, q in zip(
        layer.parameters(), mg.nn.Conv2d(2, 8, (3, 5), seed=0).parameters(), strict=True
    ):
        assert np.abs(p.data).max() <= 1 / np.sqrt(30)
        assert p.data.tobytes() == q.data.tobytes()
    assert repr(layer) == "Conv2d(2 → 8, 3 × 5, stride=1, padding=0)"
    assert repr(mg.nn.MaxPool2d(2)) == "MaxPool2d(2, stride=2, padding=0)"
    assert repr(mg.nn.AvgPool2d(3, 1, 1)) == "AvgPool2d(3, stride=1, padding=1)"


def test_a_bias_that_is_a_tensor_goes_into_a_graph() -> None:
    weight, bias = mg.ones(2, 1, 3, 3, requires_grad=True), mg.tensor([1.0, 2.0], True)
    x = mg.placeholder("x", shape=(1, 1, 3, 3))
    y = mg.conv2d(x, weight, bias)
    with mg.Session(x.graph) as sess:
        sess.run(mg.global_variables_initializer())
        assert sess.run(y, {x: np.ones((1, 1, 3, 3))}).ravel().tolist() == [10.0, 11.0]
    assert mg.gradients(y.sum(), bias)[0] is not None


APART = [
    ({"dilation": 2}, (2, 2, 6, 7), (3, 2, 2, 3)),
    ({"dilation": (1, 3), "padding": "same"}, (1, 2, 4, 7), (2, 2, 3, 3)),
    ({"groups": 2, "stride": 2, "padding": 1}, (2, 4, 5, 5), (6, 2, 3, 3)),
    ({"groups": 4, "dilation": 2}, (1, 4, 5, 5), (4, 1, 2, 2)),
]


@pytest.mark.parametrize(("how", "images", "kernels"), APART)
def test_dilation_and_groups_are_sums_over_what_they_name(
    how: Any, images: Any, kernels: Any
) -> None:
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=images), rng.normal(size=kernels)
    y = mg.conv2d(mg.tensor(x), mg.tensor(w), **how).data
    (down, right), groups = np.broadcast_to(how.get("dilation", 1), 2), how.get("groups", 1)
    step, pad = how.get("stride", 1), how.get("padding", 0)
    tall, wide = (kernels[2] - 1) * down, (kernels[3] - 1) * right
    rows, columns = (tall // 2, wide // 2) if pad == "same" else (pad, pad)
    framed = np.pad(x, [(0, 0), (0, 0), (rows, tall), (columns, wide)])  # enough on the far sides
    for n, k, i, j in np.ndindex(*y.shape):
        first = k // (kernels[0] // groups) * kernels[1]
        patch = framed[n, first : first + kernels[1], i * step :, j * step :]
        patch = patch[:, ::down, ::right][:, : kernels[2], : kernels[3]]
        assert y[n, k, i, j] == pytest.approx((patch * w[k]).sum(), rel=1e-12, abs=1e-12)
    mg.check_grads(lambda a, b: mg.conv2d(a, b, **how), mg.tensor(x, True), mg.tensor(w, True))
    node = mg.placeholder(shape=(None, *images[1:]), dtype=mg.float64)
    static = mg.conv2d(node, mg.constant(w), **how)
    assert mg.run(mg.build_graph(node, static), {node: x}).tobytes() == y.tobytes()


def test_groups_that_do_not_divide_are_refused() -> None:
    for x in (mg.zeros(1, 3, 4, 4), mg.placeholder(shape=(None, 3, 4, 4))):
        with pytest.raises(mg.ShapeError, match=r"Conv2d: 3 channels.*2 equal groups"):
            mg.conv2d(x, mg.zeros(2, 1, 2, 2), groups=2)
    with pytest.raises(mg.ShapeError, match="2 equal groups"):
        mg.nn.Conv2d(3, 4, 3, groups=2)
    with pytest.raises(mg.ArgumentError, match="lengths"):
        mg.conv2d(mg.zeros(1, 1, 4, 4), mg.placeholder(shape=(1, 1, None, 2)), dilation=2)
    layer = mg.nn.Conv2d(4, 6, 3, groups=2, dilation=2, seed=0)
    assert layer.weight.shape == (6, 2, 3, 3)
    assert layer(mg.zeros(1, 4, 5, 5)).shape == (1, 6, 1, 1)


@pytest.mark.once
@pytest.mark.parametrize(("channels", "kernels", "groups"), [(64, 64, 64), (6, 12, 3), (4, 2, 2)])
def test_groups_are_one_node_for_each_executor(channels: int, kernels: int, groups: int) -> None:
    rng = np.random.default_rng(0)
    image, weight = (
        rng.normal(size=(2, channels, 6, 8)),
        rng.normal(size=(kernels, channels // groups, 3, 3)),
    )
    with mg.Graph():
        x = mg.placeholder("x", shape=(None, channels, 6, 8), dtype=mg.float64)
        w = mg.placeholder("w", shape=weight.shape, dtype=mg.float64)
        y = mg.conv2d(x, w, padding=1, groups=groups)
        assert len(mg.build_graph([x, w], y).nodes) == 3
        graph = mg.build_graph([x, w], [y, *mg.gradients((y * y).sum(), [x, w])])
    each = [np.split(a, groups, axis) for a, axis in ((image, 1), (weight, 0))]
    parts = [mg.conv2d(a, b, padding=1) for a, b in zip(*each, strict=True)]
    feeds = {"x": image, "w": weight}
    expected = mg.run(graph, feeds)
    np.testing.assert_allclose(expected[0], np.concatenate(parts, axis=1), rtol=1e-12, atol=1e-12)
    for executor in ("reference", "numpy", "c"):
        found = graph.compile(executor=executor)(feeds)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("executor", ["reference", "numpy", pytest.param("c", marks=COMPILED)])
def test_an_infinite_slope_reaches_only_the_largest_pixel(executor: str) -> None:
    """As in PyTorch: the others of its window get 0, and not 0 times infinity."""
    x = drawn(2, 1, 4, 4).astype(np.float32)
    image, slope = mg.placeholder("image", x.shape), mg.placeholder("slope", (2, 1, 2, 2))
    top = mg.max_pool2d(image, 2)
    back = ops.max_pool2d_input(slope, top, image, kernel_size=2)
    picked = ops.max_pool2d_pick(image / (image - image), top, image, kernel_size=2)
    graph = mg.build_graph([image, slope], [back, picked])
    slopes = np.full((2, 1, 2, 2), np.inf, np.float32)
    found, seen = graph.compile(executor=executor)({image: x, slope: slopes})
    assert sorted(found.ravel().tolist()) == [0] * 24 + [np.inf] * 8
    assert np.isinf(seen).all()
