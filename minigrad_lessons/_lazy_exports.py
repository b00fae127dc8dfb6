"""Every public name of the course; they load when the first of them is used."""

from minigrad_lessons.lesson.as_pass import as_pass
from minigrad_lessons.lesson.ask import order, predict, quiz
from minigrad_lessons.lesson.beside import beside
from minigrad_lessons.lesson.check import check
from minigrad_lessons.lesson.claims import claims
from minigrad_lessons.lesson.course import course
from minigrad_lessons.lesson.debugger import typed
from minigrad_lessons.lesson.deprecated import downhill, keep
from minigrad_lessons.lesson.elsewhere import elsewhere
from minigrad_lessons.lesson.gpu import on_gpu
from minigrad_lessons.lesson.granularity import granularity
from minigrad_lessons.lesson.guest import Guest
from minigrad_lessons.lesson.images import images
from minigrad_lessons.lesson.learner_engine import engine
from minigrad_lessons.lesson.letters import letters
from minigrad_lessons.lesson.observe import count_built, count_lines, count_traces
from minigrad_lessons.lesson.over_http import over_http
from minigrad_lessons.lesson.progress import progress
from minigrad_lessons.lesson.recorded import recorded
from minigrad_lessons.lesson.shipped import alone, box, load_changed, reads, shipped
from minigrad_lessons.lesson.solution import solution
from minigrad_lessons.lesson.sweep import attempt, caught, side_by_side, sweep, warned
from minigrad_lessons.lesson.table import table
from minigrad_lessons.lesson.topological import topological_orders
from minigrad_lessons.lesson.trained import agreement, trained
from viz.charts.regimes import regimes
from viz.views.bench import Ratio, both, counts, readings, won_back
from viz.views.error import last_line
from viz.views.tables import gradient_check
