"""x[...] in both modes: what NumPy gives, its gradient, and what a graph knows of its shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from covering import each, examples
from directions import check_gradients
from hypothesis import given
from hypothesis import strategies as st

import minigrad as mg
from minigrad import ops
from minigrad.core import REGISTRY
from minigrad.diagnostics.errors import IndexRangeError
from minigrad.ops import indexing

pytestmark = pytest.mark.usefixtures("own_graph")


def numbers(*shape: int, dtype: Any = np.float64) -> Any:
    return np.arange(np.prod(shape), dtype=dtype).reshape(shape)


def static(array: Any, key: Any, shape: Any) -> tuple[Any, Any]:
    """The node of a placeholder of this shape at this key, and its value for the array."""
    x = mg.placeholder(None, shape, array.dtype)
    y = x[key]
    return y, mg.run(mg.build_graph(x, y), {x: array})


def forms(shape: tuple[int, ...]) -> list[Any]:
    """How much of a shape may be known: all, all but one length each, only the rank, nothing."""
    one = [tuple(None if i == j else n for j, n in enumerate(shape)) for i in range(len(shape))]
    return [shape, *one, (None,) * len(shape), None]


# ---- Against NumPy --------------------------------------------------------------------------

LISTED: list[tuple[tuple[int, ...], Any]] = [
    ((3, 4), 1),
    ((3, 4), -1),
    ((3, 4), np.int32(2)),
    ((3, 4), np.array(2)),
    ((3, 4), ()),
    ((3, 4), ...),
    ((3, 4), None),
    ((3, 4), (1, 2)),
    ((3, 4), (slice(None), 0)),
    ((3, 4), slice(1, None)),
    ((3, 4), slice(None, None, -1)),
    ((3, 4), (slice(None, None, 2), slice(3, 0, -2))),
    ((3, 4), slice(10, 20)),
    ((3, 4), slice(-100, 100)),
    ((3, 4), (..., 1)),
    ((3, 4), (..., None)),
    ((3, 4), (None, 1, None, slice(0, 2))),
    ((2, 3, 4), (0, ..., -1)),
    ((2, 3, 4), (slice(None), None, ..., slice(1, 3))),
    ((0, 3), (slice(None), 1)),
    ((), ()),
    ((), ...),
    ((), None),
    # positions that are data
    ((3, 4), [0, 2]),
    ((3, 4), []),
    ((3, 4), [[0, 1], [2, 2]]),
    ((3, 4), np.array([-1, 0], np.int8)),
    ((3, 4), np.array([1, 0], np.uint8)),
    ((3, 4), ([0, 2], [1, 3])),
    ((3, 4), ([[0], [2]], [1, 3])),
    ((3, 4), ([1], [2, 2])),
    ((3, 4), (slice(None), [0, 0, 3])),
    ((3, 4), (slice(0, 2), [1, 1])),
    ((3, 4), (..., [1, 1])),
    ((3, 4), ([1, 1], slice(0, 0))),
    ((3, 4), (None, [0, 2])),
    ((2, 3, 4), (slice(None), [0, 2], [1, 3])),
    ((2, 3, 4), ([0, 1], slice(None), [1, 3])),
    ((2, 3, 4), ([0, 1], slice(None, None, -1), [1, 3])),
    ((2, 3, 4), (slice(1, None), [[0], [1]], slice(None, None, 2))),
    # masks
    ((3, 4), numbers(3, 4) > 5),
    ((3, 4), [True, False, True]),
    ((3, 4), (slice(None), [True, False, True, False])),
    ((3, 4), (None, [True, False, True])),
    ((3, 4), np.zeros((3, 4), bool)),
    ((2, 3, 4), (0, numbers(3, 4) % 2 == 0)),
    ((2, 3, 4), (np.array([[True, False, True], [False, True, False]]), 1)),
]


def needs_rank(key: Any) -> bool:
    """Positions after "..." , or apart from each other, whose axes must be known."""
    items = key if isinstance(key, tuple) else (key,)
    arrays = [i for i, item in enumerate(items) if isinstance(item, (list, np.ndarray))]
    apart = bool(arrays) and arrays[-1] - arrays[0] >= len(arrays)
    return bool(arrays) and (apart or any(item is ... for item in items))


@each(LISTED)
def test_values_are_those_of_numpy(shape: tuple[int, ...], key: Any) -> None:
    array = numbers(*shape)
    expected = array[key]
    actual = mg.tensor(array)[key]
    assert actual.shape == expected.shape
    np.testing.assert_array_equal(actual.data, expected)
    for form in forms(shape):
        if form is None and needs_rank(key):
            with pytest.raises(mg.ShapeError, match="number of axes"):
                static(array, key, form)
            continue
        node, value = static(array, key, form)
        np.testing.assert_array_equal(value, expected)
        for n, length in zip(node.shape or (), expected.shape, strict=node.shape is not None):
            assert n is None or n == length, f"{form}: {node.shape}"


def bounds(n: int) -> st.SearchStrategy[slice]:
    place = st.none() | st.integers(-n - 2, n + 2)
    step = st.none() | st.integers(-3, 3).filter(bool)
    return st.builds(slice, place, place, step)


@st.composite
def keys(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """A shape, and slices, integers, new axes and positions for its axes."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    used = draw(st.integers(0, len(shape)))
    key: list[Any] = []
    picks = 0
    for n in shape[:used]:
        kinds = [bounds(n), st.integers(-n, n - 1)]
        if not picks:  # one array: with several, NumPy and PyTorch differ
            kinds.append(st.lists(st.integers(-n, n - 1), max_size=4))
        key.append(draw(st.one_of(kinds)))
        picks += isinstance(key[-1], list)
    if picks and any(isinstance(item, int) for item in key):
        key = [slice(None) if isinstance(i, int) else i for i in key]  # they differ there, too
    for _ in range(draw(st.integers(0, 2))):
        key.insert(draw(st.integers(0, len(key))), None)
    return shape, tuple(key)


