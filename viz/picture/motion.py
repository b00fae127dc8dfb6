"""Moving pictures: an SVG that plays by itself, and painted frames as GIF or MP4."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from viz.picture import mpl
from viz.picture.layout import installing, last_line
from viz.picture.paint import Layers
from viz.picture.place import Point
from viz.picture.theme import MOTION
from viz.words.progress import with_progress
from viz.words.text import printed

WAYPOINTS = 6  # of a curve, between which what travels moves straight on
RATE = 25  # pictures a second of a film
COLORS, APART = 128, 8  # of a GIF: how many, and how far from each other at least
SCALE = 1.5  # pixels of a painted picture for one of a page
LAST = 4.0  # how long the last picture of a loop stands, s
HIDDEN = re.compile(r'<title>[^<]*</title>|<text[^>]*></text>| id="[^"]*"')

# What is seen for a while is hidden by default, what is seen at the end is not: so whoever asks for
# less motion, prints, or knows no animations has the end before them. Where the drawing is opened
# or inlined, a press takes it back to its beginning, and it plays when it is let go.
PLAYS = """
.mg-for { visibility: hidden; }
@media (prefers-reduced-motion: no-preference) {
.mg-for { animation: mg-for 1s; }
.mg-from { animation: mg-from 1s; }
}
svg:active g { animation: none !important; }
@keyframes mg-for { from, to { visibility: visible; } }
@keyframes mg-from { from, to { visibility: hidden; } }
"""


class Trip(NamedTuple):
    """Something that travels: an SVG around (0, 0), its curve, when it is seen, and for how long
    it stands at the beginning.
    """

    svg: str
    way: tuple[Point, ...]
    start: float
    rest: float

    @property
    def end(self) -> float:
        return self.start + self.rest + MOTION / 1000


class Scenes(NamedTuple):
    """What is to be played: by the second it begins at, each picture as parts; and what travels."""

    parts: Sequence[tuple[float, Mapping[str, str]]]
    trips: Sequence[Trip]
    length: float
    around: Callable[[str], str]  # makes an <svg> element of parts


def along(way: Sequence[Point], part: float) -> Point:
    """The point of a curve at a part of its way, between 0 and 1; curves are of Bézier's kind."""
    count = (len(way) - 1) // 3
    number = min(int(part * count), count - 1)
    t, points = part * count - number, list(way[3 * number : 3 * number + 4])
    while len(points) > 1:
        points = [(x + t * (u - x), y + t * (v - y)) for (x, y), (u, v) in pairwise(points)]
    return points[0]


# ---- SVG -------------------------------------------------------------------------------------


def playing(film: Scenes) -> tuple[str, str]:
    """An SVG drawing that plays once and stands at its end, and the rules that it needs."""
    names = dict.fromkeys(name for _, parts in film.parts for name in parts)
    inside = "".join(
        _spans([(at, parts.get(name, "")) for at, parts in film.parts]) for name in names
    )
    moving, rules = [], [PLAYS]
    for i, trip in enumerate(film.trips):
        steps = [(k / WAYPOINTS, along(trip.way, k / WAYPOINTS)) for k in range(WAYPOINTS + 1)]
        told = "".join(
            f"{t:.0%}{{transform:translate({x:.0f}px,{y:.0f}px)}}" for t, (x, y) in steps
        )
        rules.append(f"@keyframes mg-k{i}{{{told}}}\n")
        rest = f"animation:mg-k{i} {MOTION}ms ease-in-out {trip.start + trip.rest:.2f}s both"
        moving.append(_span(f'<g style="{rest}">{trip.svg}</g>', trip.start, trip.end))
    return HIDDEN.sub("", film.around(inside + "".join(moving))), "".join(rules)


def _spans(shown: Sequence[tuple[float, str]]) -> str:
    """One part through all pictures: each text from when it is seen to the next."""
    found = [entry for i, entry in enumerate(shown) if not i or entry[1] != shown[i - 1][1]]
    ends = [at for at, _ in found[1:]]
    return "".join(
        _span(svg, at, end) for (at, svg), end in zip(found, [*ends, None], strict=True) if svg
    )


def _span(svg: str, start: float, end: float | None) -> str:
    if end is None:
        wait = f' class="mg-from" style="animation-duration:{start:.2f}s"' if start else ""
        return f"<g{wait}>{svg}</g>" if wait else svg
    when = f"animation-delay:{start:.2f}s;animation-duration:{end - start:.2f}s"
    return f'<g class="mg-for" style="{when}">{svg}</g>'


# ---- Painted ---------------------------------------------------------------------------------


