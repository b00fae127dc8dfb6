"""How each box stands at one step of a film: what pages compute while they play, for stills."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from viz.film.film import Film, Track, latest
from viz.picture import cards
from viz.picture.boxes import GIVEN, Picture, PictureNode
from viz.picture.summary import Summary
from viz.picture.theme import MARKS
from viz.words.text import Pair, row


@dataclass(frozen=True)
class State:
    """How a box stands at one step.

    born: whether it is there. ran: whether it has its value; of a group, whether all in it have.
    gradient: stays, once it arrived. clock: the steps at which it was born and got its value, None
    before. now: the step is about it. bad: its value or gradient holds NaN or infinity.
    """

    born: bool
    ran: bool
    value: Summary | None
    gradient: Summary | None
    clock: tuple[int | None, int | None]
    now: bool
    freed: bool
    bad: bool

    def told(self, given: bool) -> Pair:
        """The clock in words; `given`: of what computes nothing. "" before it is born."""
        born, ran = self.clock
        if born is None:
            return "", ""
        if ran is None:
            return row("card_built", born=born)
        if given:
            return row("card_fed" if born < ran else "card_given", born=born, ran=ran)
        return row("card_ran", born=born, ran=ran)


def states(film: Film, step: int, drawn: Picture | None = None) -> dict[str, State]:
    """The state of each box of `drawn` (the whole picture, if it is left out) at this step.

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
    last = len(film.frames) - 1
    step = min(step, last)
    active = set(film.frames[step].active) if film.frames else set()
    found = {}
    for box in (drawn or film.picture).nodes:
        alone = (box.id,) if box.id in film.tracks else box.inputs[:1]  # a result: its operator
        inside = [(i, film.tracks[i]) for i in box.members or alone]
        parts = [_state(track, step, i in active) for i, track in inside]
        found[box.id] = _joined(parts, [bool(track.values) for _, track in inside])
    return found


def on_cards(film: Film, step: int, drawn: Picture | None = None) -> dict[str, cards.State]:
    """The same as classes and texts of the cards, for a still of this step."""
    boxes = (drawn or film.picture).nodes
    found = states(film, step, drawn)
    failed = film.frames[min(step, len(film.frames) - 1)].failed
    return {box.id: _on_card(film, box, found[box.id], box.id == failed) for box in boxes}


def _on_card(film: Film, box: PictureNode, state: State, failed: bool) -> cards.State:
    named = box.kind == "constant" and bool(box.name)  # by its value
    given = box.kind in GIVEN and box.kind != "variable"  # neutral; a variable keeps what ran
    plan = film.picture.kind == "static" and not state.ran and box.kind != "constant"
    looks = {
        "unborn": not state.born and not failed,
        "failed": failed,
        "born": state.born and plan and not failed,
        "ran": state.born and not (plan or given or failed),
        "freed": state.freed,
        "now": state.now and not film.still,
        "bad": state.bad,
    }
    value = state.value.short if state.value and not named else ""
    value = MARKS["failed"].sign if failed else value
    gradient = state.gradient.short if state.gradient else ""
    clock = ("", "") if film.still or box.kind == "constant" else state.told(box.kind in GIVEN)
    return cards.State(tuple(f"mg-{x}" for x in looks if looks[x]), value, gradient, clock)


def _state(track: Track, step: int, now: bool) -> State:
    value, gradient = latest(track.values, step), latest(track.gradients, step)
    ran = max((i for i, _ in track.values if i <= step), default=None)
    born = track.born if track.born is not None else ran
    there = born is not None and born <= step
    freed = track.freed is not None and track.freed <= step
    bad = any(x.bad for x in (value, gradient) if x)
    clock = (born if there else None, ran)
    return State(there, ran is not None, value, gradient, clock, now, freed, bad)


def _joined(members: Sequence[State], valued: Sequence[bool]) -> State:
    """The state of what is drawn as one box; values are those of the last that ever gets one."""
    if len(members) == 1:
        return members[0]
    own = [state for state, has in zip(members, valued, strict=True) if has]
    last = own[-1] if own else members[-1]
    ran = bool(own) and all(state.ran for state in own)
    births = [state.clock[0] for state in members if state.clock[0] is not None]
    return State(
        any(state.born for state in members),
        ran,
        last.value if ran else None,
        last.gradient,
        (min(births, default=None), last.clock[1] if ran else None),
        any(state.now for state in members),
        bool(own) and all(state.freed for state in own),
        any(state.bad for state in members),
    )
