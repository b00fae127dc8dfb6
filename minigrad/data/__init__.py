"""The data set of the lessons: small images of handwritten digits."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Digits", "digits"]


class Digits(NamedTuple):
    """Images in [0, 1] with their labels 0 to 9, split into training and test parts.

    >>> x_train, y_train, x_test, y_test = digits()
    >>> x_train.shape, y_train.shape
    ((1438, 8, 8), (1438,))
    """

    x_train: NDArray[np.float32]
    y_train: NDArray[np.int64]
    x_test: NDArray[np.float32]
    y_test: NDArray[np.int64]


def digits(size: int = 8) -> Digits:
    """Return 1,797 handwritten digits, every fifth of them for testing.

    ``x_train`` (1438, size, size) and ``x_test`` (359, size, size) are float32, from 0 (paper) to
    1 (ink); ``y_train`` (1438,) and ``y_test`` (359,) are the digits as int64. Size 8 gives the
    original pixels, any other size interpolates between them and keeps the corners in place. Every
    call returns new arrays.

    Raises:
        ValueError: ``size`` is not a whole number of at least 2.

    Source: E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI, 1998,
    doi:10.24432/C50P49, CC BY 4.0; the changes are listed in ``digits.md``.

    >>> data = digits(size=16)
    >>> data.x_train.shape, data.x_test.shape
    ((1438, 16, 16), (359, 16, 16))
    >>> data.y_train[:10].tolist()
    [0, 1, 2, 3, 5, 6, 7, 8, 0, 1]
    """
    if not isinstance(size, int | np.integer) or isinstance(size, bool) or size < 2:
        raise ValueError(f"digits: size must be a whole number of at least 2, got {size!r}; try 8")
    with np.load(Path(__file__).with_name("digits.npz"), allow_pickle=False) as file:
        images = file["images"].astype(np.float32) / 16
        labels = file["labels"].astype(np.int64)
    weights = interpolation_weights(images.shape[1], int(size))
    images = weights @ images @ weights.T
    test = np.arange(len(labels)) % 5 == 4
    return Digits(images[~test], labels[~test], images[test], labels[test])


def interpolation_weights(old: int, new: int) -> NDArray[np.float32]:
    """Return the (new, old) matrix that interpolates linearly, first and last pixel kept."""
    position = np.linspace(0, old - 1, new)[:, None]
    weights: NDArray[np.float64] = np.maximum(0, 1 - np.abs(position - np.arange(old)))
    return weights.astype(np.float32)