@examples(100)
@given(keys())
def test_any_key_gives_what_numpy_gives(case: tuple[tuple[int, ...], tuple[Any, ...]]) -> None:
    shape, key = case
    if any(isinstance(item, list) for item in key):
        key = tuple(np.array(item, int) if isinstance(item, list) else item for item in key)
    array = numbers(*shape)
    expected = array[key]
    np.testing.assert_array_equal(mg.tensor(array)[key].data, expected, strict=True)
    with mg.Graph():
        for form in (shape, (None,) * len(shape)):
            node, value = static(array, key, form)
            np.testing.assert_array_equal(value, expected)
            assert len(node.shape) == expected.ndim
            assert form != shape or node.shape == expected.shape


@examples(100)
@given(keys())
def test_the_gradient_goes_back_to_where_the_elements_came_from(
    case: tuple[tuple[int, ...], tuple[Any, ...]],
) -> None:
    shape, key = case
    key = tuple(np.array(item, int) if isinstance(item, list) else item for item in key)
    expected = np.zeros(shape)
    np.add.at(expected, key, numbers(*numbers(*shape)[key].shape) + 1)
    x = mg.tensor(numbers(*shape), requires_grad=True)
    y = x[key]
    y.backward(numbers(*y.shape) + 1)
    np.testing.assert_array_equal(x.grad.data, expected)
    with mg.Graph():
        node = mg.placeholder("x", (None,) * len(shape), np.float64)
        picked = node[key]
        g = mg.gradients(picked, node, grad_ys=numbers(*y.shape) + 1)[0]
        np.testing.assert_array_equal(mg.run(mg.build_graph(node, g), {node: x.data}), expected)


@each(LISTED)
def test_gradients_of_both_orders(shape: tuple[int, ...], key: Any) -> None:
    check_gradients(lambda x: x[key] ** 3, numbers(*shape) / 7)


