"""The record, shapes with unknown lengths, data types, and the switch between the readers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import core, ops
from minigrad.core import Dim, Spec, bool_, float32, float64, int32, int64

N, M = Dim(), Dim()


def test_an_unknown_length_is_shown_as_users_write_it() -> None:
    assert core.public_shape((N, 784)) == (None, 784)
    assert core.show_shape((N, 784)) == core.show_shape((None, 784)) == "(None, 784)"
    assert core.show_shape(None) == "?"
    assert core.show_shapes((64, 784), (), None) == "(64, 784), (), ?"
    assert str(Spec((N, 10), float32)) == "float32[None, 10]"
    assert str(Spec(None, int64)) == "int64[?]"
    assert str(Spec((), float32)) == "float32[]"


def test_an_unknown_length_equals_itself_only() -> None:
    assert N == N
    assert N != M
    assert Spec((N, 3), float32) == Spec((N, 3), float32)
    assert Spec((N, 3), float32) != Spec((M, 3), float32)


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ([], ()),
        ([()], ()),
        ([(2, 3), (3,)], (2, 3)),
        ([(2, 1), (1, 3)], (2, 3)),
        ([(5, 1, 3), (4, 1)], (5, 4, 3)),
        ([(0, 3), (1, 3)], (0, 3)),
        ([(N, 3), (3,)], (N, 3)),
        ([(N, 3), (N, 1)], (N, 3)),
        ([(N, 3), (1, 3)], (N, 3)),
        ([(N, 3), (5, 1)], (5, 3)),
    ],
)
def test_broadcasting(shapes: list[Any], expected: Any) -> None:
    assert core.broadcast_shapes("Add", *shapes) == expected


def test_two_different_unknown_lengths_make_a_third() -> None:
    (length,) = core.broadcast_shapes("Add", (N,), (M,))
    assert isinstance(length, Dim)
    assert length not in (N, M)


def test_shapes_that_do_not_fit_are_shown() -> None:
    with pytest.raises(mg.ShapeError, match=r"Add: shapes \(None, 3\), \(4,\) do not fit"):
        core.broadcast_shapes("Add", (N, 3), (4,))


@pytest.mark.parametrize(
    ("dtypes", "promoted", "floating"),
    [
        ([float32], float32, float32),
        ([float32, float64], float64, float64),
        ([float32, int64], float32, float32),
        ([bool_, float32], float32, float32),
        ([int32, int64], int64, float32),
        ([bool_, int32], int32, float32),
        ([bool_], bool_, float32),
    ],
)
def test_common_data_types_follow_pytorch(dtypes: Any, promoted: Any, floating: Any) -> None:
    assert core.promote(*dtypes) == promoted
    assert core.as_float(*dtypes) == floating


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        (2.0, float32),
        (2, int64),
        (True, bool_),
        ([[1.0, 2.0]], float32),
        ([1, 2], int64),
        (np.float64(2), float64),
        (np.ones(2), float64),
        (np.ones(2, np.float16), np.float16),
        ([], float32),
    ],
)
def test_data_types_of_new_values(given: Any, dtype: Any) -> None:
    """Python floats are float32 as in every framework; an array keeps its own type."""
    assert core.as_array(given, None, "tensor").dtype == dtype
    assert mg.tensor(given).dtype == dtype
    with mg.Graph():
        assert mg.constant(given).dtype == dtype
        assert mg.Variable(given).dtype == dtype


def test_new_values_share_nothing_and_are_contiguous() -> None:
    given = np.arange(6.0).reshape(2, 3).T
    made = core.as_array(given, None, "tensor")
    assert made.flags.c_contiguous
    assert not np.shares_memory(made, given)


# A Python number takes the other operand's type, except that a float makes integers float32.
NUMBERS = [
    (float32, 1, float32),
    (float32, 1.5, float32),
    (float32, True, float32),
    (float64, 1.5, float64),
    (int64, 1, int64),
    (int32, 1, int32),
    (int64, 1.5, float32),
    (bool_, 1, int64),
    (bool_, 1.5, float32),
]


@pytest.mark.parametrize(("dtype", "number", "expected"), NUMBERS)
@pytest.mark.parametrize("op", [ops.add, ops.mul], ids=str)
def test_python_numbers_are_weak_for_every_reader(
    op: Any, dtype: Any, number: Any, expected: Any
) -> None:
    array = np.ones(2, dtype)
    with mg.Graph():
        x = mg.placeholder("x", shape=(2,), dtype=dtype)
        for pair in [(x, number), (number, x)]:
            node = op(*pair)
            assert node.dtype == expected
            assert mg.run(mg.build_graph(x, node), {x: array}).dtype == expected
    for pair in [(array, number), (number, array)]:
        assert op(*pair).dtype == expected
    for pair in [(mg.tensor(array), number), (number, mg.tensor(array))]:
        assert op(*pair).dtype == expected


def test_division_of_integers_gives_floats() -> None:
    assert (mg.tensor([1, 2]) / 2).dtype == float32
    assert (mg.tensor([1, 2]) / 2).tolist() == [0.5, 1.0]
    with mg.Graph():
        x = mg.placeholder("x", dtype=int64)
        assert (x / 2).dtype == float32


def test_the_operand_of_the_highest_level_reads() -> None:
    array, tensor = np.ones(2, np.float32), mg.tensor([1.0, 1.0])
    assert type(ops.add(array, array)) is np.ndarray
    assert type(ops.add(array, tensor)) is mg.Tensor
    with mg.Graph():
        node = mg.placeholder("x", shape=(2,))
        for other in (array, tensor, [1.0, 1.0], 1.0):
            assert type(ops.add(other, node)) is mg.Node
            assert type(ops.add(node, other)) is mg.Node


def test_numpy_on_the_left_leaves_the_operation_to_us() -> None:
    array = np.ones(2, np.float32)
    result = array * mg.tensor([2.0, 3.0])
    assert type(result) is mg.Tensor
    assert result.tolist() == [2, 3]
    with mg.Graph():
        assert type(array * mg.placeholder("x")) is mg.Node
        assert type(np.float32(2) * mg.placeholder("y")) is mg.Node


def test_nothing_is_known_of_a_result_whose_operand_is_unknown() -> None:
    spec = ops.add.spec([Spec(None, float32), Spec((2,), float64)], {})
    assert spec == Spec(None, float64)


def test_a_record_calls_itself() -> None:
    assert repr(ops.add) == str(ops.add) == "Add"
    assert ops.add(np.float32(1), 2) == 3
