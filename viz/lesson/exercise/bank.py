"""The properties of all exercises, by the ids of their checks."""

from __future__ import annotations

from viz.lesson.exercise import (
    l00,
    l01,
    l02,
    l03,
    l04,
    l05,
    l06,
    l07,
    l08,
    l09,
    l10,
    l11,
    l12,
    l13,
)
from viz.lesson.exercise.property import Property

PROPERTIES: dict[str, Property] = {
    "L00.core": l00.CORE,
    "L00.stretch": l00.STRETCH,
    "L01.core": l01.CORE,
    "L01.stretch": l01.STRETCH,
    "L02.core": l02.CORE,
    "L02.stretch": l02.STRETCH,
    "L03.faded.2": l03.SWITCH,
    "L03.core": l03.CORE,
    "L03.stretch": l03.STRETCH,
    "L04.core": l04.CORE,
    "L04.stretch": l04.STRETCH,
    "L05.core": l05.CORE,
    "L05.stretch": l05.STRETCH,
    "L06.core": l06.CORE,
    "L06.stretch": l06.STRETCH,
    "L07.core": l07.CORE,
    "L07.stretch": l07.STRETCH,
    "L08.core": l08.CORE,
    "L08.stretch": l08.STRETCH,
    "L09.core": l09.CORE,
    "L09.stretch": l09.STRETCH,
    "L10.core": l10.CORE,
    "L10.stretch": l10.STRETCH,
    "L11.core": l11.CORE,
    "L11.stretch": l11.STRETCH,
    "L12.core": l12.CORE,
    "L12.if": l12.IF,
    "L12.stretch": l12.STRETCH,
    "L13.core": l13.CORE,
    "L13.stretch": l13.STRETCH,
}
