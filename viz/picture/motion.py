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
from math import dist, sqrt
from pathlib import Path
from typing import Any, NamedTuple

from viz.picture import mpl
from viz.picture.layout import install_command, last_line
from viz.picture.paint import Layers
from viz.picture.place import Point
from viz.picture.theme import MOTION
from viz.words.progress import with_progress
from viz.words.text import row_text

WAYPOINTS = 8  # of a curve, between which what travels moves straight on
SMALL = " scale(.3);opacity:0"  # what comes out of a card, and what one takes in
RATE = 25  # pictures a second of a film
COLORS, APART = 64, 8  # of a GIF: how many, and how far from each other at least
SCALE = 1.5  # pixels of a painted picture for one of a page; of a large one fewer, but one at least
PIXELS = 2_000_000  # of a painted picture, about at most
LAST = 4.0  # how long the last picture of a loop stands, s
HIDDEN = re.compile(r'<title>[^<]*</title>|<text[^>]*></text>| id="[^"]*"')

# What is seen for a while is hidden by default, what is seen at the end is not: so whoever asks for
# less motion, prints, or knows no animations has the end before them. Where the drawing is opened
# or inlined, a press takes it back to its beginning, and it plays when it is let go.
PLAYS = """
.mg-for { visibility: hidden; }
@media (prefers-reduced-motion: no-preference) {
.mg-for { animation: mg-for var(--for) var(--at); }
.mg-from { animation: mg-from var(--for); }
}
svg:active g { animation: none !important; }
@keyframes mg-for { from, to { visibility: visible; } }
@keyframes mg-from { from, to { visibility: hidden; } }
"""


