"""Every view on three screens, in both languages and themes: whole at rest, and nothing clashes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapes
from covering import covering
from looks import CLASHES, painted
from shapes import Case
from views import CHARTS, PLAYERS, VIEWS, saved

import minigrad as mg
import minigrad_lessons as lessons
import viz
from viz.charts.chart import PHONE
from viz.page.document import write_page
from viz.picture.layout import PINNED

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MOST = 3_100_000  # bytes of all pictures
# What shows nothing of its own: parts of views, choices, what is shown elsewhere.
SHOWN_ELSEWHERE = {
    "agreement": "gives what a table shows",
    "alone": "a box like those of `beside`",
    "as_pass": "gives a pass",
    "attempt": "gives what a table shows",
    "bench": "a table, whose times are of this machine",
    "both": "gives two programs",
    "box": "gives a folder",
    "caught": "prints an error",
    "contents": "a table",
    "count_built": "gives a number",
    "count_lines": "gives a number",
    "count_traces": "gives a number",
    "counts": "gives numbers",
    "course": "looked at in the start page",
    "downhill": "a former name: it only warns",
    "elsewhere": "a box like those of `beside`",
    "engine": "says what `check` says",
    "granularity": "a table, whose times are of Dask",
    "keep": "says what `check` says",
    "language": "its buttons stand on every page",
    "last_line": "a line of text, for a table",
    "letters": "gives arrays",
    "load_changed": "gives a graph",
    "on_gpu": "gives measured figures",
    "over_http": "a line of text",
    "progress": "says what `check` says, in a table",
    "readings": "a chart, whose times are of this machine",
    "reads": "gives what `check` compares",
    "recorded": "gives what is counted",
    "shipped": "a page that computes, opened in test_browser_shipped",
    "show_errors": "shows the board of `error`",
    "solution": "says what `check` says, and code",
    "tensorboard": "writes files for another viewer",
    "trained": "gives numbers",
    "typed": "lets Python's debugger print",
    "warned": "prints lines",
    "won_back": "gives a number, by the clock of this machine",
}


@pytest.fixture(scope="module")
def one(chromium: Browser) -> Iterator[Page]:
    """One page for all; nothing moves on it."""
    context = chromium.new_context(reduced_motion="reduce")
    yield context.new_page()
    context.close()


CASES = [Case(*case) for case in product(shapes.WIDTHS, shapes.LANGUAGES, shapes.THEMES)]


def cases(name: str) -> list[Case]:
    """Two widths, both languages and both themes for a view; their pairs over all views.

    Players have one page in common: each of them is looked at in one case, and in each case one.
    The others are opened in the first of two, every second one in the narrow one, and then resized.
    """
    if name in PLAYERS:
        return [CASES[list(PLAYERS).index(name) * 5 % len(CASES)]]  # no neighbours
    values = [dict(enumerate(map(str, case))) for case in CASES]
    numbers = [{k: sorted({v[k] for v in values}).index(one[k]) for k in one} for one in values]
    chosen = covering(numbers, [f"{name} {case}" for case in CASES], 2)
    return [CASES[i] for i in sorted(chosen, reverse=list(VIEWS).index(name) % 2 == 0)]


Looked = list[tuple[Case, dict[str, Any]]]


@pytest.fixture(scope="module")
def looked(one: Page, request: pytest.FixtureRequest) -> Callable[[str], Looked]:
    """What is seen of a view in its cases, with --all in each: looked at once, for both tests."""
    every = request.config.getoption("--all")

    @cache
    def look(name: str) -> Looked:
        chosen = CASES if every else cases(name)
        return [*shapes.looked_over(one, saved(name), chosen, anew=every)]

    return look


@pytest.mark.browser
@pytest.mark.usefixtures("english")
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_whole_at_rest_and_at_each_step(
    name: str, looked: Callable[[str], Looked]
) -> None:
    """At rest all its cards and values are in view; at no step is anything cut off or small."""
    found = looked(name)
    wrong = [f"{case}: {sentence}" for case, seen in found for sentence in seen["wrong"]]
    assert wrong == []


@pytest.mark.browser
@pytest.mark.usefixtures("english")
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_has_its_shape(name: str, looked: Callable[[str], Looked]) -> None:
    """Its parts and cards lie where they lay: tests/shapes.py makes the references."""
    then = shapes.kept()[name]
    moved = [
        f"{case}: {sentence}"
        for case, seen in looked(name)
        for sentence in shapes.differences(seen["shape"], then[f"{case.width} {case.language}"])
    ]
    assert moved == []


def test_the_cases_of_all_views_cover_their_pairs() -> None:
    seen = {pair for name in VIEWS for case in cases(name) for pair in combinations(case, 2)}
    assert seen == {pair for case in CASES for pair in combinations(case, 2)}
    assert {case for name in PLAYERS for case in cases(name)} == {*CASES}
    for name in VIEWS.keys() - PLAYERS.keys():
        widths, languages, themes = (set(values) for values in zip(*cases(name), strict=True))
        assert (len(widths), len(languages), len(themes)) == (2, 2, 2), name


WRITTEN = """() => [...document.querySelectorAll('.mg-short')].map(short => short.parentNode)
    .filter(g => ['W', 'b'].includes(g.querySelector('.mg-sign').textContent))
    .map(g => [...g.querySelectorAll('.mg-short-cell')].map(text => text.textContent).join(' '))"""


@pytest.mark.browser
@pytest.mark.parametrize(
    ("name", "widths", "count"), [("step matrix", [390], 1), ("compare matrix", [390, 770], 2)]
)
def test_small_cards_write_their_numbers_on_the_cells(
    one: Page, name: str, widths: list[int], count: int
) -> None:
    shapes.opened(one, saved(name), widths[0])
    for width in widths:
        shapes.resized(one, width)
        painted(one)
        assert one.evaluate(WRITTEN) == ["1 -2 3 4 0 0 1 1", "0.5 -1 0 1"] * count, width


@pytest.mark.browser
def test_small_layers_have_their_names_clear_of_cards_and_arrows(one: Page, tmp_path: Path) -> None:
    model = mg.nn.Sequential(mg.nn.Linear(64, 16), mg.nn.ReLU(), mg.nn.Linear(16, 10))
    path = viz.draw(model(mg.ones((10, 64)))).save(tmp_path / "a.html")
    shapes.opened(one, path, 390)
    for width in (390, 770):
        shapes.resized(one, width)
        painted(one)
        names = one.locator(".mg-frame-name").all()
        assert {"linear1", "linear2"} <= {n.text_content() for n in names if n.is_visible()}
        assert one.evaluate(CLASHES) == []


@pytest.mark.browser
def test_a_long_name_is_narrower_on_a_phone_before_it_is_cut(
    one: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PINNED, "1")  # from what width on, depends on the layout
    model = mg.nn.Sequential(mg.nn.Linear(64, 16), mg.nn.ReLU(), mg.nn.Linear(16, 10))
    images = mg.tensor(np.ones((10, 64), np.float32), name="images")
    loss = mg.cross_entropy(model(images), mg.tensor(np.arange(10), name="labels"))
    path, narrower = viz.draw(loss).save(tmp_path / "a.html"), list[bool]()
    for width in (390, 360, 340):
        shapes.opened(one, path, width)
        signs = one.locator(".mg-short-sign").all()
        long = next(sign for sign in signs if sign.text_content() == "SoftmaxCrossEntropy")
        narrower.append(long.get_attribute("lengthAdjust") == "spacingAndGlyphs")
        sides = "e => e.getBoundingClientRect().width"
        around = long.evaluate(f"e => ({sides})(e.closest('.node'))")
        assert long.evaluate(sides) <= around - 4, "its letters do not touch its border"
        assert one.evaluate(CLASHES) == []
    assert any(narrower), narrower


@pytest.mark.browser
def test_an_english_page_has_marks_as_narrow_as_its_letters(one: Page, tmp_path: Path) -> None:
    """The Chinese font has quotation marks that are as wide as a letter of Chinese."""
    both = "".join(
        f'<span lang="{x}" style="display: inline !important; font-size: 100px">“…”</span><br>'
        for x in ("en", "zh")
    )
    shapes.opened(one, write_page(tmp_path / "a.html", ("Marks", "标点"), both), 770)
    wide = "all => all.map(x => x.getBoundingClientRect().width)"
    english, chinese = one.locator("span[style]").evaluate_all(wide)
    assert english < 200
    assert chinese == pytest.approx(300, abs=1)


@pytest.mark.browser
def test_a_line_of_a_chinese_heading_ends_after_a_mark(page: Page) -> None:
    shapes.opened(page, saved("check"), 390)
    page.get_by_role("button", name="中文", exact=True).click()
    ends = page.locator('.mg-ask-question > [lang="zh"]').evaluate(
        """heading => {
          const letters = document.createRange(), text = heading.childNodes[1], ends = [];
          const foot = (i) => {
            letters.setStart(text, i);
            letters.setEnd(text, i + 1);
            return letters.getBoundingClientRect().bottom;
          };
          for (let i = 1; i < text.length; i++)
            if (foot(i) > foot(i - 1) + 9) ends.push(text.data[i - 1]);
          return ends;
        }"""
    )
    assert ends != []
    assert set(ends) <= {*"，。：；？ "}


@pytest.mark.browser
def test_what_was_freed_holds_its_numbers_in_grey(one: Page) -> None:
    shapes.opened(one, saved("live"), 1440)
    looks = {"mg-value": "--mg-soft", "mg-sign": "--mg-soft"}
    for name, token in looks.items():
        assert one.locator(f".mg-freed .{name}").first.evaluate(
            """(e, token) => {
              const probe = document.body.appendChild(document.createElement('i'));
              probe.style.color = `var(${token})`;
              return getComputedStyle(e).fill === getComputedStyle(probe).color;
            }""",
            token,
        )


@pytest.mark.browser
def test_a_phone_shows_which_values_are_kept(one: Page) -> None:
    shapes.opened(one, saved("checkpoints"), 390)
    stars = one.locator(".mg-short-value").all_text_contents()
    assert (stars.count("★"), stars.count("☆")) == (4, 6), "as its caption says"


# What changes of the page of `step` make the walk say. No style of a group brings about what
# another one of it is to bring about.
STYLES: list[dict[str, str]] = [
    {
        '"fit" is cut off': ".mg-tools button { width: 20px; min-width: 0; overflow: hidden; }",
        'lies on "button': ".mg-film .mg-tools button { margin-left: -40px; }",
        "mg-card on": "g.node.mg-kind-operator .mg-card { width: 400px; }",
        "a text of 9.0 px": ".mg-film .mg-staff-head { font-size: 9px; }",
        "the caption is longer": ".mg-film .mg-caption > div { max-height: 9px; }",
        "phases lie on each other": ".mg-phase { min-width: 700px; }",
        "a phase says nothing": ".mg-phase.mg-phase > span { display: none; }",
        "a line of few has no code": ".mg-row-name:not(.mg-here) { display: none; }",
        "marks lie on each other": ".mg-note circle { r: 60px; }",
        "a gradient has no head": ".mg-lane-tip { display: none !important; }",
        "the card x is out of view": ".mg-film .mg-sheet { margin-left: 2000px; }",
        "px high, and the screen has": ".mg-film { min-height: 2000px; }",
        "the control first step / 第一步 is cut off": ".mg-controls button { margin-left: -99px; }",
    },
    {
        "it has no score": ".mg-score { display: none; }",
        ", which the step is about, is out of view": "g.node.mg-now > * { translate: 5000px; }",
        "the page scrolls sideways": "body { width: 1500px; }",
        "its height changes": ".mg-film:has(.mg-phase.mg-lit) { height: 600px; }",
    },
    {
        "a mark is cut off": ".mg-staff-lines > svg { transform: translateY(900px); }",
        "the card x is cut off": ".mg-film .mg-sheet { margin-left: -70px; }",
    },
    {
        "is below the screen": ".mg-film .mg-controls { margin-top: 2000px; }",
    },
]


@pytest.mark.browser
@pytest.mark.usefixtures("english")
def test_the_walk_finds_what_is_wrong(one: Page) -> None:
    path = saved("step")
    quiet = []
    shapes.opened(one, path, shapes.WIDTHS[0])
    for styles in STYLES:
        sheet = one.add_style_tag(content="\n".join(styles.values()))
        told = shapes.walked(one, shapes.WIDTHS[0])["wrong"]
        sheet.evaluate("e => e.remove()")
        missed = [sentence for sentence in styles if not any(sentence in line for line in told)]
        quiet += [(sentence, told) for sentence in missed]
    shapes.opened(one, path, shapes.WIDTHS[0])
    one.evaluate(
        "document.querySelectorAll('.mg-value, .mg-grad').forEach(e => e.textContent = '')"
    )
    said = " ".join(shapes.walked(one, shapes.WIDTHS[0])["wrong"])
    assert "× has run and shows no value" in said
    assert "x shows no gradient" in said
    assert quiet == []


def test_a_change_of_shape_is_told() -> None:
    then = shapes.kept()["step"]["390 en"]
    assert shapes.differences(then, then) == []

    def told(**changed: Any) -> list[str]:
        return shapes.differences(then | changed, then)

    assert told(steps=9) == ["steps: 9 now, 8 as kept"]
    assert told(text=[10, 20]) == [f"sizes of text: [10, 20] now, {then['text']} as kept"]
    (first, *rest), (name, x, y) = then["cards"][0], then["cards"][0][0]
    assert told(cards=[rest])[0].startswith("cards: × 3 + now, x × 3 + as kept")
    moved = [name, x, y + 40]
    assert told(cards=[[moved, *rest]]) == [
        f"the card x is at [{x}, {y + 40}] now, at {first[1:]} as kept"
    ]
    assert told(cards=[]) == ["drawings: 0 now, 1 as kept"]
    assert told(places=then["places"][1:])[0].startswith("parts: mg-head mg-graph")


def test_every_public_view_is_looked_at() -> None:
    public = [(package, name) for package in (viz, lessons) for name in package.__all__]
    functions = {name for package, name in public if inspect.isfunction(getattr(package, name))}
    looked_at = {name.split()[0] for name in VIEWS} - {"live"}  # which is a class
    assert functions == looked_at | SHOWN_ELSEWHERE.keys()


def test_each_view_has_its_picture_and_all_are_small() -> None:
    pictures = {path.name: path.stat().st_size for path in shapes.FOLDER.glob("*.webp")}
    assert pictures.keys() == {shapes.picture_of(name).name for name in VIEWS}
    assert sum(pictures.values()) < MOST
    assert list(shapes.kept()) == list(VIEWS)


def test_claims_have_the_width_of_a_phone_and_short_lines_on_a_screen(page: Page) -> None:
    shown = page.locator(".mg-claims > p:visible")
    places = "all => all.map(e => e.getBoundingClientRect()).map(({ x, width }) => [x, width])"
    shapes.opened(page, saved("claims"), 390)
    assert shown.evaluate_all(places) == [[12, 366]] * 3
    shapes.resized(page, 1440)
    assert all(500 < width < 700 for _, width in shown.evaluate_all(places))


def test_an_image_that_pans_fades_at_the_edge(page: Page) -> None:
    shapes.opened(page, saved("animate"), 680)
    page.locator("#page picture > source").evaluate_all("all => all.forEach(e => e.remove())")
    box = page.locator("#page div[style*=overflow-x]:visible")
    page.wait_for_function("document.querySelector('#page picture img').naturalWidth > 500")
    page.set_viewport_size({"width": 390, "height": 844})
    assert box.evaluate("e => e.scrollWidth > e.clientWidth")
    assert "gradient" in box.evaluate("e => getComputedStyle(e).maskImage")


# The image in view, as soon as it is the one for this screen: whether it plays, or is cut, and how
# large it is.
IMAGE = """() => {
    const image = [...document.images].find(e => e.getClientRects().length);
    const sources = [...image.parentElement.querySelectorAll('source')];
    const due = sources.find(source => matchMedia(source.media).matches)?.srcset ?? image.src;
    if (image.currentSrc !== due || !image.complete) return null;
    const box = image.closest('div[style*=overflow-x]');
    return {
        plays: atob(due.split(',')[1]).includes('mg-for'),
        cut: box.scrollWidth > box.clientWidth,
        size: [image.clientWidth, image.clientHeight],
    };
}"""


def test_an_animation_is_whole_and_stands_still_where_asked_to(page: Page) -> None:
    usual = {"media": "screen", "reduced_motion": "no-preference"}
    shapes.opened(page, saved("animate"), 1440)
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 844})
        for asks in ({"reduced_motion": "reduce"}, {"media": "print"}, {}):
            page.emulate_media(**usual | asks)
            found = page.wait_for_function(IMAGE).json_value()
            assert (found["plays"], found["cut"]) == (not asks, False), (width, asks)
            assert found["size"][0] < width


def test_an_animation_has_its_score_beside_the_graphs_where_there_is_room(page: Page) -> None:
    page.emulate_media(media="screen", reduced_motion="reduce")
    path = saved("animate")
    shapes.opened(page, path, 1440)
    shown = {}
    for wide in (1440, 1000):
        page.set_viewport_size({"width": wide, "height": 900})
        shown[wide] = page.wait_for_function(IMAGE).json_value()["size"]
    (wide, low), (narrow, high) = shown[1440], shown[1000]
    assert wide > 1200 > 700 > narrow
    assert low < 600 < 800 < high
    assert path.stat().st_size < 1_000_000


# Whether all images are those of this screen, hidden ones, too.
ARE_FOR = f"wide => [...document.images].every(e => wide === (e.naturalWidth > {PHONE}))"
SIZES = """() => {
    const box = [...document.querySelectorAll('[tabindex="0"]:has(img)')]
        .find(e => e.getClientRects().length);
    const image = [...document.images].find(e => e.getClientRects().length);
    return [image.naturalWidth, image.clientWidth, box.clientWidth, box.scrollWidth];
}"""


@pytest.mark.cases(3)
@pytest.mark.parametrize("name", CHARTS)
def test_a_phone_has_a_chart_whole(name: str, page: Page) -> None:
    """With its legend, and what its axes say; a screen has the one that is drawn for it."""
    shapes.opened(page, saved(name), 360)  # the narrowest
    for language in shapes.LANGUAGES:
        shapes.speak(page, language)
        page.wait_for_function(ARE_FOR, arg=False)
        wide, shown, room, inside = page.evaluate(SIZES)
        assert inside <= room, language
        assert wide <= shown == room, "none is shrunk"
    page.set_viewport_size({"width": 1024, "height": 900})
    page.wait_for_function(ARE_FOR, arg=True)
