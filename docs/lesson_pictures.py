"""The pictures that lessons L05 to L15 begin with: drawn from what was run, recorded or measured.

Each function gives the parts of a picture, which stand below each other, a sentence above each.
"""

from __future__ import annotations

import json
import re
import tempfile
import zipfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from html import escape
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np

import minigrad as mg
import minigrad_lessons as lessons
import viz
from minigrad.diagnostics.messages import choose, get_language, set_language
from viz.charts.held import plan_of
from viz.film.film import Film
from viz.film.states import on_cards
from viz.page.payload import card_spaces
from viz.page.scene import LINE, fold_text
from viz.picture.boxes import Picture
from viz.picture.cards import State
from viz.picture.cards import wide as measured
from viz.picture.drawing import alone, render
from viz.picture.theme import NAME, SMALL, TOKENS
from viz.views.draw import diagram_of
from viz.words.text import ROWS

LANGUAGES: tuple[Literal["en", "zh"], ...] = ("en", "zh")
Part = tuple[tuple[str, str], str]  # a sentence in both languages, and the drawing below it
EDGE, ABOVE, BETWEEN = 12, 30, 14  # px
WIDE = 720  # px: a column of text
ARMS = {"then": ("then", "成立时"), "else": ("else", "否则")}  # of a Cond
SAID = 15  # px: letters of a sentence above a drawing, which stands in a text of 17
RULE = "{} {{ .mg-taken {{ stroke: {color}; }} text.mg-taken {{ stroke: none; fill: {color}; }} }}"
MEDIA = "@media all", "@media (prefers-color-scheme: dark)"
# The branch that ran, as `viz.branches` shows it.
TAKEN = "".join(RULE.format(*two, color=two[1]) for two in zip(MEDIA, TOKENS["run"], strict=True))
UNUSED = State(classes=("mg-ghost",))  # an arrow along which no value went
# The name of a frame, in its corner: an arrow may enter at its middle.
CORNER = re.compile(
    r'(mg-frame" x="([\d.]+)"[^>]*><text [^>]*?x=")[^"]+("[^>]*?) text-anchor="middle"'
)
CARD = r'(?s)(<rect class="mg-card" width="([\d.]+)" height="([\d.]+)"[^>]*>)(.*?)</g>'
WIDTHS = [WIDE]  # the last is that of the pictures being made
RATIOS = Path(__file__).parents[1] / "notebooks" / "pictures" / "ratios.json"


def control_flow() -> list[Part]:
    """A Cond with both branches, in frames."""
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        y = mg.cond(x > 0, lambda: 2 * x, lambda: x - 1)
        (film,) = viz.step(mg.build_graph(x, y), {x: 5.0}).films
    said = (
        "Both branches are in the graph. Fed 5, it runs one of them.",
        "两个分支都在图里；馈送 5，只运行其中一个。",
    )
    whole = film.view(film.picture.groups)
    arms = [{n.id for n in whole.nodes if n.group.endswith(arm)} for arm in ARMS]
    # What enters the branches has no arrow to the Cond itself.
    inner = {e.target for e in whole.edges if e.id[0] == "d"} - {*chain(*arms)}
    edges = tuple(e for e in whole.edges if e.target not in inner or e.index < 1)
    return [(said, _drawn(film, replace(whole, edges=edges), idle=arms[1]))]


def shapes() -> list[Part]:
    cell = mg.nn.RNNCell(26, 4, seed=6)

    def read(word: str) -> Any:
        h = None
        for row, letter in zip(lessons.letters([word])[0], word, strict=True):
            h = cell(mg.tensor(row, name=f'"{letter}"'), h)
        return h

    return [((f"“{w}”", f"“{w}”"), _graph(read(w), False, fold=True)) for w in ("up", "sentence")]


def debugging() -> list[Part]:
    x = mg.tensor([0.0, 1.0], name="x", requires_grad=True)
    entropy = mg.sum(x * mg.log(x))
    said = "No line fails, and yet the answer is not a number.", "没有一行报错，答案却不是数。"
    return [(said, _graph(entropy))]


def passes() -> list[Part]:
    with mg.Graph():
        a, b = (mg.placeholder(name, shape=(4,)) for name in "ab")
        graph = mg.build_graph([a, b], (a + b) + mg.tanh(a + b))
    short = graph.optimize()
    return [
        (("As it was written", "写下的样子"), _graph(graph)),
        (("After the passes: the same answers", "经过优化 Pass：答案不变"), _graph(short)),
    ]


