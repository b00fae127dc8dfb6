"""Charts: curves, schedules, memory and ratios, each in both languages, with a table."""

from viz.charts.chart import Chart, chart_style
from viz.charts.curves import curves
from viz.charts.memory import memory
from viz.charts.ratios import ratios
from viz.charts.schedule import schedule

__all__ = ["Chart", "chart_style", "curves", "memory", "ratios", "schedule"]
