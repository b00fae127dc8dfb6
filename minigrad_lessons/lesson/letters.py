"""Words as arrays, in which a letter is a row: `letters`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["letters"]


def letters(words: str | Sequence[str] | NDArray[Any], length: int = 0) -> NDArray[np.float32]:
    """Encode the letters of a word one-hot, 26 numbers each, with rows of zeros up to `length`.

    words: one or several, of the letters a to z; a letter has a 1 in its place in the alphabet. The
    shape is (length, 26), or (words, length, 26) for several: the longest of them gives the length,
    if it is more than `length`.

    >>> print(letters("baa", 4)[:, :2])
    [[0. 1.]
     [1. 0.]
     [1. 0.]
     [0. 0.]]
    >>> letters(["if", "run"]).shape
    (2, 3, 26)
    """
    several = [words] if isinstance(words, str) else [*words]
    longest = max([length, *map(len, several)])
    array = np.zeros((len(several), longest, 26), np.float32)
    for rows, word in zip(array, several, strict=True):
        rows[range(len(word)), [ord(letter) - ord("a") for letter in word]] = 1
    return array[0] if isinstance(words, str) else array
