"""The digits: what they are, how they are split, and how they are enlarged."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minigrad.data import digits, interpolation_weights

STORED = Path(__file__).parents[2] / "minigrad" / "data" / "digits.npz"


@pytest.mark.parametrize("size", [2, 7, 8, 16])
def test_shapes_dtypes_and_range(size: int) -> None:
    data = digits(size=size)
    assert data.x_train.shape == (1438, size, size)
    assert data.x_test.shape == (359, size, size)
    assert data.x_train.dtype == data.x_test.dtype == np.float32
    assert data.y_train.shape == (1438,)
    assert data.y_test.shape == (359,)
    assert data.y_train.dtype == data.y_test.dtype == np.int64
    assert data.x_train.min() >= 0
    assert data.x_train.max() <= 1


def test_size_8_is_the_stored_file_with_every_fifth_image_set_aside() -> None:
    data = digits()
    with np.load(STORED, allow_pickle=False) as file:
        images, labels = file["images"], file["labels"]
    test = np.arange(1797) % 5 == 4
    assert np.array_equal(data.x_test * 16, images[test])
    assert np.array_equal(data.y_test, labels[test])
    assert np.array_equal(data.x_train * 16, images[~test])
    assert np.array_equal(data.y_train, labels[~test])
    assert (images.min(), images.max()) == (0, 16)


def test_every_digit_is_well_represented() -> None:
    data = digits()
    both = np.concatenate([data.y_train, data.y_test])
    assert np.bincount(both).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert np.bincount(data.y_train, minlength=10).min() >= 120
    assert np.bincount(data.y_test, minlength=10).min() >= 20


@pytest.mark.parametrize("size", [2, 15, 16])
def test_resizing_keeps_the_corners(size: int) -> None:
    small, large = digits().x_train, digits(size).x_train
    corners = np.ix_(range(len(small)), [0, -1], [0, -1])
    assert np.array_equal(small[corners], large[corners])


def test_fifteen_pixels_put_one_new_pixel_between_two_old_ones() -> None:
    small, large = digits().x_test, digits(15).x_test
    assert np.array_equal(large[:, ::2, ::2], small)
    assert np.allclose(large[:, 1::2, ::2], (small[:, :-1] + small[:, 1:]) / 2)


@pytest.mark.parametrize("new", [2, 3, 8, 16, 31])
def test_each_new_pixel_is_a_weighted_mean(new: int) -> None:
    weights = interpolation_weights(8, new)
    assert weights.shape == (new, 8)
    assert np.allclose(weights.sum(axis=1), 1)
    assert ((weights > 0).sum(axis=1) <= 2).all()


def test_changing_the_result_leaves_the_next_call_alone() -> None:
    first = digits()
    expected = [np.array(part) for part in first]
    for part in first:
        part.fill(9)
    for again, before in zip(digits(), expected, strict=True):
        np.testing.assert_array_equal(again, before)


@pytest.mark.parametrize("size", [1, 0, -8, 8.0, "8", None, True])
def test_a_bad_size_is_named_with_the_remedy(size: Any) -> None:
    with pytest.raises(ValueError, match=r"size must be a whole number of at least 2, got .*try 8"):
        digits(size=size)
