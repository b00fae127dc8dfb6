"""`viz.images`: a row of grey images with their labels."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import matplotlib.image as mpl_image
import numpy as np

from minigrad.messages import choose
from viz.text import Pair, bilingual, both, row

SHOWN = 24  # images; more do not fit in a row that one can survey


@dataclass(frozen=True)
class Images:
    """Images that a notebook shows; `str` of it says how many, how large, and their labels."""

    pixels: np.ndarray[Any, Any]
    labels: tuple[str, ...]

    @property
    def about(self) -> Pair:
        """How many images there are, and how large, in both languages."""
        count, height, width = self.pixels.shape
        return row("images", count=count, height=height, width=width)

    def __str__(self) -> str:
        return " ".join([choose(self.about, " / "), f"[{', '.join(self.labels)}]"])

    __repr__ = __str__

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        figures = "".join(self._figure(i) for i in range(len(self.pixels)))
        caption = f"<figcaption>{bilingual(self.about)}</figcaption>"
        html = f'<figure style="margin:4px 0">{figures}{caption}</figure>'
        return {"text/plain": str(self), "text/html": html}

    def _figure(self, i: int) -> str:
        file = io.BytesIO()
        low, high = float(np.min(self.pixels)), float(np.max(self.pixels))
        mpl_image.imsave(file, self.pixels[i], cmap="gray_r", vmin=low, vmax=high, format="png")
        label = self.labels[i] if self.labels else ""
        alt = escape(both(row("image_alt", number=i + 1, label=label or "?")))
        source = base64.b64encode(file.getvalue()).decode()
        return (
            '<span style="display:inline-block;text-align:center;margin:2px 4px">'
            f'<img alt="{alt}" src="data:image/png;base64,{source}" width="56" height="56" '
            f'style="image-rendering:pixelated;border:1px solid #767676;display:block">'
            f"{escape(label)}</span>"
        )


def images(pixels: Any, labels: Sequence[Any] = ()) -> Images:
    """Show grey images side by side, dark for large values.

    pixels: (n, height, width), numbers; labels: n words or numbers written below. At most 24 are
    shown. ValueError when the shape is another, or there is not one label for each image.

    >>> import numpy as np
    >>> print(images(np.zeros((2, 8, 8)), [3, 7]))
    2 images of 8 × 8 pixels [3, 7]
    """
    array = np.asarray(getattr(pixels, "data", pixels))
    if array.ndim != 3 or not array.size:
        raise ValueError(choose(row("images_shape", shape=array.shape)))
    names = tuple(str(label) for label in labels)
    if names and len(names) != len(array):
        raise ValueError(choose(row("images_labels", labels=len(names), count=len(array))))
    return Images(array[:SHOWN], names[:SHOWN])
