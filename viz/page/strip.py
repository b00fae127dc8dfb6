"""A strip of stills, shown in place of the player where no script runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from minigrad.diagnostics.messages import get_language
from viz.film.film import BUILT, GRADIENT, RUN, Film
from viz.page.scene import Moment, Scene
from viz.picture.drawing import HALF_WIDE, PAGE_WIDE, as_image
from viz.words.text import Pair, bilingual, both, html, row

MANY = 8  # cards in one still; of larger ones the strip has two


def strip(films: Sequence[Film], links: Sequence[Mapping[str, str]]) -> str:
    """Return two or three stills with a description of each, one language per line.

    Raises LayoutError where a film cannot be drawn.
    """
    width = 2 * HALF_WIDE if len(films) > 1 else PAGE_WIDE
    scene = Scene(films, None, links, width, bare=True, language=get_language())
    shown = []
    for step, said in moments(films, sum(len(stage.drawn.nodes) for stage in scene.stages)):
        svg = scene.svg("".join(scene.parts(Moment(step), "").values()))
        shown.append(f"{bilingual(said, 'div')}{as_image(svg, both(said))}")
    return html("strip_play", "div") * (len(films[0].frames) > 1) + "".join(shown)


def moments(films: Sequence[Film], cards: int = 0) -> list[tuple[int, Pair]]:
    """Return the most instructive steps, in order, and what can be seen at each.

    Of a dynamic graph that is when half of it has grown, of a static one when all of it is built
    and nothing has run: the two differ there. Of both, the end.
    """
    last = max(len(film.frames) for film in films) - 1
    moments: list[tuple[int, str]] = []
    for film in films:
        gone = min((t.freed for t in film.tracks.values() if t.freed), default=last)
        back = min(_steps(film, GRADIENT), default=last)
        ran = [i for i in _steps(film, RUN) if i < min(back, gone) or film.picture.kind == "static"]
        half, forward = [0, *ran][(len(ran) + 1) // 2], max(ran, default=0)
        if film.picture.kind == "dynamic":
            moments += [(half, "grown")]
            moments += [(forward, "forward")] if len(films) == 1 and back < gone else []
        elif _steps(film, BUILT):
            moments += [(min(_steps(film, RUN, "input") + ran, default=1) - 1, "planned")]
            moments += [(half, "filled")] if len(films) == 1 else []
    chosen = {step: key for step, key in reversed(moments) if 0 < step < last}
    steps = sorted(chosen)[-1:] if cards > MANY else sorted(chosen)
    texts = [(step, row(f"strip_{chosen[step]}{_apart(films, step)}", step=step)) for step in steps]
    end = "strip_failed" if any(film.frames[-1].failed for film in films) else "strip_end"
    return [*texts, (last, row(end, step=last) if last else films[0].frames[0].caption)]


def _apart(films: Sequence[Film], step: int) -> str:
    """Return "_both" if at a step the dynamic graph has run and the static one has not, else ""."""
    ran = {film.picture.kind: min(_steps(film, RUN), default=step + 1) <= step for film in films}
    return "_both" if ran == {"dynamic": True, "static": False} else ""


def _steps(film: Film, clock: str, sort: str = "operator") -> list[int]:
    """Return the steps in which this clock notes marks of this sort."""
    frames = enumerate(film.frames)
    return [i for i, frame in frames if any(m[::2] == (clock, sort) for m in frame.marks)]
