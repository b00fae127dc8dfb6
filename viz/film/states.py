"""The state of each box at one step of a film: what pages compute while they play, for stills."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from viz.film.film import Film, Track, latest
from viz.picture import cards
from viz.picture.boxes import GIVEN, NUMERIC, Picture, PictureNode, paths
from viz.picture.summary import Summary
from viz.picture.swatch import encoded
from viz.picture.theme import MARKS
from viz.words.text import row


@dataclass(frozen=True)
class BoxState:
    """The state of a box at one step.

    born: whether it exists. done, of: how many of what makes its state have their value, out of
    how many: of a group its operators. gradient: stays, once it arrived. reached: how many of them
    have theirs. clock: the steps at which it was built and got its value, None before. now: the
    step is about it. failed: the run stopped in it. again: it is in the place of one that was
    freed. bad: its value or gradient holds NaN or infinity.
    """

    born: bool
    done: int
    of: int
    value: Summary | None
    gradient: Summary | None
    reached: int
    clock: tuple[int | None, int | None]
    now: bool
    failed: bool
    freed: bool
    again: bool
    bad: bool

    @property
    def ran(self) -> bool:
        """Whether all of it has its value."""
        return self.done == self.of

    def clock_lines(self, given: bool, dynamic: bool) -> cards.Clock:
        """Return the lines of the clock; `given`: for what computes nothing."""
        born, ran = self.clock
        if born is None:
            return ()
        if ran == born:
            return (row("card_given" if given else "card_both", step=born),)
        if dynamic and not given and self.done and self.of > 1:  # one by one, each at once
            span = {"born": born, "ran": ran, "done": self.done, "of": self.of}
            return row("card_once"), row("card_some" if ran is None else "card_span", **span)
        first = row("card_declared" if given and ran is not None else "card_built", step=born)
        if ran is None:
            return (first, row("card_part", done=self.done, of=self.of))[: 1 + bool(self.done)]
        return first, row("card_fed" if given else "card_ran", step=ran)


def states(film: Film, step: int, drawn: Picture | None = None) -> dict[str, BoxState]:
    """Return the state of each box of `drawn` (by default the whole picture) at this step.

    A film that is over stays as it was at its end.

    >>> import minigrad as mg
    >>> import viz
    >>> x = mg.tensor(2.0, requires_grad=True)
    >>> (film,) = viz.step(x * x).films
    >>> [(s.born, s.value and s.value.short) for s in states(film, 0).values()]
    [(True, '2'), (False, None)]
    >>> states(film, 4)["n1"].gradient.short
    '4'
    """
    active = set(film.frames[step].active) if step < len(film.frames) else set()
    failed = film.frames[min(step, len(film.frames) - 1)].failed if film.frames else ""
    found = {}
    for box in (drawn or film.picture).nodes:
        tracks = [film.tracks[i] for i in members(film.picture, box)]
        inside = {box.id, *box.members}
        found[box.id] = _state(tracks, step, bool(inside & active), failed in inside)
    return found


def members(picture: Picture, box: PictureNode) -> tuple[str, ...]:
    """Return the nodes of the whole picture that determine the state of a box.

    Of a group these are its operators: what it is given does not make it, nor what runs inside of
    one of them. Of a strip these are the operators of its calls, of the result of an operator that
    operator, of all others the box itself.
    """
    if box.kind != "group":
        return box.inputs[:1] if box.kind == "tensor" else (box.id,)
    around = paths("/".join(filter(None, (box.group, box.name))))
    inside = {i for cell in box.cells for i in cell} or {*box.members}
    runs = [n for n in picture.nodes if n.id in inside and n.kind not in GIVEN]
    bodies = picture.owners.keys() - {*around}
    return tuple(n.id for n in runs if not bodies & {*paths(n.group)}) or box.members


def calls(picture: Picture, box: PictureNode) -> tuple[tuple[str, ...], ...]:
    """Return the nodes that determine a box's state, in parts: one per call of a strip."""
    own = members(picture, box)
    return tuple(tuple(i for i in cell if i in own) for cell in box.cells) or (own,)