# ---- Symbolic positions ---------------------------------------------------------------------


def test_a_node_is_an_index() -> None:
    xs = mg.placeholder("xs", (None, 4))
    i = mg.placeholder("i", (), mg.int64)
    row, cell = xs[i], xs[i, i + 1]
    assert row.shape == (4,)
    assert cell.shape == ()
    graph = mg.build_graph([xs, i], [row, cell])
    array = numbers(3, 4, dtype=np.float32)
    for k in (0, 2, -2):
        for actual, expected in zip(
            mg.run(graph, {xs: array, i: k}), (array[k], array[k, k + 1]), strict=True
        ):
            np.testing.assert_array_equal(actual, expected)
            assert type(actual) is type(expected)


def test_nodes_pick_rows_with_gradients() -> None:
    xs = mg.placeholder("xs", (None, 2), np.float64)
    ids = mg.placeholder("ids", (None,), mg.int64)
    y = (xs[ids] * xs[ids]).sum()
    g = mg.gradients(y, xs)[0]
    h = mg.gradients(g.sum(), xs)[0]
    array = numbers(3, 2)
    first, second = mg.run(mg.build_graph([xs, ids], [g, h]), {xs: array, ids: [2, 0, 2]})
    np.testing.assert_array_equal(first, 2 * array * [[1], [0], [2]])
    np.testing.assert_array_equal(second, 2 * np.ones((3, 2)) * [[1], [0], [2]])


def test_a_tensor_is_indexed_by_a_node_and_an_array_by_a_tensor() -> None:
    i = mg.placeholder("i", (), mg.int64)
    y = mg.tensor([10.0, 20.0])[i]
    assert mg.run(mg.build_graph(i, y), {i: 1}) == 20
    x = mg.tensor(numbers(3, 2))
    np.testing.assert_array_equal(x[mg.tensor([2, 0])].data, x.data[[2, 0]])
    np.testing.assert_array_equal(x[mg.tensor(1)].data, x.data[1])
    np.testing.assert_array_equal(x[mg.tensor([True, False, True])].data, x.data[[0, 2]])


def test_a_symbolic_mask_says_why_not_and_what_instead() -> None:
    x = mg.placeholder("x", (None, 3))
    with pytest.raises(mg.ShapeError, match=r"mask Greater.* shape .*mg\.where\(mask, x, 0\)"):
        x[x > 0]
    picked = x[np.array([True, False])]  # known while building
    value = mg.run(mg.build_graph(x, picked), {x: numbers(2, 3)})
    np.testing.assert_array_equal(value, numbers(2, 3)[:1])


def test_open_lengths_are_known_as_far_as_they_can_be() -> None:
    x = mg.placeholder("x", (None, 5))
    n = x.spec.shape[0]
    assert x[:].spec.shape[0] is n
    assert x[0:].spec.shape[0] is n
    assert x[::-1].spec.shape[0] is n
    assert x[..., 1:].spec.shape == (n, 4)
    assert x[1:].shape == (None, 5)
    assert x[1:].spec.shape[0] is not n
    assert x[:, ::2].shape == (None, 3)
    assert mg.placeholder("y")[0].shape is None


def test_a_graph_keeps_keys_as_plain_data() -> None:
    x = mg.placeholder("x", (None, 5))
    y = x[..., None, 1:3]
    assert y.attrs == {"key": ("...", None, (1, 3, None))}
    assert "Slice(%0, key=('...', None, (1, 3, None)))" in mg.build_graph(x, y).text()
    assert x[0:5:1].attrs == x[:5].attrs


# ---- The dynamic graph ----------------------------------------------------------------------


def test_slices_are_views_and_picked_rows_are_copies() -> None:
    x = mg.tensor(numbers(3, 4))
    assert np.shares_memory(x[1:].data, x.data)
    assert np.shares_memory(x[1].data, x.data)
    assert not np.shares_memory(x[[1, 2]].data, x.data)


