"""`viz.animate`: a program as a moving picture that plays anywhere."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from minigrad.diagnostics.messages import choose, get_language
from minigrad.dynamic.tensor import Tensor
from minigrad.static import Node
from viz import assets
from viz.page.player import Player
from viz.page.scene import Moment, Scene
from viz.picture.cards import one_language
from viz.picture.drawing import EDGE, alone, image
from viz.picture.fonts import face_in_page
from viz.picture.motion import HIDDEN, Scenes, Trip, animated_svg, gif, mp4
from viz.picture.theme import MOTION
from viz.views.draw import names_in
from viz.views.step import both_ways, player_of
from viz.words.progress import progress
from viz.words.text import Pair, both, in_language, listed, row, row_text
from viz.words.user import ending, write

__all__ = ["Animation", "animate"]

FORMATS = (".svg", ".gif", ".mp4")
QUICKEST = 0.6  # seconds of a step
LONGEST = 300  # steps
PHONE, CALM = "(max-width: 744px)", "(prefers-reduced-motion: reduce), print"
# In an image with room for it, the score is beside the drawings instead of below them.
BROAD = """@media (min-width: {wide}px) {{ .mg-all, .mg-paper {{ transform: scale({scale}); }}
.mg-paper {{ width: {wide}px; height: {high}px; }}
.mg-score {{ transform: translate({x}px, {y}px); }} }}</style>"""
CARD = "container-type:inline-size;border:1px solid #868f9e80;border-radius:14px;text-align:center"
REST = 0.25  # of a step: how long what will travel stands where it begins


class Animation:
    """An animation that a notebook shows; `str` of it gives the same as text."""

    width = 830  # pixels that it may take

    def __init__(
        self,
        player: Player,
        language: str | None = None,
        seconds: float = 1.0,
        dark: bool | None = None,
    ) -> None:
        self.player, self.seconds, self.dark = player, seconds, dark
        self._language = language
        self.steps = max((len(film.frames) for film in player.films), default=0)
        if language not in (None, "en", "zh"):
            raise ValueError(row_text("animate_language", value=repr(language)))
        if not seconds >= QUICKEST:
            raise ValueError(row_text("animate_seconds", value=seconds, least=QUICKEST))
        if self.steps > LONGEST:
            raise ValueError(row_text("animate_long", steps=self.steps, most=LONGEST))

    @property
    def language(self) -> Literal["en", "zh"]:
        """The requested language, else the one chosen now; a picture has only one."""
        return "zh" if (self._language or get_language()) == "zh" else "en"

    @cached_property
    def scene(self) -> Scene:
        """All steps, laid out. Raises LayoutError without a layout engine."""
        player, language = self.player, self.language
        return Scene(player.films, player.verdict, player.links, self.width, language=language)

    def _scenes(self) -> Scenes:
        """Return what is visible at which time."""
        parts, trips = list[tuple[float, Mapping[str, str]]](), list[Trip]()
        rest = min(REST * self.seconds, (self.seconds - MOTION / 1000) / 2)
        language = self.language
        for step in range(self.scene.steps):
            at = step * self.seconds
            chips = self.scene.chips(step)
            if chips:
                parts.append((at, self._one(Moment(step, arrived=False))))
                trips += [Trip(one_language(c.svg(), language), c.way, at, rest) for c in chips]
                at = max(trip.end for trip in trips)
            parts.append((at, self._one(Moment(step))))
        return Scenes(parts, trips, self.scene.steps * self.seconds, self.scene.svg)

    def _one(self, moment: Moment) -> dict[str, str]:
        parts = self.scene.parts(moment, self.language)
        return {name: one_language(svg, self.language) for name, svg in parts.items()}

    @property
    def svg(self) -> str:
        """The animation as a file: it plays once, or shows its end if the reader prefers reduced
        motion; dark on a dark page, unless `dark` says otherwise.
        """
        drawn, style = animated_svg(self._scenes())
        return alone(drawn, self.language, self.dark, style, face_in_page)

    @property
    def still(self) -> str:
        """What the animation ends with, as a file."""
        end = "".join(self._one(Moment(self.scene.steps - 1)).values())
        drawn = HIDDEN.sub("", self.scene.svg(end))
        return alone(drawn, self.language, self.dark, letters=face_in_page)

    def text(self) -> Pair:
        """Return all that the animation shows, as text in both languages."""
        return self.player.text()

    @property
    def alt(self) -> str:
        """What there is to see, in both languages."""
        alts = listed((film.picture.alt() for film in self.player.films), " ")
        return both(row("animate_alt", steps=self.steps, what=alts))

    def __str__(self) -> str:
        return choose(self.text(), "\n\n")

    __repr__ = __str__

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self._images()}

    def _images(self) -> str:
        """Return an image in the requested language, or one in each; the page shows one of them."""
        if not self._language:
            each = [Animation(self.player, x, self.seconds, self.dark) for x in ("en", "zh")]
            return "".join(in_language(a.language, a._images(), "div") for a in each)
        slim = Animation(self.player, self._language, self.seconds, self.dark)
        slim.width = 350
        calm = ", ".join(f"{query} and {PHONE}" for query in CALM.split(", "))
        others = {calm: slim.still, PHONE: slim.svg} if slim.scene.width < self.scene.width else {}
        shown = image(self._broad(self.svg), self.alt, {**others, CALM: self._broad(self.still)})
        wide, high = self.scene.broad
        name, size = f"mg-{wide}x{high}", f"width: {wide}px; height: {high}px"
        rule = assets.style(f"@container (min-width: {wide}px) {{ .{name} img {{ {size}; }} }}")
        return f'<div class="{name}" style="{CARD}">{rule}{shown}</div>'

    def _broad(self, file: str) -> str:
        """Let a file show the score beside the drawings where its image is wide enough."""
        scene, (wide, high), paper = self.scene, self.scene.broad, 'height="100%"/>'
        scale = max(scene.width / wide, scene.height / high)
        rules = BROAD.format(wide=wide, high=high, scale=scale, x=scene.aside, y=EDGE)
        file = file.replace("</style>", rules, 1).replace(paper, f'{paper}<g class="mg-all">', 1)
        return f'<svg preserveAspectRatio="xMinYMin"{file[4:-6]}</g></svg>'

    def save(self, path: str | Path) -> Path:
        """Write the animation; the ending chooses: .svg, .gif or .mp4.

        Raises ValueError for another ending, RuntimeError for .mp4 without ffmpeg.
        """
        target = Path(path)
        if (suffix := ending(target, FORMATS)) == ".svg":
            write(target, self.svg)
        else:
            with progress():
                write(target, (gif if suffix == ".gif" else mp4)(self._scenes(), bool(self.dark)))
        return target


def animate(
    obj: Any,
    *inputs: Any,
    feed_dict: Mapping[Any, Any] | None = None,
    session: Any = None,
    language: Literal["en", "zh"] | None = None,
    seconds: float = 1.0,
    dark: bool | None = None,
) -> Animation:
    """Animate a program: each step as it happens, with the values that move along the arrows.

    obj: as for `viz.step`; or a function with inputs, which is shown both ways, as by
    `viz.compare`; or a player. `feed_dict` and `session` are those of `viz.step`. `language` is the
    one chosen now if it is left out; `seconds`, how long a step takes. `dark`: True or False; if it
    is left out, an SVG is as its reader likes it, and painted pictures are light.
    Raises TypeError for other things, ValueError for options that cannot be.

    >>> animation = animate(lambda x: x * x, 3.0, language="en")
    >>> animation.save("square.svg").name  # doctest: +SKIP
    'square.svg'
    >>> print(animation.text()[0].splitlines()[-1])
    checked: values and gradients of both graphs are equal, bit for bit
    """
    if isinstance(obj, Player):
        player = obj
    elif inputs and callable(obj) and not isinstance(obj, (Tensor, Node)):
        player = both_ways(obj, inputs, 6)  # twice as many steps are too long to watch
    else:
        fed = inputs[0] if inputs else feed_dict
        player = player_of(obj, names_in(sys._getframe(1)), fed, session)
    return Animation(player, language, seconds, dark)