class Trip(NamedTuple):
    """Something that moves: an SVG around (0, 0), its curve, when it is visible, and for how long
    it rests at the beginning.
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
    """Return the point at a fraction of the length, 0 to 1, of a path of Bézier curves."""
    curves = [list(way[i : i + 4]) for i in range(0, len(way) - 1, 3)]
    lengths = [dist(curve[0], curve[-1]) or 1e-9 for curve in curves]
    left, number = part * sum(lengths), 0
    while left > lengths[number] and number < len(curves) - 1:
        left -= lengths[number]
        number += 1
    t, points = min(left / lengths[number], 1), curves[number]
    while len(points) > 1:
        points = [(x + t * (u - x), y + t * (v - y)) for (x, y), (u, v) in pairwise(points)]
    return points[0]


# ---- SVG -------------------------------------------------------------------------------------


def animated_svg(film: Scenes) -> tuple[str, str]:
    """Return an SVG drawing that plays once and stops at its end, and the rules it needs."""
    names = dict.fromkeys(name for _, parts in film.parts for name in parts)
    inside = "".join(_spans([(at, parts.get(x, "")) for at, parts in film.parts]) for x in names)
    moving, rules = [], [PLAYS]
    for i, trip in enumerate(film.trips):
        steps = [(k / WAYPOINTS, along(trip.way, k / WAYPOINTS)) for k in range(WAYPOINTS + 1)]
        keyframes = "".join(
            f"{t:.0%}{{transform:translate({x:.0f}px,{y:.0f}px){SMALL if t in (0, 1) else ''}}}"
            for t, (x, y) in steps
        )
        rules.append(f"@keyframes mg-k{i}{{{keyframes}}}\n")
        rest = f"animation:mg-k{i} {MOTION}ms ease-in-out {trip.start + trip.rest:.2f}s both"
        moving.append(_span(f'<g style="{rest}">{trip.svg}</g>', trip.start, trip.end))
    return HIDDEN.sub("", film.around(inside + "".join(moving))), "".join(rules)


def _spans(shown: Sequence[tuple[float, str]]) -> str:
    """Return one part through all pictures: each text from when it appears to the next."""
    found = [entry for i, entry in enumerate(shown) if not i or entry[1] != shown[i - 1][1]]
    ends = [*(at for at, _ in found[1:]), None]
    return "".join(_span(svg, at, end) for (at, svg), end in zip(found, ends, strict=True) if svg)


def _span(svg: str, start: float, end: float | None) -> str:
    if end is None:
        wait = f' class="mg-from" style="--for:{start:.2f}s"' if start else ""
        return f"<g{wait}>{svg}</g>" if wait else svg
    return f'<g class="mg-for" style="--at:{start:.2f}s;--for:{end - start:.2f}s">{svg}</g>'


# ---- Painted ---------------------------------------------------------------------------------


class _Painting:
    """A film that is painted: each part once for each way it looks, and pictures out of parts.

    Most parts are the same from step to step, and most of a picture while something travels.
    """

    def __init__(self, film: Scenes, dark: bool) -> None:
        empty = film.around("")
        wide, high = (int(n) for n in re.findall(r'(?:width|height)="(\d+)"', empty)[:2])
        self.film, self.scale = film, max(1.0, min(SCALE, sqrt(PIXELS / (wide * high))))
        self.layers = Layers(empty, dark, 96 * self.scale)
        ends = [*(at for at, _ in film.parts[1:]), film.length]
        self.steps = [
            (parts, [trip for trip in film.trips if at <= trip.start < end], end - at)
            for (at, parts), end in zip(film.parts, ends, strict=True)
        ]

    def seconds(self) -> list[float]:
        """Return how long each picture is shown, in seconds."""
        moving = [MOTION / 1000 / (WAYPOINTS - 1)] * (WAYPOINTS - 1)
        return [
            seconds
            for _, trips, stands in self.steps
            for seconds in ([max(trip.rest for trip in trips), *moving] if trips else [stands])
        ]

    def pictures(self, made: Callable[[Any], Any] = lambda image: image) -> Iterator[Any]:
        """Yield the pictures as `made` returns them; after small changes only the patch is made."""
        for parts, trips, _ in with_progress(self.steps, "progress_pictures"):
            base = self.base(parts)
            whole = made(base)
            if not trips:
                yield whole
            for k in range(WAYPOINTS) if trips else ():
                copy = whole.copy()
                box, patch = self._travelling(base, trips, k / (WAYPOINTS - 1))
                copy.paste(made(patch), box)
                yield copy

    def sample(self, count: int) -> list[Any]:
        """Return about `count` of the pictures, with something moving in them."""
        found = []
        for parts, trips, _ in self.steps[:: max(1, len(self.steps) // count)]:
            image = self.base(parts)
            box, patch = self._travelling(image, trips, 0.5)
            image.paste(patch, box)
            found.append(image)
        return found

    def base(self, parts: Mapping[str, str]) -> mpl.Image.Image:
        """Return a picture of parts."""
        image = mpl.Image.new("RGB", self.layers.size, self.layers.paper)
        for svg in _split_elements(parts.values()):
            if (layer := self.layers.layer(svg)) is not None:
                image.paste(layer[0], layer[1], layer[0])
        return image

    def _travelling(
        self, base: mpl.Image.Image, trips: Iterable[Trip], part: float
    ) -> tuple[tuple[int, int, int, int], mpl.Image.Image]:
        """Return the box around what is moving, at a fraction of the path, and its image."""
        middle = [side / 2 / self.scale for side in self.layers.size]
        chips = []
        for trip in trips:
            chip = f'<g transform="translate({middle[0]:g},{middle[1]:g})">{trip.svg}</g>'
            if (layer := self.layers.layer(chip)) is not None:
                way = zip(along(trip.way, part), middle, strict=True)
                by = (round((a - b) * self.scale) for a, b in way)
                left, top = (a + b for a, b in zip(layer[1], by, strict=True))
                chips.append((layer[0], max(left, 0), max(top, 0)))
        box = (
            min((left for _, left, _ in chips), default=0),
            min((top for _, _, top in chips), default=0),
            min(max((left + x.width for x, left, _ in chips), default=1), base.width),
            min(max((top + x.height for x, _, top in chips), default=1), base.height),
        )
        patch = base.crop(box)
        for image, left, top in chips:
            patch.paste(image, (left - box[0], top - box[1]), image)
        return box, patch


def _split_elements(parts: Iterable[str]) -> Iterator[str]:
    """Yield each part as a separate element, inside the groups that other parts open and close."""
    around: list[str] = []
    for svg in filter(None, parts):
        if svg == "</g>":
            around.pop()
        elif "</" not in svg and not svg.endswith("/>"):
            around.append(svg)
        else:
            yield "".join(("<g>", *around, svg, "</g>" * len(around), "</g>"))


def gif(film: Scenes, dark: bool) -> bytes:
    """Return a GIF that repeats after a pause at its end."""
    painting = _Painting(film, dark)
    palette = mpl.Image.new("P", (1, 1))
    palette.putpalette(_palette(painting.sample(8)))
    no_dither = mpl.Image.Dither.NONE
    frames = painting.pictures(lambda image: image.quantize(palette=palette, dither=no_dither))
    times = [round(1000 * seconds) for seconds in painting.seconds()]
    times[-1] = max(times[-1], round(1000 * LAST))
    out = io.BytesIO()
    next(frames).save(
        out, "GIF", save_all=True, append_images=frames, duration=times, loop=0, disposal=1
    )
    return out.getvalue()


def _palette(images: Iterable[mpl.Image.Image]) -> list[int]:
    """Return the most frequent colours, in order, without near duplicates."""
    seen: Counter[Any] = Counter()
    for image in images:
        seen.update({color: n for n, color in image.getcolors(image.width * image.height) or []})
    found: list[tuple[int, ...]] = []
    for color, _ in seen.most_common():
        near = (max(abs(a - b) for a, b in zip(color, x, strict=True)) < APART for x in found)
        if len(found) < COLORS and not any(near):
            found.append(color)
    return [part for color in found for part in color]


def mp4(film: Scenes, dark: bool) -> bytes:
    """Return an MP4, made by ffmpeg; raise RuntimeError if that is missing or fails."""
    program = shutil.which("ffmpeg")
    if program is None:
        raise RuntimeError(row_text("no_ffmpeg", command=install_command("ffmpeg", "ffmpeg.org")))
    painting = _Painting(film, dark)
    wide, high = (n - n % 2 for n in painting.layers.size)  # a colour is that of four pixels
    command = [program, "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-s", f"{wide}x{high}", "-r", str(RATE), "-i", "-", "-pix_fmt", "yuv420p"]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "film.mp4"
        raw = b"".join(
            image.crop((0, 0, wide, high)).tobytes() * max(1, round(seconds * RATE))
            for image, seconds in zip(painting.pictures(), painting.seconds(), strict=True)
        )
        done = subprocess.run([*command, str(target)], input=raw, capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(
                row_text("ffmpeg_failed", reason=last_line(done.stderr.decode(errors="replace")))
            )
        return target.read_bytes()
