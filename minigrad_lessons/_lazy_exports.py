"""Every public name of the course; they load when the first of them is used."""

from minigrad_lessons.lesson.as_pass import *
from minigrad_lessons.lesson.ask import *
from minigrad_lessons.lesson.beside import *
from minigrad_lessons.lesson.check import *
from minigrad_lessons.lesson.claims import *
from minigrad_lessons.lesson.course import *
from minigrad_lessons.lesson.debugger import *
from minigrad_lessons.lesson.deprecated import *
from minigrad_lessons.lesson.elsewhere import *
from minigrad_lessons.lesson.gpu import *
from minigrad_lessons.lesson.granularity import *
from minigrad_lessons.lesson.guest import *
from minigrad_lessons.lesson.images import *
from minigrad_lessons.lesson.learner_engine import *
from minigrad_lessons.lesson.letters import *
from minigrad_lessons.lesson.observe import *
from minigrad_lessons.lesson.over_http import *
from minigrad_lessons.lesson.progress import *
from minigrad_lessons.lesson.recorded import *
from minigrad_lessons.lesson.shipped import *
from minigrad_lessons.lesson.solution import *
from minigrad_lessons.lesson.sweep import *
from minigrad_lessons.lesson.table import *
from minigrad_lessons.lesson.topological import *
from minigrad_lessons.lesson.trained import *
from viz.charts.regimes import *
from viz.views.bench import Ratio as Ratio
from viz.views.bench import both as both
from viz.views.bench import counts as counts
from viz.views.bench import readings as readings
from viz.views.bench import won_back as won_back
from viz.views.error import last_line as last_line
from viz.views.tables import gradient_check as gradient_check