def pictures(film: Scenes, dark: bool) -> Iterator[tuple[mpl.Image.Image, float]]:
    """Painted pictures, each with how many seconds it is seen.

    Each part is painted once for each way it looks, and a picture is made of its parts: most of
    them are the same from step to step.
    """
    layers = Layers(film.around(""), dark, 96 * SCALE)
    ends = [*(at for at, _ in film.parts[1:]), film.length]
    steps = list(zip(film.parts, ends, strict=True))
    for (at, parts), end in with_progress(steps, "progress_pictures"):
        base = mpl.Image.new("RGB", layers.size, layers.paper)
        for svg in _separate(parts.values()):
            _lay(base, layers.layer(svg))
        trips = [trip for trip in film.trips if at <= trip.start < end]
        if not trips:
            yield base, end - at
            continue
        yield _with(base, trips, 0, layers), max(trip.rest for trip in trips)
        for k in range(1, WAYPOINTS):
            part = k / (WAYPOINTS - 1)
            yield _with(base, trips, part, layers), MOTION / 1000 / (WAYPOINTS - 1)


def _separate(parts: Iterable[str]) -> Iterator[str]:
    """Each part as an element of its own, inside of the groups that other parts begin and end."""
    around: list[str] = []
    for svg in filter(None, parts):
        if svg == "</g>":
            around.pop()
        elif "</" not in svg and not svg.endswith("/>"):
            around.append(svg)
        else:
            yield "".join(("<g>", *around, svg, "</g>" * len(around), "</g>"))


def _lay(
    base: mpl.Image.Image,
    layer: tuple[mpl.Image.Image, tuple[int, int]] | None,
    by: tuple[int, int] = (0, 0),
) -> None:
    """Lay a painted part over a picture, moved by so many pixels."""
    if layer is not None:
        image, (x, y) = layer
        base.paste(image, (x + by[0], y + by[1]), image)


def _with(
    base: mpl.Image.Image, trips: Iterable[Trip], part: float, layers: Layers
) -> mpl.Image.Image:
    """A picture with what travels at a part of its way."""
    copy = base.copy()
    middle = [round(side / 2 / SCALE) for side in layers.size]
    for trip in trips:
        x, y = (round((a - b) * SCALE) for a, b in zip(along(trip.way, part), middle, strict=True))
        chip = f'<g transform="translate({middle[0]},{middle[1]})">{trip.svg}</g>'
        _lay(copy, layers.layer(chip), (x, y))
    return copy


def gif(film: Scenes, dark: bool) -> bytes:
    """A GIF that begins again after a rest at its end."""
    shown = list(pictures(film, dark))
    palette = mpl.Image.new("P", (1, 1))
    palette.putpalette(_palette([image for image, _ in shown[:: max(1, len(shown) // 8)]]))
    frames = [
        x.quantize(palette=palette, dither=mpl.Image.Dither.NONE)
        for x, _ in with_progress(shown, "progress_frames")
    ]
    times = [round(1000 * seconds) for _, seconds in shown]
    times[-1] = max(times[-1], round(1000 * LAST))
    out = io.BytesIO()
    frames[0].save(
        out, "GIF", save_all=True, append_images=frames[1:], duration=times, loop=0, disposal=1
    )
    return out.getvalue()


def _palette(images: Iterable[mpl.Image.Image]) -> list[int]:
    """The colours that are seen most, in order, without those that are nearly others."""
    seen: Counter[Any] = Counter()
    for image in images:
        seen.update({color: n for n, color in image.getcolors(image.width * image.height) or []})
    found: list[tuple[int, ...]] = []
    for color, _ in seen.most_common():
        if len(found) < COLORS and all(_apart(color, other) for other in found):
            found.append(color)
    return [part for color in found for part in color]


def _apart(one: Sequence[int], other: Sequence[int]) -> bool:
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) >= APART


def mp4(film: Scenes, dark: bool) -> bytes:
    """An MP4, made by ffmpeg. Raises RuntimeError where that is not, or stops."""
    program = shutil.which("ffmpeg")
    if program is None:
        raise RuntimeError(printed("no_ffmpeg", command=installing("ffmpeg", "ffmpeg.org")))
    shown = list(pictures(film, dark))
    wide, high = (n - n % 2 for n in shown[0][0].size)  # as its colours ask, one for four pixels
    command = [program, "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-s", f"{wide}x{high}", "-r", str(RATE), "-i", "-", "-pix_fmt", "yuv420p"]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "film.mp4"
        raw = b"".join(
            image.crop((0, 0, wide, high)).tobytes() * max(1, round(seconds * RATE))
            for image, seconds in shown
        )
        done = subprocess.run([*command, str(target)], input=raw, capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(
                printed("ffmpeg_failed", reason=last_line(done.stderr.decode(errors="replace")))
            )
        return target.read_bytes()
