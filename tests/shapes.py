"""How each view of views.py lies on its page: what is wrong there, its shape, and its picture.

To make the references in tests/views/ anew, after a change of look that is meant, and then to look
at the pictures: python tests/shapes.py [NAME…]
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from browser import FLAGS, find_browser
from looks import BRIGHT, CLASHES, FAINT, LOOK, PAINTED, Look, judged, places
from PIL import Image
from views import VIEWS, save

from viz.picture.layout import PINNED

if TYPE_CHECKING:
    from playwright.sync_api import Page

FOLDER = Path(__file__).parent / "views"
SHAPES = FOLDER / "shapes.json"
SCREENS = {1440: 900, 770: 780, 390: 844}  # a page, a cell of JupyterLab, a phone
WIDTHS = tuple(SCREENS)
Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
LANGUAGES = {"en": "English", "zh": "中文"}
SMALLEST = 11  # pixels of a text
NEAR, PART = 24, 0.06  # how far a part may be from where it was: pixels, and of its distance
QUALITY = 28  # of the pictures that are kept, at half their size
ON_THE_WAY = """() => document.querySelectorAll('.mg-steps').forEach(slider => {
    slider.value = Math.round(slider.max * 0.7);
    slider.dispatchEvent(new Event('input'));
})"""
# An image does not hear that the page asks for less motion: it is told so, and shows its end.
AT_REST = """() => Promise.all([...document.images].map(img => {
    const [head, code] = img.src.split(',');
    if (!head.includes('svg')) return;
    const told = atob(code).replaceAll('prefers-reduced-motion: no-preference', 'not all');
    img.src = `${head},${btoa(told)}`;
    return img.decode();
}))"""
BOTTOM = "document.querySelector('main').getBoundingClientRect().bottom + 16"

# Parts whose places are kept.
PARTS = (
    "h1, .mg-head, .mg-graph, .mg-side, .mg-controls, .mg-below > *, .mg-fact, .mg-legend, "
    ".mg-ask, #page figure img, #page > table"
)

WALK = (Path(__file__).parent / "shapes.js").read_text("utf-8")
# By its button: a pointer would have the page painted, and a role computed for each.
SPEAK = f"""word => {{
    const buttons = [...document.querySelectorAll('button')];
    buttons.find(button => button.textContent.trim() === word).click();
    return ({PAINTED})();
}}"""
BODY: Look = ("body", "color", "body", "backgroundColor")
# All that is asked of a page in a case: each question for itself would take as long as a step.
SEEN = f"""async ([word, places, ...given]) => {{
    await ({SPEAK})(word);
    const seen = ({WALK})({CLASHES}, ...given);
    const known = document.querySelector('.mg-player .mg-sign') ? places : places.slice(0, 2);
    return {{ ...seen, faint: ({FAINT})(), bright: ({BRIGHT})(known) }};
}}"""


class Case(NamedTuple):
    """How a view is looked at."""

    width: int
    language: str
    theme: Theme

    def __str__(self) -> str:
        return f"{self.width} px, {LANGUAGES[self.language]}, {self.theme}"


def opened(page: Page, path: Path, width: int, theme: Theme | None = None) -> None:
    """The page at this width, anew: what fits is decided when it opens."""
    page.evaluate("document.documentElement.remove()")  # else it is laid out at the new size first
    resized(page, width, theme)
    page.goto(path.as_uri())


def resized(page: Page, width: int, theme: Theme | None = None) -> None:
    """What is open, on another screen; its next frame is arranged for it."""
    page.emulate_media(**({"color_scheme": theme} if theme else {}))
    page.set_viewport_size({"width": width, "height": SCREENS.get(width, SCREENS[390])})


def speak(page: Page, language: str) -> None:
    page.evaluate(SPEAK, LANGUAGES[language])


def asked(width: int) -> list[Any]:
    """What the walk is given: on each screen other steps."""
    return [PARTS, SMALLEST, WIDTHS.index(width)]


def walked(page: Page, width: int) -> dict[str, Any]:
    """What is wrong with the opened page, and its shape."""
    return page.evaluate(f"given => ({WALK})({CLASHES}, ...given)", asked(width))


def looked_over(
    page: Page, path: Path, cases: Sequence[Case], anew: bool = True
) -> Iterator[tuple[Case, dict[str, Any]]]:
    """In each case what is wrong, and the shape; unless `anew`, it is opened for the first only."""
    for i, case in enumerate(cases):
        if anew or not i:
            opened(page, path, case.width, case.theme)
        else:
            resized(page, case.width, case.theme)
        look = [BODY, *LOOK]
        seen = page.evaluate(SEEN, [LANGUAGES[case.language], places(look), *asked(case.width)])
        wrong = [*seen["wrong"], *(f"hard to read: {words}" for words in seen["faint"])]
        look = look[: len(seen["bright"]) // 2]
        wrong += [
            f"{ink} is of the other theme: {bright:.0f} on {behind:.0f}"
            for ink, bright, behind in judged(look, seen["bright"], case.theme == "dark")
        ]
        yield case, {"wrong": wrong, "shape": seen["shape"]}


# ---- Shapes that were kept --------------------------------------------------------------------


def kept() -> dict[str, dict[str, Any]]:
    return json.loads(SHAPES.read_text("utf-8"))


def differences(now: Mapping[str, Any], then: Mapping[str, Any]) -> list[str]:
    """What is not as it was, as sentences; fonts of another machine are no difference."""
    told = [
        f"{what} {now[key]} now, {then[key]} as kept"
        for key, what in (("steps", "steps:"), ("text", "sizes of text:"))
        if now[key] != then[key]
    ]
    told += _moved("part", now["places"], then["places"])
    if len(now["cards"]) != len(then["cards"]):
        told.append(f"drawings: {len(now['cards'])} now, {len(then['cards'])} as kept")
    for one, other in zip(now["cards"], then["cards"], strict=False):
        told += _moved("card", one, other)
    return told


def _moved(what: str, now: Sequence[Any], then: Sequence[Any]) -> list[str]:
    """The same things in the same order, near where they were."""
    names, known = [x[0] for x in now], [x[0] for x in then]
    if names != known:
        return [f"{what}s: {' '.join(names)} now, {' '.join(known)} as kept"]
    return [
        f"the {what} {a[0]} is at {a[1:]} now, at {b[1:]} as kept"
        for a, b in zip(now, then, strict=True)
        if any(abs(x - y) > NEAR + PART * abs(y) for x, y in zip(a[1:], b[1:], strict=True))
    ]


def write(shapes: Mapping[str, Any]) -> None:
    """One shape a line, so that a change can be read."""
    lines = [
        f"  {json.dumps(name)}: {{\n{_lines(shapes[name])}\n  }}"
        for name in VIEWS
        if name in shapes
    ]
    SHAPES.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def _lines(shape: Mapping[str, Any]) -> str:
    dense = {"ensure_ascii": False, "separators": (",", ":")}
    return ",\n".join(
        f"    {json.dumps(key)}: {json.dumps(one, **dense)}" for key, one in shape.items()
    )


# ---- Pictures ---------------------------------------------------------------------------------


def sheet(page: Page, path: Path) -> bytes:
    """For each width a column: English, then Chinese, each light and dark."""
    columns = [_column(page, path, width) for width in WIDTHS]
    high = max(column.height for column in columns)
    whole = Image.new("RGB", (sum(column.width for column in columns), high), "#888")
    left = 0
    for column in columns:
        whole.paste(column, (left, 0))
        left += column.width
    small = whole.resize((whole.width // 2, whole.height // 2), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    small.save(out, "WEBP", quality=QUALITY, method=6)
    return out.getvalue()


def _column(page: Page, path: Path, width: int) -> Image.Image:
    """One width; narrow ones have light and dark beside each other."""
    abreast = 2 if width < 500 else 1
    opened(page, path, width)
    page.evaluate(AT_REST)
    page.evaluate(ON_THE_WAY)
    shots = []
    for language in LANGUAGES:
        speak(page, language)
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            page.set_viewport_size({"width": width, "height": int(page.evaluate(BOTTOM))})
            shots.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
            page.set_viewport_size({"width": width, "height": SCREENS[width]})
    rows = [shots[i : i + abreast] for i in range(0, len(shots), abreast)]
    whole = Image.new("RGB", (width * abreast, sum(row[0].height for row in rows)))
    top = 0
    for row in rows:
        for i, shot in enumerate(row):
            whole.paste(shot, (width * i, top))
        top += row[0].height
    return whole


def picture_of(name: str) -> Path:
    return FOLDER / f"{name.replace(' ', '_')}.webp"


def main(names: Sequence[str]) -> None:
    from playwright.sync_api import sync_playwright

    os.environ[PINNED] = "1"  # as where the tests look at them
    FOLDER.mkdir(exist_ok=True)
    shapes = kept() if SHAPES.exists() else {}
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        page = browser.new_context(reduced_motion="reduce").new_page()
        for name in names or VIEWS:
            path = save(name, Path(place))
            shapes[name] = {}
            cases = [Case(width, code, "light") for width in WIDTHS for code in LANGUAGES]
            for case, found in looked_over(page, path, cases):
                shapes[name][f"{case.width} {case.language}"] = found["shape"]
                for sentence in found["wrong"]:
                    print(f"{name}, {case}: {sentence}")
            picture_of(name).write_bytes(sheet(page, path))
            print(name, picture_of(name).stat().st_size, flush=True)
        browser.close()
    write(shapes)


if __name__ == "__main__":
    main(sys.argv[1:])