def memory() -> list[Part]:
    with mg.Graph():
        x = mg.placeholder("x", shape=(16_000,))
        y = mg.sum(mg.exp(mg.sin(x)) * mg.tanh(mg.cos(x)))
        graph = mg.build_graph(x, y)
    lives = plan_of(graph.compile(optimize=False)).lives
    rows = [(x.name, [(x.start, x.end + 1, "ran", "")]) for x in lives]
    said = "How long each result is needed, step by step", "每个结果要用多久，按步骤看"
    return [(said, _bars(rows))]


def scheduling() -> list[Part]:
    with mg.Graph():
        photo, text = (mg.placeholder(name, shape=(3, 3)) for name in ("photo", "text"))
        graph = mg.build_graph([photo, text], mg.relu(photo @ photo) * mg.exp(mg.tanh(text)))
    tasks = graph.compile(optimize=False).schedule(2, costs=lambda node: 1.0).tasks
    rows = [
        (f"{k + 1}", [(t.start, t.end, "ran", t.node.op.name) for t in tasks if t.device == k])
        for k in range(2)
    ]
    return [
        (("What waits for what", "谁要等谁"), _graph(graph)),
        (("Two devices, second by second", "两个设备，一秒一秒地看"), _bars(rows)),
    ]


def saving() -> list[Part]:
    with mg.Graph(), tempfile.TemporaryDirectory() as folder:
        x = mg.placeholder("x", shape=(None, 784))
        scores = x @ mg.Variable(mg.zeros(784, 10), name="W") + mg.Variable(mg.zeros(10), name="b")
        graph, path = mg.build_graph(x, scores), Path(folder, "model.graph")
        with mg.Session() as session:
            session.run(mg.global_variables_initializer())
            graph.save(path, session)
        with zipfile.ZipFile(path) as file:
            (name,) = (name for name in file.namelist() if name.endswith(".json"))
            document = file.read(name).decode()
    lines = [line.strip() for line in document.splitlines() if '"op"' in line]
    return [
        (("The graph", "图"), _graph(graph)),
        (("The same graph in its file", "文件里的同一张图"), _code(lines)),
    ]


def tracing() -> list[Part]:
    @mg.function
    def score(x: Any) -> Any:
        return mg.tanh(x) * 2 + x

    score(mg.tensor([1.0, 2.0, 2.0]))
    code = ["@mg.function", "def score(x):", "    return mg.tanh(x) * 2 + x"]
    return [
        (("Written as Python", "写成 Python"), _code(code)),
        (("Kept as a static graph", "留下的是静态图"), _graph(score.graph)),
    ]


def measuring() -> list[Part]:
    workload = json.loads(RATIOS.read_text("utf-8"))["rows"][0]
    names = ("minigrad eager", "minigrad c", "PyTorch eager", "torch.compile")
    times = {n: [1000 * t for start in workload["starts"] for t in start[n]] for n in names}
    said = (
        "One training step, timed again and again (milliseconds)",
        "同一个训练步，一遍遍地计时（毫秒）",
    )
    return [(said, _dots(times))]


def choosing() -> list[Part]:
    model = mg.nn.Sequential(
        mg.nn.Linear(256, 16, seed=1), mg.nn.ReLU(), mg.nn.Linear(16, 10, seed=2)
    )
    data = mg.data.digits(size=16)
    pixels, labels = data.x_test[:8].reshape(-1, 256), data.y_test[:8]
    loss = mg.cross_entropy(
        model(mg.tensor(pixels, name="images")), mg.tensor(labels, name="labels")
    )
    with mg.Graph():
        images = mg.placeholder("images", shape=(None, 256))
        known = mg.placeholder("labels", shape=(None,), dtype="int64")
        planned = mg.build_graph([images, known], mg.cross_entropy(model(images), known))
    return [
        (
            ("Dynamic: computed while it is built", "动态：边构建边计算"),
            _graph(loss, False, fold=True),
        ),
        (
            ("Static: planned, and run later", "静态：先规划，之后运行"),
            _graph(planned, False, fold=True),
        ),
    ]


def gpu() -> list[Part]:
    """A dot for each kernel: of a step only the totals were measured, so they are spread evenly."""
    found = lessons.on_gpu()
    (row,) = (row for row in found["widths"] if row["width"] == 128)
    kernels, each = row["kernels"], row["busy"] / row["kernels"]
    eager, captured = (found["step"][way][1] for way in ("eager", "captured"))
    steps = {
        choose(("eager", "即时执行")): (0.0, eager / kernels),
        choose(("captured", "捕获之后")): (captured - row["busy"], each),
    }
    times = {
        name: [(start + gap * (n + 1)) / 1000 for n in range(kernels)]
        for name, (start, gap) in steps.items()
    }
    said = (
        "A training step on an H100: when each of its 28 kernels ends (milliseconds, evenly apart)",
        "H100 上的一个训练步：28 个核函数各在什么时候结束（毫秒，按平均间隔画）",
    )
    return [(said, _dots(times))]


