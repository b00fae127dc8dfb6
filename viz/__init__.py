"""See what the engine does: diagrams, players, clocks, charts, in English and in Chinese."""

from viz.charts import Chart, curves
from viz.draw import Diagram, draw
from viz.language import language
from viz.live import live
from viz.player import Player
from viz.show import compare, step, timeline

__all__ = [
    "Chart",
    "Diagram",
    "Player",
    "compare",
    "curves",
    "draw",
    "language",
    "live",
    "step",
    "timeline",
]
