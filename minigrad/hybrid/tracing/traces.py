"""The record of each trace of a function: the graph, its signature, and its reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from minigrad.diagnostics.messages import Pair, choose, fill
from minigrad.hybrid.tracing.concrete import ConcreteFunction
from minigrad.hybrid.tracing.guards import Guard
from minigrad.hybrid.tracing.keys import IdentityKey, Key, KeyPart
from minigrad.static import Graph


@dataclass(eq=False)
class Trace:
    """One graph of a function, with its signature and the reasons for the trace.

    made: the number of the call that it was made for; calls: how many calls it has served.
    """

    function: Any
    key: Key
    parts: list[KeyPart]
    made: int
    reasons: list[Pair] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    calls: int = 0
    concrete: ConcreteFunction = field(init=False)

    @property
    def graph(self) -> Graph:
        """The frozen graph: its inputs are the arguments, then the captured values."""
        return self.concrete.body

    @property
    def signature(self) -> str:
        """The arguments that it was made for: x: float32[3], n: 2."""
        return ", ".join(f"{part.place}: {choose(part.shown)}" for part in self.parts) or "()"

    @property
    def reason(self) -> str:
        """The reason for the trace, as text."""
        return choose(join_sentences(self.reasons))

    def holds(self) -> bool:
        """Return whether everything besides the arguments is unchanged."""
        for guard in self.guards:  # noqa: SIM110 - half the time of all()
            if not guard.holds():
                return False
        return True

    def changes(self, parts: Sequence[KeyPart]) -> list[Pair]:
        """Say how a call with these arguments differs from this trace."""
        mine, new = ({part.place: part for part in x} for x in (self.parts, parts))
        found = [
            fill("why_missing", source=mine[place].source) for place in mine if place not in new
        ]
        for place, part in new.items():
            if place in mine:
                found += mine[place].changes(part)
            else:
                found.append(fill("why_added", source=part.source, after=part.shown))
        return found + [guard.change() for guard in self.guards if not guard.holds()]

    @property
    def gone(self) -> bool:
        """Whether it was made for an object that no longer exists."""
        return any(isinstance(part.key, IdentityKey) and part.key.gone for part in self.parts)


def join_sentences(pairs: Sequence[Pair], english: str = ", ", chinese: str = "，") -> Pair:
    """Join several pairs of sentences into one."""
    return english.join(pair[0] for pair in pairs), chinese.join(pair[1] for pair in pairs)
