"""The properties of all exercises that have one, by the ids of their checks."""

from __future__ import annotations

from viz.lesson.exercise import l00, l01, l02, l05, l08, l09, l13
from viz.lesson.exercise.property import Property

PROPERTIES: dict[str, Property] = {
    "L00.core": l00.CORE,
    "L00.stretch": l00.STRETCH,
    "L01.core": l01.CORE,
    "L01.stretch": l01.STRETCH,
    "L02.core": l02.CORE,
    "L02.stretch": l02.STRETCH,
    "L05.core": l05.CORE,
    "L05.stretch": l05.STRETCH,
    "L08.core": l08.CORE,
    "L08.stretch": l08.STRETCH,
    "L09.core": l09.CORE,
    "L09.stretch": l09.STRETCH,
    "L13.core": l13.CORE,
    "L13.stretch": l13.STRETCH,
}
