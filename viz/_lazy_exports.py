"""Every public name of the viewer; they load when the first of them is used."""

from viz.charts.chart import Chart
from viz.charts.curves import curves
from viz.charts.memory import memory
from viz.charts.ratios import ratios
from viz.charts.schedule import schedule
from viz.page.board import Board
from viz.page.language import language
from viz.page.player import Player
from viz.views.animate import Animation, animate
from viz.views.batches import batches
from viz.views.bench import Bench, bench
from viz.views.branches import branches
from viz.views.checkpoints import checkpoints
from viz.views.contents import contents
from viz.views.diff import diff
from viz.views.draw import Diagram, draw
from viz.views.error import error, show_errors
from viz.views.live import live
from viz.views.passes import passes
from viz.views.step import compare, step, timeline
from viz.views.tables import tape
from viz.views.tensorboard import tensorboard
from viz.views.traces import traces
from viz.views.train import train
