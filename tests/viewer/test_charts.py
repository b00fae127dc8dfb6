"""Charts: complete in both languages, safe, and without a trace in the user's settings."""

import base64
import io
import logging
import re
import sys
import warnings
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from covering import pairs
from fontTools.ttLib import TTFont
from looks import contrast
from matplotlib.figure import Figure
from PIL import Image

from viz.charts import Chart, chart_style, curves
from viz.charts.caption import spread
from viz.charts.chart import PHONE, SCREEN, WIDE
from viz.charts.image import size_of
from viz.page.stored import ROOM
from viz.picture import theme
from viz.picture.style import COLORS, CURVES, GRADIENTS, MODES
from viz.views.train import Training, train

TITLE, X, Y = ("Training loss", "训练损失"), ("step", "步"), ("loss", "损失")
HOSTILE = '"><script>alert(1)</script> $x$ $'


def chart(**changes: Any) -> Chart:
    series = {("dynamic graph", "动态图"): [2.5, 1.25, 0.12345678], "SGD": [2, -0.0]}
    return curves(**{"series": series, "title": TITLE, "x": X, "y": Y, **changes})


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@cache
def usual() -> dict[str, str]:
    """What a notebook shows of the chart."""
    return chart()._repr_mimebundle_()


@pytest.fixture(scope="module")
def saved_page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    path = tmp_path_factory.mktemp("charts") / "chart.html"
    return Page(chart().save(path).read_text("utf-8"))


def test_no_glyph_is_missing_in_either_language(tmp_path: Path) -> None:
    name = ("∂L/∂w ≤ 10⁻³ → α", "梯度「∂L/∂w」：−1 × 10⁻³，《示例》……")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for lang in ("en", "zh"):
            chart(series={name: [-1.0, 2.0]}).save(tmp_path / "chart.png", lang)


