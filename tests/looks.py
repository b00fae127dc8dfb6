"""What is wrong with what a page shows: clashes, missing glyphs, contrast, findings of axe.

Used by the browser tests of players and of boards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pytest
from test_theme import CHARACTERS

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHINESE_FONT = re.compile(r"CJK| SC|YaHei|PingFang|Hei|Song|Hiragino")  # those of a machine

# Words of the drawing that stand in each other's way, and parts that stick out of their place.
CLASHES = """() => {
    const wrong = [];
    for (const drawing of document.querySelectorAll('.mg-drawing')) {
        if (!drawing.querySelector('svg')?.getClientRects().length) continue;  // hidden, or code
        const svg = drawing.querySelector('svg').getBoundingClientRect();
        const words = [...drawing.querySelectorAll('text:not(.mg-summand)')]  // that one passes by
            .filter(t => t.textContent.trim());
        const boxes = words.map(t => {  // a line of text is taller than its letters
            const { left, right, top, bottom, height } = t.getBoundingClientRect();
            const letters = { left, right, top: top + height / 5, bottom: bottom - height / 5 };
            return [t.textContent, letters, t.closest('g.node')];
        });
        for (const [i, [text, a, node]] of boxes.entries()) {
            if (a.left < svg.left - 1 || a.right > svg.right + 1 || a.top < svg.top - 1
                || a.bottom > svg.bottom + 1) wrong.push(`${text} sticks out`);
            for (const [other, b, home] of boxes.slice(i + 1)) {
                if (node && node === home) continue;  // lines of one label
                const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (across > 2 && down > 2) wrong.push(`${text} on ${other}`);
            }
        }
        for (const g of drawing.querySelectorAll('g.node')) {
            const outline = g.querySelector('ellipse, polygon, path').getBoundingClientRect();
            for (const t of g.querySelectorAll('text')) {
                const inner = t.getBoundingClientRect();
                if (inner.left < outline.left - 2 || inner.right > outline.right + 2)
                    wrong.push(`${t.textContent} is wider than its box`);
            }
        }
    }
    for (const root of document.querySelectorAll('.mg-player')) {
        const around = root.getBoundingClientRect();
        for (const part of root.children) {
            const box = part.getBoundingClientRect();
            if (box.width && (box.left < around.left || box.right > around.right + 1))
                wrong.push(`${part.className} sticks out`);
        }
    }
    return wrong;
}"""

# Words in drawings that are hard to read: contrast with what they stand on less than 4.5 to 1.
FAINT = """() => {
    const color = text => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
        return { rgb: [r, g, b], a }; };
    const over = (above, a, below) => above.map((v, i) => v * a + below[i] * (1 - a));
    const light = rgb => rgb.map(v => v / 255)
        .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0.05);
    const wrong = new Set();
    for (const t of document.querySelectorAll('.mg-drawing text')) {
        if (!t.textContent.trim() || !t.getClientRects().length) continue;
        const figure = getComputedStyle(t.closest('.mg-graph'));
        const paper = color(figure.backgroundColor).rgb;
        const fill = [...(t.closest('g.node')?.querySelectorAll('ellipse, polygon, path') ?? [])]
            .map(e => getComputedStyle(e)).find(style => style.fill !== 'none');
        const ground = fill ? over(color(fill.fill).rgb, Number(fill.fillOpacity), paper) : paper;
        const style = getComputedStyle(t);
        const ink = over(color(style.fill).rgb, style.fillOpacity * style.opacity, ground);
        const [a, b] = [light(ink), light(ground)];
        const ratio = Math.max(a, b) / Math.min(a, b);
        if (ratio < 4.5) wrong.add(`${t.textContent}: ${ratio.toFixed(2)}`);
    }
    return [...wrong];
}"""

LOOK = [
    (".mg-player", "color", ".mg-player", "backgroundColor"),
    (".mg-drawing g.edge:not(.mg-flow) path", "stroke", ".mg-graph", "backgroundColor"),
    (".mg-player button", "color", ".mg-player button", "backgroundColor"),
]


def step_to_end(page: Page) -> Iterator[int]:
    """Each step of the player in turn, from the first."""
    page.locator(".mg-player").focus()
    page.keyboard.press("Home")
    last = int(page.locator(".mg-controls input").get_attribute("max"))
    yield 0
    for i in range(1, last + 1):
        page.keyboard.press("ArrowRight")
        yield i


def violations(page: Page) -> list[tuple[str, str, str]]:
    """What axe-core finds in all players and boards, with everything open."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="install axe")
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    whole = page.locator("body[data-mg-page]").count()  # elsewhere the rest is not ours
    found = axe.Axe().run(page, None if whole else ".mg-player").response
    assert found["passes"], "it looked at something"
    return [(v["id"], v["impact"], v["nodes"][0]["html"]) for v in found["violations"]]


def serious(page: Page) -> list[tuple[str, str, str]]:
    """What axe-core calls serious or critical."""
    return [line for line in violations(page) if line[1] in ("serious", "critical")]


def missing(seen: Iterable[str]) -> set[str]:
    """Characters that the font which comes along has no glyph for."""
    return {c for c in seen if c > "~" and c not in CHARACTERS} - set("\u2007\xa0")


def boxed(page: Page, selector: str) -> set[str]:
    """Chinese texts that the browser writes with a font that cannot: the reader sees boxes."""
    client = page.context.new_cdp_session(page)
    for domain in ("DOM", "CSS"):
        client.send(f"{domain}.enable")
    root = client.send("DOM.getDocument")["root"]["nodeId"]
    found = client.send("DOM.querySelectorAll", {"nodeId": root, "selector": selector})["nodeIds"]
    wrong = set()
    for node in found:
        html = client.send("DOM.getOuterHTML", {"nodeId": node})["outerHTML"]
        text = re.sub(r"<[^>]*>", "", html)
        fonts = client.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
        able = [f for f in fonts if f["isCustomFont"] or CHINESE_FONT.search(f["familyName"])]
        if fonts and not able and re.search("[\u4e00-\u9fff]", text):
            wrong.add(text)
    return wrong


def luminance(page: Page, selector: str, style: str) -> float:
    """How bright a colour on the page is, from 0 to 255."""
    color = page.locator(selector).first.evaluate(f"e => getComputedStyle(e).{style}")
    red, green, blue = (float(x) for x in re.findall(r"[\d.]+", color)[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def unlike(page: Page, ink_is_bright: bool) -> list[tuple[str, float, float]]:
    """Where ink is not bright on dark, or dark on bright, as it should be."""
    wrong = []
    for ink, style, paper, background in LOOK:
        bright, behind = luminance(page, ink, style), luminance(page, paper, background)
        if (bright > behind) is not ink_is_bright or abs(bright - behind) <= 150:
            wrong.append((ink, bright, behind))
    return wrong
