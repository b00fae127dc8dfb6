"""Models of the user's own, from other systems: what is said of them beside what is drawn."""

from __future__ import annotations

from minigrad.interop.captured import TOLERANCE, Captured
from viz.words.text import Pair, Right, row


def verdict(model: Captured) -> Pair:
    """How far values and gradients are from the original's, and which operators call it."""
    gaps = model.gaps()
    right = max(gaps) <= TOLERANCE
    key = "model_checked" if right else "model_differs"
    values, gradients = (f"{gap:.1e}" if gap else "0" for gap in gaps)
    told = {"system": model.system, "values": values, "gradients": gradients}
    said = row(key, **told, allowed=f"{TOLERANCE:g}")
    if model.boxes:
        more = row("model_boxes", system=model.system, names=", ".join(model.boxes))
        said = f"{said[0]} {more[0]}", f"{said[1]}{more[1]}"
    return Right(said) if right else said