def test_a_missing_glyph_would_be_noticed(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Glyph"):
        chart(title=("\U0001f9ee", "")).save(tmp_path / "chart.png")


def test_both_languages_are_shown_with_alt_text() -> None:
    shown = Page(usual()["text/html"])
    assert shown.tags[0] == ("figure", {"class": "mg-chart"})
    assert [div["lang"] for div in shown.all("div") if "lang" in div] == ["en", "zh"]
    english, chinese = shown.all("img")
    assert english["alt"] == (
        "Line chart: Training loss. loss against step, 2 series. "
        "dynamic graph, 3 values: 2.5 → 0.1235; SGD, 2 values: 2 → 0."
    )
    assert chinese["alt"] == (
        "折线图：训练损失。横轴为步，纵轴为损失，共 2 条曲线。"
        "动态图，3 个值：2.5 → 0.1235；SGD，2 个值：2 → 0。"
    )
    assert english["src"] != chinese["src"]
    for image in (english, chinese):
        assert (image["src"] or "").startswith("data:image/svg+xml;base64,")
        assert 300 < int(image["width"] or 0) < 1200


def test_each_picture_has_a_table_with_the_same_figures() -> None:
    words = Page(usual()["text/html"]).words
    figures = ["3", "2.5", "0.1235", "0.1235", "2.5"]
    for name in ("dynamic graph", "动态图"):
        start = words.index(name)
        assert words[start + 1 : start + 6] == figures


def test_the_chinese_table_brings_its_font() -> None:
    html = usual()["text/html"]
    (data,) = re.findall(r"base64,([^)]*)\) format", html)
    with TTFont(io.BytesIO(base64.b64decode(data))) as font:
        glyphs = set(map(chr, font.getBestCmap()))
    assert set("数据表序列动态图") <= glyphs
    assert re.search(r"\.mg-chart \{ font-family:[^;]*'Noto Sans SC',sans-serif\)", html)


def test_only_a_chinese_image_names_our_font_first() -> None:
    images = Page(usual()["text/html"]).all("img")
    for image, first in zip(images, ("Helvetica", "'Noto Sans SC'"), strict=True):
        svg = base64.b64decode((image["src"] or "").partition(",")[2]).decode()
        assert {f.partition(",")[0] for f in re.findall("; font-family: ([^;]*)", svg)} == {first}


def test_text_is_fixed_and_aligned() -> None:
    assert usual()["text/plain"].splitlines() == [
        "Training loss: SGD ends lower than dynamic graph · 训练损失：SGD 最后低于动态图",
        "series                  count  first    last     min     max",
        "序列                     个数   首值    末值  最小值  最大值",
        "dynamic graph · 动态图      3    2.5  0.1235  0.1235     2.5",
        "SGD                         2      2       0       0       2",
    ]


def test_hostile_names_are_shown_and_never_run() -> None:
    made = chart(series={HOSTILE: [1, 2]}, title=(HOSTILE, HOSTILE), x=(HOSTILE, HOSTILE))
    shown = Page(made._repr_mimebundle_()["text/html"])
    assert not shown.all("script")
    assert {tag for tag, _ in shown.tags} == {
        *("figure", "figcaption", "span", "style", "div", "img", "details", "summary"),
        *("table", "thead", "tbody", "tr", "th", "td", "i", "br"),
    }
    assert all(HOSTILE in (image["alt"] or "") for image in shown.all("img"))
    assert HOSTILE in shown.words


def test_settings_and_pyplot_are_left_alone() -> None:
    before, loaded = dict(mpl.rcParams), "matplotlib.pyplot" in sys.modules
    chart()._shown(phone=False)
    assert dict(mpl.rcParams) == before
    assert ("matplotlib.pyplot" in sys.modules) == loaded


def test_no_cell_is_told_that_the_fonts_of_a_machine_are_listed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    fonts = logging.getLogger("matplotlib.font_manager")
    fonts.warning("Matplotlib is building the font cache; this may take a moment.")
    fonts.warning("another word")
    assert caplog.messages == ["another word"]


def test_settings_come_back_after_an_error() -> None:
    before = dict(mpl.rcParams)
    with pytest.raises(ZeroDivisionError), chart_style():
        raise ZeroDivisionError
    assert dict(mpl.rcParams) == before


def drawn(**changes: Any) -> Any:
    """The axes of a chart."""
    with chart_style():
        figure = Figure()
        chart(**changes).draw(figure, 0)
    return figure.axes[0]


def test_each_line_is_solid_and_named_where_it_ends() -> None:
    """A dashed line would be a plan; a legend apart would have to be looked up."""
    series = {str(k): [9 - k, k] for k in range(9)}
    axes = drawn(series=series)
    lines = axes.get_lines()
    assert {line.get_linestyle() for line in lines} == {"-"}
    assert len({line.get_marker() for line in lines}) == len(COLORS)
    assert axes.get_legend() is None
    names = {t.get_text(): t for t in axes.texts}
    heights = [names[f"{k} {k}"].xyann[1] for k in range(9)]
    assert heights == sorted(heights), "in the order in which the lines end"


def test_a_logarithmic_axis_over_decades_has_powers_of_ten_whatever_their_size() -> None:
    """Charts of one figure, of a loss and of its gradients, have numbers of one style."""
    for least in (1e-3, 1e-7):
        axis = drawn(series={"a": [1, least]}, logy=True).yaxis
        assert {axis.major.formatter(10.0**k, 0) for k in (-2, 0)} == {"10⁻²", "10⁰"}
    assert drawn(series={"a": [1, 0.2]}, logy=True).yaxis.major.formatter(0.5, 0) == "0.5"


def test_a_name_beside_the_end_of_its_line_needs_no_stroke() -> None:
    """A stroke that goes on level would look like more data."""
    apart, near = (
        [t for t in drawn(series=series).texts if t.get_text()[0] in "ab"]
        for series in ({"a": [1, 2], "b": [2, 1]}, {"a": [1, 2], "b": [2, 2.01]})
    )
    assert [t.arrow_patch for t in apart] == [None, None]
    moved = [t for t in near if t.arrow_patch is not None]
    assert moved
    assert all(abs(t.xy[1] - t.xyann[1]) > 0.01 for t in moved)


@pytest.mark.parametrize(
    ("series", "claim"),
    [
        ({"a": [2.0, 0.5]}, ("a falls from 2 to 0.5", "a 从 2 降到 0.5")),
        ({"a": [0.5, 3.7e-7]}, ("a falls from 0.5 to 3.7 × 10⁻⁷", "a 从 0.5 降到 3.7 × 10⁻⁷")),
        ({"a": [1, 2]}, ("a rises from 1 to 2", "a 从 1 升到 2")),
        ({"a": [1, np.nan]}, ("a ends at nan", "a 最后为 nan")),
        ({"a": [2, 0.9], "b": [2, 0.5]}, ("b ends 44 % lower than a", "b 最后比 a 低 44 %")),
        (
            {"a": [1, 2, 9], "b": [3, 4, 5]},
            (
                "where the horizontal axis reads 2 or more, the curve “b” is lower",
                "从横轴的 2 起， b 那条曲线一直更低",
            ),
        ),
        ({"a": [2, 6], "b": [2, 2]}, ("a ends 3 times as high as b", "a 最后是 b 的 3 倍")),
        ({"a": [2, -1], "b": [2, 2]}, ("a ends lower than b", "a 最后低于 b")),
        ({"a": [2, 1], "b": [2, 1.001]}, ("the 2 curves coincide", "2 条曲线重合")),
        ({"a": [9, 1], "b": [0, 1]}, ("a and b end at the same value", "a 与 b 最后相同")),
        ({"a": [0, 1], "b": [0, 2], "c": [0, 3]}, ("a ends lowest, c highest", "a 最低而 c 最高")),
    ],
)
def test_a_title_says_what_the_numbers_show(
    series: dict[str, list[float]], claim: tuple[str, str]
) -> None:
    made = chart(series=series).title
    assert [half.replace("\xa0", " ") for half in made] == [
        f"Training loss: {claim[0]}",
        f"训练损失：{claim[1]}",
    ]


def test_a_mode_has_its_colour_in_every_chart_and_no_other_line_has_it() -> None:
    series = {"eager": [1, 2], "a": [3, 4], "static": [5, 6], **{str(k): [k, k] for k in range(9)}}
    colors = {line.get_label(): line.get_color() for line in drawn(series=series).get_lines()}
    assert colors.pop("dynamic") == MODES["dynamic"][0]
    assert colors.pop("static") == MODES["static"][0]
    assert not {a for a, _ in MODES.values()} & set(colors.values())


def test_of_lines_that_coincide_each_is_seen() -> None:
    series = {"a": [2.0, 1.0, 0.5], "b": [5, 4, 3], "c": [2.0, 1.0, 0.501]}
    widths = [line.get_linewidth() for line in drawn(series=series).get_lines()]
    assert widths[0] >= widths[2] + 3, "on both sides of the one above it"
    assert widths[1] == widths[2]


def test_equal_curves_are_one_with_all_their_names() -> None:
    same = [2.0, 1.0, 0.5]
    axes = drawn(series={("a", "甲"): same, "b": [5, 4, 3], ("c", "丙"): same})
    assert [line.get_label() for line in axes.get_lines()] == ["a and c", "b"]
    assert "a and c 0.5" in [text.get_text() for text in axes.texts]


def test_a_page_to_read_has_a_chart_for_a_phone_too(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "<source" not in usual()["text/html"]
    monkeypatch.setenv(ROOM, "300000")
    empty = '<svg width="9pt" height="9pt"></svg>'
    monkeypatch.setattr(Chart, "_svgs", lambda _, *asked: [empty] * len(asked))
    assert chart()._repr_mimebundle_()["text/html"].count("<source") == 4


def drawing(shown: Chart, i: int) -> str:
    """The SVG of the image that a page shows in this language."""
    source = Page(shown._shown(phone=False)).all("img")[i]["src"] or ""
    return base64.b64decode(source.partition(",")[2]).decode()


def test_lines_stand_out_on_light_and_on_dark_paper() -> None:
    """At least 3:1, as WCAG 1.4.11 asks for what is no text; 4.5:1 for text."""
    for i, paper in enumerate(theme.TOKENS["paper"]):
        assert min(contrast(pair[i], paper) for pair in (*CURVES, *GRADIENTS, *MODES.values())) > 3
        assert min(contrast(theme.TOKENS[ink][i], paper) for ink in ("ink", "soft")) > 4.5


def test_every_colour_of_a_chart_has_a_dark_half() -> None:
    svg = drawing(chart(series={str(k): [k, k] for k in range(len(COLORS))}), 0)
    drawn = set(re.findall("#[0-9a-f]{6}", re.sub("<style>.*?</style>", "", svg)))
    assert drawn >= {color.lower() for color in COLORS}
    for color in drawn:
        assert f"var(--{color[1:]}, {color})" in svg
        assert not re.search(f"[^ ]{color}|: {color}", svg.replace(f", {color})", ""))
        assert f"--{color[1:]}:#" in svg


# Texts of an image that stick out of it, or that are too small to be read.
UNFIT = """() => { const svg = document.querySelector('svg'), whole = svg.getBoundingClientRect();
    return [...document.querySelectorAll('text')].filter(t => t.textContent.trim()).filter(t => {
        const box = t.getBoundingClientRect(), size = parseFloat(getComputedStyle(t).fontSize);
        return box.left < whole.left || box.right > whole.right || box.top < whole.top
            || box.bottom > whole.bottom || size * svg.getScreenCTM().a < 11; })
        .map(t => t.textContent); }"""


@pytest.mark.browser
def test_texts_fit_in_whatever_font_a_machine_has(page: Any) -> None:
    name = ("the validation of a rather long run", "长时间训练的验证集")
    for i in (0, 1):
        svg = drawing(chart(series={name: [1, 2], "SGD": [2, 1]}), i)
        for family in ("monospace", "serif"):
            page.set_content(svg.replace("Helvetica, Arial", family))
            assert page.evaluate(UNFIT) == []
    svg = drawing(chart(series={name: [1, 2]}), 0)
    page.set_content(svg.replace(" textLength", " data-length").replace("Helvetica", "monospace"))
    found = page.evaluate(UNFIT)
    assert any(text and name[0].startswith(text) for text in found), "it would be noticed"


def test_a_png_has_two_pixels_for_one_of_a_page(tmp_path: Path) -> None:
    untitled = chart(title=("", ""))
    untitled.save(tmp_path / "chart.png")
    untitled.save(tmp_path / "chart.svg")
    with Image.open(tmp_path / "chart.png") as saved:
        for pixels, side in zip(
            saved.size, size_of((tmp_path / "chart.svg").read_text("utf-8")), strict=True
        ):
            assert abs(pixels / 2 - side) <= 2


def test_a_chart_is_as_wide_as_its_page(saved_page: Page) -> None:
    """On a phone, in a notebook and on a wide screen."""
    images = [image for tag in ("source", "img") for image in saved_page.all(tag)]
    widths = [int(image["width"] or 0) for image in images]
    for found, room in zip(widths, [PHONE, WIDE, PHONE, WIDE, SCREEN, SCREEN], strict=True):
        assert room - 8 <= found <= room


def test_on_a_wide_screen_each_of_two_panels_is_a_fifth_as_high_as_wide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Training, "_draw", lambda _: None)  # it is drawn below
    training = train(3)
    for step in training:
        training.log({"layer": [2.0**step]}, loss=2.0**-step)
    (wide, high), (_, usual) = (
        size_of(svg) for svg in training.chart()._svgs((WIDE, 0), (SCREEN, 0))
    )
    assert high > 2 * wide / 5 > usual


def test_an_image_in_a_page_brings_every_letter_of_its_own(saved_page: Page) -> None:
    """Its texts look like those of the page around it, on whatever system."""
    sources = [image["src"] or "" for image in saved_page.all("img")]
    for source in sources + [image["srcset"] or "" for image in saved_page.all("source")]:
        svg = base64.b64decode(source.partition(",")[2]).decode()
        assert "Helvetica" not in svg
        (data,) = re.findall(r"base64,([^)]*)\) format", svg)
        with TTFont(io.BytesIO(base64.b64decode(data))) as font:
            letters = set("".join(re.findall(">([^<>]+)</text>", svg)))
            assert letters <= set(map(chr, font.getBestCmap()))
            assert set("SGD012") <= letters


def test_names_at_the_edge_follow_the_lines_without_overlap() -> None:
    heights = np.array([0.5, 0.51, 0.99, 0.98, -0.2, 0.49])
    sizes = np.array([0.05, 0.1, 0.05, 0.1, 0.05, 0.1])
    placed = spread(heights, sizes)
    assert list(np.argsort(placed)) == list(np.argsort(heights))
    order = np.argsort(placed)
    apart = (sizes[order][1:] + sizes[order][:-1]) / 2
    assert (np.diff(placed[order]) >= apart - 1e-12).all()
    assert placed.max() <= 1


@pytest.mark.parametrize(
    ("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("PDF", b"%PDF")]
)
def test_saving_gives_the_same_file_twice(tmp_path: Path, ending: str, start: bytes) -> None:
    first, second = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    chart().save(first, "zh")
    chart().save(str(second), lang="zh")
    assert first.read_bytes().startswith(start)
    assert first.read_bytes() == second.read_bytes()


UNUSUAL = [[1.0], [1e-9, 1e12], [3.0, 3.0], [1.0, np.nan, np.inf], [np.nan]]


@pytest.mark.parametrize(("values", "logy"), pairs(UNUSUAL, [False, True]))
def test_unusual_values_are_drawn(tmp_path: Path, values: list[float], logy: bool) -> None:
    unusual = chart(series={"a": values}, logy=logy)
    unusual.save(tmp_path / "chart.svg")
    assert not re.search(r"mathdefault|\$", (tmp_path / "chart.svg").read_text("utf-8"))
    assert "nan" in unusual.alt[0] if np.isnan(values[-1]) else "nan" not in unusual.alt[0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"series": {}}, "no series"),
        ({"series": {"a": []}}, r"'a' must be a row of numbers, got shape \(0,\)"),
        ({"series": {"a": [[1.0, 2.0]]}}, r"got shape \(1, 2\)"),
        ({"series": {"a": [1.0, 0.0]}, "logy": True}, "'a' has a value that is not above 0"),
    ],
)
def test_errors_name_the_series_and_the_remedy(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        chart(**changes)


def test_a_wrong_ending_or_language_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"chart\.gif. does not end in one of \.html, \.png"):
        chart().save(tmp_path / "chart.gif")
    with pytest.raises(ValueError, match='"en" or "zh", got \'fr\''):
        chart().save(tmp_path / "chart.png", "fr")
    assert not list(tmp_path.iterdir())
