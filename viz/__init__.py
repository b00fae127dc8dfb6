"""See what the engine does: diagrams, players, clocks, charts, in English and in Chinese."""

from viz.charts import Chart, curves, memory, ratios, schedule
from viz.lesson.ask import check, claims, order, predict, quiz
from viz.page.board import Board
from viz.page.language import language
from viz.page.player import Player
from viz.views.batches import batches
from viz.views.branches import branches
from viz.views.checkpoints import checkpoints
from viz.views.draw import Diagram, draw
from viz.views.error import error, show_errors
from viz.views.images import images
from viz.views.live import live
from viz.views.passes import passes
from viz.views.step import compare, step, timeline
from viz.views.sweep import attempt, side_by_side, sweep
from viz.views.tables import gradient_check, table, tape
from viz.views.topological import topological_orders
from viz.views.traces import traces
from viz.views.train import train

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
