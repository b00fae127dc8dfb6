"""The properties of all exercises that have one, by the ids of their checks."""

from __future__ import annotations

from viz.lesson.exercise import l08, l09, l13
from viz.lesson.exercise.property import Property

PROPERTIES: dict[str, Property] = {
    "L08.core": l08.CORE,
    "L08.stretch": l08.STRETCH,
    "L09.core": l09.CORE,
    "L09.stretch": l09.STRETCH,
    "L13.core": l13.CORE,
    "L13.stretch": l13.STRETCH,
}
