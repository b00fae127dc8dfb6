"""Make anew what README and notebooks begin with: `python docs/opening.py`.

The pictures of the README, of `both_ways` and of a whole model, are made once more for a phone; the
first one is the preview of a link, too.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import minigrad as mg
import viz
from viz.picture.drawing import alone

sys.path.insert(0, str(Path(__file__).parent))

import both_ways
import lesson_pictures
import model_picture

FOLDER = Path(__file__).parents[1] / "notebooks" / "pictures"


def fan_out(language: Literal["en", "zh"]) -> viz.Animation:
    """One number that is used twice, forward and back."""
    x = mg.tensor(3.0, requires_grad=True)
    y = x * x
    return viz.animate(y, language=language, seconds=1.2)


def tape(language: Literal["en", "zh"]) -> viz.Animation:
    """Lines that are recorded as they run, and then walked back.

    At 5 all numbers on the way differ, and none is the answer to a question of the lessons.
    """
    x = mg.tensor(5.0, requires_grad=True)
    square = x * x
    y = square + 3
    return viz.animate(y, language=language, seconds=0.8)


def two_runs(language: Literal["en", "zh"]) -> viz.Animation:
    """A static graph is built and run twice; its variable keeps what the first run gave it."""
    with mg.Graph(), mg.Session() as sess, mg.record(values=True) as log:
        x = mg.placeholder("x", shape=())
        w = mg.Variable(10.0, name="w")
        y = w * x
        w_next = mg.assign(w, w + 1.0)
        init = mg.global_variables_initializer()
        sess.run(init)
        for number in (7, 8):
            sess.run([y, w_next], feed_dict={x: number})
    log.events = [event for event in log.events if event.node is not init]
    return viz.animate(viz.timeline(log), language=language, seconds=0.8)


def diamond(language: Literal["en", "zh"]) -> str:
    """A plan that nothing has run, whose nodes in the middle may change places."""
    with mg.Graph():
        a = mg.placeholder("a", shape=())
        b = a + 3
        c = a * 2
        d = b - c
        return alone(viz.draw(mg.build_graph(a, d)).svg, language)


def films() -> dict[str, str]:
    """The pictures by the names of their files, in each language; those of L00 to L04 move."""
    languages: tuple[Literal["en", "zh"], ...] = ("en", "zh")
    made = lesson_pictures.pictures() | {
        f"{film.__name__}_{language}.svg": film(language).svg
        for film in (fan_out, tape, two_runs)
        for language in languages
    }
    for language in languages:
        made[f"diamond_{language}.svg"] = diamond(language)
        made[f"both_ways_{language}.svg"] = both_ways.picture(language)
        made[f"both_ways_phone_{language}.svg"] = both_ways.picture(language, 360, phone=True)
        made[f"gpt2_{language}.svg"] = model_picture.drawing(language)
        made[f"gpt2_phone_{language}.svg"] = model_picture.drawing(language, phone=True)
    return made


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, svg in films().items():
        (FOLDER / name).write_text(svg, "utf-8")


if __name__ == "__main__":
    main()
