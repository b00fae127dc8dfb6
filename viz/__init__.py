"""See what the engine does: diagrams, players, clocks, charts, in English and in Chinese."""

from viz.draw import Diagram, draw
from viz.language import language
from viz.player import Player
from viz.show import compare, step, timeline

__all__ = ["Diagram", "Player", "compare", "draw", "language", "step", "timeline"]