PICTURES: tuple[Callable[[], list[Part]], ...] = (
    *(control_flow, shapes, debugging, passes, memory),
    *(scheduling, saving, tracing, measuring, choosing, gpu),
)


def pictures(width: int = WIDE) -> dict[str, str]:
    """The pictures by the names of their files, in each language, for so many pixels."""
    found, before = {}, get_language()
    WIDTHS.append(width)
    for i, language in enumerate(LANGUAGES):
        set_language(language)
        for make in PICTURES:
            drawn = alone(_below_each_other(make(), i), language, style=TAKEN)
            found[f"{make.__name__}_{language}.svg"] = drawn
    set_language(before)
    WIDTHS.pop()
    return found


# ---- Drawing ------------------------------------------------------------------------------------


def _below_each_other(parts: Sequence[Part], language: int) -> str:
    """The parts as one drawing, their left edges in line; a graph alone is in the middle."""
    inside, low, width = "", 0.0, 0.0
    for said, svg in parts:
        wide, high = (float(n) for n in re.findall(r'(?:width|height)="([\d.]+)"', svg)[:2])
        lines = fold_text(said[language], (WIDTHS[-1] - 2 * EDGE) * NAME / SAID)
        for line in lines:
            look = f'class="mg-name" style="font-size:{SAID}px"'
            inside += f'<text {look} x="{EDGE}" y="{low + 22}">{escape(line)}</text>'
            low += LINE
        low, above = (low - LINE, ABOVE) if said[language] else (low - LINE * len(lines), 0)
        lone = len(parts) == 1 and WIDTHS[-1] == WIDE and 'class="graph"' in svg
        left = (WIDE + 40 - wide) / 2 if lone else 0  # a column of text, and its edges
        inside += svg.replace("<svg ", f'<svg x="{left:g}" y="{low + above}" ', 1)
        low += above + high + BETWEEN
        width = max(width, left + wide, *(measured(line, SAID) + 2 * EDGE for line in lines))
    high = low - BETWEEN + EDGE
    return (
        f'<svg class="mg-svg" width="{width:.0f}" height="{high:.0f}" '
        f'viewBox="0 0 {width:.0f} {high:.0f}">{inside}</svg>'
    )


def _graph(obj: Any, values: bool = True, fold: bool | None = None) -> str:
    """A graph as `viz.draw` shows it, without data that have no name; values: what it holds."""
    diagram = diagram_of(obj, {}, fold)
    named = {n.id for n in diagram.picture.nodes if n.label != "data"}
    return _drawn(diagram.film, diagram.picture.part(named), values)


def _drawn(
    film: Film, picture: Picture, values: bool = True, idle: Collection[str] = frozenset()
) -> str:
    """A graph as it is at the end, without clocks, no wider than a column of text.

    idle: the nodes that did not run; of others without a value nothing is said. On a phone a
    picture of such has low cards.
    """
    low = bool(idle) and WIDTHS[-1] < WIDE
    rooms = card_spaces(film, picture, get_language())
    states = on_cards(film, len(film.frames) - 1, picture)
    for i in rooms:
        rooms[i] = replace(
            rooms[i],
            clock=False,
            gradient=0,
            back=False,
            compact=low,
            value=rooms[i].value + 3 * (low and rooms[i].value > 0),
        )
        states[i] = replace(states[i], clock=(), gradient="", back="")
        if not values:
            rooms[i] = replace(rooms[i], value=0, plan=False, swatch=False)
            states[i] = replace(states[i], value="", swatch="")
    for i in rooms.keys() & idle:
        states[i] = replace(states[i], classes=("mg-born",))
    states |= {e.id: UNUSED for e in picture.edges if idle & {e.source, e.target}}
    svg = render(picture, "a", rooms, states, width=WIDTHS[-1])
    if low:  # on its right as much is free as on its left
        svg = re.sub(CARD, _lowered, svg)
        svg = CORNER.sub(lambda found: f"{found[1]}{float(found[2]) + 8:g}{found[3]}", svg)
        svg = re.sub(r'(?<=viewBox="0 0 )\d+', lambda found: str(int(found[0]) + 8), svg, count=1)
    for none, word in zip(ROWS["card_none"], ROWS["mark_ghost"], strict=True) if idle else ():
        svg = svg.replace(f">{none}<", f">{word}<")
    for arm, words in ARMS.items():
        svg = re.sub(rf">\w+: {arm}</(text|title)>", rf">{choose(words)}</\1>", svg)
    if idle:
        then = re.compile(f"(<title>{choose(ARMS['then'])}</title>.*?)</g>")
        svg = then.sub(lambda found: re.sub('class="', 'class="mg-taken ', found[0]), svg, count=1)
    return svg