def on_cards(film: Film, step: int, drawn: Picture | None = None) -> dict[str, cards.State]:
    """Return the states as classes, texts and swatches of the cards, for a still of this step."""
    found, boxes = states(film, step, drawn), (drawn or film.picture).nodes
    return {box.id: _on_card(film, box, found[box.id], step) for box in boxes}


def _on_card(film: Film, box: PictureNode, state: BoxState, step: int) -> cards.State:
    named = box.name and box.given and (box.kind == "group" or NUMERIC.match(box.name))
    plan = film.picture.kind == "static" and not state.ran and box.kind != "constant"
    there = state.born and not state.failed
    looks = {
        "unborn": not state.born and not state.failed,
        "failed": state.failed,
        "part": there and 0 < state.done < state.of,
        "born": there and plan,
        "ran": there and state.ran and not box.given,  # which is neutral: it did not run
        "freed": state.freed,
        "anew": state.again,
        "now": state.now and not film.still,
        "bad": state.bad,
        "origin": (state.value and (state.value.origin or (box.given and state.value.bad)))
        or (state.gradient and state.gradient.origin),
        "bad-back": bool(state.gradient and state.gradient.bad),
    }
    held = None if named or state.failed else state.value
    value = MARKS["failed"].sign if state.failed else held.beside if held else ""
    gradient = state.gradient.beside if state.gradient else ""
    if box.given and box.kind == "group":
        gradient = f"{state.reached}/{state.of}" if state.reached else ""
    dynamic = film.picture.kind == "dynamic"
    clock = () if film.still or box.kind == "constant" else state.clock_lines(box.given, dynamic)
    classes = tuple(f"mg-{x}" for x in looks if looks[x])
    pictures = (
        encoded(x.raster, top) if x and x.raster else ""
        for x, top in zip((held, state.gradient), film.scales, strict=True)
    )
    each = tuple(_on_cell(film, ids, step) for ids in calls(film.picture, box) if box.cells)
    return cards.State(classes, value, gradient, clock, state.done / state.of, each, *pictures)


def _on_cell(film: Film, ids: Sequence[str], step: int) -> tuple[str, ...]:
    """Return the CSS classes of a call in a strip."""
    active = film.frames[step].active if step < len(film.frames) and not film.still else ()
    cell = _state([film.tracks[i] for i in ids], step, not set(ids).isdisjoint(active), False)
    looks = {
        "unborn": not cell.born,
        "plan": cell.born and not cell.done and film.picture.kind == "static",
        "part": cell.born and not cell.ran and (cell.done or film.picture.kind == "dynamic"),
        "ran": cell.ran,
        "back": cell.gradient,
        "now": cell.now,
    }
    return tuple(f"mg-cell-{x}" for x in looks if looks[x])


def _state(tracks: Sequence[Track], step: int, now: bool, failed: bool) -> BoxState:
    """Return the state of what these tracks make; its value is that of the last."""
    first, tracks = tracks[-1], [t.life(step) for t in tracks]
    firsts = (t.values[0][0] if t.born is None and t.values else t.born for t in tracks)
    births = [born for born in firsts if born is not None and born <= step]
    runs = [max(past) for t in tracks if (past := [i for i, _ in t.values if i <= step])]
    value, gradient = (latest(x, step) for x in (tracks[-1].values, tracks[-1].gradients))
    return BoxState(
        born=bool(births),
        done=len(runs),
        of=len(tracks),
        value=value,
        gradient=gradient,
        reached=sum(latest(t.gradients, step) is not None for t in tracks),
        clock=(min(births, default=None), max(runs) if len(runs) == len(tracks) else None),
        now=now,
        failed=failed,
        freed=all(t.freed is not None and t.freed <= step for t in tracks),
        again=tracks[-1] is not first,
        bad=any(x.bad for x in (value, gradient) if x),
    )
