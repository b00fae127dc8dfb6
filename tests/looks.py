"""What is wrong with what a page shows: clashes, missing glyphs, contrast, findings of axe.

Used by the browser tests of players and of boards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from matplotlib.ft2font import FT2Font

from viz.picture import theme

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHARACTERS = {chr(code) for code in FT2Font(str(theme.FONT_PATH)).get_charmap()}  # of our font
CHINESE_FONT = re.compile(r"CJK| SC|YaHei|PingFang|Hei|Song|Hiragino")  # those of a machine

# Words, cards and chips that stand in each other's way, and parts that stick out of their place.
CLASHES = """() => {
    const wrong = [];
    const seen = e => e.getClientRects().length && getComputedStyle(e).visibility === 'visible'
        && Number(getComputedStyle(e).opacity) > 0;
    const apart = (a, b, by) => Math.min(a.right, b.right) - Math.max(a.left, b.left) <= by
        || Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) <= by;
    const within = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1
        && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
    for (const drawing of document.querySelectorAll('.mg-drawing')) {
        if (!drawing.querySelector('svg')?.getClientRects().length) continue;  // hidden, or code
        const svg = drawing.querySelector('svg').getBoundingClientRect();
        const words = [...drawing.querySelectorAll('svg text')]
            .filter(t => t.textContent.trim() && seen(t));
        const boxes = words.map(t => {  // a line of text is taller than its letters
            const { left, right, top, bottom, height } = t.getBoundingClientRect();
            return { left, right, top: top + height / 5, bottom: bottom - height / 5 };
        });
        for (const [i, t] of words.entries()) {
            const card = t.closest('g.node')?.querySelector('.mg-card');
            if (!within(boxes[i], card ? card.getBoundingClientRect() : svg))
                wrong.push(`${t.textContent} sticks out`);
            for (const [j, other] of words.entries())
                if (j > i && !apart(boxes[i], boxes[j], 2))
                    wrong.push(`${t.textContent} on ${other.textContent}`);
        }
        const cards = [...drawing.querySelectorAll('.mg-card')].filter(seen);
        const chips = [...drawing.querySelectorAll('.mg-chip:not(.mg-travels)')];
        const things = [...cards, ...chips].map(e => [e, e.getBoundingClientRect()]);
        for (const [i, [a, place]] of things.entries())
            for (const [b, other] of things.slice(i + 1))
                if (!apart(place, other, 2))
                    wrong.push(`${a.className.baseVal ?? a.textContent} on ${b.textContent}`);
    }
    for (const root of document.querySelectorAll('.mg-player')) {
        const around = root.getBoundingClientRect();
        for (const part of root.querySelectorAll(':scope > *, .mg-screen > *, .mg-side > *')) {
            const box = part.getBoundingClientRect();
            if (box.width && !within(box, around)) wrong.push(`${part.className} sticks out`);
            if (part.matches('.mg-side > *') && part.scrollWidth > part.clientWidth + 1)
                wrong.push(`${part.className} is too narrow`);
        }
    }
    return wrong;
}"""

# Words in drawings that are hard to read: contrast with what they stand on less than 4.5 to 1.
FAINT = """() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const known = new Map();
    const color = text => {  // any colour that the browser knows, as numbers
        if (!known.has(text)) known.set(text, numbers(text));
        return known.get(text);
    };
    const numbers = text => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = text;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
        return { rgb: [r, g, b], a: a / 255 };
    };
    const behind = box => {  // what a box without a ground of its own stands on
        const ground = color(getComputedStyle(box).backgroundColor);
        return ground.a || !box.parentElement ? ground : behind(box.parentElement);
    };
    const over = (above, a, below) => above.map((v, i) => v * a + below[i] * (1 - a));
    const light = rgb => rgb.map(v => v / 255)
        .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0.05);
    const wrong = new Set();
    for (const t of document.querySelectorAll('.mg-drawing text')) {
        const style = getComputedStyle(t);
        if (!t.textContent.trim() || !t.getClientRects().length) continue;
        if (style.visibility !== 'visible' || style.opacity === '0') continue;
        const paper = behind(t.closest('.mg-graph')).rgb;
        const card = t.closest('g.node')?.querySelector('.mg-card');
        const fill = card && getComputedStyle(card).fill;
        const on = card && fill !== 'none' ? color(fill) : { rgb: paper, a: 1 };
        const ground = over(on.rgb, on.a, paper);
        const ink = over(color(style.fill).rgb, style.fillOpacity * style.opacity, ground);
        const [a, b] = [light(ink), light(ground)];
        const ratio = Math.max(a, b) / Math.min(a, b);
        if (ratio < 4.5) wrong.add(`${t.textContent}: ${ratio.toFixed(2)}`);
    }
    return [...wrong];
}"""

Look = tuple[str, str, str, str]  # a colour of an ink, and one of its paper
LOOK: list[Look] = [
    (".mg-player", "color", ".mg-player", "backgroundColor"),
    (".mg-drawing :not(.mg-absent) > .mg-sign", "fill", ".mg-player", "backgroundColor"),
    (".mg-player button", "color", ".mg-player button", "backgroundColor"),
]


def speak(page: Page, language: str) -> None:
    """Show the words of a saved page in this language: "en", "zh" or "both".

    They may need another line. The page arranges itself anew within its next frame, and whatever is
    measured before that was never seen.
    """
    page.evaluate(
        f"code => {{ document.body.dataset.mgLanguage = code; return ({PAINTED})(); }}", language
    )


PAINTED = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"


def painted(page: Page) -> None:
    """Wait for a frame: by then the page has heard of each new size."""
    page.evaluate(PAINTED)


def settle(page: Page) -> None:
    """Everything that moves has come to its end."""
    page.evaluate(
        """() => Promise.all(document.getAnimations().map(move => {
            move.finish();
            return move.finished;
        }))"""
    )


# Each step in turn from the first, by key, when what moves has arrived. All of them are one task of
# the browser, which has to paint none.
STEPPED = """async look => {
    const [player, slider] = ['.mg-player', '.mg-steps'].map(part => document.querySelector(part));
    const press = async key => {
        player.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
        await Promise.all(document.getAnimations().map(move => (move.finish(), move.finished)));
    };
    await press('Home');
    const found = [await look()];
    for (let step = 1; step <= Number(slider.max); step++) {
        await press('ArrowRight');
        if (Number(slider.value) !== step) throw new Error(`${slider.value} is not step ${step}`);
        found.push(await look());
    }
    return found;
}"""


def at_each_step(page: Page, look: str) -> list[Any]:
    """What a look, a function of the page, finds at each step of its player."""
    return page.evaluate(f"() => ({STEPPED})({look})")


def wrong_at_steps(page: Page, look: str) -> dict[int, Any]:
    """The steps at which such a look finds something."""
    return {step: found for step, found in enumerate(at_each_step(page, look)) if found}


def step_to_end(page: Page) -> Iterator[int]:
    """Each step of the player in turn, from the first, when what moves has arrived."""
    page.locator(".mg-player").focus()
    page.keyboard.press("Home")
    settle(page)
    last = int(page.locator(".mg-steps").get_attribute("max"))
    yield 0
    for i in range(1, last + 1):
        page.keyboard.press("ArrowRight")
        settle(page)
        yield i


def violations(page: Page, *rules: str) -> list[tuple[str, str, str]]:
    """What axe-core finds in all players and boards, with everything open; by these rules alone,
    where any are named.
    """
    axe = pytest.importorskip("axe_playwright_python.base", reason="install axe")
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    whole = page.locator("body[data-mg-page]").count()  # elsewhere the rest is not ours
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe.AXE_SCRIPT)
    passes, found = page.evaluate(AXE, [None if whole else ".mg-player", [*rules]])
    assert passes, "it looked at something"
    return [(rule, impact, html) for rule, impact, html in found]


# All that it found elsewhere would take as long to send as to find.
AXE = """([within, rules]) => {
    const options = { resultTypes: ['violations'], ...(rules.length && { runOnly: rules }) };
    return axe.run(within ?? document, options).then(({ passes, violations }) =>
        [passes.length, violations.map(v => [v.id, v.impact, v.nodes[0].html])]);
}"""


def serious(page: Page, *rules: str) -> list[tuple[str, str, str]]:
    """What axe-core calls serious or critical."""
    return [line for line in violations(page, *rules) if line[1] in ("serious", "critical")]


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


# How bright colours of the page are, from 0 to 255: of the first element that a selector names.
BRIGHT = """places => places.map(([selector, style]) => {
    const color = getComputedStyle(document.querySelector(selector))[style];
    const [red, green, blue] = color.match(/[\\d.]+/g).map(Number);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
})"""


def luminance(page: Page, selector: str, style: str) -> float:
    """How bright a colour on the page is, from 0 to 255."""
    (bright,) = page.evaluate(BRIGHT, [[selector, style]])
    return bright


def unlike(page: Page, ink_is_bright: bool) -> list[tuple[str, float, float]]:
    """Where ink is not bright on dark, or dark on bright, as it should be."""
    return judged(LOOK, page.evaluate(BRIGHT, places(LOOK)), ink_is_bright)


def places(look: Sequence[Look]) -> list[tuple[str, str]]:
    """What `BRIGHT` is to be asked."""
    return [place for ink, style, paper, back in look for place in ((ink, style), (paper, back))]


def judged(
    look: Sequence[Look], found: Sequence[float], ink_is_bright: bool
) -> list[tuple[str, float, float]]:
    return [
        (ink, bright, behind)
        for (ink, *_), bright, behind in zip(look, found[::2], found[1::2], strict=True)
        if (bright > behind) is not ink_is_bright or abs(bright - behind) <= 150
    ]


def contrast(a: str, b: str) -> float:
    """Return the contrast ratio of two colours ``#RRGGBB``, from 1 (equal) to 21.

    Text needs at least 4.5, lines and shapes 3. Source: WCAG 2.2, success criteria 1.4.3, 1.4.11.
    """
    dark, light = sorted([_luminance(a), _luminance(b)])
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: str) -> float:
    """Return the relative luminance of a colour, from 0 (black) to 1 (white)."""
    if len(color) != 7 or color[0] != "#":
        raise ValueError(f"contrast: a colour is written #RRGGBB, got {color!r}")
    channels = [value / 255 for value in bytes.fromhex(color[1:])]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