def test_a_change_through_the_whole_is_noticed_by_the_part() -> None:
    x = mg.tensor(numbers(3, 4))
    w = mg.tensor(2.0, requires_grad=True, dtype=np.float64)
    y = (w * x[1:]).sum()
    x.copy_(numbers(3, 4) + 1)
    with pytest.raises(mg.GradientError, match="changed"):
        y.backward()


def test_a_single_element_is_a_number() -> None:
    x = mg.tensor(numbers(3, 4))
    assert isinstance(x[1, 2].data, np.float64)
    assert isinstance(x[..., 1, 2].data, np.float64)
    assert x[1, 2].item() == 6


def test_tensors_are_iterated_and_unpacked_row_by_row() -> None:
    x = mg.tensor(numbers(2, 3), requires_grad=True)
    assert [row.tolist() for row in x] == x.tolist()
    a, b = x
    (a * b).sum().backward()
    np.testing.assert_array_equal(x.grad.data, x.data[::-1])
    with pytest.raises(mg.ShapeError, match="1 axis or more"):
        list(mg.tensor(1.0))


def test_the_gradient_of_a_slice_keeps_no_data() -> None:
    x = mg.tensor(numbers(3, 4), requires_grad=True)
    saved = x[1].creator.saved
    assert not [s for s in saved if isinstance(s, np.ndarray)]
    saved = x[[0, 1]].creator.saved
    assert [s.shape for s in saved if isinstance(s, np.ndarray)] == [(2,)]


# ---- take, gather, one_hot ------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
@pytest.mark.parametrize("indices", [1, [0, 1, 1], [[1, 0], [-1, 1]], []], ids=str)
def test_take_is_that_of_numpy(axis: int, indices: Any) -> None:
    array, chosen = numbers(2, 3, 4), np.array(indices, int)
    expected = np.take(array, chosen, axis)
    np.testing.assert_array_equal(mg.take(array, chosen, axis), expected)
    np.testing.assert_array_equal(mg.take(mg.tensor(array), chosen, axis=axis).data, expected)
    check_gradients(lambda x: mg.take(x, chosen, axis) ** 2, array)


def test_gather_takes_one_element_for_each_place() -> None:
    array = numbers(3, 4)
    labels = np.array([1, 3, 0])
    picked = mg.gather(mg.tensor(array), labels[:, None], axis=1)
    np.testing.assert_array_equal(picked.data[:, 0], array[np.arange(3), labels])
    part = np.array([[2, 0, 1], [0, 0, 0]])  # shorter along the other axis
    np.testing.assert_array_equal(mg.gather(array, part, axis=1), array[:2][[[0], [1]], part])
    mg.check_grads(lambda x: mg.gather(x, part, 1) ** 2, array, order=2)
    x = mg.placeholder("x", (None, 4), np.float64)
    y = mg.gather(x, part, axis=1)
    assert y.shape == (2, 3)
    np.testing.assert_array_equal(
        mg.run(mg.build_graph(x, y), {x: array}), array[:2][[[0], [1]], part]
    )


def test_gradients_of_elements_taken_twice_are_added_up_exactly() -> None:
    """In the order of the indices, as a loop would."""
    random = np.random.default_rng(0)
    ids = random.integers(0, 50, 1000)
    g = random.standard_normal((1000, 3)).astype(np.float32)
    expected = np.zeros((50, 3), np.float32)
    for i, row in zip(ids, g, strict=True):
        expected[i] += row
    x = mg.zeros(50, 3, requires_grad=True)
    x[ids].backward(g)
    np.testing.assert_array_equal(x.grad.data, expected)


