"""Make anew what README and notebooks begin with: `python docs/opening.py`.

Those that can be laid out as narrow as a phone are made once more for one. The first picture of the
README, `both_ways`, is the preview of a link, too.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Literal

import minigrad as mg
import viz
from viz.page.scene import Scene
from viz.picture.drawing import alone
from viz.picture.theme import FONT_FAMILY, LATIN_FAMILY

sys.path.insert(0, str(Path(__file__).parent))

import both_ways
import digits_picture
import lesson_pictures
import model_picture
from letters import font_rules

CODE = ".mg-code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 11.4px; }"
FOLDER = Path(__file__).parents[1] / "notebooks" / "pictures"
TITLES = {"tape": "y = x * x + 3, x = 5", "two_runs": "y = w * x"}  # below a heading that says it
COLUMN = 736  # pixels of a column of text on a page
SLIM = 340, 372  # pixels that are asked of a picture for a phone, and that it may have


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
    large, slim = lesson_pictures.pictures(), lesson_pictures.pictures(SLIM[0])
    for language in languages:
        for film in (fan_out, tape, two_runs):
            animation = film(language)
            for made, width in ((large, 0), (slim, SLIM[0])):
                made[f"{film.__name__}_{language}.svg"] = played(
                    animation, width, TITLES.get(film.__name__, "")
                )
        large[f"diamond_{language}.svg"] = diamond(language)
    files = {name: in_our_letters(svg) for name, svg in large.items()}
    for name, svg in slim.items():
        if width_of(svg) <= SLIM[1] < width_of(large[name]):
            files[re.sub("_(?=..[.])", "_phone_", name)] = in_our_letters(svg)
    for language in languages:
        files[f"both_ways_{language}.svg"] = both_ways.picture(language)
        files[f"both_ways_phone_{language}.svg"] = both_ways.picture(language, 360, phone=True)
        files[f"digits_{language}.svg"] = digits_picture.drawing(language)
        files[f"digits_phone_{language}.svg"] = digits_picture.drawing(language, phone=True)
        files[f"gpt2_{language}.svg"] = model_picture.drawing(language)
        files[f"gpt2_phone_{language}.svg"] = model_picture.drawing(language, phone=True)
    return files


def played(animation: viz.Animation, width: int, title: str) -> str:
    """The animation, laid out for so many pixels if any are given.

    title: what it is headed with in place of the mode.
    """
    player, language = animation.player, animation.language
    if width:
        films, links = player.films, player.links
        animation.scene = Scene(films, player.verdict, links, width, language=language)
    svg = animation.svg.replace("</style>", f"{CODE}</style>", 1)
    # A title begins like one.
    svg = re.sub(r'(class="mg-title"[^>]*>)(\w)', lambda m: m[1] + m[2].upper(), svg)
    if title:
        svg = re.sub(r'(class="mg-title"[^>]*>)[^<]*', rf"\g<1>{title}", svg)
    return svg if width else scaled(svg)


def scaled(svg: str) -> str:
    """The picture as wide as the column of text that it begins, and its letters with it."""
    wide, high = (int(n) for n in re.findall(r'(?:width|height)="(\d+)"', svg)[:2])
    size = f'width="{COLUMN}" height="{high * COLUMN / wide:.0f}"'
    return svg.replace(f'width="{wide}" height="{high}"', size, 1)


def in_our_letters(svg: str) -> str:
    """The picture with all its letters: an image has those of its system, and not of its page."""
    bare = re.sub(r"@font-face \{[^}]*\}\n", "", svg)
    rules = font_rules(bare)
    ours = bare.replace(f"'{FONT_FAMILY}'", f"'{LATIN_FAMILY}', '{FONT_FAMILY}'")
    return ours.replace("<style>", f"<style>{rules}", 1)


def width_of(svg: str) -> int:
    return int(re.findall(r'<svg[^>]* width="(\d+)"', svg)[0])


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, svg in films().items():
        (FOLDER / name).write_text(svg, "utf-8")


if __name__ == "__main__":
    main()