def _lowered(found: re.Match[str]) -> str:
    """A card of one line: its sign, and its value or, of an operator, that it did not run."""
    wide, high = (float(n) for n in found.groups()[1:3])
    texts = dict(re.findall('<text class="(mg-sign|mg-value)"[^>]*>([^<]+)', found[4]))
    if "mg-none" in found[4] and not texts["mg-sign"].isalnum():
        texts["mg-none"] = choose(ROWS["mark_ghost"])
    shown = "".join(
        f'<text class="{kind}" x="{EDGE - 3 if kind == "mg-sign" else wide - EDGE + 3:g}" '
        f'y="{high / 2 + 4.5:g}" text-anchor="{"start" if kind == "mg-sign" else "end"}" '
        f'style="font-size:{SMALL - 1 if kind == "mg-none" else NAME}px">{word}</text>'
        for kind, word in texts.items()
    )
    return f"{found[1]}{shown}</g>"


def _svg(width: float, height: float, inside: str) -> str:
    size = f'width="{width:.0f}" height="{height:.0f}"'
    return f'<svg class="mg-svg" {size} viewBox="0 0 {width:.0f} {height:.0f}">{inside}</svg>'


def _named(name: str, y: float, kind: str = "mg-shape") -> str:
    return f'<text class="{kind}" x="{EDGE}" y="{y:g}">{escape(name)}</text>'


def _bars(rows: Sequence[tuple[str, list[tuple[float, float, str, str]]]]) -> str:
    """Rows of bars from one time to another, with a class and what is written in each."""
    left = 2 * EDGE + max(measured(name, SMALL) for name, _ in rows)
    ends = [end for _, bars in rows for _, end, *_ in bars]
    starts = [start for _, bars in rows for start, *_ in bars]
    step = min(90.0, 520 / (max(ends) - min(starts)))
    inside = ""
    for k, (name, bars) in enumerate(rows):
        inside += _named(name, 26 * k + 18)
        for start, end, look, word in bars:
            x, broad = left + step * (start - min(starts)), step * (end - start) - 4
            inside += (
                f'<g class="mg-{look}"><rect class="mg-card" x="{x:g}" y="{26 * k + 3}" '
                f'width="{broad:g}" height="21" rx="5"/></g>'
                f'<text class="mg-shape" x="{x + 8:g}" y="{26 * k + 18}">{escape(word)}</text>'
            )
    return _svg(left + step * (max(ends) - min(starts)) + EDGE, 26 * len(rows) + 4, inside)


def _dots(series: dict[str, list[float]]) -> str:
    """A row of dots for each series, on one scale that begins at 0."""
    left = 2 * EDGE + max(measured(name, SMALL) for name in series)
    most = max(chain.from_iterable(series.values()))
    inside, scale = "", 440 / most
    low = 34 * len(series)
    for k, (name, values) in enumerate(series.items()):
        inside += _named(name, 34 * k + 22)
        inside += "".join(
            f'<g class="mg-ran"><circle class="mg-card" cx="{left + scale * v:.1f}" '
            f'cy="{34 * k + 18}" r="5"/></g>'
            for v in values
        )
    for tick in np.arange(0, most + 0.25, 0.25):
        x = left + scale * float(tick)
        inside += f'<path class="mg-frame" d="M{x:.1f},4V{low}"/>'
        at = f'x="{x:.1f}" y="{low + 16}" text-anchor="middle"'
        inside += f'<text class="mg-shape" {at}>{tick:g}</text>'
    return _svg(left + 480 + 2 * EDGE, low + 22, inside)


def _code(lines: Sequence[str]) -> str:
    """Lines of code or of a file; of long ones their beginning."""
    shown = [line if len(line) <= 76 else f"{line[:75]}…" for line in lines]
    words = "".join(
        f'<text class="mg-shape" x="{EDGE + 14}" y="{22 + 20 * k}" xml:space="preserve" '
        f'style="font-family:ui-monospace,Menlo,Consolas,monospace">{escape(line)}</text>'
        for k, line in enumerate(shown)
    )
    width, height = 7.3 * max(map(len, shown)) + 2 * EDGE + 28, 20 * len(shown) + 16
    size = f'width="{width - 2 * EDGE:g}" height="{height - 4}"'
    paper = f'<rect class="mg-card" x="{EDGE}" y="2" {size} rx="8"/>'
    return _svg(width, height, paper + words)
