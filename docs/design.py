"""Make the pictures of docs/design.md anew: `python docs/design.py`."""

from __future__ import annotations

from pathlib import Path

import minigrad as mg
import viz
from minigrad.diagnostics.messages import set_language
from viz.picture.boxes import Picture, PictureNode
from viz.picture.cards import CardSpace, State
from viz.picture.drawing import alone, render

FOLDER = Path(__file__).parent / "pictures"
STATES = (
    ("mg-born", ("a plan", "计划")),
    ("mg-ran", ("has run", "运行过")),
    ("mg-now", ("running now", "正在运行")),
    ("mg-freed", ("freed", "已释放")),
    ("mg-bad", ("not a number", "非数")),
)


def drawings() -> dict[str, str]:
    """Each picture in the language that is set, by the first part of its name."""
    x = mg.tensor(2.0, requires_grad=True)
    y = x * x + 3
    with mg.Graph():
        p = mg.placeholder("x")
        q = p * p + 3
        static = viz.draw(q)
    return {
        "dynamic": alone(viz.draw(y).svg),
        "static": alone(static.svg),
        "states": alone(_states()),
    }


def _states() -> str:
    """One card in each of its states, from left to right."""
    nodes = [
        PictureNode(f"n{i}", "operator", "Mul", mg.diagnostics.messages.choose(word), "", sign="×")
        for i, (_, word) in enumerate(STATES)
    ]
    shown = {
        f"n{i}": State(
            (*(["mg-ran"] if state in ("mg-now", "mg-freed") else []), state),
            {"mg-born": "", "mg-bad": "nan"}.get(state, "4"),
            "" if state == "mg-born" else "1",
        )
        for i, (state, _) in enumerate(STATES)
    }
    rooms = {n.id: CardSpace(5, gradient=1, plan=True) for n in nodes}
    return render(Picture(tuple(nodes), (), "static", {}), "d", rooms, shown)


def main() -> None:
    for language in ("en", "zh"):
        set_language(language)
        for name, svg in drawings().items():
            (FOLDER / f"design_{name}_{language}.svg").write_text(svg, "utf-8")


if __name__ == "__main__":
    main()
