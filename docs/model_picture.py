"""The second picture of the README: a small GPT-2 runs forward, and its gradients come back.

All that is drawn comes from one recording, what `viz.step(model, ids, loss=…)` shows: the cells of
what each block gave and of its gradient, and their sizes. `python docs/model_picture.py` records it
anew, in model_picture.json, for which it needs torch and transformers; `docs/opening.py` draws it.
It plays once and rests complete.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby, pairwise
from math import log10
from pathlib import Path
from typing import Any, NamedTuple

from both_ways import WORDS as BOTH_WAYS
from both_ways import _rect, _when, _words, finished, swept

import viz
from viz.explorer.portraits import ALPHABET, EMPTY, ZERO

RECORDING = Path(__file__).with_suffix(".json")
STYLE = Path(__file__).with_suffix(".css")
FIRST, PACE = 0.8, 0.3  # before the first step, and of a step, in seconds
ROWS = 8  # of cells at most
LEVELS = 4  # steps of strength, above zero and below, as in the style
HIGH, GUTTER = (108, 87), (30, 24)  # of a card, and between two rows of cards, px; on a phone
LEAST, MOST = 0.01, 2.0  # on the axis of the curves
TICKS = (0.01, 0.1, 1)
SIZES = {"n_embd": 64, "n_layer": 12, "n_head": 4, "vocab_size": 200, "n_positions": 64}
CODES = {chr(letter): code for code, letter in enumerate(ALPHABET)}

WORDS: Mapping[str, tuple[str, str]] = {
    "title": ("GPT-2 as a static graph", "GPT-2 的静态图"),
    "about": ("{blocks} blocks · {params} parameters", "{blocks} 层 · {params} 个参数"),
    "about_short": ("{blocks} blocks", "{blocks} 层"),
    "tokens": ("16 tokens", "16 个词元"),
    "wte + wpe": ("wte+wpe", "wte+wpe"),
    "of": ("ids below {vocab_size}", "词表 {vocab_size}"),
    "loss": ("loss", "损失"),
    "build": BOTH_WAYS["build"],
    "forward": ("run forward", "前向运行"),
    "backward": ("run backward", "反向运行"),
    "value": ("what it gave", "输出"),
    "grad": ("its gradient", "梯度"),
    "norm": ("its size, |∂|", "梯度的大小 |∂|"),
    "spread": ("spread of outputs, σ", "输出的标准差 σ"),
    "sizes": ("size of gradients, |∂|", "梯度的大小 |∂|"),
    "right": ("✓ gradients within {gap} of PyTorch's", "✓ 梯度与 PyTorch 最多差 {gap}"),
    "alt": (
        "A small GPT-2 with {blocks} blocks. It runs forward block by block, with a picture of "
        "what each block outputs, to a loss of {loss}. Then the gradients run backward, from "
        "{last} at the last block to {first} at the first.",
        "一个 {blocks} 层的小型 GPT-2。先逐层前向运行，每一层都画出输出的数值，损失为 {loss}；"
        "然后梯度逐层传回，大小从最后一层的 {last} 到第一层的 {first}。",
    ),
}  # fmt: skip


# ---- The recording ----------------------------------------------------------------------------


class Part(NamedTuple):
    """A card: its name, and the portraits of what it gave and of its gradient."""

    name: str
    value: Mapping[str, Any]
    grad: Mapping[str, Any] | None


class Recording(NamedTuple):
    """The cards in the order in which they run, and facts about the whole."""

    parts: Sequence[Part]
    fields: Mapping[str, Any]

    @classmethod
    def stored(cls) -> Recording:
        parts, fields = json.loads(RECORDING.read_text("utf-8"))
        return cls([Part(*part) for part in parts], fields)


def recorded() -> Recording:
    """The parts of a GPT-2 with random weights, from its tokens to the loss, and facts about it."""
    import torch  # noqa: PLC0415 nothing else here needs it
    from transformers import GPT2Config, GPT2LMHeadModel  # noqa: PLC0415

    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(**SIZES, attn_implementation="eager")).eval()
    ids = torch.randint(0, SIZES["vocab_size"], (1, 16))

    def loss(output: Any) -> Any:
        return torch.nn.functional.cross_entropy(output.logits[0, :-1], ids[0, 1:])

    made = viz.step(model, ids, loss=loss)
    data = made.data
    nodes, operators, portraits = data["nodes"], data["operators"], data["portraits"]
    top = [nodes[i] for i in nodes[0]["children"]]
    (strip,) = [node for node in top if node.get("repeats")]
    named = {node.get("name"): node for node in top}

    def kept(number: int) -> Mapping[str, Any]:
        return {key: portraits[number][key] for key in KEPT if key in portraits[number]}

    def part(name: str, node: Mapping[str, Any]) -> Part:
        last = operators[node["b"] - 1]
        return Part(name, kept(last["v"]), kept(last["g"]))

    blocks = [part(f"h.{nodes[i]['name']}", nodes[i]) for i in strip["children"]]
    parts = [
        Part("tokens", kept(data["inputs"][0]["v"]), None),
        part("wte + wpe", top[top.index(strip) - 1]),
        *blocks,
        part("ln_f", named["ln_f"]),
        part("lm_head", named["lm_head"]),
        part("loss", top[-1]),
    ]
    fields = {
        "name": data["name"],
        "blocks": len(blocks),
        "params": f"{sum(p['size'] for p in data['parameters']) / 1000:.0f} k",
        "operators": len(operators),
        "gap": made.verdict[0].split(" for gradients")[0].split()[-1],
        "loss": f"{parts[-1].value['mean']:.3g}",
        "first": f"{blocks[0].grad['norm']:.2g}",  # type: ignore[index]
        "last": f"{blocks[-1].grad['norm']:.2g}",  # type: ignore[index]
    }
    return Recording(parts, fields)


KEPT = ("w", "h", "cells", "mean", "std", "norm")


# ---- The drawing ------------------------------------------------------------------------------


class Drawn:
    """The picture in one language, so many cards in a row."""

    def __init__(self, made: Recording, language: str, width: int, across: int) -> None:
        self.made, self.width, self.across = made, width, across
        self.spoken = 1 if language == "zh" else 0
        self.phone = across < 5
        self.high, self.gutter = HIGH[self.phone], GUTTER[self.phone]
        self.cells = (self.high - 44) / 2  # of each picture on a card
        self.gap = 14 if self.phone else 20
        self.side = 12
        self.inset = self.side + (6 if self.phone else 16)  # room for what goes round a row
        self.wide = (width - 2 * self.inset - (across - 1) * self.gap) / across
        self.count = len(made.parts)
        # Each card: its name, the parts it stands for, from the first to the last.
        self.cards = [(part.name, i, i) for i, part in enumerate(made.parts)]
        if self.phone:  # the blocks between the first and the last are alike: one card for them
            between = [i for i, part in enumerate(made.parts) if part.name.startswith("h.")][1:-1]
            i, last = between[0], between[-1]
            name = f"{made.parts[i].name}–{made.parts[last].name}"
            self.cards[i : last + 1] = [(name, i, last)]
        # The loss is where it turns round; tokens get no gradient.
        self.columns = 2 * self.count - 1
        self.head = 69 if self.phone else 46
        self.rows = -(-len(self.cards) // across)
        self.plan = self.side if self.phone else 78  # where the score begins
        self.axis = self.plan + (46 if self.phone else 66)  # and, after what was built, its runs

    def say(self, key: str) -> str:
        pair = WORDS.get(key, (key, key))
        return escape(pair[self.spoken].format(**self.made.fields, **SIZES))

    def spot(self, k: int) -> tuple[float, float]:
        """The left upper corner of a card."""
        row, column = divmod(k, self.across)
        return self.inset + column * (self.wide + self.gap), self.head + row * (
            self.high + self.gutter
        )

    def ran(self, i: int) -> float:
        return FIRST + PACE * i

    def back(self, i: int) -> float:
        return FIRST + PACE * (2 * self.count - 2 - i)

    def svg(self) -> str:
        top = self.head + self.rows * (self.high + self.gutter) - (12 if self.phone else 8)
        score, high = self.score(top)
        title = _words("b title", self.side, 27, self.say("title"))
        low = 55 if self.phone else 27
        about = _words(
            "soft",
            self.side if self.phone else self.side + (212 if not self.spoken else 152),
            low,
            self.say("about_short" if self.phone else "about"),
        )
        keys = ("built_short", "ran_short") if self.phone else ("built", "ran")
        told = " · ".join(
            f'<tspan class="b {look} large">{self.made.fields["operators"]}</tspan>'
            f'<tspan dx="4">{BOTH_WAYS[key][self.spoken]}</tspan>'
            for key, look in zip(keys, ("built", "value"), strict=True)
        )
        tally = _when(_words("soft", self.width - self.side, low, told, "end"), self.back(0))
        right = _words("b right", self.side, high - 12, self.say("right"))
        cards = "".join(map(self.card, range(len(self.cards))))
        ways = "".join(map(self.way, range(len(self.cards) - 1)))
        size = f'width="{self.width}" height="{high:g}" viewBox="0 0 {self.width} {high:g}"'
        return (
            f'<svg class="model" {size} role="img"><title>{self.say("alt")}</title>'
            f"<defs>{TIPS}{self.shapes()}</defs>{title}{about}{tally}{ways}{cards}{self.legend()}{score}"
            f"{_when(right, self.back(0) + PACE)}</svg>"
        )

    def shapes(self) -> str:
        """What all cards have in common: their outline, and the halo around it."""
        outlines = ("card", 0, self.wide, self.high), ("halo", -3.5, self.wide + 7, self.high + 7)
        return "".join(
            f'<rect id="{name}" x="{at}" y="{at}" width="{wide:g}" height="{high:g}" rx="8"/>'
            for name, at, wide, high in outlines
        )

    def card(self, k: int) -> str:
        """Draw a card: a plan, then its value, then its gradient; a halo marks "now"."""
        called, first, i = self.cards[k]
        part, (x, y) = self.made.parts[i], self.spot(k)
        box = f'href="#card" x="{x:g}" y="{y:g}"/>'
        name = _words("b", x + 9, y + 18, self.say(called))
        inner, at, right = self.wide - 18, x + 9, x + self.wide - 9
        if i == self.count - 1:
            seen = _words("b large", at, y + 50, f"{part.value['mean']:.3g}")
        else:
            seen = picture(part.value, "value", at, y + 26, inner, self.cells)
        if not i:
            seen += _words("soft", at, y + self.high - (16 if self.phone else 28), self.say("of"))
        gave = f'<use class="card {"ran" if i else "given"}" {box}{seen}'
        plan = _when(f'<use class="card" {box}', 0, self.ran(i))
        found = [plan, _when(gave, self.ran(i)), name] if i else [gave, name]
        halo = f'<use class="halo" href="#halo" x="{x:g}" y="{y:g}"/>'
        found.append(_when(halo, self.ran(first), self.ran(i) + PACE) if i else "start")
        if part.grad is None:
            return "".join(found)
        if i == self.count - 1:  # its gradient is 1, and with it the way back begins
            brought = _words(
                "number grad b",
                at,
                y + self.high - (16 if self.phone else 28),
                f"∂ {part.grad['norm']:.2g}",
            )
        else:
            brought = picture(part.grad, "grad", at, y + 33 + self.cells, inner, self.cells)
            brought += _words("number grad b", right, y + 18, f"{part.grad['norm']:.2g}", "end")
            found.append(_when(halo, self.back(i), self.back(first) + PACE))
        return "".join([*found, _when(brought, self.back(i))])

    def way(self, k: int) -> str:
        """Draw the arrows to the next card: green once it has run, orange for the gradient."""
        (x, y), (u, v), i = self.spot(k), self.spot(k + 1), self.cards[k][2]
        right, low, high = x + self.wide, y + self.high / 2 + 6, y + self.high / 2 - 5
        if v == y:
            there, back = f"M{right:g} {low:g}H{u - 5:g}", f"M{u:g} {high:g}H{right + 5:g}"
        else:  # round the end of the row, into the next
            far = 4 if self.phone else 7
            out, into, between, down = (
                right + far,
                u - far - 7,
                y + self.high + self.gutter / 2,
                v - y,
            )
            there = f"M{right:g} {low:g}H{out:g}V{between - 3:g}H{into:g}V{low + down:g}H{u - 5:g}"
            back = f"M{u:g} {high + down:g}H{into + 6:g}V{between + 3:g}"
            back += f"H{out + 6:g}V{high:g}H{right + 5:g}"
        found = f'<path class="way" d="{there}"/>'
        gave = f'<path class="way gave" d="{there}" marker-end="url(#there)"/>'
        found += _when(gave, self.ran(i + 1))
        if self.made.parts[i].grad is not None:
            brought = f'<path class="way back" d="{back}" marker-end="url(#back)"/>'
            found += _when(brought, self.back(i))
        return found

    def legend(self) -> str:
        """Explain in the place after the last card what is seen on one."""
        x, y = self.spot(len(self.cards))
        found, beside = "", 38
        for k, look in enumerate(("value", "grad", "norm")):
            low = y + (22 + 26 * k if self.phone else 34 + 28 * k)
            sign = _words("number grad b", x, low, "1.2")
            if look != "norm":
                sign = "".join(
                    f'<g class="of-{look}"><path class="patch {level}" '
                    f'd="M{x + 8 * n:g} {low - 5:g}h8"/></g>'
                    for n, level in enumerate(("below4", "below2", "above2", "above4"))
                )
            found += sign + _words("soft", x + beside - 14 * (look == "norm"), low, self.say(look))
        return found

    def score(self, top: float) -> tuple[str, float]:
        """Draw the score, a row for each card, and two curves; return it and where it ends."""
        left, step = self.axis, (self.width - self.side - self.axis) / self.columns
        row = 4 if self.phone else 6
        end = top + row * self.count
        middle = left + step * self.count
        far = left + step * self.columns
        slope = f"M{self.plan + 4:g} {top + row / 2:g}L{left - 6:g} {end - row / 2:g}"
        found, past = [f'<path class="plan" d="{slope}"/>'], []
        for i in range(self.count):
            y = top + row * i
            past.append(bar("bar", left + step * i, y, step - 1.4, row - 1))
            if self.made.parts[i].grad is not None and i < self.count - 1:
                at = left + step * (2 * self.count - 2 - i)
                past.append(bar("bar back", at, y, step - 1.4, row - 1))
            if not self.phone and i in (0, self.count - 1):
                name = self.say(self.made.parts[i].name)
                found.append(_words("soft", self.plan - 8, y + 8, name, "end"))
        for look, key, start, stop in (
            ("build", "build", self.plan, left - 4),
            ("run", "forward", left, middle - 3),
            ("back", "backward", middle, far - 5),
        ):
            word = _words("b", (start + stop) / 2, end + 25, self.say(key), "middle")
            shown = _rect(f"phase {look}", start, end + 8, stop - start, 26) + word
            begins = {"run": FIRST, "back": self.back(self.count - 2)}.get(look)
            found.append(_when(shown, begins) if begins else shown)
        high, base = (end + 68, end + 126) if self.phone else (end + 72, end + 142)
        for tick in TICKS:
            y = height(tick, high, base)
            found.append(f'<path class="hair" d="M{left:g} {y:.1f}H{far:g}"/>')
            found.append(_words("soft number", left - 8, y + 4, f"{tick:g}", "end"))
        found.append(_words("b value", left, end + 54, self.say("spread")))
        found.append(_words("b grad", middle, end + 54, self.say("sizes")))
        places = range(1, self.count - 1)
        parts = self.made.parts
        spread = [
            (left + step * (i + 0.5), self.say(parts[i].name), parts[i].value["std"])
            for i in places
        ]
        sizes = [
            (left + step * (2 * self.count - 1.5 - i), self.say(part.name), part.grad["norm"])
            for i, part in [*enumerate(parts)][-2:0:-1]
            if part.grad is not None
        ]
        for look, points in (("value", spread), ("grad", sizes)):
            past += curve(look, points, high, base, self.phone)
        sweep = _rect("sweep", left - 9, top - 9, step * self.columns + 9, base + 40 - top)
        found.append(
            f'<clipPath id="past">{sweep}</clipPath><g clip-path="url(#past)">{"".join(past)}</g>'
        )
        found.append(f'<path class="playhead" d="M{far:g} {top:g}V{base + 6:g}"/>')
        self.length = step * self.columns  # of the axis, px
        return "".join(found), base + 52


TIPS = "".join(
    f'<marker id="{name}" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="7" markerHeight="7" '
    'markerUnits="userSpaceOnUse" orient="auto">'
    f'<path d="M0 0L8 4L0 8z" class="tip {name}"/></marker>'
    for name in ("there", "back")
)


def bar(look: str, x: float, y: float, wide: float, high: float) -> str:
    return f'<path class="{look}" d="M{x:.1f} {y:g}h{wide:.1f}v{high:g}h-{wide:.1f}z"/>'


def height(size: float, top: float, base: float) -> float:
    """Where a size lies on the logarithmic axis of the curves."""
    return base - (base - top) * log10(size / LEAST) / log10(MOST / LEAST)


def curve(
    look: str, points: Sequence[tuple[float, str, float]], top: float, base: float, phone: bool
) -> Iterator[str]:
    """A line through the sizes of layers; its ends, and where it bends, say which and how much."""
    ys = [height(size, top, base) for *_, size in points]
    places = [f"{x:.1f} {y:.1f}" for (x, *_), y in zip(points, ys, strict=True)]
    yield f'<path class="curve {look}" d="M{"L".join(places)}"/>'
    steps = [abs(b - a) for a, b in pairwise(ys)]
    (bend,) = (i for i in range(1, len(ys) - 1) if min(steps[i - 1], steps[i]) > 3)
    last, said = len(ys) - 1, f"number on {look}"
    for i in (0, bend, last):
        (x, name, size), y = points[i], ys[i]
        yield f'<circle class="curve {look}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
        label = f"{name} {size:.2g}"
        if i == bend:  # beside it, where the line is not
            on_left = y < ys[0]
            yield _words(
                said, x - 9 if on_left else x + 9, y + 4, label, "end" if on_left else "start"
            )
        elif (i == last) is not (look == "value"):  # the tokens' end
            yield _words(said, x - 4, y - 9 if not i else y + 18, label, "end" if i else "start")
        elif phone:  # where the curves meet: below both
            yield f'<path class="lead {look}" d="M{x:.1f} {y + 3:.1f}V{base + 7:g}"/>'
            yield _words(said, x + 4 if i else x - 4, base + 18, label, "end" if i else "start")
        else:  # in two lines, on the side of it where the other curve is not
            low = y + 17 if i else y - 21
            yield _words(said, x, low, name, "middle")
            yield _words(said, x, low + 13, f"{size:.2g}", "middle")


def picture(
    portrait: Mapping[str, Any], of: str, x: float, y: float, wide: float, high: float
) -> str:
    """The cells of a tensor, stretched into a rectangle: those of one strength are one path.

    How strong each is, is said in the style.
    """
    across, down = portrait["w"], portrait["h"]
    codes = [ZERO if (code := CODES[c]) == EMPTY else code for c in portrait["cells"]]
    rows = [codes[i * across : (i + 1) * across] for i in range(down)]
    if down == 1:  # a row of numbers has no use for the height of a matrix
        y, high = y + high / 4, high / 2
    elif down > ROWS:  # two are one cell, which is then nearly a square
        pairs = zip(rows[::2], rows[1::2], strict=True)
        rows = [[(a + b) / 2 for a, b in zip(*pair, strict=True)] for pair in pairs]
    paths: dict[int, str] = {}
    for k, line in enumerate(rows):
        levels = [round((code - ZERO) / 30 * LEVELS) for code in line]
        at = 0
        for level, run in groupby(levels):
            end = at + len([*run])
            if level:
                paths[level] = paths.get(level, "") + f"M{at} {k}h{end - at}"
            at = end
    cells = "".join(
        f'<path class="{"above" if level > 0 else "below"}{abs(level)}" d="{d}"/>'
        for level, d in sorted(paths.items())
    )
    row = high / len(rows)
    scale = f"translate({x:g} {y + row / 2:g}) scale({wide / across:.4f} {row:.4f})"
    sheet, rim = (_rect(look, x, y, wide, high).replace(' rx="8"', "") for look in ("sheet", "rim"))
    return f'{sheet}<g class="cells of-{of}" transform="{scale}">{cells}</g>{rim}'


def drawing(language: str, phone: bool = False, dark: bool | None = None) -> str:
    """The picture as an SVG file."""
    drawn = Drawn(Recording.stored(), language, *((360, 3) if phone else (760, 6)))
    svg = drawn.svg()
    style = swept(STYLE, drawn.columns, PACE, FIRST, drawn.length)
    return finished(svg, style, language, dark)


if __name__ == "__main__":
    RECORDING.write_text(json.dumps(recorded(), ensure_ascii=False), "utf-8")
