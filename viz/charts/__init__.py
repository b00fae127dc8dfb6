"""Charts: curves, schedules, memory and ratios, each in both languages, with a table."""

from viz.charts.chart import Chart
from viz.charts.curves import curves
from viz.charts.memory import memory
from viz.charts.ratios import ratios
from viz.charts.schedule import schedule
from viz.picture.style import chart_style

__all__ = ["Chart", "chart_style", "curves", "memory", "ratios", "schedule"]
