"""`lessons.images`: what is shown, said, and refused."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib.image as mpl_image
import numpy as np
import pytest

import minigrad as mg
import minigrad_lessons as lessons
from minigrad.diagnostics.messages import set_language
from minigrad_lessons.lesson.images import SHOWN

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.usefixtures("english")


def pictures(html: str) -> list[np.ndarray[Any, Any]]:
    sources = re.findall(r"base64,([^\"]+)", html)
    return [mpl_image.imread(io.BytesIO(base64.b64decode(s)))[..., 0] for s in sources]


def html(shown: Any) -> str:
    return shown._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "2 images of 8 × 4 pixels [3, 7]"),
        ("zh", "2 张 8 × 4 像素的图像 [3, 7]"),
        ("both", "2 images of 8 × 4 pixels / 2 张 8 × 4 像素的图像 [3, 7]"),
    ],
)
def test_text_in_the_chosen_language(language: Any, said: str) -> None:
    set_language(language)
    shown = lessons.images(np.zeros((2, 8, 4)), [3, 7])
    assert str(shown) == repr(shown) == shown._repr_mimebundle_()["text/plain"] == said


def test_each_image_has_its_pixels_its_label_and_its_words() -> None:
    page = html(lessons.images(np.arange(18).reshape(2, 3, 3), ["cat", "dog"]))
    assert re.findall('alt="([^"]+)"', page) == [
        "image 1, label cat / 第 1 张图像，标签 cat",
        "image 2, label dog / 第 2 张图像，标签 dog",
    ]
    first, second = pictures(page)
    assert first.shape == (3, 3)
    assert first[0, 0] == 1, "small values are light"
    assert second[2, 2] == 0, "large values are dark"
    assert first[2, 2] > second[0, 0], "all images share one scale"
    assert page.count("lang=") == 2


def test_images_of_different_sizes_have_cells_of_one_size() -> None:
    shown = lessons.images([np.ones((2, 3)), np.zeros((1, 9))], ["a", "b"], cell=10)
    assert str(shown) == "2 images of different sizes [a, b]"
    page = html(shown)
    assert re.findall(r'width="(\d+)" height="(\d+)"', page) == [("30", "20"), ("90", "10")]
    assert [image.shape for image in pictures(page)] == [(2, 3), (1, 9)]
    default = html(lessons.images(np.zeros((1, 3, 6))))
    assert re.findall(r'width="(\d+)" height="(\d+)"', default) == [("56", "28")]


def test_a_span_says_what_is_white_and_black() -> None:
    (ones,) = pictures(html(lessons.images(np.ones((1, 2, 2)), span=(-1, 1))))
    assert ones[0, 0] == 0, "black, although no other value is there"
    (zeros,) = pictures(html(lessons.images(np.zeros((1, 2, 2)), span=(-1, 1))))
    assert 0.3 < zeros[0, 0] < 0.9


@pytest.mark.browser
def test_an_image_is_ink_on_the_paper_of_its_page(page: Page, tmp_path: Path) -> None:
    shown = lessons.images(np.eye(4)[None])
    filters = "img => getComputedStyle(img).filter"
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto(shown.save(tmp_path / "page.html").as_uri())
        turned = page.locator("img").evaluate(filters)
        assert turned == {"light": "none", "dark": "invert(0.92)"}[scheme]
    page.emulate_media(color_scheme="light")
    page.set_content(f'<body data-jp-theme-light="false">{html(shown)}</body>')
    assert page.locator("img").evaluate(filters) == "invert(0.92)"
    page.emulate_media(color_scheme="dark")
    page.set_content(f'<body data-jp-theme-light="true">{html(shown)}</body>')
    assert page.locator("img").evaluate(filters) == "none"


def test_one_image_is_told_of_in_the_singular() -> None:
    assert str(lessons.images(np.zeros((1, 2, 3)))) == "1 image of 2 × 3 pixels"


@pytest.mark.parametrize(
    ("given", "shape"),
    [([], "(0,)"), ([np.zeros((2, 2)), np.zeros(4)], "(4,)"), ([np.zeros((0, 2))], "(0, 2)")],
)
def test_a_list_without_images_is_refused(given: Any, shape: str) -> None:
    with pytest.raises(ValueError, match="Remedy") as failed:
        lessons.images(given)
    assert shape in str(failed.value)


def test_tensors_constant_images_and_no_labels() -> None:
    page = html(lessons.images(mg.tensor(np.ones((1, 2, 2)))))
    assert len(pictures(page)) == 1
    assert "label ?" in page


def test_only_the_first_are_shown() -> None:
    shown = lessons.images(np.zeros((100, 2, 2)), range(100))
    assert (len(shown.pixels), len(shown.labels)) == (SHOWN, SHOWN)


def test_labels_are_text() -> None:
    page = html(lessons.images(np.zeros((1, 2, 2)), ["<script>\"'"]))
    assert "<script" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("shape", [(), (4,), (4, 64), (2, 2, 2, 2), (0, 8, 8), (2, 0, 8)])
def test_a_wrong_shape_is_named_with_the_remedy(shape: tuple[int, ...]) -> None:
    for language, words in (("en", "Remedy: x.reshape"), ("zh", "解决办法：x.reshape")):
        set_language(language)
        with pytest.raises(ValueError, match=words) as failed:
            lessons.images(np.zeros(shape))
        assert str(shape) in str(failed.value)


@pytest.mark.parametrize("labels", [[1], [1, 2, 3]])
def test_one_label_for_each_image(labels: list[int]) -> None:
    with pytest.raises(ValueError, match=f"got {len(labels)} labels? for 2 images"):
        lessons.images(np.zeros((2, 8, 8)), labels)
    set_language("zh")
    with pytest.raises(ValueError, match="每张图像给一个标签"):
        lessons.images(np.zeros((2, 8, 8)), labels)
