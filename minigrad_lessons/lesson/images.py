"""`lessons.images`: a row of grey images with their labels."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from minigrad.diagnostics.messages import choose
from viz.page.document import DARK, Document
from viz.picture import mpl
from viz.words.text import Pair, bilingual, both, row

__all__ = ["images"]

SHOWN = 24  # images; more do not fit in a row that one can survey
WIDTH = 56  # of an image on the screen, where nothing is said of it
# Ink on paper, whichever paper it is: nearly black where the page is dark.
NEGATIVE = ".mg-pixels { filter: invert(0.92); }"
STYLE = (
    f"<style>{DARK} {NEGATIVE} "
    f"@media (prefers-color-scheme: dark) {{ [data-mg-page] {NEGATIVE} }}</style>"
)


@dataclass(frozen=True)
class Images(Document):
    """Images that a notebook shows; `str` of it says how many, how large, and their labels."""

    pixels: tuple[np.ndarray[Any, Any], ...]
    labels: tuple[str, ...]
    cell: float | None = None
    span: tuple[float, float] | None = None

    @property
    def about(self) -> Pair:
        """How many images there are, and how large, in both languages."""
        count, sizes = len(self.pixels), {image.shape for image in self.pixels}
        if len(sizes) > 1:
            return row("images_unequal", count=count)
        height, width = sizes.pop()
        return row("images", count=count, height=height, width=width)

    def __str__(self) -> str:
        return choose(self.about, " / ") + (f" [{', '.join(self.labels)}]" if self.labels else "")

    __repr__ = __str__

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        caption = f"<figcaption>{bilingual(self.about)}</figcaption>"
        html = f'<figure style="margin:4px 0">{self.figures}{caption}</figure>'
        return {"text/plain": str(self), "text/html": html}

    def _page(self) -> tuple[Pair, str]:
        return self.about, self.figures

    @property
    def figures(self) -> str:
        """The images with their labels as HTML, for a place that has a caption already."""
        return STYLE + "".join(self._image_html(i) for i in range(len(self.pixels)))

    def _image_html(self, i: int) -> str:
        file = io.BytesIO()
        low, high = self.span or (min(map(np.min, self.pixels)), max(map(np.max, self.pixels)))
        mpl.imsave(file, self.pixels[i], cmap="gray_r", vmin=low, vmax=high, format="png")
        cells_high, cells_wide = self.pixels[i].shape
        cell = self.cell or WIDTH / cells_wide
        width, height = round(cell * cells_wide), round(cell * cells_high)
        label = self.labels[i] if self.labels else ""
        alt = escape(both(row("image_alt", number=i + 1, label=label or "?")))
        source = base64.b64encode(file.getvalue()).decode()
        return (
            '<span style="display:inline-block;text-align:center;margin:2px 4px">'
            f'<img class="mg-pixels" alt="{alt}" src="data:image/png;base64,{source}" '
            f'width="{width}" height="{height}" '
            f'style="image-rendering:pixelated;border:1px solid #767676;display:block">'
            f"{escape(label)}</span>"
        )


def images(
    pixels: Any,
    labels: Sequence[Any] = (),
    cell: float | None = None,
    span: tuple[float, float] | None = None,
) -> Images:
    """Show grey images side by side, with more ink for larger values: dark on light paper.

    pixels: (n, height, width), numbers, or a list of n images (height, width) of any sizes;
    labels: n words or numbers written below; cell: how wide and high a pixel is on the screen,
    otherwise all images are equally wide; span: the values of the paper and of full ink, by default
    the smallest and the largest of all. At most 24 are shown. ValueError when the shape is
    another, or there is not one label for each image.

    >>> import numpy as np
    >>> print(images(np.zeros((2, 8, 8)), [3, 7]))
    2 images of 8 × 8 pixels [3, 7]
    >>> print(images([np.zeros((2, 3)), np.zeros((1, 9))]))
    2 images of different sizes
    """
    whole = None if isinstance(pixels, list | tuple) else _as_array(pixels)
    arrays = tuple(map(_as_array, pixels)) if whole is None else tuple(whole) if whole.ndim else ()
    wrong = [x.shape for x in arrays if x.ndim != 2 or not x.size]
    if wrong or not arrays:
        shape = whole.shape if whole is not None else wrong[0] if wrong else (0,)
        raise ValueError(choose(row("images_shape", shape=shape)))
    names = tuple(str(label) for label in labels)
    if names and len(names) != len(arrays):
        raise ValueError(choose(row("images_labels", labels=len(names), count=len(arrays))))
    return Images(arrays[:SHOWN], names[:SHOWN], cell, span)


def _as_array(x: Any) -> np.ndarray[Any, Any]:
    return np.asarray(getattr(x, "data", x))