def test_one_hot() -> None:
    labels = np.array([[0, 2], [1, 5]])
    expected = np.eye(6)[labels][..., :3]
    np.testing.assert_array_equal(mg.one_hot(labels, 3), expected)
    assert mg.one_hot(labels, 3).dtype == np.float32
    assert mg.one_hot(mg.tensor(labels), 3, dtype=mg.int64).dtype == np.int64
    node = mg.placeholder("labels", (None,), mg.int64)
    y = mg.one_hot(node, 3)
    assert y.shape == (None, 3)
    value = mg.run(mg.build_graph(node, y), {node: [0, 2]})
    np.testing.assert_array_equal(value, expected[0])


# ---- Mistakes -------------------------------------------------------------------------------

WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "outside": (lambda x: x[3], mg.IndexRangeError, "index 3 .* axis 0.* length 3"),
    "outside, later axis": (lambda x: x[0, -5], mg.IndexRangeError, "index -5 .* axis 1"),
    "a position outside": (lambda x: x[[0, 3]], mg.IndexRangeError, "Take: index 3 .* axis 0"),
    "positions outside": (lambda x: x[[0], [4]], mg.IndexRangeError, "index 4 .* axis 1"),
    "gather outside": (lambda x: mg.gather(x, [[9]], 1), mg.IndexRangeError, "Gather: index 9"),
    "too many": (lambda x: x[0, 0, 0], mg.ShapeError, "3 indices are too many"),
    "too many positions": (lambda x: x[[0], [0], [0]], mg.ShapeError, "too many"),
    "a float": (lambda x: x[1.0], mg.DtypeError, r"1\.0 cannot be an index"),
    "floats": (lambda x: x[[0.5]], mg.DtypeError, "float32 cannot be an index"),
    "text": (lambda x: x["a"], mg.DtypeError, "'a' cannot be an index"),
    "a bool": (lambda x: x[True], mg.DtypeError, "True cannot be an index"),
    "two dots": (lambda x: x[..., ...], mg.DtypeError, "cannot be an index"),
    "step 0": (lambda x: x[::0], mg.DtypeError, "step other than 0"),
    "a fractional bound": (lambda x: x[:1.5], mg.DtypeError, r"1\.5 cannot be an index"),
    "a mask too short": (lambda x: x[[True, False]], mg.ShapeError, r"mask of shape \(2,\)"),
    "take of floats": (lambda x: mg.take(x, [0.5], axis=0), mg.DtypeError, "Take: float32"),
    "gather of another rank": (lambda x: mg.gather(x, [0], 1), mg.ShapeError, r"\(1,\)"),
    "gather of whole rows": (lambda x: mg.gather(x, [0], 0), mg.ShapeError, "mg.take"),
    "gather of more rows": (
        lambda x: mg.gather(x, np.zeros((4, 1), int), 1),
        mg.ShapeError,
        r"indices of shape \(4, 1\) do not belong to shape \(3, 4\)",
    ),
    "gather from a single row for more": (
        lambda x: mg.gather(x[:1], np.zeros((2, 1), int), 1),
        mg.ShapeError,
        r"indices of shape \(2, 1\) do not belong to shape \(1, 4\)",
    ),
    "an axis that is not there": (lambda x: mg.take(x, [0], axis=2), mg.ShapeError, "axis 2"),
    "one_hot of floats": (lambda x: mg.one_hot(x, 3), mg.DtypeError, "class numbers"),
}


@each(WRONG)
def test_mistakes_read_the_same_in_both_modes(name: str) -> None:
    mistake, kind, words = WRONG[name]
    array = numbers(3, 4, dtype=np.float32)

    def run() -> None:
        x = mg.placeholder("x", (3, 4))
        mg.run(mg.build_graph(x, mistake(x)), {x: array})

    messages = []
    for make in (lambda: mistake(mg.tensor(array)), run):
        with pytest.raises(kind, match=words) as found:
            make()
        assert "test_indexing.py, line" in str(found.value)
        messages.append(str(found.value).splitlines()[0])
    assert messages[0] == messages[1]


