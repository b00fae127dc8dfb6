"""Every public name of the viewer; they load when the first of them is asked for."""

from viz.charts.chart import *
from viz.charts.curves import *
from viz.charts.memory import *
from viz.charts.ratios import *
from viz.charts.schedule import *
from viz.lesson.ask import *
from viz.lesson.beside import *
from viz.lesson.check import *
from viz.lesson.claims import *
from viz.lesson.course import *
from viz.lesson.debugger import *
from viz.lesson.keep import *
from viz.lesson.observe import *
from viz.lesson.solution import *
from viz.lesson.walked import *
from viz.page.board import *
from viz.page.language import *
from viz.page.player import Player as Player
from viz.views.animate import *
from viz.views.batches import *
from viz.views.branches import *
from viz.views.checkpoints import *
from viz.views.diff import *
from viz.views.draw import *
from viz.views.error import *
from viz.views.granularity import *
from viz.views.images import *
from viz.views.live import *
from viz.views.passes import *
from viz.views.step import *
from viz.views.sweep import *
from viz.views.tables import *
from viz.views.tensorboard import *
from viz.views.topological import *
from viz.views.traces import *
from viz.views.train import *
