"""See what the engine does: diagrams, players, clocks, charts, in English and in Chinese."""

from viz.ask import check, claims, order, predict, quiz
from viz.batches import batches
from viz.board import Board
from viz.branches import branches
from viz.charts import Chart, curves, memory, ratios, schedule
from viz.checkpoints import checkpoints
from viz.draw import Diagram, draw
from viz.error import error, show_errors
from viz.images import images
from viz.language import language
from viz.live import live
from viz.passes import passes
from viz.player import Player
from viz.show import compare, step, timeline
from viz.sweep import attempt, side_by_side, sweep
from viz.tables import gradient_check, table, tape
from viz.topological import topological_orders
from viz.traces import traces
from viz.train import train

__all__ = [
    "Board",
    "Chart",
    "Diagram",
    "Player",
    "attempt",
    "batches",
    "branches",
    "check",
    "checkpoints",
    "claims",
    "compare",
    "curves",
    "draw",
    "error",
    "gradient_check",
    "images",
    "language",
    "live",
    "memory",
    "order",
    "passes",
    "predict",
    "quiz",
    "ratios",
    "schedule",
    "show_errors",
    "side_by_side",
    "step",
    "sweep",
    "table",
    "tape",
    "timeline",
    "topological_orders",
    "traces",
    "train",
]