def test_an_index_outside_an_open_axis_is_found_when_run() -> None:
    x = mg.placeholder("x", (None,))
    graph = mg.build_graph(x, x[5])
    with pytest.raises(IndexError, match="index 5 is outside axis 0, which has length 3") as found:
        mg.run(graph, {x: [1, 2, 3]})
    assert found.value.ran is not None


def test_only_a_slice_of_that_shape_is_put_back() -> None:
    with pytest.raises(mg.ShapeError, match="Unslice"):
        ops.unslice(np.zeros(3), np.zeros(5), key=((None, 2, None),))


# ---- Integers of another width than the machine's -------------------------------------------


@pytest.fixture
def on_32_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Positions as a Python of 32 bits has them; there NumPy cuts a wider one off in silence."""
    narrow = np.iinfo(np.int32)
    fitting = frozenset(d for d in indexing.FITTING if np.can_cast(d, narrow.dtype))
    monkeypatch.setattr(indexing, "POSITION", narrow)
    monkeypatch.setattr(indexing, "FITTING", fitting)


@pytest.mark.usefixtures("on_32_bits")
@pytest.mark.parametrize("far", [2**32 + 1, -(2**32) - 1, 2**31])
def test_a_position_too_wide_for_the_machine_is_outside(far: int) -> None:
    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    near, wide = np.array([1, 0, -1]), np.array([1, 0, far])
    rows = REGISTRY["Take"].run(None, x, near, axis=0)
    assert rows.tolist() == [[3, 4, 5], [0, 1, 2], [3, 4, 5]]
    assert REGISTRY["Take"].run(None, x, near, near, axis=0).tolist() == [4, 0, 5]
    added = REGISTRY["AddAt"].run(None, np.ones((3, 3), np.float32), x, near, axis=0)
    assert added.tolist() == [[1, 1, 1], [2, 2, 2]]
    for positions in ([wide], [wide, near], [near, wide]):
        with pytest.raises(IndexRangeError, match=str(far)):
            REGISTRY["Take"].run(None, x, *positions, axis=0)
    with pytest.raises(IndexRangeError, match=str(far)):
        REGISTRY["Gather"].run(None, x, wide[None], axis=1)
    with pytest.raises(IndexError):
        REGISTRY["AddAt"].run(None, np.ones((3, 3), np.float32), x, wide, axis=0)


def test_positions_without_a_sign_are_positions() -> None:
    """NumPy takes 2**64 − 1 for −1 in some places, and refuses every such number in others."""
    x = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    row = mg.take(x, np.array([1], np.uint64), axis=0)
    assert row.tolist() == [[3, 4]]
    row.sum().backward()
    assert x.grad.tolist() == [[0, 0], [1, 1]]
    last = np.array([2**64 - 1], np.uint64)
    with pytest.raises(IndexRangeError, match=str(2**64 - 1)):
        mg.take(x, last, axis=0)
    with pytest.raises(IndexRangeError, match=str(2**64 - 1)):
        x[last, last]
    scores = mg.tensor([[0.0, 1.0]])
    given = [mg.nn.functional.cross_entropy(scores, np.array([1], t)) for t in (np.uint64, int)]
    assert given[0] == given[1]


@pytest.mark.parametrize("name", ["ArgMax", "ArgMin"])
def test_positions_are_int64_whatever_the_machine_counts_in(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = REGISTRY[name].run
    (cell,) = (c for c in run.__closure__ if c.cell_contents in (np.argmax, np.argmin))
    find = cell.cell_contents
    monkeypatch.setattr(cell, "cell_contents", lambda *a, **k: find(*a, **k).astype(np.int32))
    x = np.array([[3.0, 1.0, 2.0]])
    for axis in (None, 1):
        found = run(None, x, axis=axis)
        out = np.empty(found.shape, np.int64)
        assert found.dtype == run(out, x, axis=axis).dtype == np.int64
        assert (out == find(x, axis=axis)).all()
