"""The picture that the tour begins with: one network reads three digits, as a graph of either kind.

All that is drawn was recorded: the images, what each layer gave, how often operators were built and
run. It plays once and rests at its end.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import digit
import numpy as np
from both_ways import WORDS as BOTH_WAYS
from both_ways import _rect, _when, _words, finished
from numpy.typing import NDArray
from train import stored

import minigrad as mg

STYLE = Path(__file__).with_name("both_ways.css")
OWN = Path(__file__).with_suffix(".css")
DIGITS = (3, 5, 8)
FIRST, PACE = 0.8, 1.5  # before the first column, and of a column, in seconds
SIDE, HEAD = 12, 44  # px
LEVELS = 4  # steps of strength, as in the style
NAMES = ("image", "linear1", "ReLU", "linear2", "softmax")
WORDS: Mapping[str, tuple[str, str]] = {
    **BOTH_WAYS,
    "image": ("image", "图像"),
    "thrown": ("{} graphs of {} operators, each thrown away", "{} 张图，各 {} 个算子，用完就扔"),
    "kept": (
        "{} graph of {} operators in {} layers, kept",
        "{} 张图，{} 个算子分成 {} 层，一直保留",
    ),
    "equal": ("✓ every number equal both ways, bit for bit", "✓ 两种方式的每个数逐位相同"),
    "alt": (
        "One network reads the digits 3, 5 and 8. The dynamic graph is built and run for each "
        "image and thrown away. The static graph is built once and run three times.",
        "同一个网络识别数字 3、5、8。动态图为每张图像构建并运行一次，用完就扔；"
        "静态图只构建一次，运行三次。",
    ),
}


class Recording(NamedTuple):
    """What a graph of one kind gave for each image, layer by layer; and what it took."""

    kind: str
    layers: Sequence[Sequence[NDArray[Any]]]
    built: int
    ran: int


@cache
def images() -> NDArray[np.float32]:
    """The images as rows of 256 numbers, from 0 (paper) to 1 (ink)."""
    packed = digit.samples()
    rows = [np.frombuffer(base64.b64decode(packed[d]), np.uint8) for d in DIGITS]
    return np.array(rows, np.float32) / 255


def layers(x: Any, parameters: Mapping[str, Any]) -> list[Any]:
    """What the layers of the network give for an image, from the first to the probabilities."""
    w1, b1, w2, b2 = parameters.values()
    first = x @ w1 + b1
    active = mg.relu(first)
    scores = active @ w2 + b2
    return [first, active, scores, mg.softmax(scores, axis=1)]


def recorded() -> tuple[list[Recording], bool]:
    """Both graphs, and whether all their numbers have the same bits."""
    rows, values = images(), stored()["mlp"]
    with mg.record() as log:
        dynamic = [
            [y.numpy() for y in layers(mg.tensor(row[None], requires_grad=True), tensors(values))]
            for row in rows
        ]
    with mg.Graph(), mg.Session() as session, mg.record() as told:
        x = mg.placeholder("x", shape=(1, 256))
        given = {name: mg.Variable(value, name=name) for name, value in values.items()}
        nodes = layers(x, given)
        session.run(mg.global_variables_initializer())
        static = [session.run(nodes, {x: row[None]}) for row in rows]
    both = [
        np.concatenate([y.ravel() for one in found for y in one]) for found in (dynamic, static)
    ]
    counts = ([repr(each).count(f"{kind} ") for kind in ("built", "run")] for each in (log, told))
    kinds = zip(("dynamic", "static"), (dynamic, static), counts, strict=True)
    made = [Recording(kind, found, *count) for kind, found, count in kinds]
    return made, both[0].tobytes() == both[1].tobytes()


def tensors(values: Mapping[str, NDArray[np.float32]]) -> dict[str, Any]:
    return {name: mg.tensor(value) for name, value in values.items()}


class Drawn:
    """The picture in one language, for so many pixels."""

    def __init__(self, made: Sequence[Recording], equal: bool, language: str, width: int) -> None:
        self.made, self.equal, self.width = made, equal, width
        self.spoken = 1 if language == "zh" else 0
        self.phone = width < 500
        self.gap = 10 if self.phone else 34
        self.pad = 4 if self.phone else 7  # within a card
        self.wide = (width - 2 * SIDE - 8 - (len(NAMES) - 1) * self.gap) / len(NAMES)
        self.high = 74 if self.phone else 98  # of a card
        self.columns = len(DIGITS) + 1
        self.column = (width - 2 * SIDE) / self.columns
        self.box = 62 if self.phone else 68  # the height of a phase
        self.lane = HEAD + 10 + self.high + 34 + self.box + 16

    def say(self, key: str, *about: object) -> str:
        return escape(WORDS.get(key, (key, key))[self.spoken].format(*about))

    def at(self, column: float) -> float:
        return FIRST + PACE * column

    def svg(self) -> str:
        lanes = [
            f'<g transform="translate(0 {i * (self.lane + 1)})">{self.of(made)}</g>'
            f'<path class="hair" d="M0 {(i + 1) * (self.lane + 1):g}H{self.width}"/>'
            for i, made in enumerate(self.made)
        ]
        end = 2 * (self.lane + 1) + 24
        whole = end + 14
        equal = _when(_words("b run", SIDE, end, self.say("equal")), self.at(self.columns))
        size = f'width="{self.width}" height="{whole:g}" viewBox="0 0 {self.width} {whole:g}"'
        return (
            f'<svg class="digits" {size} role="img"><title>{self.say("alt")}</title>'
            f"{''.join(lanes)}{equal if self.equal else ''}</svg>"
        )

    def of(self, made: Recording) -> str:
        """Draw one kind of graph: its name and what it took, its cards, and below what is done."""
        dynamic = made.kind == "dynamic"
        name = f'<tspan class="b name">{self.say(made.kind)}</tspan>'
        if not self.phone:
            name += f'<tspan class="soft" dx="10">{self.say(f"{made.kind}_as")}</tspan>'
        keys = ("built_short", "ran_short") if self.phone else ("built", "ran")
        told = " · ".join(
            f'<tspan class="b {look} large">{number}</tspan><tspan dx="4">{self.say(key)}</tspan>'
            for key, look, number in zip(
                keys, ("built", "run"), (made.built, made.ran), strict=True
            )
        )
        found = [_words("", SIDE, 29, name)]
        found.append(_when(_words("soft", self.width - SIDE, 29, told, "end"), self.at(4)))
        count = len(DIGITS)
        if dynamic:
            found += [self.cards(None, "ghost", k) for k in range(count - 1, 0, -1)]
        else:
            found.append(_when(self.cards(None, "plan"), self.at(0), self.at(1)))
        for k, values in enumerate(made.layers):
            start = k if dynamic else k + 1
            last = k == count - 1
            until = None if last and not dynamic else self.at(start + 1)
            found.append(_when(self.cards((k, values), "ran"), self.at(start), until))
            if last and dynamic:
                gone = f'<g class="gone">{self.cards((k, values), "ran gone")}</g>'
                found.append(_when(gone, self.at(start + 1)))
        graph = made.built // count if dynamic else made.built, len(NAMES) - 1
        kept = self.say(*(("thrown", count) if dynamic else ("kept", 1)), *graph)
        low = HEAD + 10 + self.high + 24
        found.append(_when(_words("b", SIDE, low, kept), self.at(self.columns)))
        return "".join([*found, *self.phases(made)])

    def cards(self, made: tuple[int, Sequence[Any]] | None, look: str, back: int = 0) -> str:
        """The cards of the layers: what each gave for an image, or the place for it."""
        y, found = HEAD + 10, ""
        for i, name in enumerate(NAMES):
            x = SIDE + i * (self.wide + self.gap)
            outline = look if i or look in ("plan", "ghost") else look.replace("ran", "given")
            box = (x + 3 * back, y - 5 * back, self.wide, self.high)
            found += _rect(f"card {outline}" if look != "ghost" else "ghost", *box)
            if look == "ghost":
                continue
            if i:
                left = x - self.gap
                way = f"M{left + 1:g} {y + self.high / 2:g}H{x - 6:g}"
                head = f"M{x - 7:g} {y + self.high / 2 - 4:g}l6 4l-6 4z"
                found += (
                    f'<path class="arrow {look}" d="{way}"/><path class="tip {look}" d="{head}"/>'
                )
            found += _words("b small", x + self.pad, y + 17, self.say(name))
            if made:
                k, values = made
                place = (x + self.pad, y + 24, self.wide - 2 * self.pad, self.high - 30)
                found += self.inside(i, images()[k] if not i else values[i - 1].ravel(), *place)
        return found

    def inside(self, i: int, values: Any, x: float, y: float, wide: float, high: float) -> str:
        """What a card shows: an image, the cells of a layer, or a bar for each digit."""
        sheet = _rect("sheet", x, y, wide, high).replace('rx="8"', 'rx="3"')
        if not i:
            side = min(wide, high)
            return sheet + picture(
                values.reshape(16, 16), "ink", x + (wide - side) / 2, y, side, high
            )
        if i < 3:
            return sheet + picture(values.reshape(4, 8), "value", x, y, wide, high)
        top, step = float(np.abs(values).max()), wide / len(values)
        zero = y + high * (0.5 if values.min() < 0 else 1)
        scale = (zero - y - 1) / top
        return sheet + "".join(
            f'<path class="{"up" if v > 0 else "down"}" d="M{x + step * n + 1:.1f} {zero:g}'
            f'v{-scale * v:.1f}h{step - 2:.1f}V{zero:g}z"/>'
            for n, v in enumerate(values.tolist())
        )

    def phases(self, made: Recording) -> Iterator[str]:
        """What is done when, with each image and the digit that it is taken for."""
        dynamic, y = made.kind == "dynamic", self.lane - self.box - 14
        kinds = ["both"] * len(DIGITS) if dynamic else ["build", *["run"] * len(DIGITS)]
        for column, kind in enumerate(kinds):
            x, wide = SIDE + column * self.column, self.column - 4
            found = _rect(f"phase {kind}", x, y, wide, self.box)
            k = column - (not dynamic)
            middle, low = x + wide / 2, y + (self.box - 10 if k >= 0 else self.box / 2 + 4)
            found += _words("b small", middle, low, self.say(kind), "middle")
            if k >= 0:
                side = 26 if self.phone else 34
                answer = int(made.layers[k][-1].argmax())
                found += picture(
                    images()[k].reshape(16, 16), "ink", middle - 4 - side, y + 6, side, side
                )
                found += _words("b large", middle + 2, y + 31, f"→ {answer}")
            yield _when(found, self.at(column))
        if dynamic:
            x = SIDE + len(DIGITS) * self.column + 8
            yield _when(_words("soft small", x, y + self.box / 2 + 4, self.say("done")), self.at(3))


def picture(values: NDArray[Any], of: str, x: float, y: float, wide: float, high: float) -> str:
    """The cells of a matrix, stretched into a rectangle: those of one strength are one path."""
    down, across = values.shape
    top = float(np.abs(values).max()) or 1.0
    paths: dict[int, str] = {}
    for (row, column), level in np.ndenumerate(np.round(values / top * LEVELS).astype(int)):
        if level:
            paths[level] = paths.get(level, "") + f"M{column} {row}h1"
    cells = "".join(
        f'<path class="{"above" if level > 0 else "below"}{abs(level)}" d="{d}"/>'
        for level, d in sorted(paths.items())
    )
    row = high / down
    scale = f"translate({x:.1f} {y + row / 2:.1f}) scale({wide / across:.3f} {row:.3f})"
    return f'<g class="cells of-{of}" transform="{scale}">{cells}</g>'


def drawing(language: str, phone: bool = False, dark: bool | None = None) -> str:
    """The picture as an SVG file."""
    made, equal = recorded()
    svg = Drawn(made, equal, language, 360 if phone else 760).svg()
    style = STYLE.read_text("utf-8").partition("@media")[0] + OWN.read_text("utf-8")
    return finished(svg, style, language, dark)
