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
from itertools import groupby
from math import log10
from pathlib import Path
from typing import Any, NamedTuple

from both_ways import _rect, _when, _words, finished, swept

import viz
from viz.explorer.portraits import ALPHABET, EMPTY, ZERO
from viz.picture.cards import wide

RECORDING = Path(__file__).with_suffix(".json")
STYLE = Path(__file__).with_suffix(".css")
FIRST, PACE = 0.8, 0.3  # before the first step, and of a step, in seconds
ROWS = 8  # of cells at most
LEVELS = 4  # steps of strength, above zero and below, as in the style
HIGH, GUTTER = 108, 30  # of a card, and between two rows of cards, px
CODES = {chr(letter): code for code, letter in enumerate(ALPHABET)}

WORDS: Mapping[str, tuple[str, str]] = {
    "about": ("{blocks} blocks · {params} parameters · {operators} operators",
              "{blocks} 层 · {params} 个参数 · {operators} 个算子"),
    "tokens": ("16 tokens", "16 个词元"),
    "loss": ("loss", "损失"),
    "forward": ("forward →", "前向 →"),
    "backward": ("backward →", "反向 →"),
    "value": ("what it gave", "输出"),
    "grad": ("its gradient", "梯度"),
    "norm": ("size of its gradient, |∂|", "梯度的大小 |∂|"),
    "through": ("|∂| through {blocks} blocks", "|∂| 穿过 {blocks} 层"),
    "sizes": ("{last} → {first}", "{last} → {first}"),
    "spread": ("spread of what it gave, σ", "输出的标准差 σ"),
    "right": ("✓ gradients within {gap} of PyTorch's", "✓ 梯度与 PyTorch 相差不超过 {gap}"),
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
    sizes = {"n_embd": 64, "n_layer": 12, "n_head": 4, "vocab_size": 200, "n_positions": 64}
    model = GPT2LMHeadModel(GPT2Config(**sizes, attn_implementation="eager")).eval()
    ids = torch.randint(0, 200, (1, 16))

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
        self.gap = 14 if self.phone else 24
        self.side = 14 if self.phone else 18
        self.wide = (width - 2 * self.side - (across - 1) * self.gap) / across
        self.count = len(made.parts)
        self.columns = (
            2 * self.count - 1
        )  # the loss is where it turns round; tokens get no gradient
        self.head = 62 if self.phone else 44
        self.rows = -(-self.count // across)
        self.axis = self.side if self.phone else 92

    def say(self, key: str, **more: Any) -> str:
        pair = WORDS.get(key, (key, key))
        return escape(pair[self.spoken].format(**{**self.made.fields, **more}))

    def spot(self, i: int) -> tuple[float, float]:
        """The left upper corner of a card."""
        row, column = divmod(i, self.across)
        return self.side + column * (self.wide + self.gap), self.head + row * (HIGH + GUTTER)

    def ran(self, i: int) -> float:
        return FIRST + PACE * i

    def back(self, i: int) -> float:
        return FIRST + PACE * (2 * self.count - 2 - i)

    def svg(self) -> str:
        top = self.head + self.rows * (HIGH + GUTTER) + 20
        score, high = self.score(top)
        name = _words("b title", self.side, 26, self.say(self.made.fields["name"]))
        told = _words(
            "soft",
            self.side if self.phone else self.side + 192,
            46 if self.phone else 26,
            self.say("about"),
        )
        right = _words(
            "b right",
            self.width - self.side,
            high - 12 if self.phone else 26,
            self.say("right"),
            "end",
        )
        cards = "".join(map(self.card, range(self.count)))
        ways = "".join(map(self.way, range(self.count - 1)))
        size = f'width="{self.width}" height="{high:g}" viewBox="0 0 {self.width} {high:g}"'
        return (
            f'<svg class="model" {size} role="img"><title>{self.say("alt")}</title>'
            f"<defs>{TIPS}</defs>{name}{told}{ways}{cards}{self.legend(top - 28)}{score}"
            f"{_when(right, self.back(0) + PACE)}</svg>"
        )

    def card(self, i: int) -> str:
        """Draw a card: a plan, then its value, then its gradient; a halo marks "now"."""
        part, (x, y) = self.made.parts[i], self.spot(i)
        last = i == self.count - 1  # it takes what is left of its row
        left = -(-self.count // self.across) * self.across - self.count if last else 0
        card = self.wide + left * (self.wide + self.gap)
        box = (x, y, card, HIGH)
        name = _words("b", x + 9, y + 18, self.say(part.name))
        inner, at = self.wide - 18, x + 9
        if last:
            seen = _words("b large", x + 9, y + 60, f"{part.value['mean']:.3g}")
        else:
            seen = picture(part.value, "value", at, y + 26, inner, 32)
        gave = _rect("card given" if i == 0 else "card ran", *box) + name + seen
        plan = _when(_rect("card", *box) + name, 0, self.ran(i))
        found = [plan, _when(gave, self.ran(i))] if i else [gave]
        halo = _rect("halo", x - 3.5, y - 3.5, card + 7, HIGH + 7)
        found.append(_when(halo, self.ran(i), self.ran(i) + PACE) if i else "")
        if last:
            about = _words("b grad", x + 76, y + 18, self.say("through"))
            about += _words("b large grad", x + 76, y + 60, self.say("sizes"))
            found.append(_when(about, self.back(2)))
        elif part.grad is not None:
            size = _words(
                "number grad b", x + self.wide - 9, y + 18, f"{part.grad['norm']:.2g}", "end"
            )
            brought = picture(part.grad, "grad", at, y + 65, inner, 32) + size
            found.append(_when(brought, self.back(i)))
            found.append(_when(halo, self.back(i), self.back(i) + PACE))
        return "".join(found)

    def way(self, i: int) -> str:
        """Draw the arrows to the next card: green once it has run, orange for the gradient."""
        (x, y), (u, v) = self.spot(i), self.spot(i + 1)
        right, low, high = x + self.wide, y + HIGH / 2 + 6, y + HIGH / 2 - 5
        if v == y:
            there, back = f"M{right:g} {low:g}H{u - 5:g}", f"M{u:g} {high:g}H{right + 5:g}"
        else:  # round the end of the row, into the next
            out, into, between, down = right + 8, u - 11, y + HIGH + GUTTER / 2, v - y
            there = f"M{right:g} {low:g}H{out:g}V{between - 3:g}H{into:g}V{low + down:g}H{u - 5:g}"
            back = f"M{u:g} {high + down:g}H{into + 6:g}V{between + 3:g}"
            back += f"H{out + 5:g}V{high:g}H{right + 5:g}"
        found = f'<path class="way" d="{there}"/>'
        gave = f'<path class="way gave" d="{there}" marker-end="url(#there)"/>'
        found += _when(gave, self.ran(i + 1))
        if self.made.parts[i].grad is not None:
            brought = f'<path class="way back" d="{back}" marker-end="url(#back)"/>'
            found += _when(brought, self.back(i))
        return found

    def legend(self, y: float) -> str:
        """Explain the two swatches of a card and the number beside its name."""
        x, found = float(self.side), ""
        for look, key in (("value", "value"), ("grad", "grad"), ("size", "norm")):
            sign, beside = _words("number grad b", x, y, "1.2"), 24
            if look != "size":
                beside = 52
                sign = "".join(
                    f'<g class="of-{look}"><path class="patch {level}" '
                    f'd="M{x + 11 * k:g} {y - 5:g}h11"/></g>'
                    for k, level in enumerate(("below4", "below2", "above2", "above4"))
                )
            said = "|∂|" if self.phone and key == "norm" else self.say(key)
            found += sign + _words("soft", x + beside, y, said)
            x += beside + 22 + wide(WORDS[key][self.spoken], 12)
        return found

    def score(self, top: float) -> tuple[str, float]:
        """Draw the score, a row for each card, and two curves; return it and where it ends."""
        left, step = self.axis, (self.width - self.side - self.axis) / self.columns
        row = 5 if self.phone else 6
        end = top + 22 + row * self.count
        middle = left + step * (self.count - 0.5)
        found = [
            _words("b value", left, top + 12, self.say("forward")),
            _words("b grad", middle + 8, top + 12, self.say("backward")),
        ]
        past = []
        for i in range(self.count):
            y = top + 22 + row * i
            past.append(bar("bar", left + step * i, y, step - 1.4, row - 1))
            if self.made.parts[i].grad is not None and i < self.count - 1:
                at = left + step * (2 * self.count - 2 - i)
                past.append(bar("bar back", at, y, step - 1.4, row - 1))
            if not self.phone and i in (0, self.count - 1):
                found.append(
                    _words("soft", left - 8, y + 8, self.say(self.made.parts[i].name), "end")
                )
        high = end + (48 if self.phone else 34)  # of the curves, below their names
        base = high + 40
        places = range(1, self.count - 1)
        spread = [(left + step * (i + 0.5), self.made.parts[i].value["std"]) for i in places]
        sizes = [
            (left + step * (2 * self.count - 1.5 - i), self.made.parts[i].grad["norm"])  # type: ignore[index]
            for i in reversed(places)
        ]
        last, bend = len(sizes) - 1, self.made.parts[-3].name
        past += [
            *curve("value", spread, high, base, (last - 1, bend), [0] if self.phone else [0, last]),
            *curve("grad", sizes, high, base, (1, bend), [last] if self.phone else [0, last]),
        ]
        found.append(f'<path class="hair" d="M{left:g} {base + 6:g}H{self.width - self.side}"/>')
        found.append(_words("b value", left, end + 22, self.say("spread")))
        found.append(_words("b grad", middle + 8, end + 22, self.say("norm")))
        x = left + step * self.columns
        sweep = _rect("sweep", left, top, step * self.columns, base + 10 - top)
        found.append(
            f'<clipPath id="past">{sweep}</clipPath><g clip-path="url(#past)">{"".join(past)}</g>'
        )
        found.append(f'<path class="playhead" d="M{x:g} {top + 18:g}V{base + 6:g}"/>')
        self.length = step * self.columns  # of the axis, px
        return "".join(found), base + (44 if self.phone else 20)


TIPS = "".join(
    f'<marker id="{name}" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="7" markerHeight="7" '
    'markerUnits="userSpaceOnUse" orient="auto">'
    f'<path d="M0 0L8 4L0 8z" class="tip {name}"/></marker>'
    for name in ("there", "back")
)


def bar(look: str, x: float, y: float, wide: float, high: float) -> str:
    return f'<path class="{look}" d="M{x:.1f} {y:g}h{wide:.1f}v{high:g}h-{wide:.1f}z"/>'


def curve(
    look: str,
    points: Sequence[tuple[float, float]],
    top: float,
    base: float,
    bend: tuple[int, str],
    ends: Sequence[int],
) -> Iterator[str]:
    """A line through positive numbers, on a logarithmic axis from their least to their largest.

    Numbers stand at its ends, and where it bends, with the name of the layer.
    """
    logs = [log10(size) for _, size in points]
    low, span = min(logs), (max(logs) - min(logs)) or 1.0
    ys = [base - (base - top) * (log - low) / span for log in logs]
    places = [f"{x:.1f} {y:.1f}" for (x, _), y in zip(points, ys, strict=True)]
    yield f'<path class="curve {look}" d="M{"L".join(places)}"/>'
    (bent, name), said = bend, f"number {look}"
    for i in ends:
        (x, size), y = points[i], ys[i]
        if y > top + 6 and i:
            yield _words(said, x + 8, y + 4, f"{size:.2g}")
        else:
            yield _words(said, x, y - 7, f"{size:.2g}", "middle")
    x, label = points[bent][0], f"{name} {points[bent][1]:.2g}"
    if ys[bent] < base:  # a peak
        yield _words(said, x, top - 6, label, "middle")
    else:
        yield _words(said, x + 24, base + 2, label)


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
    drawn = Drawn(Recording.stored(), language, *((360, 3) if phone else (830, 6)))
    svg = drawn.svg()
    style = swept(STYLE, drawn.columns, PACE, FIRST, drawn.length)
    return finished(svg, style, language, dark)


if __name__ == "__main__":
    RECORDING.write_text(json.dumps(recorded(), ensure_ascii=False), "utf-8")
