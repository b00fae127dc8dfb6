"""Colours that can be read, shapes that can be told apart, and a font with every character."""

import re
from pathlib import Path

import pytest
from matplotlib.ft2font import FT2Font

from viz.assets import source
from viz.picture import theme

ROOT = Path(__file__).parents[1]
FOLDERS = ["minigrad", "viz", "notebooks", "docs"]
WRITTEN = {".py", ".md", ".csv", ".ipynb", ".js", ".html", ".toml"}
FONT = FT2Font(str(theme.FONT_PATH))
CHARACTERS = {chr(code) for code in FONT.get_charmap()}
SIGNS = "−×∗·∂∇←→↑↓⇒≤≥≠≈∞√Σ∑●○■□▲▶◀…—「」《》（）【】，。：；？！、"
GREEK = "".join(map(chr, [*range(0x391, 0x3A2), *range(0x3A3, 0x3AA), *range(0x3B1, 0x3CA)]))
SMALL = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿᵀ₀₁₂₃₄₅₆₇₈₉"


@pytest.mark.parametrize("kind", theme.STYLES)
def test_every_label_can_be_read(kind: str) -> None:
    style = theme.STYLES[kind]
    assert style.fill in (*theme.PALETTE, theme.WHITE)
    assert theme.contrast(style.text, style.fill) >= 4.5


@pytest.mark.parametrize("color", theme.PALETTE)
def test_white_is_written_on_blue_and_black_only(color: str) -> None:
    text = theme.Style(color, "box", ("", "")).text
    assert text == (theme.WHITE if color in ("#0072B2", "#000000") else theme.BLACK)
    assert theme.contrast(text, color) >= 4.5


def test_kinds_differ_without_colour() -> None:
    looks = [(style.shape, style.peripheries) for style in theme.STYLES.values()]
    assert len(set(looks)) == len(looks)
    edges = [(edge.line, edge.sign) for edge in theme.EDGES.values()]
    assert len(set(edges)) == len(edges)
    born, ran = (
        re.search(rf"\.mg-{k} [^{{]*{{([^}}]*)}}", source("player.css")) for k in ("born", "ran")
    )
    assert born is not None
    assert "stroke-dasharray" in born[1], "a node that has not run is dashed"
    assert ran is None, "one that has run is drawn as it was laid out: solid"


@pytest.mark.parametrize("kind", theme.EDGES)
def test_every_edge_is_visible_on_white(kind: str) -> None:
    assert theme.contrast(theme.EDGES[kind].color, theme.WHITE) >= 3


def test_the_kinds_that_lessons_describe_in_words() -> None:
    shapes = {kind: (style.shape, style.peripheries) for kind, style in theme.STYLES.items()}
    assert shapes["input"] == ("box", 1)
    assert shapes["parameter"] == ("hexagon", 1)
    assert shapes["operator"] == ("ellipse", 1)
    assert shapes["output"] == ("box", 2)
    gradient, forward = theme.EDGES["gradient"], theme.EDGES["forward"]
    assert (forward.line, gradient.line, gradient.sign) == ("solid", "dashed", "∂")


def test_contrast_of_known_pairs() -> None:
    assert theme.contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert theme.contrast("#FFFFFF", "#000000") == pytest.approx(21)
    assert theme.contrast("#777777", "#777777") == 1
    assert theme.contrast("#767676", "#FFFFFF") == pytest.approx(4.54, abs=0.01)


def test_a_wrong_colour_is_quoted() -> None:
    with pytest.raises(ValueError, match="#RRGGBB, got 'red'"):
        theme.contrast("red", "#FFFFFF")


def test_the_font_is_small_and_named_as_matplotlib_expects() -> None:
    assert theme.FONT_PATH.stat().st_size < 1.3e6
    assert FONT.family_name == theme.FONT_FAMILY


def test_the_font_has_latin_greek_signs_and_common_chinese() -> None:
    latin = "".join(map(chr, [*range(0x20, 0x7F), *range(0xA0, 0x100)]))
    cells = [bytes([row, cell]) for row in range(0xB0, 0xD8) for cell in range(0xA1, 0xFF)]
    common = "".join(cell.decode("gb2312", "ignore") for cell in cells)
    assert len(common) == 3755
    assert not set(latin + GREEK + SIGNS + SMALL + common) - CHARACTERS


def test_the_font_has_the_signs_of_edges_and_marks() -> None:
    signs = {c for look in (*theme.EDGES.values(), *theme.MARKS.values()) for c in look.sign}
    assert len(signs) > len(theme.MARKS) / 2
    assert not signs - CHARACTERS


def test_the_font_has_every_chinese_character_of_the_project() -> None:
    files = [*ROOT.glob("*.*"), *(path for name in FOLDERS for path in (ROOT / name).rglob("*.*"))]
    texts = [path.read_text("utf-8") for path in files if path.suffix in WRITTEN]
    chinese = {c for text in texts for c in text if "\u4e00" <= c <= "\u9fff"}
    assert len(chinese) > 20
    assert not chinese - CHARACTERS, "add them to viz/fonts and make the subset again"
