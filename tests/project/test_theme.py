"""Colours that can be read, shapes that can be told apart, and a font with every character."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looks import CHARACTERS, contrast
from matplotlib.ft2font import FT2Font

from viz.picture import look, theme

ROOT = Path(__file__).parents[2]
FOLDERS = ["minigrad", "minigrad_lessons", "viz", "notebooks", "docs"]
WRITTEN = {".py", ".md", ".csv", ".ipynb", ".js", ".html", ".toml"}
FONT = FT2Font(str(theme.FONT_PATH))
SIGNS = "−×∗·∂∇←→↑↓⇒≤≥≠≈∞√Σ∑●○■□▲▶◀…—「」《》（）【】，。：；？！、"
GREEK = "".join(map(chr, [*range(0x391, 0x3A2), *range(0x3A3, 0x3AA), *range(0x3B1, 0x3CA)]))
SMALL = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿᵀ₀₁₂₃₄₅₆₇₈₉"


TEXTS = ("ink", "soft", "built", "run", "grad", "now", "bad")
FILLS = {"paper": TEXTS[:-2], "card": TEXTS[:-2], "ran": ("ink", "soft", "grad", "run")}


@pytest.mark.parametrize("dark", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("fill", FILLS)
def test_words_can_be_read_on_every_fill(fill: str, dark: int) -> None:
    for token in FILLS[fill]:
        pair = theme.TOKENS[token][dark], theme.TOKENS[fill][dark]
        assert contrast(*pair) >= 4.5, token


@pytest.mark.parametrize("dark", [0, 1], ids=["light", "dark"])
def test_lines_can_be_seen_on_paper(dark: int) -> None:
    for token in ("line", "soft", "built", "run", "grad", "now", "bad"):
        assert contrast(theme.TOKENS[token][dark], theme.TOKENS["paper"][dark]) >= 3, token
    assert contrast(theme.TOKENS["bad"][dark], theme.TOKENS["spoilt"][dark]) >= 4.5
    assert contrast(theme.TOKENS["ink"][dark], theme.TOKENS["lit"][dark]) >= 4.5


# How colours look to those who lack one kind of cone: G. Machado, M. Oliveira, L. Fernandes, A
# Physiologically-based Model for Simulation of Color Vision Deficiency, 2009; in linear light.
EYES = {
    "protan": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "deutan": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "tritan": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}


@pytest.mark.parametrize("dark", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("eye", EYES)
def test_above_and_below_zero_differ_to_every_eye(eye: str, dark: int) -> None:
    def seen(token: str) -> np.ndarray[Any, Any]:
        sent = np.array([*bytes.fromhex(theme.TOKENS[token][dark][1:])]) / 255
        return np.clip(EYES[eye] @ sent**2.2, 0, 1) ** (1 / 2.2)

    for token in ("run", "grad"):
        assert np.linalg.norm(seen(token) - seen("below")) > 0.25, token


def test_kinds_differ_without_colour() -> None:
    assert len({kind.mark for kind in theme.KINDS.values()}) == len(theme.KINDS)
    assert len({*theme.EDGES.values()}) == len(theme.EDGES)
    assert not {kind.mark for kind in theme.KINDS.values()} - CHARACTERS


def test_words_are_neither_small_nor_large() -> None:
    sizes = [rule[2]["font-size"] for rule in look.RULES if "font-size" in rule[2]]
    assert len(sizes) > 8
    assert all(12 <= float(size[:-2]) <= 16 for size in sizes)


def test_dots_are_seen() -> None:
    """A dot is a dash without length: only its round ends are drawn."""
    dotted = [
        rule for rule in look.RULES if rule[2].get("stroke-dasharray") == theme.DASHES["dotted"]
    ]
    assert {"mg-gone", "mg-absent", "mg-freed"} <= {group for group, _, _ in dotted}
    assert all(rule[2].get("stroke-linecap") == "round" for rule in dotted)


def test_contrast_of_known_pairs() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#FFFFFF", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#777777") == 1
    assert contrast("#767676", "#FFFFFF") == pytest.approx(4.54, abs=0.01)


def test_a_wrong_colour_is_quoted() -> None:
    with pytest.raises(ValueError, match="#RRGGBB, got 'red'"):
        contrast("red", "#FFFFFF")


def test_the_font_is_small_and_named_as_matplotlib_expects() -> None:
    assert theme.FONT_PATH.stat().st_size < 1.3e6
    assert FONT.family_name == theme.FONT_FAMILY


def test_the_font_has_latin_greek_signs_and_common_chinese() -> None:
    latin = "".join(map(chr, [*range(0x20, 0x7F), *range(0xA0, 0x100)]))
    cells = [bytes([row, cell]) for row in range(0xB0, 0xD8) for cell in range(0xA1, 0xFF)]
    common = "".join(cell.decode("gb2312", "ignore") for cell in cells)
    assert len(common) == 3755
    assert not set(latin + GREEK + SIGNS + SMALL + common) - CHARACTERS


def test_the_font_has_the_signs_of_marks() -> None:
    signs = {c for look in theme.MARKS.values() for c in look.sign}
    assert len(signs) > len(theme.MARKS) / 2
    assert not signs - CHARACTERS


def test_the_font_has_every_chinese_character_of_the_project() -> None:
    files = [*ROOT.glob("*.*"), *(path for name in FOLDERS for path in (ROOT / name).rglob("*.*"))]
    texts = [path.read_text("utf-8") for path in files if path.suffix in WRITTEN]
    chinese = {c for text in texts for c in text if "\u4e00" <= c <= "\u9fff"}
    assert len(chinese) > 20
    assert not chinese - CHARACTERS, "add them to viz/fonts and make the subset again"
