"""The table: what every side took, and what was aimed at, reached or missed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from measure import Row, Spread, Target

OURS = ("minigrad", "viz")
SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
UNITS = {"bytes": ((1e6, "MB"), (1e3, "kB"), (1.0, "bytes")), "s": SCALES}


def figure(value: float, unit: str) -> str:
    """A figure with its unit, in three digits: 12.3 µs, 48 arrays."""
    scales = UNITS.get(unit, ((1.0, unit),))
    size, name = next((s for s in scales if abs(value) >= s[0]), scales[-1])
    return f"{digits(value / size)} {name}"


def digits(value: float) -> str:
    if value != value or value in (float("inf"), float("-inf")) or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def ratio(value: float) -> str:
    """A ratio in two digits after the point, or in three where that says nothing."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def shown(row: Row, target: Target, value: float) -> str:
    return ratio(value) if target.against else figure(value, row.unit)


def span(found: Spread, write: object) -> str:
    """The middle, and from where to where the starts lie."""
    assert callable(write)
    return f"{write(found.middle)} ({write(found.low)} to {write(found.high)})"


def describe(row: Row) -> Iterable[str]:
    """A row in full: all sides, then all targets."""
    yield row.name
    if row.failed:
        yield f"  FAILED: {row.failed}"
    for side in row.sides:
        found = row.figure(side)
        low, high = figure(found.low, row.unit), figure(found.high, row.unit)
        yield f"  {side:34} {figure(found.middle, row.unit):>12}   ({low} to {high})"
    for side, why in row.absent.items():
        yield f"  {side:34} {'–':>12}   {why}"
    for target in row.targets:
        yield "  " + " ".join(f"{cell}" for cell in aim(row, target))


def aim(row: Row, target: Target) -> tuple[str, str, str, str]:
    """What is compared, what was measured, what was aimed at, and whether it was reached."""
    limit = f"aimed at ≤ {shown(row, target, target.most)}"
    found = row.verdict(target)
    if found is None:
        return (f"{target.label}:", "not measured,", f"{limit}:", "–")
    measured, reached = found
    text = span(measured, lambda v: shown(row, target, v))
    return (f"{target.label}:", f"{text},", f"{limit}:", "reached" if reached else "MISSED")


def fastest(rows: Sequence[Row]) -> Iterable[str]:
    """Each of our sides against whoever else was fastest, as one Markdown table."""
    cells = [("workload", "ours", "fastest peer", "ours / fastest (starts)")]
    for row in rows:
        peer = row.fastest(OURS)
        ours = [side for side in row.sides if peer and side.startswith(OURS)]
        cells += [(row.name, side, peer, span(row.ratio(side, peer), ratio)) for side in ours]
    yield from markdown(cells)


def matrix(rows: Sequence[Row], peers: Sequence[str]) -> Iterable[str]:
    """The median ratio of each of our sides to each peer, as one Markdown table."""
    cells = [("workload", "ours", *(f"/ {peer}" for peer in peers))]
    for row in rows:
        others = [peer for peer in peers if peer in row.sides]
        for side in row.sides if others else ():
            if side.startswith(OURS):
                found = {peer: ratio(row.ratio(side, peer).middle) for peer in others}
                cells.append((row.name, side, *(found.get(peer, "–") for peer in peers)))
    yield from markdown(cells)


def markdown(cells: Sequence[Sequence[str]]) -> Iterable[str]:
    """A table whose first line is its head, with columns of one width."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for k, line in enumerate(cells):
        yield "| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |"
        if not k:
            yield "|" + "|".join("-" * (w + 2) for w in widths) + "|"


def summary(rows: Sequence[Row]) -> Iterable[str]:
    """The targets as one Markdown table, and how many were reached."""
    cells = [("workload", "ours / other", "measured (starts)", "aimed at", "reached")]
    verdicts = []
    for row in rows:
        for target in row.targets:
            found = row.verdict(target)
            limit = f"≤ {shown(row, target, target.most)}"
            if found is None:
                cells.append((row.name, target.label, "–", limit, "not measured"))
                continue
            measured, reached = found
            verdicts.append(reached)
            text = span(measured, lambda v, row=row, target=target: shown(row, target, v))
            cells.append((row.name, target.label, text, limit, "yes" if reached else "**no**"))
    yield from markdown(cells)
    yield ""
    yield f"{sum(verdicts)} of {len(verdicts)} measured targets reached."
