"""Are results the same to the last bit, the sign of zero included, NaN like NaN?"""

from __future__ import annotations

from typing import Any

import numpy as np


def same_bits(found: Any, expected: Any) -> None:
    for a, b in zip(found, expected, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_array_equal(a, b)
        assert (np.signbit(a) == np.signbit(b))[~np.isnan(b)].all()
