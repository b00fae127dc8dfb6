"""Answers about a node, in sentences: its operands, its readers, what is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from viz.film.film import Facts, Track, latest
from viz.picture.boxes import Picture, PictureNode
from viz.picture.formula import UPSTREAM
from viz.words.text import ROWS, Pair, row

MOST = 4  # names that a sentence lists
SLOTS = ("maker", "formula", "in", "out", "gradient", "local", "kept", "line")  # as they are read

Answer = tuple[int, str, Pair]  # from this step on, which question, the answer


def node_details(picture: Picture, tracks: Mapping[str, Track]) -> dict[str, list[Answer]]:
    """Return each node's answers by step: the last one of each slot is true at that time."""
    readers: dict[str, list[PictureNode]] = {}
    for n in picture.nodes:
        for i in dict.fromkeys(n.inputs):
            readers.setdefault(i, []).append(n)
    found = {}
    for n in picture.nodes:
        births = [(r.label, tracks[r.id].born) for r in readers.get(n.id, ())]
        entries = [*fact_texts(tracks[n.id]), *_uses(n, tracks[n.id], births)]
        found[n.id] = sorted(entries, key=lambda entry: (entry[0], SLOTS.index(entry[1])))
    return found


def fact_texts(track: Track) -> Iterator[Answer]:
    """Yield all answers but where the value goes, which depends on its readers."""
    facts, born = track.facts, _creation_step(track)
    if facts.maker:
        yield born, "maker", row("details_maker", op=facts.maker)
    if facts.formula and born not in [step for step, _ in track.filled]:
        yield born, "formula", (facts.formula, facts.formula)
    yield from ((step, "formula", (text, text)) for step, text in track.filled)
    if facts.operands and born not in [step for step, _ in track.read]:
        yield born, "in", row("details_in_plan", names=_listed(dict.fromkeys(facts.operands)))
    for step, values in track.read:
        pairs = [_origin(*pair) for pair in zip(facts.operands, values, strict=False)]
        if pairs:
            yield step, "in", row("details_in", operands=_joined(pairs, ", ", "，"))
    yield from ((step, "gradient", _gradient(track, step, s.text)) for step, s in track.gradients)
    built = max(born, track.gradients_built)
    yield from ((built, slot, text) for slot, text in _gradient_texts(facts))
    if facts.line:
        yield born, "line", row("details_line", line=facts.line)


def _creation_step(track: Track) -> int:
    first = [step for step, _ in track.values[:1]]
    return track.born if track.born is not None else min(first, default=0)


def _uses(
    box: PictureNode, track: Track, births: Sequence[tuple[str, int | None]]
) -> Iterator[Answer]:
    """Yield the value at each step at which it changes or gets another reader."""
    born = _creation_step(track)
    moments = {born, *(step for step, _ in track.values)}
    moments |= {step for _, step in births if step is not None and step > born}
    for step in sorted(moments):
        value = latest(track.values, step)
        names = dict.fromkeys(name for name, at in births if at is not None and at <= step)
        now = "done" if value else "held" if box.kind == "constant" else "plan"
        whom = "read" if names else "result" if box.is_output and value else "alone"
        about = {"value": value.text if value else "", "names": _listed(names)}
        yield step, "out", row(f"details_out_{now}_{whom}", **about)


def _gradient(track: Track, step: int, total: str) -> Pair:
    shares = latest(track.shares, step)
    if shares is None:
        return row("details_gradient_known", total=total)
    if not shares:
        return row("details_seed", total=total)
    if len(shares) == 1:
        return row("details_gradient", total=total, name=shares[0][0])
    froms = [row("details_from", name=name, value=value) for name, value in shares]
    return row("details_gradient_sum", total=total, shares=_joined(froms, " + ", " + "))


def _gradient_texts(facts: Facts) -> Iterator[tuple[str, Pair]]:
    """Yield the formula of each operand's gradient from the upstream one, and what it needs."""
    if facts.rules:
        pairs = [_gradient_rule(*rule, times) for rule, times in Counter(facts.rules).items()]
        yield "local", row("details_local", shares=_joined(pairs, ", ", "，"))
    if facts.kept:
        pairs = [row("details_for", what=what, names=_listed(names)) for what, names in facts.kept]
        yield "kept", row("details_kept", kept=_joined(pairs, "; ", "；"))
    elif facts.kept is not None:
        yield "kept", ROWS["details_kept_nothing"]


def _gradient_rule(name: str, formula: str, times: int) -> Pair:
    """Describe the gradient of one operand; one that is read twice gets it twice."""
    english, chinese = (formula.replace(UPSTREAM, word) for word in ROWS["upstream"])
    key = "details_rule_same" if formula == UPSTREAM else "details_rule"
    sentence = row(key, name=name, formula=(english, chinese))
    return sentence if times == 1 else row("details_times", what=sentence, count=times)


def _origin(name: str, value: str) -> Pair:
    """Say where an operand came from; a number is its own name."""
    return row("details_from_constant" if name == value else "details_from", name=name, value=value)


def _listed(names: Iterable[str]) -> str:
    known = [*islice(names, MOST + 1)]
    return ", ".join([*known[:MOST], *(["…"] if len(known) > MOST else [])])


def _joined(pairs: Iterable[Pair], english: str, chinese: str) -> Pair:
    known = [*islice(pairs, MOST + 1)]
    shown = known[:MOST] + ([("…", "…")] if len(known) > MOST else [])
    return english.join(p[0] for p in shown), chinese.join(p[1] for p in shown)
