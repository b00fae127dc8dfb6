"""Every public name of the viewer; they load when the first of them is used."""

from viz.charts.chart import *
from viz.charts.curves import *
from viz.charts.memory import *
from viz.charts.ratios import *
from viz.charts.schedule import *
from viz.page.board import *
from viz.page.language import *
from viz.page.player import Player as Player
from viz.views.animate import *
from viz.views.batches import *
from viz.views.bench import *
from viz.views.branches import *
from viz.views.checkpoints import *
from viz.views.contents import *
from viz.views.diff import *
from viz.views.draw import *
from viz.views.error import *
from viz.views.live import *
from viz.views.passes import *
from viz.views.step import *
from viz.views.tables import *
from viz.views.tensorboard import *
from viz.views.traces import *
from viz.views.train import *
